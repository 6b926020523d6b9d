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
constexpr std::int64_t gap = 16;            // elements between rows, at least
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
                           const ir::Domain& domain, BenchOptions options)
    : program_(program), kernels_(std::move(kernels)), domain_(domain), options_(std::move(options)) {
  std::vector<loop::ArrayPlan> plans = loop::plan_arrays(program.set, domain, element_bytes);
  // What stands in a history lies there as any other field.
  const loop::Layout full = loop::full_layout(domain, loop::common_halo(program.set), element_bytes);
  for (const ir::Field& field : program.set.program.fields)
    for (int slot = 0; field.saved && slot < 2; ++slot)
      plans.push_back({loop::field_key(field.name, slot), full});
  for (const loop::ArrayPlan& plan : plans) {
    const Array& array = add(plan);
    const bool watched = options_.count || options_.mode == sim::Mode::check;
    if (watched) shadow_.add(array.begin(), array.memory.bytes() - 2 * margin_bytes);
    if (!options_.window)
      fill(plan.key, array);
    else if (plan.key.kind != ir::ArrayKind::profile && plan.key.side < 0)
      fill_window(plan.key, array);
  }
}

std::uint64_t ProgramBench::Array::begin() const {
  return reinterpret_cast<std::uint64_t>(memory.data()) + margin_bytes;
}

ProgramBench::Array& ProgramBench::add(const loop::ArrayPlan& plan) {
  const loop::Layout& layout = plan.layout;
  const bool flat = domain_.dims == 1 || plan.key.kind == ir::ArrayKind::profile;
  // Rows lie at least 16 elements after each other's ends, half of them the one's halo, half the other's; in
  // memory variables of the innermost axis alone, where they are 0 and serve both.
  ir::Extents some{};  // an index that exists
  bool gaps = true;
  if (!flat && plan.key.side >= 0) {
    const ir::Field& field = program_.set.program.field(plan.key.name);
    const auto axis = static_cast<std::size_t>(field.strip_axis);
    gaps = field.strip_axis + 1 == domain_.dims;
    some[axis] = loop::strip_range(domain_, field.strip_axis, plan.key.side, field.stagger[axis] != 0,
                                   loop::joint_strips(program_.set))
                     .lo;
  }
  const std::int64_t shift = flat || !gaps ? 0 : gap / 2;
  const std::int64_t stretch = flat || options_.pitch == 0 ? 0 : options_.pitch - layout.stride[0];
  const std::int64_t count = stretch == 0 ? 0 : layout.size / layout.stride[0] + 2;
  const auto bytes = static_cast<std::size_t>((layout.size + count * stretch) * element_bytes);
  Array array{layout, shift, stretch, 0, SparseMemory(bytes + 2 * margin_bytes)};
  array.before = plane_of(array, layout.at(some)) - some[0];
  return arrays_.emplace(plan.key, std::move(array)).first->second;
}

template <class F>
void ProgramBench::each_run(const Array& array, const F& body) const {
  const std::int64_t plane = array.stretch == 0 ? array.layout.size : array.layout.stride[0];
  for (std::int64_t e = array.shift; e < array.layout.size; e += plane)
    body(e, std::min(plane, array.layout.size - e));
}

void ProgramBench::wrote(const Array& array, std::int64_t e, std::int64_t count) {
  if (options_.mode != sim::Mode::check) return;
  // Apart from its neighbours a plane has the whole gaps before and after it.
  const std::int64_t more = array.stretch > 0 ? gap : 0;
  const std::int64_t first = std::max<std::int64_t>(0, place(array, e) - more);
  shadow_.wrote(array.begin() + static_cast<std::uint64_t>(first * element_bytes),
                static_cast<std::size_t>((place(array, e) + count + more - first) * element_bytes), 0,
                "the host", findings);
}

std::int64_t ProgramBench::plane_of(const Array& array, std::int64_t e) const {
  return array.stretch == 0 ? 0 : floor_div(e - array.shift, array.layout.stride[0]);
}

