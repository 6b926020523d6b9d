// Finds the failing lines of a kernel's text from the compiler's log.
// SPDX-License-Identifier: MIT
#include "runtime/jit/compile_failure.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

#include "runtime/jit/join.hpp"

namespace ondula::jit {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The line number of Clang's "NAME:LINE:COLUMN: error: ..." or NVRTC's "NAME(LINE): error: ..."; nothing for
/// any other line of the log.
std::optional<std::size_t> error_line(const std::string& line, const std::string& name) {
  if (!line.starts_with(name + ":") && !line.starts_with(name + "(")) return std::nullopt;
  if (line.find("error") == std::string::npos) return std::nullopt;
  const long number = std::strtol(line.c_str() + name.size() + 1, nullptr, 10);
  return number > 0 ? std::optional(static_cast<std::size_t>(number)) : std::nullopt;
}

bool is_comment(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t");
  return start != std::string_view::npos && line.substr(start).starts_with("//");
}

/// Line `number` of the text, after the nearest comment above it.
std::string quote(const std::vector<std::string>& text, std::size_t number) {
  if (number > text.size()) return "";
  std::string quoted;
  for (std::size_t above = number - 1; above > 0; --above) {
    if (!is_comment(text[above - 1])) continue;
    quoted = fmt::format("    {:5} | {}\n", above, text[above - 1]);
    break;
  }
  return quoted + fmt::format("    {:5} | {}\n", number, text[number - 1]);
}

}  // namespace

std::string describe_failure(const CompileFailure& failure) {
  constexpr std::size_t shown_most = 3;
  const std::vector<std::string> text = lines_of(failure.source);
  std::string shown;
  std::size_t errors = 0;
  for (const std::string& line : lines_of(failure.log)) {
    const std::optional<std::size_t> number = error_line(line, failure.name);
    if (!number) continue;
    if (++errors <= shown_most) shown += "  " + line + "\n" + quote(text, *number);
  }
  if (errors == 0) shown = failure.log;
  if (errors > shown_most) shown += fmt::format("  and {} more\n", errors - shown_most);
  return fmt::format("the {} kernels of equation '{}' did not compile:\n{}  options: {}\n  source: {}",
                     failure.backend, failure.equation, shown,
                     failure.options.empty() ? "the defaults" : join(failure.options, " "),
                     failure.saved_path.empty() ? "could not be saved" : failure.saved_path);
}

}  // namespace ondula::jit
