// `ondula lint`: findings on stdout, fixes in the file.
// SPDX-License-Identifier: MIT
#include "tools/lint.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "compiler/error.hpp"
#include "runtime/equation_examination.hpp"
#include "runtime/lint/edits.hpp"
#include "runtime/lint/write.hpp"
#include "tools/answered.hpp"
#include "tools/check_failed.hpp"

namespace ondula::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr int compile_failed = 3;

/// Everything found in a file: by the compiler, by the linter, and by the language over 1, 2 and 3 axes; to
/// `elsewhere` goes for how many axes an equation is not.
EquationExamination examine(const std::string& file, std::vector<std::string>& elsewhere) {
  elsewhere.clear();
  EquationFileOptions options;
  options.log = [](const std::string& text) { fmt::print(stderr, "{}", text); };
  EquationExamination examined = examine_equations(file, options);
  const bool endless =
      std::any_of(examined.findings.begin(), examined.findings.end(),
                  [](const lint::Finding& finding) { return finding.id == "infinite-recursion"; });
  if (!examined.compiled || endless) return examined;
  try {
    LanguageFindings language = language_findings(examined.load(), examined);
    elsewhere = std::move(language.elsewhere);
    for (lint::Finding& complaint : language.findings) examined.findings.push_back(std::move(complaint));
  } catch (const UserError& error) {  // it states no equation, say
    examined.findings.push_back({.id = "language",
                                 .error = true,
                                 .file = file,
                                 .message = error.what(),
                                 .line_text = {},
                                 .fixes = {}});
  }
  std::stable_sort(examined.findings.begin(), examined.findings.end(),
                   [&](const lint::Finding& a, const lint::Finding& b) {
                     return std::tuple(a.file != file, a.file, a.line) <
                            std::tuple(b.file != file, b.file, b.line);
                   });
  return examined;
}

std::string count_of(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string summary(const EquationExamination& examined, std::size_t fixed) {
  std::size_t mendable = 0;
  for (const lint::Finding& finding : examined.findings) mendable += lint::mends(finding) ? 1 : 0;
  std::string text;
  if (fixed > 0) text = fmt::format("mended {}; ", fixed);
  text += examined.findings.empty() ? "nothing found"
                                    : count_of(examined.findings.size() + examined.more, "finding");
  if (mendable > 0) text += fmt::format("; --fix mends {}", mendable);
  return text;
}

void print(const LintCommand& command, const EquationExamination& examined,
           const std::vector<std::string>& elsewhere, std::size_t fixed, int status) {
  if (command.voice.json) {
    Json findings = Json::array();
    for (const lint::Finding& finding : examined.findings) findings.push_back(lint::json_of(finding));
    fmt::print("{}\n", Json{{"file", command.file},
                            {"findings", findings},
                            {"elsewhere", elsewhere},
                            {"more", examined.more},
                            {"fixed", fixed},
                            {"status", status}}
                           .dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  for (const lint::Finding& finding : examined.findings) fmt::print("{}", lint::text_of(finding));
  fmt::print(stderr, "{}", examined.log);
  if (!command.voice.quiet)
    for (const std::string& note : elsewhere) fmt::print("not for all dimensions: {}\n", note);
  if (examined.more > 0) fmt::print("and {}\n", count_of(examined.more, "more error"));
}

}  // namespace

CLI::App* add_lint_command(CLI::App& program, LintCommand& command) {
  CLI::App* lint = program.add_subcommand("lint", "what C++ lets slip in an equation's file");
  lint->add_option("FILE", command.file, "a C++ file that states equations")->required();
  lint->add_flag("--fix", command.fix, "write what mends findings into the file");
  add_json_option(*lint, command.voice);
  lint->add_flag("-q,--quiet", command.voice.quiet, "say nothing where nothing is found");
  return lint;
}

void lint_file(const LintCommand& command) {
  std::vector<std::string> elsewhere;
  EquationExamination examined = examine(command.file, elsewhere);
  std::size_t fixed = 0;
  if (command.fix) {
    fixed = lint::write_fixes(command.file, examined.text, examined.findings);
    if (fixed > 0) examined = examine(command.file, elsewhere);
  }
  const int status = !examined.compiled ? compile_failed : examined.findings.empty() ? 0 : 1;
  print(command, examined, elsewhere, fixed, status);
  const std::string result = summary(examined, fixed);
  if (status == compile_failed)
    throw Answered(fmt::format("{} does not compile: {}", command.file, result), status);
  if (status == 1) throw CheckFailed(fmt::format("{}: {}", command.file, result));
  if (!command.voice.json && !command.voice.quiet) fmt::print("{}: {}\n", command.file, result);
}

}  // namespace ondula::tools
