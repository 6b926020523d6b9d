// What cuModuleLoadDataEx is given, which is told no size: a cubin of the stand-in's, or its PTX.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/device/sim/driver_world.hpp"

namespace ondula::sim::driver {

/// The binary in an image.
struct Image {
  bool portable = false;              ///< it stands for PTX: later devices take it too
  std::span<const std::byte> binary;  ///< for Program::load; inside the image
};

/// What stands for PTX of a program: a head, the binary, a closing zero as a text has.
std::vector<std::byte> make_ptx(std::span<const std::byte> binary);
/// Tells which of both begins at `image`. Throws Refusal invalid_image, explained, for anything else.
Image read_image(World& world, const void* image);

}  // namespace ondula::sim::driver
