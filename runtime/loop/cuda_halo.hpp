// Filling halos on a CUDA device: the images of HaloFiller, as launches.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/device/cuda/device.hpp"
#include "runtime/loop/layout.hpp"

namespace ondula::loop {

/// The non-zero images of one field, axis by axis, axis 0 first; later axes over the halos of earlier ones.
class CudaHalo {
 public:
  /// Uploads where entries go to and come from; `shot_stride` elements lie between shots.
  CudaHalo(const ir::Domain& domain, const ir::Field& field, bool first_order, int halo, const Layout& layout,
           std::int64_t shot_stride, DType dtype, cuda::Device& device);
  bool empty() const { return axes_.empty(); }
  /// What the constructor allocates.
  static std::size_t bytes(const ir::Domain& domain, const ir::Field& field, bool first_order, int halo,
                           DType dtype);
  /// The launches that fill `array`'s halo, in order; `function` is ondula_halo, whose first argument is the
  /// array, from its origin on.
  std::vector<cuda::KernelLaunch> launches(const device::Buffer& array, cuda::Function function) const;

 private:
  struct Axis {
    device::Buffer to, from, sign;
    int images = 0;
    struct Along {
      std::int64_t first = 0, count = 1, stride = 0;
    };
    Along inner, outer;
  };
  std::size_t element_;  // bytes
  std::int64_t origin_, shot_stride_;
  std::vector<Axis> axes_;
};

}  // namespace ondula::loop
