// Guesses at why a model's numbers look wrong: byte order, type, units, axis order, byte count.
// SPDX-License-Identifier: MIT
#include "runtime/io/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace ondula::io {

namespace {

/// A number that a physical model in SI units, or a near relative of them, could hold.
bool plausible(double value) {
  const double size = std::abs(value);
  return size == 0.0 || (size > 1e-7 && size < 1e9);
}

/// The share of plausible numbers that are not all zero; 0 for an empty set.
double plausible_share(std::span<const double> values) {
  const auto good = std::count_if(values.begin(), values.end(), plausible);
  const bool all_zero = std::all_of(values.begin(), values.end(), [](double value) { return value == 0.0; });
  return values.empty() || all_zero ? 0.0 : static_cast<double>(good) / static_cast<double>(values.size());
}

std::pair<double, double> finite_range(std::span<const double> values) {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const double value : values)
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  return {low, high};
}

/// The array as if each number's bytes had been reversed; empty where the values are neither float32 nor
/// integers.
template <class Float>
std::vector<double> with_bytes_reversed(std::span<const double> values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const double value : values) {
    const auto narrow = static_cast<Float>(value);
    if (std::isfinite(value) && static_cast<double>(narrow) != value) return {};
    std::byte item[sizeof(Float)];
    std::memcpy(item, &narrow, sizeof(Float));
    std::reverse(item, item + sizeof(Float));
    Float swapped;
    std::memcpy(&swapped, item, sizeof(Float));
    out.push_back(static_cast<double>(swapped));
  }
  return out;
}

std::optional<std::string> guess_velocity(double low, double high) {
  if (high <= 0.0) return std::nullopt;
  if (high >= 0.75 && high < 15.0) return "this looks like km/s; multiply by 1000, or give the unit \"km/s\"";
  if (high >= 0.01 && high < 0.75)
    // A slowness below 0.11 s/km would be a rock of over 9000 m/s.
    return low > 0.0 && low < 0.11
               ? "this looks like squared slowness in s^2/km^2; convert it to a velocity in m/s"
               : "this looks like a slowness in s/km; convert it to a velocity in m/s";
  if (high < 1e-5) return "this looks like squared slowness in s^2/m^2; convert it to a velocity in m/s";
  if (high < 0.01) return "this looks like a slowness in s/m; convert it to a velocity in m/s";
  if (high > 9000.0 && high < 40000.0)
    return "no rock is that fast in m/s; this looks like ft/s, to be multiplied by 0.3048";
  return std::nullopt;
}

std::optional<std::string> guess_density(double high) {
  if (high > 0.5 && high < 15.0)
    return "this looks like g/cm^3; multiply by 1000, or give the unit \"g/cm^3\"";
  return std::nullopt;
}

/// "float64" for the guess that the file holds another type, where its size fits.
std::string guess_type(std::int64_t found, std::int64_t count, int bytes) {
  if (count == 0 || found % count != 0) return {};
  const std::int64_t width = found / count;
  if (width == bytes || (width != 1 && width != 2 && width != 4 && width != 8)) return {};
  const char* name = width == 8   ? "float64"
                     : width == 4 ? "float32"
                     : width == 2 ? "int16 or float16"
                                  : "int8 or uint8";
  return fmt::format("that is {} bytes a number, as for dtype {}", width, name);
}

/// The guess that one extent is another: the only one that is whole, preferring the nearest to what was
/// stated.
std::string guess_extent(std::int64_t found, int bytes, std::span<const std::int64_t> shape,
                         std::span<const std::string> axes) {
  std::string best;
  double nearest = 2.0;  // a factor; a guess further off than that helps nobody
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::int64_t row = bytes;
    for (std::size_t other = 0; other < shape.size(); ++other)
      if (other != axis) row *= shape[other];
    if (row == 0 || found % row != 0 || found == 0 || shape[axis] == 0) continue;
    const double ratio =
        static_cast<double>(found) / static_cast<double>(row) / static_cast<double>(shape[axis]);
    if (std::max(ratio, 1.0 / ratio) >= nearest) continue;
    nearest = std::max(ratio, 1.0 / ratio);
    const std::string name = axis < axes.size() ? axes[axis] : std::to_string(axis);
    best =
        fmt::format("it would fit with {} points on axis {} instead of {}", found / row, name, shape[axis]);
  }
  return best;
}

bool starts_with(std::span<const std::byte> head, std::string_view text) {
  return head.size() >= text.size() && std::memcmp(head.data(), text.data(), text.size()) == 0;
}

}  // namespace

