// Stages of a program as launches.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_step.hpp"

#include <utility>
#include <variant>

namespace ondula::loop {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

cuda::KernelLaunch over(cuda::Function function, std::int64_t count) {
  constexpr std::int64_t threads = 128;
  cuda::KernelLaunch launch;
  launch.function = function;
  launch.grid = {static_cast<std::uint32_t>((count + threads - 1) / threads), 1, 1};
  launch.block = {static_cast<std::uint32_t>(threads), 1, 1};
  return launch;
}

}  // namespace

CudaStepMaker::CudaStepMaker(const ir::CudaProgram& program, const EngineSetup& setup, cuda::Device& device,
                             const cuda::LoadedModule& module, Arrays& arrays, const ShotStrides& strides,
                             int halo)
    : program_(program), arrays_(arrays), binder_(program, setup, device, module, arrays, strides, halo) {
  const ir::Program& fields = program.set.program;
  const Layout full =
      full_layout(setup.domain, halo, setup.dtype == DType::float32 ? sizeof(float) : sizeof(double));
  origin_ = full.origin;
  for (const ir::Field& field : fields.fields) {
    if (field.strip_axis >= 0 || field.saved || field.accumulator) continue;
    halos_.emplace(field.name, CudaHalo(setup.domain, field, fields.first_order(), halo, full, strides.full,
                                        setup.dtype, device));
  }
  const cuda::Scope scope(*device.session());
  for (const int parity : {0, 1}) {
    for (std::size_t k = 0; k < program.kernels.size(); ++k)
      launches_[at(parity)].push_back(binder_.launch(k, parity));
  }
  const RingLayout rings = ring_layout(fields, setup.domain);
  const std::int64_t stride =
      ring_stride(rings, setup.dtype == DType::float32 ? sizeof(float) : sizeof(double));
  for (const ir::Operation& operation : fields.operations) {
    const auto* ring = std::get_if<ir::Ring>(&operation);
    if (ring == nullptr) continue;
    CudaRing made(rings, ring->number, setup.domain.dims, full, strides.full, stride, device);
    if (!made.empty()) rings_.emplace(ring->number, std::move(made));
  }
  halo_function_ = module.function("ondula_halo");
  ring_function_ = module.function("ondula_ring");
  inject_function_ = module.function("ondula_inject");
  sample_function_ = module.function("ondula_sample");
}

CudaStep CudaStepMaker::step(int parity, const CudaPoints& points, const CudaRows& rows) const {
  CudaStep step;
  for (const ir::Stage& stage : program_.stages) {
    if (stage.kernel >= 0) {
      CudaItem item{CudaItem::Kind::kernel, launches_[at(parity)][at(stage.kernel)], 0, {}};
      for (const CudaExternal& external : binder_.externals(at(stage.kernel)))
        item.kept.push_back({external.argument, external.field, external.previous, origin_});
      if (item.launch.grid[0] > 0) step.push_back(std::move(item));
      continue;
    }
    const ir::Operation& operation = program_.set.program.operations[at(stage.operation)];
    if (const auto* taken = std::get_if<ir::Sample>(&operation)) {
      const auto found = points.records().find(taken->field);
      if (found != points.records().end() && found->second.groups > 0)
        step.push_back(sample(found->second, taken->field, parity, rows, points.rows()));
    }
    if (const auto* fed = std::get_if<ir::Injection>(&operation)) {
      const auto found = points.injections().find(stage.operation);
      if (found != points.injections().end() && found->second.groups > 0)
        step.push_back(injection(found->second, *fed, parity, rows, points.sources()));
    }
    const auto* moved = std::get_if<ir::Ring>(&operation);
    if (moved != nullptr && rings_.contains(moved->number)) step.push_back(ring(*moved, parity));
    if (const auto* filled = std::get_if<ir::Halo>(&operation)) {
      for (cuda::KernelLaunch& launch : halo(filled->field, array_of(filled->field, true, parity).buffer)) {
        CudaItem item{CudaItem::Kind::kernel, std::move(launch), 0, {}};
        if (apart(filled->field)) item.kept.push_back({0, filled->field, false, origin_});
        step.push_back(std::move(item));
      }
    }
  }
  return step;
}

