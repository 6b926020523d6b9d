// Arrays at any pitch, and the arguments of launches on them.
// SPDX-License-Identifier: MIT
#include "tests/runtime/device/sim/program_bench.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "compiler/error.hpp"
#include "compiler/passes/cuda_schedule.hpp"
#include "compiler/passes/pipeline.hpp"

namespace ondula::test {
namespace {

using Kind = ir::CudaArgument::Kind;
constexpr std::int64_t element_bytes = 4;
constexpr std::size_t margin_bytes = 4096;  // before and after an array

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// Between 0 and 1, from two numbers.
float noise(std::size_t array, std::int64_t e) {
  std::uint64_t x = (array + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(e) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebU;
  return static_cast<float>(x >> 40) * 0x1p-24F;
}

}  // namespace

ir::CudaProgram cuda_program(const EquationDefinition& equation, int dims, int order,
                             const ir::CudaTarget& target) {
  return passes::cuda_schedule(
      passes::compile(equation, {.axes = default_axes(dims), .order = order, .target = passes::Target::cuda})
          .kernels,
      target);
}

SparseMemory::SparseMemory(std::size_t bytes) : bytes_(bytes) {
  void* const data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  // A large page would be filled for one element.
  madvise(data, bytes, MADV_NOHUGEPAGE);
  data_ = static_cast<std::byte*>(data);
}

SparseMemory::SparseMemory(SparseMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

SparseMemory::~SparseMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

ProgramBench::ProgramBench(const ir::CudaProgram& program, std::shared_ptr<sim::Program> kernels,
                           const ir::Domain& domain, std::int64_t pitch, bool count)
    : program_(program), kernels_(std::move(kernels)), domain_(domain), count_(count) {
  for (const loop::ArrayPlan& plan : loop::plan_arrays(program.set, domain, element_bytes)) {
    const Array& array = add(plan, pitch);
    fill(plan.key, array);
    if (count) shadow_.add(reinterpret_cast<std::uint64_t>(array.memory.data()), array.memory.bytes());
  }
}

ProgramBench::Array& ProgramBench::add(const loop::ArrayPlan& plan, std::int64_t pitch) {
  const loop::Layout& layout = plan.layout;
  const bool flat = domain_.dims == 1 || plan.key.kind == ir::ArrayKind::profile || pitch == 0;
  // Rows lie `lead` elements after each other's ends: half of them are the one's halo, half the other's.
  const std::int64_t shift = flat ? 0 : 8;
  const std::int64_t plane = layout.stride[0], stretch = flat ? 0 : pitch - plane;
  const std::int64_t count = flat ? 0 : layout.size / plane + 2;
  const auto bytes = static_cast<std::size_t>((layout.size + count * stretch) * element_bytes);
  return arrays_.emplace(plan.key, Array{layout, shift, stretch, SparseMemory(bytes + 2 * margin_bytes)})
      .first->second;
}

std::int64_t ProgramBench::plane_of(const Array& array, std::int64_t e) const {
  return array.stretch == 0 ? 0 : floor_div(e - array.shift, array.layout.stride[0]);
}

std::int64_t ProgramBench::place(const Array& array, std::int64_t e) const {
  return e + plane_of(array, e) * array.stretch;
}

float& ProgramBench::element(const Array& array, std::int64_t e) const {
  return *reinterpret_cast<float*>(array.memory.data() + margin_bytes + place(array, e) * element_bytes);
}

std::int64_t ProgramBench::stride(const Array& array, int axis) const {
  return array.layout.stride[static_cast<std::size_t>(axis)] + (axis == 0 ? array.stretch : 0);
}

void ProgramBench::fill(const loop::ArrayKey& key, const Array& array) const {
  if (key.kind == ir::ArrayKind::field && key.side >= 0) return;
  const float most = key.kind == ir::ArrayKind::field ? 1.0F : 0.1F;
  const auto number = static_cast<std::size_t>(std::distance(arrays_.begin(), arrays_.find(key)));
  for (std::int64_t e = array.shift; e < array.layout.size; ++e) element(array, e) = most * noise(number, e);
}

std::map<std::string, std::vector<float>> ProgramBench::values() const {
  std::map<std::string, std::vector<float>> result;
  for (const auto& [key, array] : arrays_) {
    if (key.kind != ir::ArrayKind::field) continue;
    std::vector<float>& to = result[key.name + " " + std::to_string(key.slot) + std::to_string(key.side)];
    for (std::int64_t e = array.shift; e < array.layout.size; ++e) to.push_back(element(array, e));
  }
  return result;
}

std::int64_t ProgramBench::largest() const {
  std::int64_t most = 0;
  for (const auto& [key, array] : arrays_) {
    const std::int64_t origin = place(array, array.layout.origin);
    most = std::max({most, std::abs(origin), std::abs(place(array, array.layout.size - 1) - origin)});
  }
  return most;
}

const ProgramBench::Array* ProgramBench::find(const ir::ArrayArgument& argument) const {
  loop::ArrayKey key = loop::coefficient_key(argument.name);
  if (argument.kind == ir::ArrayKind::profile) {
    key = loop::profile_key(argument.name, argument.axis, argument.half);
  } else if (argument.side >= 0) {
    key = loop::strip_key(argument.name, argument.side);
  } else if (argument.kind == ir::ArrayKind::field) {
    const bool second = program_.set.program.field(argument.name).time_order == 2;
    const int now = second ? parity_ : 0;
    key = loop::field_key(argument.name, second && argument.slot != 0 ? 1 - now : now);
  }
  const auto found = arrays_.find(key);
  return found == arrays_.end() ? nullptr : &found->second;
}

std::byte* ProgramBench::pointer(const ir::ArrayArgument& argument) const {
  const Array* const array = find(argument);
  if (array == nullptr) return nullptr;
  return array->memory.data() + margin_bytes + place(*array, array->layout.origin) * element_bytes;
}

std::vector<std::byte> ProgramBench::arguments(const ir::CudaKernel& kernel, const sim::Kernel& compiled,
                                               std::int64_t marched) const {
  const ir::Kernel& source = program_.set.kernels[static_cast<std::size_t>(kernel.sweep)];
  std::vector<std::byte> packed(compiled.argument_bytes);
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const ir::CudaArgument& argument = kernel.arguments[i];
    const sim::Parameter& parameter = compiled.parameters.at(i);
    // Little-endian: the low bytes come first.
    const auto put = [&](const auto& value) {
      if (sizeof value < parameter.bytes) throw InternalError("an argument is too narrow");
      std::memcpy(packed.data() + parameter.offset, &value, parameter.bytes);
    };
    const auto number = [&](const Array* array) {
      put(array == nullptr ? std::int64_t{0} : stride(*array, argument.axis));
    };
    switch (argument.kind) {
      case Kind::array:
        put(pointer(source.arrays[static_cast<std::size_t>(argument.array)]));
        break;
      case Kind::stride:
        number(&std::find_if(arrays_.begin(), arrays_.end(), [](const auto& entry) {
                  return entry.first.kind == ir::ArrayKind::field && entry.first.side < 0;
                })->second);
        break;
      case Kind::strip_stride:
        number(find(source.arrays[static_cast<std::size_t>(argument.array)]));
        break;
      case Kind::planes:
        put(marched);
        break;
      case Kind::scalar:
        put(0.1F * noise(argument.name.size(), static_cast<std::int64_t>(i)));
        break;
      case Kind::scalars:
        throw InternalError("a kernel takes its scalars by pointer");
      default:
        put(emit::cuda_bound(program_, kernel, argument, domain_));
    }
  }
  return packed;
}

void ProgramBench::launch(const ir::CudaKernel& kernel) {
  emit::CudaLaunch plan = emit::cuda_launch(program_, kernel, domain_, 1);
  if (plan.empty()) return;
  if (planes > 0 && kernel.march) {
    plan.planes = planes;
    plan.grid[1] = static_cast<std::uint32_t>((domain_.total(0) + planes - 1) / planes);
  }
  sim::Launch launch;
  launch.program = kernels_.get();
  launch.kernel = kernels_->find(kernel.name);
  if (launch.kernel == nullptr) throw InternalError("there is no kernel " + kernel.name);
  launch.grid = plan.grid;
  launch.block = plan.block;
  launch.arguments = arguments(kernel, *launch.kernel, plan.planes);
  launch.operation = ++operations_;
  sim::RunOptions options;
  options.shadow = count_ ? &shadow_ : nullptr;
  options.counters = &counters[kernel.name];
  options.count_sectors = count_;
  sim::run(launch, options, findings);
}

void ProgramBench::step() {
  for (const ir::Stage& stage : program_.stages)
    if (stage.kernel >= 0) launch(program_.kernels.at(static_cast<std::size_t>(stage.kernel)));
  parity_ = 1 - parity_;
}

}  // namespace ondula::test
