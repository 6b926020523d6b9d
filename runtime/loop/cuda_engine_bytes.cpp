// What a CUDA engine takes, before any is made.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "runtime/loop/arrays.hpp"
#include "runtime/loop/cuda_engine.hpp"
#include "runtime/loop/cuda_halo.hpp"
#include "runtime/loop/cuda_magnitude.hpp"
#include "runtime/loop/cuda_ring.hpp"
#include "runtime/loop/cuda_stepper.hpp"

namespace ondula::loop {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::size_t cuda_engine_bytes(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                              int least_halo, std::int64_t shots, std::int64_t every,
                              const PointCounts& points) {
  const ir::Program& program = compilation.kernels.program;
  const std::size_t element = dtype == DType::float32 ? sizeof(float) : sizeof(double);
  const int halo = std::max(common_halo(compilation.kernels), least_halo);
  const std::vector<ArrayPlan> plans = plan_arrays(compilation.kernels, domain, element, least_halo);
  const ShotStrides strides = shot_strides(plans, element);
  std::size_t bytes = 0, states = 0;
  for (const ArrayPlan& plan : plans) {
    if (plan.kept) continue;
    const bool field = plan.key.kind == ir::ArrayKind::field;
    bytes += at(field ? shots_size(plan.layout.size, strides.of(plan), shots) : plan.layout.size) * element;
  }
  for (const ir::Field& field : program.fields) {
    if (field.strip_axis >= 0 || field.saved) continue;
    ++states;
    if (!field.accumulator) bytes += CudaHalo::bytes(domain, field, program.first_order(), halo, dtype);
  }
  const RingLayout rings = ring_layout(program, domain);
  for (const ir::Operation& operation : program.operations) {
    if (const auto* ring = std::get_if<ir::Ring>(&operation)) bytes += CudaRing::bytes(rings, ring->number);
  }
  return bytes + CudaMagnitude::bytes(dtype, states, shots) + cuda_points_bytes(dtype, every, points);
}

std::size_t cuda_points_bytes(DType dtype, std::int64_t every, const PointCounts& points) {
  return CudaPoints::bytes(dtype, points) + CudaStepper::bytes(dtype, every,
                                                               static_cast<std::int64_t>(points.sources),
                                                               static_cast<std::int64_t>(points.rows));
}

std::size_t cuda_history_bytes(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                               int least_halo, std::int64_t shots, std::size_t buffers) {
  const std::size_t element = dtype == DType::float32 ? sizeof(float) : sizeof(double);
  const ShotStrides strides =
      shot_strides(plan_arrays(compilation.kernels, domain, element, least_halo), element);
  const int halo = std::max(common_halo(compilation.kernels), least_halo);
  return buffers * at(shots_size(full_layout(domain, halo, element).size, strides.full, shots)) * element;
}

}  // namespace ondula::loop
