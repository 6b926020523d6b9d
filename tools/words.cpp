// Numbers as people read them.
// SPDX-License-Identifier: MIT
#include "tools/words.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "runtime/backend.hpp"

namespace ondula::tools {

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> units = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string seconds_text(double seconds) {
  if (!(seconds >= 0) || !std::isfinite(seconds)) return "unknown";
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1000);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string count_text(std::int64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3 && digits[i - 4] != '-'; i -= 3) digits.insert(i - 3, " ");
  return digits;
}

std::string dtype_text(DType dtype) { return dtype == DType::float32 ? "float32" : "float64"; }

std::string backend_text(Backend backend) { return backend_name(backend); }

std::string extents_text(const std::vector<std::string>& axes, const std::vector<std::int64_t>& extents) {
  std::string text;
  for (std::size_t a = 0; a < axes.size(); ++a)
    text += fmt::format("{}{} {}", a == 0 ? "" : ", ", axes[a], extents[a]);
  return text;
}

std::string path_text(const std::string& path) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string() + "/";
  return !error && path.starts_with(here) ? path.substr(here.size()) : path;
}

}  // namespace ondula::tools
