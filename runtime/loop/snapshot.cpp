// Reading fields out of saved arrays.
// SPDX-License-Identifier: MIT
#include "runtime/loop/snapshot.hpp"

#include <algorithm>
#include <cstring>

#include "compiler/error.hpp"

namespace ondula::loop {
namespace {

double element(const SavedArray& array, std::int64_t at) {
  const std::byte* from = array.bytes.data() + static_cast<std::size_t>(at) * array.element_bytes;
  if (array.element_bytes == sizeof(float)) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
  }
  double value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

Snapshot save_fields(const Arrays& arrays, const device::Device& device, std::size_t element_bytes,
                     const LevelOf& level_of, std::int64_t shot) {
  Snapshot snapshot;
  for (const auto& [key, array] : arrays.all()) {
    if (key.kind != ir::ArrayKind::field) continue;
    snapshot.push_back({key.name, level_of(key), key.side, array.layout, element_bytes, {}});
    std::vector<std::byte>& bytes = snapshot.back().bytes;
    bytes.resize(static_cast<std::size_t>(array.layout.size) * element_bytes);
    device.download(array.buffer, static_cast<std::size_t>(shot * array.shot_stride) * element_bytes,
                    bytes.data(), bytes.size());
  }
  return snapshot;
}

void restore_fields(const Snapshot& snapshot, Arrays& arrays, device::Device& device, const LevelOf& level_of,
                    std::int64_t shots) {
  std::size_t restored = 0;
  for (auto& [key, array] : arrays.all()) {
    if (key.kind != ir::ArrayKind::field) continue;
    const int level = level_of(key);
    const auto found = std::find_if(snapshot.begin(), snapshot.end(), [&, &k = key](const SavedArray& saved) {
      return saved.name == k.name && saved.level == level && saved.side == k.side;
    });
    if (found == snapshot.end()) continue;
    if (found->bytes.size() != static_cast<std::size_t>(array.layout.size) * found->element_bytes)
      throw InternalError("a saved state with another array of " + key.name);
    for (std::int64_t shot = 0; shot < shots; ++shot) {
      device.upload(array.buffer, static_cast<std::size_t>(shot * array.shot_stride) * found->element_bytes,
                    found->bytes.data(), found->bytes.size());
    }
    ++restored;
  }
  if (restored != snapshot.size()) throw InternalError("a saved state with other arrays");
}

std::vector<double> values_on_grid(const SavedArray& array, const ir::Field& field,
                                   const ir::Domain& domain) {
  const ir::Box live = domain.live(field);
  const auto lives = [&](std::size_t axis, std::int64_t i) {
    return i >= live[axis].lo && i < live[axis].hi;
  };
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(domain.shape[0] * domain.shape[1] * domain.shape[2]));
  ir::Extents i{};
  for (std::int64_t i0 = 0; i0 < domain.shape[0]; ++i0) {
    i[0] = i0 + domain.pad[0][0];
    for (std::int64_t i1 = 0; i1 < domain.shape[1]; ++i1) {
      i[1] = i1 + domain.pad[1][0];
      const bool row = lives(0, i[0]) && lives(1, i[1]);
      for (std::int64_t i2 = 0; i2 < domain.shape[2]; ++i2) {
        i[2] = i2 + domain.pad[2][0];
        values.push_back(row && lives(2, i[2]) ? element(array, array.layout.at(i)) : 0.0);
      }
    }
  }
  return values;
}

}  // namespace ondula::loop
