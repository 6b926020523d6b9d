// The header of a .npy file: a Python dictionary in text, read and written.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <istream>
#include <span>
#include <string>

#include "runtime/types.hpp"

namespace ondula::io {

struct NpyHeader;

/// Reads the magic, version and dictionary at the start of a stream. `path` heads the messages of the
/// UserErrors: no .npy file, an unknown version, a header cut short or malformed, a type that is no real
/// number.
NpyHeader parse_npy_header(std::istream& stream, const std::string& path);

/// Magic, version and dictionary of a C-ordered little-endian array, padded so that the data start on 64
/// bytes.
std::string npy_header_text(std::span<const std::int64_t> shape, DType dtype);

}  // namespace ondula::io
