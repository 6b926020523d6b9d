// Filling the halo of a host array by the images its faces prescribe.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/images.hpp"
#include "runtime/device/device.hpp"
#include "runtime/loop/layout.hpp"

namespace ondula::loop {

/// The non-zero images of one field, axis by axis; zero images need no work, since nothing ever writes there.
class HaloFiller {
 public:
  HaloFiller(const ir::Domain& domain, const ir::Field& field, bool first_order, int halo);
  bool empty() const;
  /// Fills the halo of `data` (elements of `Real`), axis 0 first, later axes over the halos of earlier ones.
  template <class Real>
  void fill(Real* data, const Layout& layout, device::Device& device) const;

 private:
  ir::Domain domain_;
  int halo_;
  std::vector<std::vector<ir::Repeat>> images_;
};

}  // namespace ondula::loop
