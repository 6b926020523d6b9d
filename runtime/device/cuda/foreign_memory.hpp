// Arrays of the caller's on a CUDA device: checked, read and written in stream order.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/array_places.hpp"
#include "runtime/device/cuda/device.hpp"

namespace ondula::cuda {

/// `view` lies on the device: in the order of the caller's stream where `device` has one, else after all that
/// its context was given before. Throws UserError, naming `what`, where the address is no device memory, is
/// another device's, or an element lies outside the allocation that it points to.
std::vector<double> read_foreign(Device& device, const std::string& what, const ConstArrayView& view);

/// The reverse: rounded to the view's type. In the caller's stream the values are there for what comes after;
/// without one they are there at the return. Throws UserError as read_foreign(), where two elements share a
/// place, and where no axis has stride 1.
void write_foreign(Device& device, const std::string& what, std::span<const double> values,
                   const ArrayView& view);

/// Throws UserError where `view`, which should lie on the host, is an address of a device.
void require_host(Device& device, const std::string& what, const ConstArrayView& view);

}  // namespace ondula::cuda
