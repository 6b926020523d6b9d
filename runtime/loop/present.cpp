// Copying the present.
// SPDX-License-Identifier: MIT
#include "runtime/loop/present.hpp"

#include "compiler/error.hpp"

namespace ondula::loop {
namespace {

/// One buffer for each of Present's parts, in its order.
struct DeviceState final : HeldState {
  std::vector<device::Buffer> buffers;
};

/// Whether an array is part of the present: of fields that are kept where they are written only the one that
/// holds it between steps.
bool belongs(const ir::Program& program, const ArrayKey& key) {
  if (key.kind != ir::ArrayKind::field) return false;
  const ir::Field& field = program.field(key.name);
  return !field.accumulator && !(field.apart && key.slot == 0);
}

}  // namespace

Present::Present(const ir::Program& program, Arrays& arrays, device::Device& device,
                 std::size_t element_bytes, std::int64_t shots)
    : arrays_(arrays), device_(device) {
  for (const auto& [key, array] : arrays.all()) {
    if (!belongs(program, key)) continue;
    const std::int64_t size = shots_size(array.layout.size, array.shot_stride, shots);
    const bool turns = key.side < 0 && program.field(key.name).time_order == 2;
    parts_.push_back({key, turns, static_cast<std::size_t>(size) * element_bytes});
    bytes_ += parts_.back().bytes;
  }
}

std::unique_ptr<HeldState> Present::make() const {
  auto state = std::make_unique<DeviceState>();
  for (const Part& part : parts_) state->buffers.push_back(device_.allocate(part.bytes));
  return state;
}

void Present::hold(HeldState& into, int parity) const {
  auto& state = dynamic_cast<DeviceState&>(into);
  for (std::size_t k = 0; k < parts_.size(); ++k)
    device_.copy(buffer(parts_[k], parity), state.buffers.at(k));
}

void Present::resume(const HeldState& from) const {
  const auto& state = dynamic_cast<const DeviceState&>(from);
  for (std::size_t k = 0; k < parts_.size(); ++k) device_.copy(state.buffers.at(k), buffer(parts_[k], 0));
}

void Present::download(std::span<std::byte> into, int parity) const {
  if (into.size() != bytes_) throw InternalError("room of another size for a state");
  std::size_t at = 0;
  for (const Part& part : parts_) {
    device_.download(buffer(part, parity), 0, into.data() + at, part.bytes);
    at += part.bytes;
  }
}

void Present::upload(std::span<const std::byte> from) const {
  if (from.size() != bytes_) throw InternalError("a state of another size");
  std::size_t at = 0;
  for (const Part& part : parts_) {
    device_.upload(buffer(part, 0), 0, from.data() + at, part.bytes);
    at += part.bytes;
  }
}

device::Buffer& Present::buffer(const Part& part, int parity) const {
  ArrayKey key = part.key;
  if (part.turns && parity != 0) key.slot = 1 - key.slot;
  device::Buffer& found = arrays_.at(key).buffer;
  if (found.bytes() != part.bytes) throw InternalError("the present of " + key.name + " stands elsewhere");
  return found;
}

std::size_t present_bytes(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                          int least_halo, std::int64_t shots) {
  const std::size_t element = dtype == DType::float32 ? sizeof(float) : sizeof(double);
  const std::vector<ArrayPlan> plans = plan_arrays(compilation.kernels, domain, element, least_halo);
  const ShotStrides strides = shot_strides(plans, element);
  std::size_t bytes = 0;
  for (const ArrayPlan& plan : plans) {
    if (!belongs(compilation.kernels.program, plan.key)) continue;
    bytes += static_cast<std::size_t>(shots_size(plan.layout.size, strides.of(plan), shots)) * element;
  }
  return bytes;
}

}  // namespace ondula::loop
