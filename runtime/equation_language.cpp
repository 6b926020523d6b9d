// What the language has against an author's equations.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <regex>

#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/equation_examination.hpp"
#include "runtime/lint/said.hpp"

namespace ondula {
namespace {

/// "FILE:LINE:COLUMN: MESSAGE" taken apart; a message without a place is the whole file's.
lint::Finding finding_in(const std::string& message, const std::string& file, lint::Lines& lines) {
  static const std::regex place("^([^:\n]+):([0-9]{1,7})(?::([0-9]{1,5}))?: ");
  lint::Finding finding{
      .id = "language", .error = true, .file = file, .message = message, .line_text = {}, .fixes = {}};
  std::smatch found;
  if (!std::regex_search(message, found, place)) return finding;
  finding.file = found[1];
  finding.line = std::stoul(found[2]);
  finding.column = found[3].matched ? std::stoul(found[3]) : 1;
  finding.begin = finding.column;
  finding.end = finding.column + 1;
  finding.message = found.suffix();
  finding.line_text = lines.line(finding.file, finding.line);
  return finding;
}

/// Whether the linter has told of it in its own words.
bool is_told(const lint::Finding& complaint, const std::vector<lint::Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [&](const lint::Finding& finding) {
    const bool same = finding.id == "unused-parameter" || finding.id == "unused-field" ||
                      finding.id == "field-never-evolves" || finding.id == "no-evolution";
    if (!same) return false;
    if (finding.id == "no-evolution") return complaint.message.find("nothing evolves") != std::string::npos;
    return finding.file == complaint.file && finding.line == complaint.line;
  });
}

}  // namespace

std::vector<lint::Finding> language_findings(const std::vector<EquationDefinition>& definitions,
                                             const EquationExamination& examined) {
  std::vector<lint::Finding> all;
  for (const EquationDefinition& definition : definitions) {
    lint::Lines lines(definition.file(), examined.text);
    for (const int dims : {1, 2, 3}) {
      try {
        passes::compile(definition, {.axes = default_axes(dims)});
      } catch (const UserError& error) {
        lint::Finding finding = finding_in(error.what(), definition.file(), lines);
        const bool known = std::any_of(all.begin(), all.end(), [&](const lint::Finding& other) {
          return other.file == finding.file && other.line == finding.line && finding.line > 0;
        });
        const bool repeated = std::any_of(all.begin(), all.end(), [&](const lint::Finding& other) {
          return other.message == finding.message;
        });
        if (!known && !repeated && !is_told(finding, examined.findings)) all.push_back(std::move(finding));
      }
    }
  }
  return all;
}

}  // namespace ondula
