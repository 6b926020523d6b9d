// Allocating and finding a history's buffers.
// SPDX-License-Identifier: MIT
#include "runtime/loop/history.hpp"

namespace ondula::loop {

DeviceHistory::DeviceHistory(device::Device& device, std::vector<ir::Save> saves, std::int64_t slots,
                             const Layout& layout, std::size_t element_bytes, const ShotCopies& shots)
    : device_(device),
      saves_(std::move(saves)),
      layout_(layout),
      element_bytes_(element_bytes),
      shots_(shots),
      ring_(slots),
      buffers_(static_cast<std::size_t>(slots)) {
  const std::size_t bytes =
      static_cast<std::size_t>(shots_size(layout.size, shots.stride, shots.count)) * element_bytes;
  for (auto& slot : buffers_) {
    for (std::size_t s = 0; s < saves_.size(); ++s) slot.push_back(device.allocate(bytes));
  }
}

device::Buffer& DeviceHistory::buffer(std::size_t save, std::int64_t slot) {
  return buffers_.at(ring_.place(slot)).at(save);
}

std::int64_t ring_stride(const RingLayout& rings, std::size_t element_bytes) {
  const auto line = static_cast<std::int64_t>(128 / element_bytes);
  return (rings.size + line - 1) / line * line;
}

std::unique_ptr<DeviceHistory> make_ring_history(device::Device& device, std::int64_t slots,
                                                 const RingLayout& rings, std::size_t element_bytes,
                                                 std::int64_t shots) {
  Layout layout;
  layout.size = rings.size;
  return std::make_unique<DeviceHistory>(device, std::vector<ir::Save>{{ring_save, ring_save, false}}, slots,
                                         layout, element_bytes,
                                         ShotCopies{shots, ring_stride(rings, element_bytes)});
}

void DeviceHistory::add_squares(const ir::Domain& domain, std::int64_t slot,
                                const std::vector<ir::Box>& lives, std::vector<double>& nodes,
                                std::int64_t shot) const {
  if (saves_.size() == 1 && saves_[0].field == ring_save)
    throw InternalError("rings hold no whole fields to square");
  const auto first = static_cast<std::size_t>(shot * shots_.stride) * element_bytes_;
  const auto own = static_cast<std::size_t>(layout_.size) * element_bytes_;
  for (std::size_t s = 0; s < saves_.size(); ++s) {
    const device::Buffer& buffer = buffers_.at(ring_.place(slot)).at(s);
    std::vector<std::byte> copy;
    const void* data = buffer.data();
    if (!device_.host_memory()) {
      copy.resize(own);
      device_.download(buffer, first, copy.data(), copy.size());
      data = copy.data();
    }
    each_model_node(domain, [&](const ir::Extents& i, std::size_t flat) {
      if (!holds(lives.at(s), i)) return;  // nothing was ever written there
      const auto element = static_cast<std::size_t>(layout_.at(i));
      const double value = element_bytes_ == sizeof(float)
                               ? static_cast<double>(static_cast<const float*>(data)[element])
                               : static_cast<const double*>(data)[element];
      nodes[flat] += value * value;
    });
  }
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
