// The saved fields of every step on a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/device/device.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/loop/layout.hpp"

namespace ondula::loop {

/// f(padded index, place in a model) for every node of the model.
template <class F>
void each_model_node(const ir::Domain& domain, const F& f) {
  std::size_t flat = 0;
  ir::Extents i{};
  for (i[0] = domain.pad[0][0]; i[0] < domain.pad[0][0] + domain.shape[0]; ++i[0]) {
    for (i[1] = domain.pad[1][0]; i[1] < domain.pad[1][0] + domain.shape[1]; ++i[1]) {
      for (i[2] = domain.pad[2][0]; i[2] < domain.pad[2][0] + domain.shape[2]; ++i[2]) f(i, flat++);
    }
  }
}

inline bool holds(const ir::Box& box, const ir::Extents& i) {
  for (std::size_t a = 0; a < box.size(); ++a) {
    if (i[a] < box[a].lo || i[a] >= box[a].hi) return false;
  }
  return true;
}

/// How the copies of several shots stand in one buffer: their number, and elements from one to the next.
struct ShotCopies {
  std::int64_t count = 1;
  std::int64_t stride = 0;
};

/// Bytes of a slot: so many saves, of all shots.
inline std::size_t slot_bytes(std::size_t saves, const Layout& layout, std::size_t element_bytes,
                              const ShotCopies& shots) {
  return saves * static_cast<std::size_t>(shots_size(layout.size, shots.stride, shots.count)) * element_bytes;
}

/// Slots in a ring: which of those in memory a number means.
class Ring {
 public:
  explicit Ring(std::int64_t count) : count_(count) {}
  std::int64_t count() const { return count_; }
  std::size_t place(std::int64_t slot) const {
    const std::int64_t around = (origin_ + slot) % count_;
    return static_cast<std::size_t>(around < 0 ? around + count_ : around);
  }
  void rebase(std::int64_t slot) { origin_ = static_cast<std::int64_t>(place(slot)); }
  void reset() { origin_ = 0; }

 private:
  std::int64_t count_;
  std::int64_t origin_ = 0;
};

/// One buffer for each save and slot, laid out as the engines' full arrays. Slot 0 holds fields of the state
/// only: what a step computes to be kept has no value before the first. A history whose slots lie elsewhere
/// derives from this one: then there are buffers for some of them at a time, in a ring.
class DeviceHistory : public History {
 public:
  /// `joint`: the saves of a slot lie one after the other in so many bytes; 0: each by itself.
  DeviceHistory(device::Device& device, std::vector<ir::Save> saves, std::int64_t slots, const Layout& layout,
                std::size_t element_bytes, const ShotCopies& shots = {}, std::size_t joint = 0);
  const std::vector<ir::Save>& saves() const { return saves_; }
  const Layout& layout() const { return layout_; }
  std::int64_t slots() const override { return ring_.count(); }
  void rebase(std::int64_t slot) override { ring_.rebase(slot); }
  void reset() override { ring_.reset(); }
  void add_squares(const ir::Domain& domain, std::int64_t slot, const std::vector<ir::Box>& lives,
                   std::vector<double>& nodes, std::int64_t shot) override;
  device::Buffer& buffer(std::size_t save, std::int64_t slot) { return buffers_[place(slot)].at(save); }
  /// Every buffer of a save.
  void fill_zero(std::size_t save);
  /// By the field's name in either program; throws InternalError where there is none.
  std::size_t find(const std::string& field) const;

  /// The buffers of `slot` are about to be written otherwise than by a step.
  virtual void claim(std::int64_t /*slot*/) {}
  /// All that is kept of `slot` stands in its buffers.
  virtual void complete(std::int64_t /*slot*/) {}

 protected:
  device::Device& device() { return device_; }
  std::size_t place(std::int64_t slot) const { return ring_.place(slot); }
  std::int64_t places() const { return ring_.count(); }
  device::Buffer& buffer_at(std::size_t place, std::size_t save) { return buffers_[place].at(save); }
  /// Of all shots.
  std::size_t save_bytes() const { return slot_bytes(1, layout_, element_bytes_, shots_); }
  /// add_squares of one save, which lies at `data` on the host, all shots of it.
  void add_squares_of(const std::byte* data, const ir::Domain& domain, const ir::Box& live,
                      std::vector<double>& nodes, std::int64_t shot) const;

 private:
  device::Device& device_;
  std::vector<ir::Save> saves_;
  Layout layout_;
  std::size_t element_bytes_;
  ShotCopies shots_;
  Ring ring_;
  std::vector<device::Buffer> joint_;                 // by place in the ring, where saves share it
  std::vector<std::vector<device::Buffer>> buffers_;  // by place and save
};

/// Gives fields that are `apart` their arrays: slot 1 stands in `slot`, slot 0 in `before`, or nowhere.
void bind_apart(Arrays& arrays, const ir::Program& program, DeviceHistory& history,
                std::optional<std::int64_t> before, std::int64_t slot);

}  // namespace ondula::loop
