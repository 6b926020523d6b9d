// Allocating and finding a history's buffers.
// SPDX-License-Identifier: MIT
#include "runtime/loop/history.hpp"

#include "runtime/loop/ring_layout.hpp"

namespace ondula::loop {

DeviceHistory::DeviceHistory(device::Device& device, std::vector<ir::Save> saves, std::int64_t slots,
                             const Layout& layout, std::size_t element_bytes, const ShotCopies& shots,
                             std::size_t joint)
    : device_(device),
      saves_(std::move(saves)),
      layout_(layout),
      element_bytes_(element_bytes),
      shots_(shots),
      ring_(slots),
      buffers_(static_cast<std::size_t>(slots)) {
  const std::size_t bytes = save_bytes();
  for (auto& slot : buffers_) {
    if (joint > 0) joint_.push_back(device.allocate(joint));
    for (std::size_t s = 0; s < saves_.size(); ++s)
      slot.push_back(joint > 0 ? device::Buffer::part(joint_.back(), s * bytes, bytes)
                               : device.allocate(bytes));
  }
}

void DeviceHistory::fill_zero(std::size_t save) {
  for (auto& slot : buffers_) device_.fill_zero(slot.at(save));
}

void DeviceHistory::add_squares(const ir::Domain& domain, std::int64_t slot,
                                const std::vector<ir::Box>& lives, std::vector<double>& nodes,
                                std::int64_t shot) {
  if (saves_.size() == 1 && saves_[0].field == ring_save)
    throw InternalError("rings hold no whole fields to square");
  std::vector<std::byte> copy;
  for (std::size_t s = 0; s < saves_.size(); ++s) {
    const device::Buffer& from = buffer(s, slot);
    const auto* data = static_cast<const std::byte*>(from.data());
    if (!device_.host_memory()) {
      copy.resize(from.bytes());
      device_.download(from, 0, copy.data(), copy.size());
      data = copy.data();
    }
    add_squares_of(data, domain, lives.at(s), nodes, shot);
  }
}

void DeviceHistory::add_squares_of(const std::byte* data, const ir::Domain& domain, const ir::Box& live,
                                   std::vector<double>& nodes, std::int64_t shot) const {
  const std::byte* const own = data + static_cast<std::size_t>(shot * shots_.stride) * element_bytes_;
  each_model_node(domain, [&](const ir::Extents& i, std::size_t flat) {
    if (!holds(live, i)) return;  // nothing was ever written there
    const auto element = static_cast<std::size_t>(layout_.at(i));
    const double value = element_bytes_ == sizeof(float)
                             ? static_cast<double>(reinterpret_cast<const float*>(own)[element])
                             : reinterpret_cast<const double*>(own)[element];
    nodes[flat] += value * value;
  });
}

std::size_t DeviceHistory::find(const std::string& field) const {
  for (std::size_t s = 0; s < saves_.size(); ++s) {
    if (saves_[s].field == field || saves_[s].name == field) return s;
  }
  throw InternalError("nothing is kept of " + field);
}

void bind_apart(Arrays& arrays, const ir::Program& program, DeviceHistory& history,
                std::optional<std::int64_t> before, std::int64_t slot) {
  for (const ir::Field& field : program.fields) {
    if (!field.apart) continue;
    const std::size_t save = history.find(field.name);
    arrays.at(field_key(field.name, 0)).buffer =
        before ? device::Buffer::view(history.buffer(save, *before)) : device::Buffer();
    arrays.at(field_key(field.name, 1)).buffer = device::Buffer::view(history.buffer(save, slot));
  }
}

}  // namespace ondula::loop
