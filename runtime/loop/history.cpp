// Allocating and finding a history's buffers.
// SPDX-License-Identifier: MIT
#include "runtime/loop/history.hpp"

namespace ondula::loop {

DeviceHistory::DeviceHistory(device::Device& device, std::vector<ir::Save> saves, std::int64_t slots,
                             const Layout& layout, std::size_t element_bytes)
    : saves_(std::move(saves)), layout_(layout), buffers_(static_cast<std::size_t>(slots)) {
  const std::size_t bytes = static_cast<std::size_t>(layout.size) * element_bytes;
  for (auto& slot : buffers_) {
    for (std::size_t s = 0; s < saves_.size(); ++s) slot.push_back(device.allocate(bytes));
  }
}

device::Buffer& DeviceHistory::buffer(std::size_t save, std::int64_t slot) {
  return buffers_.at(static_cast<std::size_t>(slot)).at(save);
}

std::size_t DeviceHistory::find(const std::string& field) const {
  for (std::size_t s = 0; s < saves_.size(); ++s) {
    if (saves_[s].field == field || saves_[s].name == field) return s;
  }
  throw InternalError("nothing is kept of " + field);
}

}  // namespace ondula::loop
