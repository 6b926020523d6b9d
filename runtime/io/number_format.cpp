// How numbers lie in a binary file: kind, width, byte order; and their decoding to float64.
// SPDX-License-Identifier: MIT
#include "runtime/io/number_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "compiler/error.hpp"

namespace ondula::io {

namespace {

/// IEEE binary16 carried as its bits.
struct Half {
  std::uint16_t bits;
};

double to_double(Half half) {
  const int exponent = (half.bits >> 10) & 31;
  const int fraction = half.bits & 1023;
  double value = 0.0;
  if (exponent == 31)
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  else if (exponent == 0)
    value = std::ldexp(fraction, -24);
  else
    value = std::ldexp(1024 + fraction, exponent - 25);
  return (half.bits & 0x8000) != 0 ? -value : value;
}

template <class T>
double to_double(T value) {
  return static_cast<double>(value);
}

template <class T>
void decode_as(std::span<const std::byte> bytes, bool swap, std::span<double> out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    std::byte item[sizeof(T)];
    std::memcpy(item, bytes.data() + k * sizeof(T), sizeof(T));
    if (swap) std::reverse(item, item + sizeof(T));
    T value;
    std::memcpy(&value, item, sizeof(T));
    out[k] = to_double(value);
  }
}

}  // namespace

NumberFormat parse_number_format(std::string_view dtype, std::string_view endian, std::string_view where) {
  NumberFormat format;
  if (endian == "big")
    format.big_endian = true;
  else if (endian != "little")
    throw UserError(fmt::format("{}: endian is \"{}\"; allowed are \"little\" and \"big\"", where, endian));
  for (const char kind : {'f', 'i', 'u'})
    for (const int bytes : {1, 2, 4, 8}) {
      format.kind = kind;
      format.bytes = bytes;
      if ((kind != 'f' || bytes > 1) && dtype == dtype_name(format)) return format;
    }
  throw UserError(fmt::format(
      "{}: dtype is \"{}\"; allowed are float32, float64, float16, int8, int16, int32, int64, uint8, "
      "uint16, uint32, uint64",
      where, dtype));
}

std::string dtype_name(const NumberFormat& format) {
  switch (format.kind) {
    case 'f':
      return fmt::format("float{}", 8 * format.bytes);
    case 'i':
      return fmt::format("int{}", 8 * format.bytes);
    case 'u':
      return fmt::format("uint{}", 8 * format.bytes);
    default:
      return "bool";
  }
}

void decode(std::span<const std::byte> bytes, const NumberFormat& format, std::span<double> out) {
  if (bytes.size() != out.size() * static_cast<std::size_t>(format.bytes))
    throw InternalError(
        fmt::format("decode: {} bytes for {} numbers of {} bytes", bytes.size(), out.size(), format.bytes));
  const bool swap = format.big_endian != (std::endian::native == std::endian::big);
  const int key = format.kind == 'f'   ? format.bytes
                  : format.kind == 'i' ? 100 + format.bytes
                                       : 200 + format.bytes;
  switch (key) {
    case 2:
      return decode_as<Half>(bytes, swap, out);
    case 4:
      return decode_as<float>(bytes, swap, out);
    case 8:
      return decode_as<double>(bytes, swap, out);
    case 101:
      return decode_as<std::int8_t>(bytes, swap, out);
    case 102:
      return decode_as<std::int16_t>(bytes, swap, out);
    case 104:
      return decode_as<std::int32_t>(bytes, swap, out);
    case 108:
      return decode_as<std::int64_t>(bytes, swap, out);
    case 201:
      return decode_as<std::uint8_t>(bytes, swap, out);
    case 202:
      return decode_as<std::uint16_t>(bytes, swap, out);
    case 204:
      return decode_as<std::uint32_t>(bytes, swap, out);
    case 208:
      return decode_as<std::uint64_t>(bytes, swap, out);
    default:
      throw InternalError(
          fmt::format("decode: no number of kind {} and {} bytes", format.kind, format.bytes));
  }
}

}  // namespace ondula::io
