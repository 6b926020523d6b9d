// The layers' profiles, where kernels read them.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/engine.hpp"

namespace ondula::loop {

/// Fills those of `arrays` that are profiles, rounded once.
template <class Real>
void upload_profiles(Arrays& arrays, const EngineSetup& setup, device::Device& device) {
  const auto profiles = setup.domain.profiles(setup.layer);
  for (auto& [key, array] : arrays.all()) {
    if (key.kind != ir::ArrayKind::profile) continue;
    const auto found = std::find_if(profiles.begin(), profiles.end(), [&k = key](const ir::Profile& p) {
      return p.name == k.name && p.axis == k.axis && p.half == k.half;
    });
    if (found == profiles.end()) throw InternalError("no profile " + key.name);
    const std::vector<Real> values(found->values.begin(), found->values.end());
    device.upload(array.buffer, 0, values.data(), values.size() * sizeof(Real));
  }
}

}  // namespace ondula::loop
