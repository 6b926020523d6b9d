// The arguments of CUDA launches, as ir::CudaKernel lists them.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_binder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "compiler/emit/cuda_launch.hpp"
#include "compiler/error.hpp"
#include "compiler/ir/evaluate.hpp"

namespace ondula::loop {
namespace {

using Kind = ir::CudaArgument::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

CudaBinder::CudaBinder(const ir::CudaProgram& program, const EngineSetup& setup, cuda::Device& device,
                       const cuda::LoadedModule& module, Arrays& arrays, const ShotStrides& strides, int halo)
    : program_(program),
      setup_(setup),
      device_(device),
      module_(module),
      arrays_(arrays),
      strides_(strides),
      element_(setup.dtype == DType::float32 ? sizeof(float) : sizeof(double)) {
  full_ = full_layout(setup.domain, halo, element_);
}

const ir::Kernel& CudaBinder::sweep(const ir::CudaKernel& kernel) const {
  return program_.set.kernels[at(kernel.sweep)];
}

cuda::KernelLaunch CudaBinder::launch(std::size_t number, int parity) {
  const ir::CudaKernel& kernel = program_.kernels.at(number);
  const emit::CudaLaunch plan =
      emit::cuda_launch(program_, kernel, setup_.domain, device_.facts().multiprocessors, setup_.shots);
  cuda::KernelLaunch launch;
  launch.grid = plan.grid;
  launch.block = plan.block;
  if (plan.empty()) return launch;
  const std::int64_t most = program_.target.shots ? plan.most_shots() : 1;
  if (setup_.shots > most)
    throw InternalError(
        fmt::format("kernel {}: {} shots at once, it counts {}", kernel.name, setup_.shots, most));
  launch.shot_blocks = program_.target.shots ? plan.shot_blocks() : 0;
  launch.function = module_.function(kernel.name);
  const ir::Kernel& source = sweep(kernel);
  for (const ir::CudaArgument& argument : kernel.arguments) {
    switch (argument.kind) {
      case Kind::array:
        launch.add(array(source.arrays[at(argument.array)], parity));
        break;
      case Kind::stride:
        add_integer(launch, full_.stride[at(argument.axis)]);
        break;
      case Kind::strip_stride: {
        const ir::ArrayArgument& strip = source.arrays[at(argument.array)];
        const auto found = arrays_.all().find(strip_key(strip.name, strip.side));
        add_integer(launch,
                    found == arrays_.all().end() ? 0 : found->second.layout.stride[at(argument.axis)]);
        break;
      }
      case Kind::planes:
        add_integer(launch, plan.planes);
        break;
      case Kind::shot_stride:
        add_integer(launch, argument.axis < 0 ? strides_.full : strides_.strip[at(argument.axis)]);
        break;
      case Kind::strip_bits:
        add_integer(launch, plan.strip_bits);
        break;
      case Kind::scalar:
        add_scalar(launch, scalar(argument.name));
        break;
      case Kind::scalars:
        launch.add(scalars_of(kernel.sweep));
        break;
      default:
        add_integer(launch, emit::cuda_bound(program_, kernel, argument, setup_.domain));
    }
  }
  return launch;
}

std::vector<CudaExternal> CudaBinder::externals(std::size_t number) const {
  std::vector<CudaExternal> result;
  const ir::CudaKernel& kernel = program_.kernels.at(number);
  for (std::size_t a = 0; a < kernel.arguments.size(); ++a) {
    if (kernel.arguments[a].kind != Kind::array) continue;
    const ir::ArrayArgument& array = sweep(kernel).arrays[at(kernel.arguments[a].array)];
    if (array.kind != ir::ArrayKind::field) continue;
    const ir::Field& field = program_.set.program.field(array.name);
    // Slot 1 of what an adjoint reads is the level before; of what a forward step keeps, the one written.
    const bool before = field.saved ? array.slot == 1 : array.slot == 0;
    if (field.saved || field.apart) result.push_back({array.name, before, a});
  }
  return result;
}

cuda::DevicePointer CudaBinder::array(const ir::ArrayArgument& argument, int parity) const {
  ArrayKey key = coefficient_key(argument.name);
  if (argument.kind == ir::ArrayKind::profile) {
    key = profile_key(argument.name, argument.axis, argument.half);
  } else if (argument.side >= 0) {
    key = strip_key(argument.name, argument.side);
    if (arrays_.all().find(key) == arrays_.all().end()) return 0;  // a side without a layer
  } else if (argument.kind == ir::ArrayKind::field) {
    const ir::Field& field = program_.set.program.field(argument.name);
    if (field.saved || field.apart) return 0;
    const int now = field.time_order == 2 ? parity : 0;
    key = field_key(argument.name, field.time_order == 2 && argument.slot != 0 ? 1 - now : now);
  }
  const Arrays::Array& array = arrays_.at(key);
  // A strip's entry at index 0 may lie outside its allocation.
  return cuda::address(array.buffer) +
         static_cast<cuda::DevicePointer>(array.layout.origin * static_cast<std::int64_t>(element_));
}

double CudaBinder::scalar(const std::string& name) const {
  const auto& all = program_.set.program.scalars;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ir::Scalar& s) { return s.name == name; });
  if (found == all.end()) throw InternalError("no scalar " + name);
  return ir::scalar_value(found->definition, setup_.symbols);
}

void CudaBinder::add_scalar(cuda::KernelLaunch& launch, double value) const {
  if (setup_.dtype == DType::float32)
    launch.add(static_cast<float>(value));
  else
    launch.add(value);
}

void CudaBinder::add_integer(cuda::KernelLaunch& launch, std::int64_t value) const {
  if (program_.target.index_bits == 32)
    launch.add(static_cast<std::int32_t>(value));
  else
    launch.add(value);
}

cuda::DevicePointer CudaBinder::scalars_of(int sweep) {
  const auto found = scalars_.find(sweep);
  if (found != scalars_.end()) return cuda::address(found->second);
  std::vector<double> values;
  for (const std::string& name : program_.set.kernels[at(sweep)].scalars) values.push_back(scalar(name));
  const std::vector<float> rounded(values.begin(), values.end());
  const std::size_t bytes = values.size() * element_;
  device::Buffer buffer = device_.allocate(bytes);
  device_.upload(buffer, 0,
                 element_ == sizeof(float) ? static_cast<const void*>(rounded.data()) : values.data(), bytes);
  return cuda::address(scalars_.emplace(sweep, std::move(buffer)).first->second);
}

}  // namespace ondula::loop
