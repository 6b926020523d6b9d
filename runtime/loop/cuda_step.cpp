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
  halo_function_ = module.function("ondula_halo");
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
  if (!operation.times.empty()) item.kept.push_back({item.launch.arguments.size(), operation.times, true, 0});
  item.launch.add(cuda::DevicePointer{0}).add(rows.clock);
  item.argument = item.launch.arguments.size();
  item.launch.add(std::int64_t{0}).add(taps.groups).add(sources);
  return item;
}

}  // namespace ondula::loop
