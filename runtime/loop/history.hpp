// The saved fields of every step on a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/device/device.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/loop/layout.hpp"

namespace ondula::loop {

/// One buffer for each save and slot, laid out as the engines' full arrays. Slot 0 holds fields of the state
/// only: what a step computes to be kept has no value before the first.
class DeviceHistory final : public History {
 public:
  DeviceHistory(device::Device& device, std::vector<ir::Save> saves, std::int64_t slots, const Layout& layout,
                std::size_t element_bytes);
  const std::vector<ir::Save>& saves() const { return saves_; }
  const Layout& layout() const { return layout_; }
  void add_squares(const ir::Domain& domain, std::int64_t slot, std::vector<double>& nodes) const override;
  device::Buffer& buffer(std::size_t save, std::int64_t slot);
  /// By the field's name in either program; throws InternalError where there is none.
  std::size_t find(const std::string& field) const;

 private:
  std::vector<ir::Save> saves_;
  Layout layout_;
  std::size_t element_bytes_;
  std::vector<std::vector<device::Buffer>> buffers_;  // by slot and save
};

}  // namespace ondula::loop
