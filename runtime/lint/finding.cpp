// Findings as text and as JSON.
// SPDX-License-Identifier: MIT
#include "runtime/lint/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/lint/edits.hpp"

namespace ondula::lint {
namespace {

using Json = nlohmann::ordered_json;

/// How many bytes the UTF-8 character at `at` has; 0 where it is none.
std::size_t character_size(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(at);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xC2 ? 0
                           : first < 0xE0 ? 2
                           : first < 0xF0 ? 3
                           : first < 0xF5 ? 4
                                          : 0;
  if (size == 0 || at + size > text.size()) return 0;
  for (std::size_t k = 1; k < size; ++k)
    if ((byte(at + k) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates, and what lies beyond Unicode.
  if (size == 3 && ((first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xED && byte(at + 1) > 0x9F)))
    return 0;
  if (size == 4 && ((first == 0xF0 && byte(at + 1) < 0x90) || (first == 0xF4 && byte(at + 1) > 0x8F)))
    return 0;
  return size;
}

constexpr const char* byte_order_mark = "\xEF\xBB\xBF";

/// As many of `mark` as a terminal shows characters for the bytes from `from` up to `to`, tabs kept.
std::string under(const std::string& line, std::size_t from, std::size_t to, char mark) {
  std::string marks;
  for (std::size_t at = from; at < to;) {
    if (at >= line.size()) {
      marks += mark;
      ++at;
      continue;
    }
    const bool invisible = at == 0 && line.starts_with(byte_order_mark);
    if (!invisible) marks += line[at] == '\t' && mark == ' ' ? '\t' : mark;
    at += std::max<std::size_t>(character_size(line, at), 1);
  }
  return marks;
}

/// The line that the fixes change, as they leave it; empty where they change another one, or several.
std::string fixed_line(const Finding& finding) {
  if (finding.fixes.empty()) return "";
  const Edit& first = finding.fixes.front();
  const bool inserts_line =
      first.text.ends_with('\n') && finding.fixes.size() == 1 && first.end_line == first.line;
  if (inserts_line) return first.text.substr(0, first.text.size() - 1);
  std::vector<Edit> moved = finding.fixes;
  for (Edit& edit : moved) {
    if (edit.file != finding.file || edit.line != finding.line || edit.end_line != finding.line ||
        edit.text.find('\n') != std::string::npos)
      return "";
    edit.line = edit.end_line = 1;
  }
  return edited(finding.line_text, moved);
}

}  // namespace

std::size_t find_foreign_byte(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_size(text, at);
    if (size == 0) return at;
    at += size;
  }
  return std::string::npos;
}

std::string printable(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_size(text, at);
    const bool control = size == 1 && static_cast<unsigned char>(text[at]) < 0x20 && text[at] != '\t';
    if (size == 0 || control)
      result += '?';
    else
      result += text.substr(at, size);
    at += std::max<std::size_t>(size, 1);
  }
  return result;
}

std::string excerpt(std::size_t number, const std::string& line, std::size_t column, std::size_t begin,
                    std::size_t end) {
  const std::size_t caret = std::max<std::size_t>(column, 1) - 1;
  const std::size_t first = begin == 0 ? caret : std::min(begin - 1, caret);
  const std::size_t last = std::max(end == 0 ? 0 : end - 1, caret + 1);
  std::string below = under(line, 0, first, ' ') + under(line, first, caret, '~') + "^";
  if (last > caret + 1) {
    // The caret's own character may be of several bytes.
    const std::string rest = under(line, caret, std::min(last, std::max(line.size(), caret + 1)), '~');
    below += rest.substr(std::min<std::size_t>(rest.size(), 1));
  }
  return fmt::format("{:>5} | {}\n      | {}\n", number, printable(line), below);
}

std::string text_of(const Finding& finding) {
  std::string place = finding.file;
  if (finding.line > 0) place += fmt::format(":{}:{}", finding.line, finding.column);
  std::string text = fmt::format("{}: {}: {}{}\n", place, finding.error ? "error" : "warning",
                                 finding.message, finding.id == "compiler" ? "" : " [" + finding.id + "]");
  if (finding.line == 0 || finding.line_text.find_first_not_of(" \t") == std::string::npos) return text;
  text += excerpt(finding.line, finding.line_text, finding.column, finding.begin, finding.end);
  const std::string fixed = fixed_line(finding);
  if (!fixed.empty()) text += fmt::format("  fix | {}\n", printable(fixed));
  return text;
}

Json json_of(const Finding& finding) {
  Json fixes = Json::array();
  for (const Edit& edit : finding.fixes)
    fixes.push_back({{"file", edit.file},
                     {"line", edit.line},
                     {"column", edit.column},
                     {"end_line", edit.end_line},
                     {"end_column", edit.end_column},
                     {"text", edit.text}});
  return {{"id", finding.id},
          {"level", finding.error ? "error" : "warning"},
          {"file", finding.file},
          {"line", finding.line},
          {"column", finding.column},
          {"begin", finding.begin},
          {"end", finding.end},
          {"message", printable(finding.message)},
          {"text", printable(finding.line_text)},
          {"fixes", fixes}};
}

Finding finding_of(const Json& json) {
  Finding finding{.id = json.at("id"),
                  .error = json.at("level") == "error",
                  .file = json.at("file"),
                  .line = json.at("line"),
                  .column = json.at("column"),
                  .begin = json.at("begin"),
                  .end = json.at("end"),
                  .message = json.at("message"),
                  .line_text = json.at("text"),
                  .fixes = {}};
  for (const Json& fix : json.at("fixes"))
    finding.fixes.push_back({fix.at("file"), fix.at("line"), fix.at("column"), fix.at("end_line"),
                             fix.at("end_column"), fix.at("text")});
  return finding;
}

}  // namespace ondula::lint
