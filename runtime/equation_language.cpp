// What the language has against an author's equations.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <regex>
#include <string>
#include <utility>

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

/// Whether its line, or its very message, is among them.
bool is_known(const lint::Finding& finding, const std::vector<lint::Finding>& all) {
  return std::any_of(all.begin(), all.end(), [&](const lint::Finding& other) {
    const bool line = other.file == finding.file && other.line == finding.line && finding.line > 0;
    return line || other.message == finding.message;
  });
}

}  // namespace

LanguageFindings language_findings(const std::vector<EquationDefinition>& definitions,
                                   const EquationExamination& examined) {
  LanguageFindings all;
  for (const EquationDefinition& definition : definitions) {
    lint::Lines lines(definition.file(), examined.text);
    std::vector<std::pair<int, lint::Finding>> refused;
    for (const int dims : {1, 2, 3}) {
      try {
        passes::compile(definition, {.axes = default_axes(dims)});
      } catch (const UserError& error) {
        refused.emplace_back(dims, finding_in(error.what(), definition.file(), lines));
      }
    }
    const bool nowhere = refused.size() == 3;
    for (auto& [dims, finding] : refused) {
      if (is_told(finding, examined.findings)) continue;
      if (!nowhere) {
        const std::string own = "equation " + definition.name() + ": ";
        const std::string message =
            finding.message.starts_with(own) ? finding.message.substr(own.size()) : finding.message;
        all.elsewhere.push_back("equation " + definition.name() + ", " + std::to_string(dims) +
                                "-D: " + message);
      } else if (!is_known(finding, all.findings)) {
        all.findings.push_back(std::move(finding));
      }
    }
  }
  return all;
}

}  // namespace ondula
