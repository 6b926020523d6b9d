// How numbers lie in a binary file: kind, width, byte order; and their decoding to float64.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ondula::io {

/// The format of one number in a file. `kind` is 'f' (IEEE), 'i' (two's complement), 'u' (unsigned) or 'b'
/// (truth).
struct NumberFormat {
  char kind = 'f';
  int bytes = 4;
  bool big_endian = false;
};

/// The format a job file names: dtype "float32", "float64", "float16", "int8" to "int64", "uint8" to
/// "uint64"; endian "little" or "big". `where` (a key or file) heads the message of the UserError for any
/// other name.
NumberFormat parse_number_format(std::string_view dtype, std::string_view endian, std::string_view where);

/// The name of a format's type: "float32", "int16", "bool".
std::string dtype_name(const NumberFormat& format);

/// Decodes out.size() numbers from bytes (which holds exactly that many) to float64. 64-bit integers beyond
/// 2^53 are rounded to the nearest float64.
void decode(std::span<const std::byte> bytes, const NumberFormat& format, std::span<double> out);

}  // namespace ondula::io
