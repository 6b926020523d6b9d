// `ondula check`: an equation's own tests.
// SPDX-License-Identifier: MIT
#include "tools/check.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "compiler/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/io/job.hpp"
#include "runtime/io/suggest.hpp"
#include "tools/check_case.hpp"
#include "tools/check_failed.hpp"
#include "tools/session.hpp"
#include "tools/words.hpp"

namespace ondula::tools {
namespace {

using Json = nlohmann::ordered_json;

void require_word(const std::string& option, const std::string& found,
                  const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return;
  throw UserError(fmt::format("{}: found \"{}\"; allowed: {}", option, found, io::list_of(allowed)));
}

std::map<std::string, double> stated_models(const std::vector<std::string>& texts) {
  std::map<std::string, double> models;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('=');
    double value = 0;
    const char* end = text.data() + text.size();
    const bool number = at != std::string::npos && [&] {
      const auto [stop, error] = std::from_chars(text.data() + at + 1, end, value);
      return error == std::errc{} && stop == end;
    }();
    if (!number) throw UserError(fmt::format("--model: found \"{}\"; allowed: NAME=NUMBER", text));
    models[text.substr(0, at)] = value;
  }
  return models;
}

CheckSettings settings_of(const CheckCommand& command) {
  require_word("--dtype", command.dtype, {"float32", "float64"});
  require_word("--backend", command.backend, backend_names());
  const auto& orders = io::supported_orders();
  if (std::find(orders.begin(), orders.end(), command.order) == orders.end())
    throw UserError(fmt::format("--order: found {}; allowed: 2, 4, ... 16", command.order));
  if (command.dims && (*command.dims < 1 || *command.dims > 3))
    throw UserError(fmt::format("--dims: found {}; allowed: 1, 2, 3", *command.dims));
  return {equation_of(command.equation),
          command.order,
          command.dtype == "float64" ? DType::float64 : DType::float32,
          backend_of(command.backend),
          stated_models(command.models),
          make_compiler()};
}

/// The numbers of dimensions to test; those an equation cannot be stated in are left out unless asked for.
std::vector<int> dimensions(const CheckCommand& command, const EquationDefinition& definition) {
  if (command.dims) return {*command.dims};
  std::vector<int> dims;
  for (int d = 1; d <= 3; ++d) {
    try {
      static_cast<void>(definition.instantiate(default_axes(d)));
      dims.push_back(d);
    } catch (const UserError&) {
      continue;
    }
  }
  return dims;
}

void print(const CheckLine& line) {
  fmt::print("{}-D  {:<38} {:>9}  {:<11} {}{}{}\n", line.dims, line.name, line.figure, line.bar,
             line.passed ? "pass" : "FAIL", line.note.empty() ? "" : "  ", line.note);
  std::fflush(stdout);
}

Json entry(const CheckLine& line) {
  return {{"dims", line.dims}, {"check", line.name},    {"figure", line.figure},
          {"bar", line.bar},   {"passed", line.passed}, {"note", line.note}};
}

constexpr const char* not_checked = "the order of accuracy in time, dispersion, other faces and layers";

}  // namespace

CLI::App* add_check_command(CLI::App& program, CheckCommand& command) {
  CLI::App* check =
      program.add_subcommand("check", "an equation's own tests: adjoint, gradients, limit, convergence");
  check->add_option("EQ", command.equation, "an equation's name (`ondula list`)")->required();
  check->add_option("--dims", command.dims, "1, 2 or 3; all of them if left out");
  check->add_option("--order", command.order, "accuracy of the stencils: 2, 4, ... 16")
      ->capture_default_str();
  check->add_option("--dtype", command.dtype, "float32 or float64, of dot products and the limit")
      ->capture_default_str();
  check->add_option("--backend", command.backend, "host, reference, cuda or cuda-sim")->capture_default_str();
  check->add_option("--model", command.models,
                    "NAME=NUMBER: the value that a parameter's random model lies around");
  add_json_option(*check, command.voice);
  check->add_flag("-q,--quiet", command.voice.quiet, "say nothing but errors");
  return check;
}

void check_equation(const CheckCommand& command) {
  const CheckSettings settings = settings_of(command);
  const bool table = !command.voice.json && !command.voice.quiet;
  if (table) {
    fmt::print("{}: order {}, {}, {}\n", settings.definition.name(), settings.order,
               dtype_text(settings.dtype), backend_text(settings.backend));
  }
  Json checks = Json::array(), refused = Json::array();
  int failed = 0;
  for (const int dims : dimensions(command, settings.definition)) {
    const CheckCase test(settings, dims);
    if (!test.surface_refusal().empty()) {
      const bool wall = test.wall_refusal().empty();
      const std::string why = wall ? test.surface_refusal()
                                   : fmt::format("{}; no gradient beside a wall: {}", test.surface_refusal(),
                                                 test.wall_refusal());
      refused.push_back({{"dims", dims}, {"reason", why}});
      if (table)
        fmt::print("{}-D  with {}: no free surface: {}\n", dims, wall ? "a rigid wall" : "layers alone", why);
    }
    for (const auto& part : {check_derivatives, check_step}) {
      for (const CheckLine& line : part(test)) {
        checks.push_back(entry(line));
        failed += line.passed ? 0 : 1;
        if (table) print(line);
      }
    }
  }
  if (command.voice.json) {
    const Json answer{{"equation", settings.definition.name()},
                      {"order", settings.order},
                      {"dtype", command.dtype},
                      {"backend", command.backend},
                      {"passed", failed == 0},
                      {"checks", checks},
                      {"no_free_surface", refused},
                      {"not_checked", not_checked}};
    fmt::print("{}\n", answer.dump(2));
  } else if (table) {
    fmt::print("not checked: {}\n", not_checked);
  }
  if (failed > 0) throw CheckFailed(fmt::format("{} of {} checks failed", failed, checks.size()));
}

}  // namespace ondula::tools
