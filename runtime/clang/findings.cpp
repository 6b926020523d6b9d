// Findings as JSON.
// SPDX-License-Identifier: MIT
#include "runtime/clang/findings.hpp"

#include <nlohmann/json.hpp>

namespace ondula::clang_module {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Place& place) {
  return {{"file", place.file}, {"own", place.own}, {"line", place.line}, {"column", place.column}};
}

Json json_of(const Fix& fix) {
  Json json = json_of(fix.begin);
  json.update({{"end_line", fix.end_line}, {"end_column", fix.end_column}, {"text", fix.text}});
  return json;
}

Json json_of(const Note& note) {
  Json json = json_of(note.place);
  json["message"] = note.message;
  return json;
}

Json json_of(const Diagnostic& said);

template <class T>
Json json_of(const std::vector<T>& all) {
  Json json = Json::array();
  for (const T& one : all) json.push_back(json_of(one));
  return json;
}

Json json_of(const Diagnostic& said) {
  Json json = json_of(said.place);
  json.update({{"id", said.id},
               {"group", said.group},
               {"level", said.level},
               {"message", said.message},
               {"begin", said.begin},
               {"end", said.end},
               {"fixes", json_of(said.fixes)},
               {"notes", json_of(said.notes)}});
  return json;
}

}  // namespace

std::string text_of(const Findings& findings) {
  const Json json = {{"equation_known", findings.equation_known},
                     {"diagnostics", json_of(findings.diagnostics)}};
  // What is no UTF-8 in a message is replaced.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ondula::clang_module