std::int64_t ProgramBench::place(const Array& array, std::int64_t e) const {
  return e + plane_of(array, e) * array.stretch;
}

std::int64_t ProgramBench::origin(const Array& array) {
  return array.layout.origin + array.before * array.stretch;
}

float& ProgramBench::element(const Array& array, std::int64_t e) const {
  return *reinterpret_cast<float*>(array.memory.data() + margin_bytes + place(array, e) * element_bytes);
}

std::int64_t ProgramBench::stride(const Array& array, int axis) const {
  return array.layout.stride[static_cast<std::size_t>(axis)] + (axis == 0 ? array.stretch : 0);
}

void ProgramBench::fill(const loop::ArrayKey& key, const Array& array) {
  const bool zero = key.kind == ir::ArrayKind::field && key.side >= 0;
  const float most = key.kind == ir::ArrayKind::field ? 1.0F : 0.1F;
  const auto number = static_cast<std::size_t>(std::distance(arrays_.begin(), arrays_.find(key)));
  each_run(array, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t e = first; e < first + count && !zero; ++e) element(array, e) = most * noise(number, e);
    wrote(array, first, count);
  });
}

void ProgramBench::fill_window(const loop::ArrayKey& key, const Array& array) {
  const ir::Box& box = *options_.window;
  const float now = key.kind != ir::ArrayKind::field ? 0.0F : key.slot == 0 ? 1.0F : 0.5F;
  for (std::int64_t z = box[0].lo; z < box[0].hi; ++z)
    for (std::int64_t y = box[1].lo; y < box[1].hi; ++y)
      for (std::int64_t x = box[2].lo; x < box[2].hi; ++x) {
        const std::int64_t e = array.layout.at({z, y, x});
        element(array, e) = now;
        wrote(array, e, 1);
      }
}

float ProgramBench::value(const std::string& field, int slot, const ir::Extents& index) const {
  const Array& array = arrays_.at(loop::field_key(field, parity_ == 0 ? slot : 1 - slot));
  return element(array, array.layout.at(index));
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
    most = std::max(
        {most, std::abs(origin(array)), std::abs(place(array, array.layout.size - 1) - origin(array))});
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
  return array->memory.data() + margin_bytes + origin(*array) * element_bytes;
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

emit::CudaLaunch ProgramBench::plan(const ir::CudaKernel& kernel) const {
  emit::CudaLaunch plan = emit::cuda_launch(program_, kernel, domain_, options_.multiprocessors);
  if (options_.planes > 0 && kernel.march && !plan.empty()) {
    plan.planes = options_.planes;
    plan.grid[1] = static_cast<std::uint32_t>((domain_.total(0) + plan.planes - 1) / plan.planes);
  }
  return plan;
}

void ProgramBench::launch(const ir::CudaKernel& kernel, const std::vector<std::uint64_t>& blocks) {
  const emit::CudaLaunch planned = plan(kernel);
  if (planned.empty()) return;
  sim::Launch launch;
  launch.program = kernels_.get();
  launch.kernel = kernels_->find(kernel.name);
  if (launch.kernel == nullptr) throw InternalError("there is no kernel " + kernel.name);
  launch.grid = planned.grid;
  launch.block = planned.block;
  launch.arguments = arguments(kernel, *launch.kernel, planned.planes);
  launch.operation = ++operations_;
  sim::RunOptions options;
  options.mode = options_.mode;
  options.shadow = &shadow_;
  options.arithmetic = options_.mode == sim::Mode::check;
  options.counters = &counters[kernel.name];
  options.count_sectors = options_.count;
  options.blocks = blocks;
  sim::run(launch, options, findings);
}

void ProgramBench::step() {
  for (const ir::Stage& stage : program_.stages)
    if (stage.kernel >= 0) launch(program_.kernels.at(static_cast<std::size_t>(stage.kernel)));
  parity_ = 1 - parity_;
}

}  // namespace ondula::test
