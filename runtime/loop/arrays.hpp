// The device arrays of one engine: fields with their slots, strips, coefficients and profiles.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/kernel.hpp"
#include "runtime/device/device.hpp"
#include "runtime/loop/layout.hpp"

namespace ondula::loop {

/// What identifies an array: fields have slots 0 (now) and 1 (next; over previous if of second order), memory
/// variables sides; profiles an axis and a half flag.
struct ArrayKey {
  ir::ArrayKind kind = ir::ArrayKind::field;
  std::string name;
  int slot = 0;
  int side = -1;
  int axis = -1;
  bool half = false;
  auto operator<=>(const ArrayKey&) const = default;
};

ArrayKey field_key(const std::string& name, int slot);
ArrayKey strip_key(const std::string& name, int side);
ArrayKey coefficient_key(const std::string& name);
ArrayKey profile_key(const std::string& name, int axis, bool half);

/// One array before it is allocated.
struct ArrayPlan {
  ArrayKey key;
  Layout layout;
  bool kept = false;    ///< stands in a history: no memory of the engine's own
  int strip_axis = -1;  ///< of a memory variable
};

/// Elements from one shot's copy of a field to the next one's, where an engine runs several shots at once.
struct ShotStrides {
  std::int64_t full = 0;
  std::array<std::int64_t, ir::max_axes> strip{};  ///< by the strips' axis

  std::int64_t of(const ArrayPlan& plan) const {
    return plan.strip_axis < 0 ? full : strip[static_cast<std::size_t>(plan.strip_axis)];
  }
};

/// Copies begin on whole lines of 128 bytes.
ShotStrides shot_strides(const std::vector<ArrayPlan>& plans, std::size_t element_bytes);

/// Elements that `shots` copies of an array of `size` take; coefficients and profiles are there once.
std::int64_t shots_size(std::int64_t size, std::int64_t stride, std::int64_t shots);

/// Every array the kernels of `set` need on `domain`, in a fixed order: the one list that allocation and
/// estimate share. Values that are only kept of every step are not among them. Full arrays have at least
/// `least_halo` cells of halo.
std::vector<ArrayPlan> plan_arrays(const ir::KernelSet& set, const ir::Domain& domain,
                                   std::size_t element_bytes, int least_halo = 0);

/// The halo every full array carries: the widest reach of any kernel.
int common_halo(const ir::KernelSet& set);

/// Allocated arrays.
class Arrays {
 public:
  struct Array {
    Layout layout;                 ///< of one shot's copy
    device::Buffer buffer;         ///< of nobody's where the array stands in a history
    std::int64_t shot_stride = 0;  ///< elements
  };

  Arrays(const std::vector<ArrayPlan>& plans, device::Device& device, std::size_t element_bytes,
         std::int64_t shots = 1);
  Array& at(const ArrayKey& key);
  const Array& at(const ArrayKey& key) const;
  std::map<ArrayKey, Array>& all() { return arrays_; }
  const std::map<ArrayKey, Array>& all() const { return arrays_; }

 private:
  std::map<ArrayKey, Array> arrays_;
};

}  // namespace ondula::loop
