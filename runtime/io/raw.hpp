// Raw model files: headerless binary arrays whose type, byte order, shape and axis order the job file states.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/io/array.hpp"

namespace ondula::io {

/// What the job file says of a raw file. `shape` and `axes` are in the file's own order, slowest first: a 2-D
/// model with z fastest has axes {"x", "z"}.
struct RawLayout {
  std::string path;
  std::string dtype = "float32";  ///< float16 to float64, int8 to int64, uint8 to uint64
  std::string endian = "little";  ///< or "big"
  std::vector<std::int64_t> shape;
  std::vector<std::string> axes;
};

/// A raw file's values in the grid's axis order, and what looks wrong about how they were read.
struct RawArray {
  Array array;
  std::vector<std::string> warnings;
};

/// Reads a raw file and transposes it from its own axes to `grid_axes` (slowest first, the same names).
/// Throws UserError where the file cannot be read, dtype or endian is unknown, axes are not those of the
/// grid, or the byte count is wrong; that message guesses the cause (another dtype, a header, record markers,
/// an extent, another format). `warnings` says where values look like the other byte order or type, or the
/// rows like another axis order.
RawArray read_raw(const RawLayout& layout, const std::vector<std::string>& grid_axes);

}  // namespace ondula::io
