// Reading the comments that allow findings.
// SPDX-License-Identifier: MIT
#include "runtime/lint/allow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ondula::lint {
namespace {

/// A comment's ids with their columns, and whether it has a line of its own.
struct Allowance {
  std::vector<std::pair<std::string, std::size_t>> ids;
  bool alone = false;
};

constexpr std::string_view head = "ondula: allow(";

Allowance allowance(const std::string& line) {
  Allowance result;
  const std::size_t comment = line.find("//");
  const std::size_t at = line.find(head);
  if (comment == std::string::npos || at == std::string::npos || at < comment) return result;
  result.alone = line.find_first_not_of(" \t") == comment;
  const std::size_t end = std::min(line.find(')', at), line.size());
  for (std::size_t from = at + head.size(); from < end;) {
    const std::size_t to = std::min(line.find(',', from), end);
    const std::size_t first = line.find_first_not_of(" \t", from);
    if (first < to) {
      const std::size_t last = line.find_last_not_of(" \t", to - 1);
      result.ids.emplace_back(line.substr(first, last - first + 1), first + 1);
    }
    from = to + 1;
  }
  return result;
}

bool has_id(const Allowance& allowed, const std::string& id) {
  return std::any_of(allowed.ids.begin(), allowed.ids.end(),
                     [&](const auto& one) { return one.first == id; });
}

}  // namespace

std::vector<Finding> without_allowed(std::vector<Finding> findings, Lines& lines, const std::string& text) {
  std::set<std::pair<std::size_t, std::string>> used;  // of the file itself
  const auto allows = [&](const Finding& finding, std::size_t number) {
    if (number == 0) return false;
    const Allowance allowed = allowance(lines.line(finding.file, number));
    if ((number != finding.line && !allowed.alone) || !has_id(allowed, finding.id)) return false;
    if (finding.file == lines.file()) used.insert({number, finding.id});
    return true;
  };
  std::erase_if(findings, [&](const Finding& finding) {
    if (finding.error || finding.line == 0) return false;
    return allows(finding, finding.line) || allows(finding, finding.line - 1);
  });
  if (std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.error; }))
    return findings;  // what else is there is not known
  const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (std::size_t number = 1; number <= count; ++number) {
    const std::string line = lines.line(lines.file(), number);
    for (const auto& [id, column] : allowance(line).ids) {
      if (used.contains({number, id})) continue;
      findings.push_back(
          {.id = "unused-allow",
           .file = lines.file(),
           .line = number,
           .column = column,
           .begin = column,
           .end = column + id.size(),
           .message = fmt::format("allows {}, and nothing of that name is found here: drop the comment", id),
           .line_text = line,
           .fixes = {}});
    }
  }
  return findings;
}

}  // namespace ondula::lint
