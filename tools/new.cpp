// `ondula new`: the commented start, a built-in equation, or another file under a new name.
// SPDX-License-Identifier: MIT
#include "tools/new.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "compiler/error.hpp"
#include "equations/equations.hpp"
#include "equations/texts.hpp"
#include "runtime/equation_examination.hpp"
#include "runtime/io/suggest.hpp"
#include "templates/templates.hpp"
#include "tools/equation_text.hpp"

namespace ondula::tools {
namespace {

namespace fs = std::filesystem;

/// What C++ keeps for itself, as far as it is spelled like an equation's name.
const std::set<std::string>& keywords() {
  static const std::set<std::string> words = {
      "alignas",   "alignof",   "and",       "asm",      "auto",     "bitand",  "bitor",        "bool",
      "break",     "case",      "catch",     "char",     "class",    "compl",   "concept",      "const",
      "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete",       "do",
      "double",    "else",      "enum",      "explicit", "export",   "extern",  "false",        "float",
      "for",       "friend",    "goto",      "if",       "inline",   "int",     "long",         "main",
      "mutable",   "namespace", "new",       "noexcept", "not",      "nullptr", "operator",     "or",
      "private",   "protected", "public",    "register", "requires", "return",  "short",        "signed",
      "sizeof",    "static",    "struct",    "switch",   "template", "this",    "thread_local", "throw",
      "true",      "try",       "typedef",   "typeid",   "typename", "union",   "unsigned",     "using",
      "virtual",   "void",      "volatile",  "wchar_t",  "while",    "xor",     "std",          "ondula"};
  return words;
}

void check_name(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool plain = !name.empty() && letter(name[0]) && !name.ends_with('_') &&
                     name.find("__") == std::string::npos &&
                     std::all_of(name.begin(), name.end(),
                                 [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
  if (!plain)
    throw UserError(fmt::format(
        "new: \"{}\" is no name: a letter, then letters, digits and single underscores (a-z, A-Z, 0-9); the "
        "file is called NAME.cpp",
        name));
  if (keywords().contains(name))
    throw UserError(fmt::format("new: \"{}\" is a word of C++'s own: choose another name", name));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::string from_built_in(const std::string& from, const std::string& name) {
  std::vector<std::string> known;
  for (const std::string& text : equations::texts()) {
    for (const StatedEquation& stated : equations_in(text)) {
      known.push_back(stated.name);
      if (stated.name != from) continue;
      return fmt::format("// The equation {}, started from the built-in equation {}.\n{}", name, from,
                         with_one_equation(as_authors_file(text), from, name));
    }
  }
  throw UserError(
      fmt::format("new: --from: found \"{}\".{} (a file of your own is named by its path, mine.cpp)", from,
                  io::suggestion(from, known)));
}

/// Files that the text includes from beside it are named from where the new file stands.
std::string with_includes_from(const fs::path& folder, const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  const std::string head = "#include \"";
  for (std::string line; std::getline(lines, line); result += line + "\n") {
    if (!line.starts_with(head)) continue;
    const std::size_t end = line.find('"', head.size());
    if (end == std::string::npos) continue;
    const std::string name = line.substr(head.size(), end - head.size());
    std::error_code ignored;
    if (fs::path(name).is_absolute() || !fs::exists(folder / name, ignored)) continue;
    line.replace(head.size(), name.size(), fs::proximate(folder / name, fs::current_path()).generic_string());
  }
  return result;
}

std::string from_file(const std::string& from, const std::string& name) {
  const EquationDefinition definition = load_equation(from);
  const EquationExamination examined = examine_equations(definition.file());
  const std::vector<StatedEquation> stated = equations_in(examined.text);
  if (std::none_of(stated.begin(), stated.end(),
                   [&](const StatedEquation& one) { return one.name == definition.name(); }))
    throw UserError(
        fmt::format("new: --from: the text of equation {} is not found in {}: is it stated by a macro, or in "
                    "an included file?",
                    definition.name(), definition.file()));
  return with_includes_from(fs::path(definition.file()).parent_path(),
                            with_one_equation(examined.text, definition.name(), name));
}

std::string text_for(const NewCommand& command) {
  if (command.from.empty()) return replaced(templates::new_equation, "@NAME@", command.name);
  return is_equation_path(command.from) ? from_file(command.from, command.name)
                                        : from_built_in(command.from, command.name);
}

}  // namespace

CLI::App* add_new_command(CLI::App& program, NewCommand& command) {
  CLI::App* start = program.add_subcommand("new", "an equation's file to start from");
  start->add_option("NAME", command.name, "the equation's name; the file is NAME.cpp")->required();
  start->add_option(
      "--from", command.from,
      "start from a built-in equation (`ondula list`), or from a file: mine.cpp, mine.cpp:NAME");
  start->add_flag_callback(
      "--force", [&command] { command.existing = io::Existing::replace; }, "replace a file that exists");
  add_json_option(*start, command.voice);
  start->add_flag("-q,--quiet", command.voice.quiet, "say nothing but errors");
  return start;
}

void start_equation(const NewCommand& command) {
  check_name(command.name);
  const std::string path = command.name + ".cpp";
  io::write_text(path, text_for(command), command.existing);
  if (command.voice.json) {
    fmt::print(
        "{}\n",
        nlohmann::ordered_json{{"file", path}, {"equation", command.name}, {"from", command.from}}.dump(2));
    return;
  }
  if (command.voice.quiet) return;
  fmt::print("{} states the equation {}. Next:\n\n", path, command.name);
  const auto row = [width = path.size() + 24](const std::string& words, const std::string& what) {
    fmt::print("    {:<{}} {}\n", words, width, what);
  };
  row("ondula lint " + path, "what C++ lets slip");
  row("ondula explain " + path + " --dims 2", "what becomes of it");
  row("ondula check " + path, "its own tests");
  row("ondula run job.json", "a job that has \"equation\": \"" + path + "\"");
}

}  // namespace ondula::tools