CudaItem CudaStepMaker::ring(const ir::Ring& ring, int parity) const {
  // What a step finds as the present is level -1 after it.
  const bool second = program_.set.program.field(ring.field).time_order == 2;
  const device::Buffer& array = array_of(ring.field, !(ring.keep && second), parity).buffer;
  CudaItem item{
      CudaItem::Kind::kernel, rings_.at(ring.number).launch(array, ring_function_, ring.keep), 0, {}};
  item.kept.push_back({CudaRing::kept_argument, ring_save, !ring.keep, 0});
  return item;
}

std::vector<cuda::KernelLaunch> CudaStepMaker::keep_rings(int parity, cuda::DevicePointer kept) const {
  std::vector<cuda::KernelLaunch> result;
  for (const ir::Operation& operation : program_.set.program.operations) {
    const auto* own = std::get_if<ir::Ring>(&operation);
    if (own == nullptr || !own->keep || !rings_.contains(own->number)) continue;
    // As after a step that came from the other parity.
    result.push_back(ring(*own, 1 - parity).launch);
    result.back().arguments.at(CudaRing::kept_argument) = kept;
  }
  return result;
}

std::vector<cuda::KernelLaunch> CudaStepMaker::halo(const std::string& field,
                                                    const device::Buffer& array) const {
  return halos_.at(field).launches(array, halo_function_);
}

/// What a step reads (the present) or, with `next`, what it has written.
const Arrays::Array& CudaStepMaker::array_of(const std::string& name, bool next, int parity) const {
  const ir::Field& field = program_.set.program.field(name);
  const int present = field.time_order == 2 ? parity : 0;
  return arrays_.at(field_key(name, field.slots() == 2 && next ? 1 - present : present));
}

CudaItem CudaStepMaker::sample(const CudaTaps& taps, const std::string& field, int parity,
                               const CudaRows& rows, std::int64_t places) const {
  CudaItem item{CudaItem::Kind::sample, over(sample_function_, taps.groups), 0, {}};
  if (apart(field)) item.kept.push_back({0, field, true, 0});
  item.launch.add(cuda::address(array_of(field, false, parity).buffer)).add(taps.cells.address());
  item.launch.add(taps.first.address()).add(taps.weight.address()).add(taps.of.address());
  item.launch.add(rows.record).add(rows.clock);
  item.argument = item.launch.arguments.size();
  item.launch.add(std::int64_t{0}).add(taps.groups).add(places);
  return item;
}

CudaItem CudaStepMaker::injection(const CudaTaps& taps, const ir::Injection& operation, int parity,
                                  const CudaRows& rows, std::int64_t sources) const {
  CudaItem item{CudaItem::Kind::injection, over(inject_function_, taps.groups), 0, {}};
  const std::string& field = operation.field;
  if (apart(field)) item.kept.push_back({0, field, false, 0});
  item.launch.add(cuda::address(array_of(field, true, parity).buffer)).add(taps.cells.address());
  item.launch.add(taps.first.address()).add(taps.weight.address()).add(taps.of.address());
  item.launch.add(rows.samples);
  const bool times = !operation.times.empty();
  const bool saved = times && program_.set.program.field(operation.times).saved;
  if (saved) item.kept.push_back({item.launch.arguments.size(), operation.times, true, 0});
  if (times && !saved)
    item.launch.add(cuda::address(array_of(operation.times, operation.times_level > 0, parity).buffer));
  else
    item.launch.add(cuda::DevicePointer{0});
  item.launch.add(rows.clock);
  item.argument = item.launch.arguments.size();
  item.launch.add(std::int64_t{0}).add(taps.groups).add(sources);
  return item;
}

}  // namespace ondula::loop
