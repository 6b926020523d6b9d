// Applying fixes to a text, from its end to its beginning.
// SPDX-License-Identifier: MIT
#include "runtime/lint/edits.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace ondula::lint {
namespace {

/// The part of a text that an edit replaces.
struct Span {
  std::size_t from, to;
  const Edit* edit;
};

/// Where each line begins.
std::vector<std::size_t> line_starts(const std::string& text) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t at = 0; at < text.size(); ++at)
    if (text[at] == '\n') starts.push_back(at + 1);
  return starts;
}

std::optional<Span> span_of(const Edit& edit, const std::vector<std::size_t>& starts, std::size_t size) {
  const auto offset = [&](std::size_t line, std::size_t column) -> std::optional<std::size_t> {
    if (line == 0 || column == 0 || line > starts.size()) return {};
    const std::size_t at = starts[line - 1] + column - 1;
    return at > size ? std::nullopt : std::optional(at);
  };
  const auto from = offset(edit.line, edit.column), to = offset(edit.end_line, edit.end_column);
  if (!from || !to || *to < *from) return {};
  return Span{*from, *to, &edit};
}

std::string replaced(const std::string& text, std::vector<Span> spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.from > b.from; });
  std::string result = text;
  for (const Span& span : spans) result.replace(span.from, span.to - span.from, span.edit->text);
  return result;
}

bool overlap(const Span& a, const Span& b) {
  if (a.from == b.from) return true;
  return a.from < b.to && b.from < a.to;
}

}  // namespace

std::string edited(const std::string& text, const std::vector<Edit>& edits) {
  const std::vector<std::size_t> starts = line_starts(text);
  std::vector<Span> spans;
  for (const Edit& edit : edits)
    if (const auto span = span_of(edit, starts, text.size())) spans.push_back(*span);
  return replaced(text, std::move(spans));
}

bool mends(const Finding& finding) {
  static const std::set<std::string> ids = {
      "equals", "evolution-dropped", "include", "integer-division", "narrowing", "power", "std-math"};
  if (finding.fixes.empty()) return false;
  return ids.contains(finding.id) ||
         (finding.id == "compiler" && finding.message.starts_with("expected ';'"));
}

Fixed fixed(const std::string& file, const std::string& text, const std::vector<Finding>& findings) {
  const std::vector<std::size_t> starts = line_starts(text);
  std::vector<Span> taken;
  Fixed result;
  for (std::size_t k = 0; k < findings.size(); ++k) {
    std::vector<Span> wanted;
    bool fits = mends(findings[k]);
    for (const Edit& edit : findings[k].fixes) {
      const auto span = span_of(edit, starts, text.size());
      fits =
          fits && edit.file == file && span &&
          std::none_of(taken.begin(), taken.end(), [&](const Span& other) { return overlap(*span, other); });
      if (fits) wanted.push_back(*span);
    }
    if (!fits) continue;
    taken.insert(taken.end(), wanted.begin(), wanted.end());
    result.applied.push_back(k);
  }
  result.text = replaced(text, std::move(taken));
  return result;
}

}  // namespace ondula::lint
