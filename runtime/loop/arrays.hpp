// The device arrays of one engine: fields with their slots, strips, coefficients and profiles.
// SPDX-License-Identifier: MIT
#pragma once

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
  bool kept = false;  ///< stands in a history: no memory of the engine's own
};

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
    Layout layout;
    device::Buffer buffer;  ///< of nobody's where the array stands in a history
  };

  Arrays(const std::vector<ArrayPlan>& plans, device::Device& device, std::size_t element_bytes);
  Array& at(const ArrayKey& key);
  const Array& at(const ArrayKey& key) const;
  std::map<ArrayKey, Array>& all() { return arrays_; }
  const std::map<ArrayKey, Array>& all() const { return arrays_; }

 private:
  std::map<ArrayKey, Array> arrays_;
};

}  // namespace ondula::loop
