// `ondula list`: the equations, and what each supports.
// SPDX-License-Identifier: MIT
#include "tools/list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "runtime/backend.hpp"
#include "runtime/io/job.hpp"
#include "runtime/machine.hpp"
#include "runtime/propagator.hpp"
#include "runtime/scheme.hpp"
#include "runtime/storage_facts.hpp"

namespace ondula::tools {
namespace {

using Json = nlohmann::ordered_json;

/// The value of a parameter in words.
const char* domain_text(ir::Sign sign) {
  if (sign == ir::Sign::positive) return "positive";
  return sign == ir::Sign::nonnegative ? "0 or more" : "any";
}

/// "nodes", "half cells along z", "half cells along z and x".
std::string place_text(const ir::Field& field, const std::vector<std::string>& axes) {
  std::vector<std::string> halves;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (field.stagger[a] != 0) halves.push_back(axes[a]);
  }
  return halves.empty() ? "nodes" : fmt::format("half cells along {}", fmt::join(halves, " and "));
}

/// A first-order field that others read at the same step lives half a step before.
std::string time_text(const ir::Field& field) {
  if (field.time_order == 2) return "t, with the step before";
  return field.half_step ? "t - dt/2" : "t";
}

/// The numbers of dimensions an equation can be stated in.
std::vector<int> dimensions(const EquationDefinition& definition) {
  std::vector<int> dims;
  for (int d = 1; d <= ir::max_axes; ++d) {
    try {
      definition.instantiate(default_axes(d));
      dims.push_back(d);
    } catch (const UserError&) {
      continue;
    }
  }
  return dims;
}

/// Why `run` refuses an equation; empty where it does not.
std::string refusal(const EquationDefinition& definition, int dims) {
  try {
    const passes::Compilation compiled = passes::compile(definition, {default_axes(dims), 2, false, false});
    static_cast<void>(scheme_of(compiled.physical));
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

Json describe(const EquationDefinition& definition) {
  const std::vector<int> dims = dimensions(definition);
  const auto axes = default_axes(dims.back());
  // The last stages of discretize_time decide which fields live half a step apart.
  const ir::Program program = passes::compile(definition, {axes, 2, false, false}).physical;
  Json json{{"name", definition.name()}, {"description", definition.description()}};
  json["parameters"] = Json::array();
  for (const ir::Parameter& p : program.parameters)
    json["parameters"].push_back({{"name", p.name}, {"unit", p.unit}, {"values", domain_text(p.sign)}});
  json["fields"] = Json::array();
  for (const ir::Field& f : program.fields) {
    if (f.strip_axis >= 0) continue;
    json["fields"].push_back(
        {{"name", f.name}, {"unit", f.unit}, {"at", place_text(f, axes)}, {"time", time_text(f)}});
  }
  const EquationFacts names = facts(definition, axes);
  json["sources"] = Json::array();
  json["sources"].push_back({{"kind", "point"}, {"on", names.sources}});
  if (!names.forces.empty()) json["sources"].push_back({{"kind", "force"}, {"on", names.forces}});
  if (!names.moments.empty()) json["sources"].push_back({{"kind", "moment_rate"}, {"on", names.moments}});
  json["receivers"] = names.fields;
  for (const std::string& name : names.derived) json["receivers"].push_back(name);
  json["dims"] = dims;
  json["orders"] = io::supported_orders();
  json["dtypes"] = {"float32", "float64"};
  const std::string why = refusal(definition, dims.back());
  const StorageFacts storage = storage_facts(definition, axes);
  json["gradients"] = Json::array();
  const std::vector<std::pair<std::string, std::string>> ways = {{"full storage", storage.full},
                                                                 {"checkpoints", storage.checkpoints},
                                                                 {"boundary saving", storage.boundary}};
  for (const auto& [name, missing] : ways)
    json["gradients"].push_back({{"by", name}, {"works", missing.empty()}, {"why_not", missing}});
  json["backends"] = Json::array();
  for (const std::string& backend : backend_names()) {
    const std::string missing = why.empty() ? backend_problem(backend_of(backend)) : why;
    json["backends"].push_back({{"name", backend}, {"runs", missing.empty()}, {"why_not", missing}});
  }
  return json;
}

std::string text_of(const Json& json) { return json.is_string() ? json.get<std::string>() : json.dump(); }

void print(const Json& equation) {
  fmt::print("{}\n  {}\n", text_of(equation["name"]), text_of(equation["description"]));
  const auto rows = [](const char* head, const Json& list, const char* second, const char* third,
                       const char* fourth) {
    for (const Json& entry : list) {
      fmt::print("  {:<11} {:<6} {:<8} {}{}{}\n", head, text_of(entry["name"]), text_of(entry[second]),
                 text_of(entry[third]), fourth[0] == '\0' ? "" : "; at ",
                 fourth[0] == '\0' ? "" : text_of(entry[fourth]));
      head = "";
    }
  };
  rows("parameters", equation["parameters"], "unit", "values", "");
  rows("fields", equation["fields"], "unit", "at", "time");
  const auto joined = [](const Json& list) {
    std::string text;
    for (const Json& entry : list) text += (text.empty() ? "" : ", ") + text_of(entry);
    return text;
  };
  const char* head = "sources";
  for (const Json& source : equation["sources"]) {
    fmt::print("  {:<11} {} on {}\n", head, text_of(source["kind"]), joined(source["on"]));
    head = "";
  }
  fmt::print("  {:<11} {}\n", "receivers", joined(equation["receivers"]));
  fmt::print("  {:<11} {} dimensions; orders {}; {}\n", "in", joined(equation["dims"]),
             joined(equation["orders"]), joined(equation["dtypes"]));
  head = "gradients";
  std::string last;
  for (const Json& way : equation["gradients"]) {
    const std::string why = text_of(way["why_not"]);
    fmt::print("  {:<11} by {}{}{}\n", head, text_of(way["by"]),
               why.empty() ? "" : ": no: ", !why.empty() && why == last ? "the same" : why);
    head = "";
    last = why;
  }
  last.clear();
  for (const Json& backend : equation["backends"]) {
    const std::string why = text_of(backend["why_not"]);
    fmt::print("  {:<11} {}{}\n", text_of(backend["name"]), backend["runs"].get<bool>() ? "runs" : "no: ",
               why.empty()   ? ""
               : why == last ? "the same"
                             : why);
    last = why;
  }
  fmt::print("\n");
}

}  // namespace

void list_equations(const ListOptions& options) {
  Json all = Json::array();
  for (const EquationDefinition& definition : equations::all()) all.push_back(describe(definition));
  if (options.voice.json) {
    fmt::print("{}\n", Json{{"equations", all}}.dump(2));
    return;
  }
  for (const Json& equation : all) print(equation);
}

}  // namespace ondula::tools