std::optional<std::string> diagnose_values(std::string_view name, std::string_view unit, const Array& array) {
  const std::span<const double> values(array.data);
  if (values.empty()) return std::nullopt;
  const auto [low, high] = finite_range(values);
  if (plausible_share(values) < 0.5) {
    for (const auto& swapped : {with_bytes_reversed<float>(values), with_bytes_reversed<double>(values)})
      if (plausible_share(swapped) > 0.95) {
        const auto [a, b] = finite_range(swapped);
        return fmt::format(
            "{}: values from {:.3g} to {:.3g} {} make no sense; with the bytes of each number reversed they "
            "would be {:.6g} to {:.6g}: is the file of the other byte order (endian)?",
            name, low, high, unit, a, b);
      }
  }
  std::optional<std::string> guess;
  if (unit == "m/s") guess = guess_velocity(low, high);
  if (unit == "kg/m^3") guess = guess_density(high);
  if (!guess) return std::nullopt;
  return fmt::format("{}: values run from {:.6g} to {:.6g} {}; {}", name, low, high, unit, *guess);
}

std::optional<std::string> diagnose_bytes(std::span<const std::byte> bytes, const NumberFormat& format) {
  const std::size_t width = static_cast<std::size_t>(format.bytes);
  std::vector<double> values(bytes.size() / width);
  const auto share_as = [&](const NumberFormat& other) {
    decode(bytes, other, values);
    return plausible_share(values);
  };
  const double here = share_as(format);
  const auto [low, high] = finite_range(values);
  const bool integers_of_floats =
      format.kind != 'f' && format.bytes >= 4 && std::max(std::abs(low), high) > 1e8;
  if (here > 0.5 && !integers_of_floats) return std::nullopt;
  for (const bool big : {format.big_endian, !format.big_endian})
    for (const char kind : {format.kind, 'f'}) {
      const NumberFormat other{kind, format.bytes, big};
      if ((kind == format.kind && big == format.big_endian) || (kind == 'f' && format.bytes < 4)) continue;
      if (share_as(other) < 0.95) continue;
      const auto [a, b] = finite_range(values);
      if (std::max(std::abs(a), b) > 1e6) continue;
      return fmt::format(
          "read as {} {}-endian, values run from {:.3g} to {:.3g}; as {} {}-endian they would be {:.6g} to "
          "{:.6g}: are dtype and endian right?",
          dtype_name(format), format.big_endian ? "big" : "little", low, high, dtype_name(other),
          big ? "big" : "little", a, b);
    }
  return std::nullopt;
}

std::optional<std::string> diagnose_axes(std::span<const double> stored, std::span<const std::int64_t> shape,
                                         std::span<const std::string> axes) {
  if (shape.size() < 2 || stored.empty()) return std::nullopt;
  // Where a row ends, the next number in the file comes from the other side of the model: a jump. The extent
  // at whose multiples the jumps stand is the fastest.
  const auto jump = [&](std::int64_t row) {
    double sums[2] = {0.0, 0.0};
    double counts[2] = {0.0, 0.0};
    for (std::size_t k = 1; k < stored.size(); ++k) {
      const std::size_t wraps = k % static_cast<std::size_t>(row) == 0 ? 1 : 0;
      sums[wraps] += std::abs(stored[k] - stored[k - 1]);
      counts[wraps] += 1.0;
    }
    if (counts[0] * counts[1] == 0.0 || sums[1] == 0.0) return 0.0;
    return sums[0] == 0.0 ? HUGE_VAL : sums[1] / counts[1] / (sums[0] / counts[0]);
  };
  const double stated = jump(shape.back());
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    if (shape[axis] == shape.back() || shape[axis] < 4) continue;
    if (jump(shape[axis]) > 4.0 * std::max(stated, 1.0))
      return fmt::format(
          "the values jump every {} numbers, not every {} (axis {}, listed last, so fastest): are shape {} "
          "and its "
          "axes listed slowest first?",
          shape[axis], shape.back(), axes.back(), shape_text(shape));
  }
  return std::nullopt;
}

std::string guess_byte_count(std::span<const std::byte> head, std::int64_t found, const NumberFormat& format,
                             std::span<const std::int64_t> shape, std::span<const std::string> axes) {
  const std::int64_t count = element_count(shape);
  const std::int64_t extra = found - count * format.bytes;
  if (starts_with(head, "\x93NUMPY")) return "it is a .npy file: name it as a string instead of as raw";
  if (found == 0) return "it is empty";
  if (std::string guess = guess_type(found, count, format.bytes); !guess.empty()) return guess;
  const std::int64_t rows = shape.empty() || shape.back() == 0 ? 0 : count / shape.back();
  if (rows > 0 && extra == 8 * rows && rows > 1)
    return "the excess is 8 bytes a row: Fortran record markers; write it with access='stream'";
  if (extra == 8) return "the excess is 8 bytes: Fortran record markers; write it with access='stream'";
  if (rows > 0 && extra == 3600 + 240 * rows)
    return fmt::format("the excess is that of a SEG-Y file of {} traces: give it as segy", rows);
  if (rows > 0 && extra == 240 * rows)
    return "the excess is 240 bytes a row: trace headers of an SU file: give it as segy";
  std::string guess = guess_extent(found, format.bytes, shape, axes);
  if (extra > 0 && extra <= 65536 && (guess.empty() || extra < 256)) {
    const std::string header = fmt::format("it may start with a header of {} bytes", extra);
    guess = guess.empty() ? header : header + ", or " + guess;
  }
  return guess;
}

}  // namespace ondula::io
