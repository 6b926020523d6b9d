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
#include "runtime/loop/ring_layout.hpp"

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
/// only: what a step computes to be kept has no value before the first.
class DeviceHistory final : public History {
 public:
  DeviceHistory(device::Device& device, std::vector<ir::Save> saves, std::int64_t slots, const Layout& layout,
                std::size_t element_bytes, const ShotCopies& shots = {});
  const std::vector<ir::Save>& saves() const { return saves_; }
  const Layout& layout() const { return layout_; }
  std::int64_t slots() const override { return ring_.count(); }
  void rebase(std::int64_t slot) override { ring_.rebase(slot); }
  void reset() override { ring_.reset(); }
  void add_squares(const ir::Domain& domain, std::int64_t slot, const std::vector<ir::Box>& lives,
                   std::vector<double>& nodes, std::int64_t shot) const override;
  device::Buffer& buffer(std::size_t save, std::int64_t slot);
  /// By the field's name in either program; throws InternalError where there is none.
  std::size_t find(const std::string& field) const;

 private:
  const device::Device& device_;
  std::vector<ir::Save> saves_;
  Layout layout_;
  std::size_t element_bytes_;
  ShotCopies shots_;
  Ring ring_;
  std::vector<std::vector<device::Buffer>> buffers_;  // by place in the ring and save
};

/// Slots that hold the rings of a step instead, as the one save `ring_save`.
std::unique_ptr<DeviceHistory> make_ring_history(device::Device& device, std::int64_t slots,
                                                 const RingLayout& rings, std::size_t element_bytes,
                                                 std::int64_t shots = 1);
/// Elements from one shot's rings to the next's: whole lines of 128 bytes.
std::int64_t ring_stride(const RingLayout& rings, std::size_t element_bytes);

/// Gives fields that are `apart` their arrays: slot 1 stands in `slot`, slot 0 in `before`, or nowhere.
void bind_apart(Arrays& arrays, const ir::Program& program, DeviceHistory& history,
                std::optional<std::int64_t> before, std::int64_t slot);

}  // namespace ondula::loop
