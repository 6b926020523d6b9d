// A line of C++ read without a parser: good for the short texts that formulas are.
// SPDX-License-Identifier: MIT
#include "runtime/lint/scan.hpp"

#include <algorithm>
#include <string_view>

namespace ondula::lint {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_space(char c) { return c == ' ' || c == '\t'; }

/// The index of the parenthesis that opens what closes at `at`; npos where it stands on another line.
std::size_t opening(const std::string& line, std::size_t at) {
  int depth = 0;
  for (std::size_t k = at + 1; k-- > 0;) {
    if (line[k] == ')' || line[k] == ']') ++depth;
    if (line[k] == '(' || line[k] == '[') --depth;
    if (depth == 0) return k;
  }
  return std::string::npos;
}

std::size_t closing(const std::string& line, std::size_t at) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t k = at; k < line.size(); ++k) {
    if (line[k] == '"' && line[k - 1] != '\\') quoted = !quoted;
    if (quoted) continue;
    if (line[k] == '(' || line[k] == '[') ++depth;
    if (line[k] == ')' || line[k] == ']') --depth;
    if (depth == 0) return k;
  }
  return std::string::npos;
}

Part part(const std::string& line, std::size_t from, std::size_t to) {
  return {from, to, line.substr(from, to - from)};
}

/// Where the name or number that ends before `to` begins: letters, digits, points, "::".
std::size_t word_start(const std::string& line, std::size_t to) {
  std::size_t from = to;
  while (from > 0 && (is_letter(line[from - 1]) || line[from - 1] == '.' || line[from - 1] == ':')) --from;
  return from;
}

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

}  // namespace

Part operand_before(const std::string& line, std::size_t at) {
  std::size_t to = std::min(at, line.size());
  while (to > 0 && is_space(line[to - 1])) --to;
  if (to == 0) return {};
  std::size_t from = to;
  if (line[to - 1] == ')' || line[to - 1] == ']') {
    from = opening(line, to - 1);
    if (from == std::string::npos) return {};
  }
  return part(line, word_start(line, from), to);
}

Part operand_after(const std::string& line, std::size_t at) {
  std::size_t from = at;
  while (from < line.size() && is_space(line[from])) ++from;
  std::size_t to = from;
  if (to < line.size() && (line[to] == '-' || line[to] == '+')) ++to;
  while (to < line.size() && (is_letter(line[to]) || line[to] == '.' || line[to] == ':')) ++to;
  while (to < line.size() && (line[to] == '(' || line[to] == '[')) {
    const std::size_t end = closing(line, to);
    if (end == std::string::npos) return {};
    to = end + 1;
  }
  return part(line, from, to);
}

Part name_at(const std::string& line, std::size_t at) {
  if (at >= line.size() || !is_letter(line[at])) return {};
  std::size_t from = at, to = at;
  while (to < line.size() && is_letter(line[to])) ++to;
  while (from > 0 && is_letter(line[from - 1])) --from;
  constexpr std::string_view space = "std::";
  if (line.substr(from, to - from) == "std" && line.compare(to, 2, "::") == 0) {
    to += 2;
    while (to < line.size() && is_letter(line[to])) ++to;
  } else if (from >= space.size() && line.compare(from - space.size(), space.size(), space) == 0) {
    from -= space.size();
  }
  return part(line, from, to);
}

std::vector<std::string> arguments_after(const std::string& line, std::size_t at) {
  while (at < line.size() && is_space(line[at])) ++at;
  if (at >= line.size() || line[at] != '(') return {};
  const std::size_t end = closing(line, at);
  if (end == std::string::npos) return {};
  std::vector<std::string> all;
  std::size_t from = at + 1;
  int depth = 0;
  bool quoted = false;
  for (std::size_t k = from; k <= end; ++k) {
    if (line[k] == '"' && line[k - 1] != '\\') quoted = !quoted;
    if (quoted) continue;
    if (line[k] == '(' || line[k] == '[' || line[k] == '{') ++depth;
    if (line[k] == ')' || line[k] == ']' || line[k] == '}') --depth;
    if ((line[k] == ',' && depth == 0) || k == end) {
      all.push_back(trimmed(line.substr(from, k - from)));
      from = k + 1;
    }
  }
  if (all.size() == 1 && all[0].empty()) all.clear();
  return all;
}

bool is_identifier(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(), is_letter);
}

}  // namespace ondula::lint
