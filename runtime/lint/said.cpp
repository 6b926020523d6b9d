// Reading what the Clang module says, and the lines it is about.
// SPDX-License-Identifier: MIT
#include "runtime/lint/said.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/error.hpp"

namespace ondula::lint {
namespace {

using Json = nlohmann::ordered_json;

void read_note(const Json& json, Note& note) {
  note.file = json.at("file");
  note.own = json.at("own");
  note.line = json.at("line");
  note.column = json.at("column");
  note.message = json.at("message");
}

Said said_of(const Json& json) {
  Said said;
  read_note(json, said);
  said.id = json.at("id");
  said.group = json.at("group");
  said.error = json.at("level") == "error";
  said.begin = json.at("begin");
  said.end = json.at("end");
  for (const Json& fix : json.at("fixes"))
    said.fixes.push_back({fix.at("file"), fix.at("line"), fix.at("column"), fix.at("end_line"),
                          fix.at("end_column"), fix.at("text")});
  for (const Json& note : json.at("notes")) read_note(note, said.notes.emplace_back());
  return said;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, to - from));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    from = to + 1;
  }
  return lines;
}

}  // namespace

Report report_of(const std::string& json) {
  Report report;
  if (json.empty()) return report;
  try {
    const Json whole = Json::parse(json);
    report.equation_known = whole.at("equation_known");
    for (const Json& one : whole.at("diagnostics")) report.all.push_back(said_of(one));
  } catch (const Json::exception& error) {
    throw InternalError(fmt::format("the Clang module's report cannot be read: {}", error.what()));
  }
  return report;
}

Lines::Lines(std::string file, const std::string& text) : file_(std::move(file)) {
  known_[file_] = split(text);
}

const std::vector<std::string>& Lines::lines(const std::string& file) {
  const auto found = known_.find(file);
  if (found != known_.end()) return found->second;
  std::ifstream stream(file, std::ios::binary);
  return known_[file] = split(std::string{std::istreambuf_iterator<char>(stream), {}});
}

std::string Lines::line(const std::string& file, std::size_t number) {
  if (file.empty() || number == 0) return "";
  const std::vector<std::string>& all = lines(file);
  return number <= all.size() ? all[number - 1] : "";
}

}  // namespace ondula::lint
