// From what the module says to findings: which are told, where, and in which words.
// SPDX-License-Identifier: MIT
#include "runtime/lint/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "runtime/lint/rules.hpp"
#include "runtime/lint/scan.hpp"

namespace ondula::lint {
namespace {

constexpr std::size_t most_errors = 3;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The author's line that an error belongs to.
Problem problem_of(const Said& said, Lines& lines, const std::vector<std::string>& vocabulary) {
  Problem p{.said = &said,
            .file = said.file,
            .number = said.line,
            .column = said.column,
            .begin = said.begin,
            .end = said.end,
            .vocabulary = &vocabulary};
  const auto own =
      std::find_if(said.notes.begin(), said.notes.end(), [](const Note& note) { return note.own; });
  if (!said.own && own != said.notes.end()) {
    p.file = own->file;
    p.number = own->line;
    p.column = own->column;
    p.begin = p.column;
    p.end = p.column + 1;
    p.inside_header = true;
  }
  p.line = lines.line(p.file, p.number);
  if (p.inside_header && p.column > 0) {
    const Part name = name_at(p.line, p.column - 1);
    if (!name.empty()) std::tie(p.begin, p.end) = std::pair(name.from + 1, name.to + 1);
  }
  return p;
}

/// The compiler's words, with what its notes add in the author's own files.
std::string own_words(const Problem& p) {
  std::string message = p.said->message;
  if (p.inside_header) {
    const Part name = name_at(p.line, p.column > 0 ? p.column - 1 : 0);
    message = fmt::format("{} fails within <{}>: {}", name.empty() ? "this" : name.text,
                          base_name(p.said->file), message);
  }
  for (const Note& note : p.said->notes) {
    if (!note.own) continue;
    if (note.message.starts_with("to match this "))
      return fmt::format("{} {} at {}:{}", message, note.message, note.line, note.column);
    if (note.message.starts_with("previous "))
      return fmt::format("{} (first at {}:{})", message, base_name(note.file), note.line);
    if (note.message.find("exceeded maximum depth") != std::string::npos ||
        note.message.find("hit its step limit") != std::string::npos)
      return fmt::format("{}: {}", message, note.message);
  }
  return message;
}

Finding finding_at(const Problem& p, Answer answer, bool error) {
  return {.id = std::move(answer.id),
          .error = error,
          .file = p.file,
          .line = p.number,
          .column = p.column,
          .begin = p.begin,
          .end = p.end,
          .message = std::move(answer.message),
          .line_text = p.line,
          .fixes = std::move(answer.fixes)};
}

/// What is wrong with the line EQUATION(...) itself: all else that the compiler says follows from it.
std::optional<Finding> equation_line(Problem p, const Report& report) {
  const std::size_t at = p.line.find("EQUATION");
  if (at == std::string::npos || p.line.find_first_not_of(" \t") != at) return {};
  p.column = p.begin = at + 1;
  p.end = p.begin + std::string("EQUATION").size();
  if (!report.equation_known) {
    const std::size_t mark = p.number == 1 && p.line.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    return finding_at(p,
                      {"include",
                       "EQUATION is not known: begin the file with #include <ondula/dsl.hpp>",
                       {{p.file, 1, mark + 1, 1, mark + 1, "#include <ondula/dsl.hpp>\n"}}},
                      true);
  }
  const std::vector<std::string> arguments = arguments_after(p.line, at + std::string("EQUATION").size());
  if (p.said->message.starts_with("redefinition of") && !arguments.empty()) {
    std::string first;
    for (const Note& note : p.said->notes)
      if (note.own && note.message.starts_with("previous"))
        first = fmt::format(", first at line {}", note.line);
    return finding_at(
        p, {"equation", fmt::format("equation {} is stated twice{}: rename one", arguments[0], first), {}},
        true);
  }
  if (arguments.size() != 2 || !is_identifier(arguments[0]))
    return finding_at(p,
                      {"equation",
                       "EQUATION takes a name and a description: EQUATION(mine, \"what it states\") { ... }",
                       {}},
                      true);
  if (arguments[1].empty() || arguments[1][0] != '"') return {};
  // A well-formed line on which the compiler stumbles: the name is taken.
  const bool body = p.said->message.find("expected '}'") != std::string::npos;
  if (body || !p.said->error) return {};
  return finding_at(
      p,
      {"equation", fmt::format("{} cannot be an equation's name in C++: choose another", arguments[0]), {}},
      true);
}

bool is_dangling(const std::string& group) {
  static const std::set<std::string> groups = {"return-stack-address",
                                               "dangling",
                                               "dangling-gsl",
                                               "dangling-field",
                                               "dangling-assignment",
                                               "dangling-initializer-list",
                                               "dangling-assignment-gsl",
                                               "return-local-addr"};
  return groups.contains(group);
}

Finding warning_of(const Said& said, Lines& lines, const std::vector<std::string>& vocabulary) {
  const Problem p = problem_of(said, lines, vocabulary);
  if (said.id == "power") return finding_at(p, power_answer(p), false);
  std::string id = !said.id.empty() ? said.id : is_dangling(said.group) ? "dangling-reference" : said.group;
  if (id.empty()) id = "compiler";
  return finding_at(p, {std::move(id), own_words(p), said.fixes}, false);
}

std::vector<Finding> warnings(const Report& report, Lines& lines,
                              const std::vector<std::string>& vocabulary) {
  std::vector<Finding> all;
  for (const Said& said : report.all) {
    Finding finding = warning_of(said, lines, vocabulary);
    const bool known = std::any_of(all.begin(), all.end(), [&](const Finding& other) {
      return other.id == finding.id && other.file == finding.file && other.line == finding.line &&
             (other.column == finding.column || finding.id == "dangling-reference");
    });
    if (!known) all.push_back(std::move(finding));
  }
  std::stable_sort(all.begin(), all.end(), [&](const Finding& a, const Finding& b) {
    const auto key = [&](const Finding& f) {
      return std::tuple(f.file != lines.file(), f.file, f.line, f.column);
    };
    return key(a) < key(b);
  });
  return all;
}

}  // namespace

Worded worded(const Report& report, Lines& lines, const std::vector<std::string>& vocabulary) {
  Worded result;
  std::set<std::pair<std::string, std::size_t>> told;
  std::set<std::string> own_files;
  for (const Said& said : report.all) {
    if (!said.error) continue;
    const Problem p = problem_of(said, lines, vocabulary);
    if (said.own || p.inside_header) own_files.insert(p.file);
    if (auto whole = equation_line(p, report)) {
      if (result.findings.empty()) return {{*whole}, 0};
      break;
    }
    if (!told.insert({p.file, p.number}).second) continue;
    if (result.findings.size() == most_errors) {
      ++result.more;
      continue;
    }
    std::optional<Answer> answered = answer(p);
    if (!answered)
      answered = Answer{"compiler", own_words(p), p.inside_header ? std::vector<Edit>() : said.fixes};
    result.findings.push_back(finding_at(p, std::move(*answered), true));
  }
  // What a header says without a line of the author's matters where nothing else is said.
  const auto foreign = [&](const Finding& finding) { return !own_files.contains(finding.file); };
  if (!std::all_of(result.findings.begin(), result.findings.end(), foreign))
    std::erase_if(result.findings, foreign);
  if (result.findings.empty()) result.findings = warnings(report, lines, vocabulary);
  return result;
}

std::vector<std::string> vocabulary_of(const std::string& header) {
  std::vector<std::string> names;
  for (const std::string head : {"ONDULA_API Tensor ", "ONDULA_API TimeDerivative "}) {
    for (std::size_t at = header.find(head); at != std::string::npos; at = header.find(head, at + 1)) {
      const std::size_t from = at + head.size(), to = header.find('(', from);
      const std::string name = header.substr(from, to - from);
      if (is_identifier(name) && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
  }
  return names;
}

}  // namespace ondula::lint
