// `ondula lint`: findings on stdout, fixes in the file.
// SPDX-License-Identifier: MIT
#include "tools/lint.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "compiler/error.hpp"
#include "runtime/equation_examination.hpp"
#include "runtime/io/atomic_file.hpp"
#include "runtime/lint/edits.hpp"
#include "tools/answered.hpp"
#include "tools/check_failed.hpp"

namespace ondula::tools {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int compile_failed = 3;

/// Everything found in a file: by the compiler, by the linter, and by the language over 1, 2 and 3 axes.
EquationExamination examine(const std::string& file) {
  EquationFileOptions options;
  options.log = [](const std::string& text) { fmt::print(stderr, "{}", text); };
  EquationExamination examined = examine_equations(file, options);
  const bool endless =
      std::any_of(examined.findings.begin(), examined.findings.end(),
                  [](const lint::Finding& finding) { return finding.id == "infinite-recursion"; });
  if (!examined.compiled || endless) return examined;
  for (lint::Finding& complaint : language_findings(examined.load(), examined))
    examined.findings.push_back(std::move(complaint));
  std::stable_sort(examined.findings.begin(), examined.findings.end(),
                   [&](const lint::Finding& a, const lint::Finding& b) {
                     return std::tuple(a.file != file, a.file, a.line) <
                            std::tuple(b.file != file, b.file, b.line);
                   });
  return examined;
}

std::string read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Writes the fixes into the file, unless it has changed since it was read; how many.
std::size_t fix(const std::string& file, const EquationExamination& examined) {
  const lint::Fixed fixed = lint::fixed(file, examined.text, examined.findings);
  if (fixed.applied.empty()) return 0;
  // A link's target is replaced, not the link.
  const std::string path = fs::canonical(file).string();
  const fs::perms rights = fs::status(path).permissions();
  io::AtomicFile output(path, io::Existing::replace);
  output.write(std::as_bytes(std::span(fixed.text)));
  if (read(path) != examined.text)
    throw UserError(fmt::format("{} has changed since it was read: nothing is written; lint it again", file));
  output.commit();
  fs::permissions(path, rights);
  return fixed.applied.size();
}

std::string count_of(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string summary(const EquationExamination& examined, std::size_t fixed) {
  std::size_t mendable = 0;
  for (const lint::Finding& finding : examined.findings) mendable += finding.fixes.empty() ? 0 : 1;
  std::string text;
  if (fixed > 0) text = fmt::format("mended {}; ", fixed);
  text += examined.findings.empty() ? "nothing found"
                                    : count_of(examined.findings.size() + examined.more, "finding");
  if (mendable > 0) text += fmt::format("; --fix mends {}", mendable);
  return text;
}

void print(const LintCommand& command, const EquationExamination& examined, std::size_t fixed, int status) {
  if (command.voice.json) {
    Json findings = Json::array();
    for (const lint::Finding& finding : examined.findings) findings.push_back(lint::json_of(finding));
    fmt::print("{}\n", Json{{"file", command.file},
                            {"findings", findings},
                            {"more", examined.more},
                            {"fixed", fixed},
                            {"status", status}}
                           .dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  for (const lint::Finding& finding : examined.findings) fmt::print("{}", lint::text_of(finding));
  fmt::print(stderr, "{}", examined.log);
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
  EquationExamination examined = examine(command.file);
  std::size_t fixed = 0;
  if (command.fix) {
    fixed = fix(command.file, examined);
    if (fixed > 0) examined = examine(command.file);
  }
  const int status = !examined.compiled ? compile_failed : examined.findings.empty() ? 0 : 1;
  print(command, examined, fixed, status);
  const std::string result = summary(examined, fixed);
  if (status == compile_failed)
    throw Answered(fmt::format("{} does not compile: {}", command.file, result), status);
  if (status == 1) throw CheckFailed(fmt::format("{}: {}", command.file, result));
  if (!command.voice.json && !command.voice.quiet) fmt::print("{}: {}\n", command.file, result);
}

}  // namespace ondula::tools
