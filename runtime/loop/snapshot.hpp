// What an engine saves of a run, and restores bit for bit.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "runtime/device/device.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/layout.hpp"

namespace ondula::loop {

/// One array as it lies in memory.
struct SavedArray {
  std::string name;
  int level = 0;                  ///< 0 now, -1 the step before (second-order fields)
  int side = -1;                  ///< of a memory variable's strip, 0 or 1; -1: over the whole padded domain
  Layout layout;                  ///< where the elements stand
  std::size_t element_bytes = 4;  ///< float or double
  std::vector<std::byte> bytes;
};

/// Every field, with its levels, and every memory variable.
using Snapshot = std::vector<SavedArray>;

/// The level a field's array holds now.
using LevelOf = std::function<int(const ArrayKey&)>;

/// The fields among `arrays`, strips included: those of `shot`.
Snapshot save_fields(const Arrays& arrays, const device::Device& device, std::size_t element_bytes,
                     const LevelOf& level_of, std::int64_t shot = 0);
/// Puts them back for each of `shots`, each into the array that holds its level now; fields that are not
/// among them stay as they are. Throws InternalError where one has no array of its size.
void restore_fields(const Snapshot& snapshot, Arrays& arrays, device::Device& device, const LevelOf& level_of,
                    std::int64_t shots = 1);

/// The values of `array`, which holds `field`, on the model's nodes, C order; 0 where the field does not
/// live.
std::vector<double> values_on_grid(const SavedArray& array, const ir::Field& field, const ir::Domain& domain);

}  // namespace ondula::loop
