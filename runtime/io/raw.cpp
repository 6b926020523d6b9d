// Raw model files: headerless binary arrays whose type, byte order, shape and axis order the job file states.
// SPDX-License-Identifier: MIT
#include "runtime/io/raw.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "compiler/error.hpp"
#include "runtime/io/diagnose.hpp"
#include "runtime/io/number_format.hpp"

namespace ondula::io {

namespace {

void check_axes(const RawLayout& layout, const std::vector<std::string>& grid_axes) {
  if (layout.axes.size() != layout.shape.size())
    throw UserError(fmt::format("{}: shape {} has {} extents, axes [{}] names {}", layout.path,
                                shape_text(layout.shape), layout.shape.size(), fmt::join(layout.axes, ", "),
                                layout.axes.size()));
  std::vector<std::string> given = layout.axes;
  std::vector<std::string> wanted = grid_axes;
  std::sort(given.begin(), given.end());
  std::sort(wanted.begin(), wanted.end());
  if (given != wanted)
    throw UserError(fmt::format("{}: axes are [{}]; the grid's are [{}], to be listed slowest first",
                                layout.path, fmt::join(layout.axes, ", "), fmt::join(grid_axes, ", ")));
}

std::vector<std::byte> read_bytes(const RawLayout& layout, const NumberFormat& format) {
  std::error_code error;
  if (std::filesystem::is_directory(layout.path, error))
    throw UserError(fmt::format("cannot read {}: it is a directory", layout.path));
  std::ifstream stream(layout.path, std::ios::binary | std::ios::ate);
  if (!stream) throw UserError(fmt::format("cannot read {}: {}", layout.path, std::strerror(errno)));
  const std::int64_t found = stream.tellg();
  const std::int64_t expected = element_count(layout.shape) * format.bytes;
  stream.seekg(0);
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(found == expected ? found : std::min<std::int64_t>(found, 4096)));
  if (!stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    throw RuntimeError(fmt::format("reading {} failed: {}", layout.path, std::strerror(errno)));
  if (found != expected) {
    const std::string guess = guess_byte_count(bytes, found, format, layout.shape, layout.axes);
    throw UserError(fmt::format("{}: {} {} takes {} bytes, the file has {}{}{}", layout.path,
                                dtype_name(format), shape_text(layout.shape), expected, found,
                                guess.empty() ? "" : "; ", guess));
  }
  return bytes;
}

/// The array in the grid's axis order, of data stored in the layout's.
Array transpose(const RawLayout& layout, const std::vector<double>& stored,
                const std::vector<std::string>& grid_axes) {
  StridedView<double> view{stored.data(), {}, {}};
  for (const std::string& axis : grid_axes) {
    const auto at = std::find(layout.axes.begin(), layout.axes.end(), axis) - layout.axes.begin();
    view.shape.push_back(layout.shape[static_cast<std::size_t>(at)]);
    view.strides.push_back(element_count(std::span(layout.shape).subspan(static_cast<std::size_t>(at) + 1)));
  }
  return contiguous(view);
}

}  // namespace

RawArray read_raw(const RawLayout& layout, const std::vector<std::string>& grid_axes) {
  const NumberFormat format = parse_number_format(layout.dtype, layout.endian, layout.path);
  check_axes(layout, grid_axes);
  const std::vector<std::byte> bytes = read_bytes(layout, format);
  std::vector<double> stored(bytes.size() / static_cast<std::size_t>(format.bytes));
  decode(bytes, format, stored);
  RawArray result;
  if (auto warning = diagnose_bytes(bytes, format))
    result.warnings.push_back(layout.path + ": " + *warning);
  else if (auto swapped = diagnose_axes(stored, layout.shape, layout.axes))
    result.warnings.push_back(layout.path + ": " + *swapped);
  result.array = layout.axes == grid_axes ? Array{layout.shape, std::move(stored)}
                                          : transpose(layout, stored, grid_axes);
  return result;
}

}  // namespace ondula::io
