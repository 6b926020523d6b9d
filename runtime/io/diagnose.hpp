// Guesses at why a model's numbers look wrong: byte order, type, units, axis order, byte count.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/io/array.hpp"
#include "runtime/io/number_format.hpp"

namespace ondula::io {

/// A warning where the values of parameter `name` are absurd for its `unit` ("m/s", "kg/m^3"; other units are
/// only searched for NaN-like patterns of a wrong byte order): bytes swapped, km/s, feet, slowness, g/cm^3.
/// Names the range found, the guess and the remedy. Values that could be right give nothing.
std::optional<std::string> diagnose_values(std::string_view name, std::string_view unit, const Array& array);

/// A warning where the numbers of a raw file, decoded as `format`, are absurd but decoded with the other byte
/// order, or as a float of the same width, would be sane. `bytes` is the file's content.
std::optional<std::string> diagnose_bytes(std::span<const std::byte> bytes, const NumberFormat& format);

/// A warning where the file, of `shape` slowest first, jumps where rows of another of its extents would end:
/// the usual sign of swapped axes.
std::optional<std::string> diagnose_axes(std::span<const double> stored, std::span<const std::int64_t> shape,
                                         std::span<const std::string> axes);

/// The likely reason why a raw file of `shape` has `found` bytes instead of the expected: a sentence, or
/// nothing. `head` is the start of the file (up to 4096 bytes).
std::string guess_byte_count(std::span<const std::byte> head, std::int64_t found, const NumberFormat& format,
                             std::span<const std::int64_t> shape, std::span<const std::string> axes);

}  // namespace ondula::io
