// The example of standalone sources, and the case it runs.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "compiler/emit/standalone_context.hpp"
#include "compiler/passes/names.hpp"
#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

std::string list(const ir::Extents& values, int dims) {
  return fmt::format("{}", fmt::join(values.begin(), values.begin() + dims, ", "));
}

std::string source_name(const ir::Injection& injection) { return plain_identifier(injection.source); }

/// The case's grid, member by member; and its faces in words.
std::pair<std::string, std::string> grid(const StandaloneContext& c) {
  static constexpr std::array<const char*, 4> kinds = {"absorbing", "free_surface", "rigid", "periodic"};
  static constexpr std::array<const char*, 4> words = {"an absorbing layer", "a free surface", "a rigid wall",
                                                       ""};
  const StandaloneCase& e = c.example;
  std::string text, faces;
  for (int a = 0; a < c.dims(); ++a) {
    const auto axis = static_cast<std::size_t>(a);
    text += fmt::format("  grid.shape[{}] = {};\n  grid.spacing[{}] = {};\n", a, e.domain.shape[axis], a,
                        e.domain.spacing[axis]);
    std::array<std::size_t, 2> kind{};
    for (std::size_t side = 0; side < 2; ++side) {
      kind[side] = static_cast<std::size_t>(e.domain.faces[axis][side]);
      text += fmt::format("  grid.face[{}][{}] = {}_{};\n", a, side, c.symbol(), kinds.at(kind[side]));
      if (e.domain.pad[axis][side] > 0)
        text += fmt::format("  grid.width[{}][{}] = {};\n", a, side, e.domain.pad[axis][side]);
    }
    faces += fmt::format("{}{} ", faces.empty() ? "" : "; ", c.axis(a));
    if (e.domain.faces[axis][0] == FaceKind::periodic)
      faces += "goes round";
    else if (kind[0] == kind[1])
      faces += std::string("has ") + words.at(kind[0]) + " at both ends";
    else
      faces += fmt::format("begins with {} and ends with {}", words.at(kind[0]), words.at(kind[1]));
  }
  text += fmt::format("  grid.dt = {};\n  grid.layer_velocity = {};\n  grid.layer_frequency = {};\n",
                      e.layer.dt, e.layer.velocity, e.layer.frequency);
  return {text, "The grid: " + faces + "."};
}

std::string models(const StandaloneContext& c, bool declared) {
  std::string text;
  std::vector<std::string> names;
  for (const StandaloneModel& model : c.example.models) {
    const std::string name = passes::identifier(model.name);
    names.push_back(name + ".data()");
    text += fmt::format("  const std::vector<double> {} = example::model({}, {});\n", name, model.base,
                        model.step);
  }
  return declared ? text : fmt::format("{}", fmt::join(names, ", "));
}

/// A call that a CUDA example checks.
std::string call(const StandaloneContext& c, const std::string& function, const std::string& arguments) {
  if (c.cuda == nullptr) return fmt::format("{}({});\n", function, arguments);
  return fmt::format("check({0}({1}, stream), \"{0}\");\n", function, arguments);
}

std::string factors(const StandaloneContext& c) {
  std::string text;
  for (const StandaloneSource& source : c.example.sources) {
    const ir::Injection& injection = c.injection(source.injection);
    const std::string name = source_name(injection);
    const std::string factor = fmt::format(
        "{}_factor_{}(&grid{})", c.symbol(), name,
        factor_needs_models(injection) ? fmt::format(", &models, example::source_{}.node", name) : "");
    if (c.cuda == nullptr) {
      text += fmt::format(
          "  const double factor_{0} = {1} / volume * example::source_{0}.strength;\n"
          "  const long long place_{0} = {2}_at(&plan, example::source_{0}.node);\n",
          name, factor, c.symbol());
    } else {
      text += fmt::format(
          "  const real* const series_{0} = series({1} * example::source_{0}.strength);\n"
          "  const long long* const place_{0} = place(example::source_{0}.node);\n",
          name, factor);
    }
  }
  return text;
}

std::string injected(const StandaloneContext& c, int operation) {
  std::string text;
  for (const StandaloneSource& source : c.example.sources) {
    if (source.injection != operation) continue;
    const ir::Injection& injection = c.injection(operation);
    const std::string name = source_name(injection);
    const std::string target = c.written(injection.field);
    if (c.cuda == nullptr) {
      text += fmt::format(
          "    const real amount_{0} = static_cast<real>(factor_{0} * amplitude);\n"
          "    {1}_add(arrays.{2}, 1, &place_{0}, &amount_{0});\n",
          name, c.symbol(), target);
    } else {
      text += "    " + call(c, c.symbol() + "_add",
                            fmt::format("arrays.{}, 1, place_{}, series_{} + n", target, name, name));
    }
  }
  return text;
}

/// One step in the program's order.
std::string step(const StandaloneContext& c) {
  std::string text;
  for (const StandalonePart& part : c.parts) {
    if (part.sweep >= 0) text += "    " + call(c, c.launcher(part.sweep), "&plan, &arrays");
    if (part.injection >= 0) text += injected(c, part.injection);
    if (!part.images.empty()) text += "    " + call(c, c.images_launcher(part), "&plan, &arrays");
  }
  for (const ir::Field& field : c.program().fields) {
    if (field.time_order == 2)
      text +=
          fmt::format("    std::swap(arrays.{}, arrays.{});\n", c.current(field.name), c.written(field.name));
  }
  return text;
}

std::string reads(const StandaloneContext& c) {
  std::string text;
  const bool host = c.cuda == nullptr;
  for (std::size_t p = 0; p < c.example.probes.size(); p += standalone_probes) {
    const std::string at = p == 0 ? "" : fmt::format(" + {}", p);
    text += "      " + call(c, c.symbol() + "_read",
                            fmt::format("arrays.{}, {}, {}{}, {}{}", c.current(c.example.probes[p].field),
                                        standalone_probes, host ? "places.data()" : "places", at,
                                        host ? "values" : "look", at));
  }
  return text;
}

/// Coefficients and profiles are made on the host first, where arrays are on a device.
bool made_on_host(const StandaloneArray& array) { return array.is_profile() || array.is_coefficient(); }

std::string allocations(const StandaloneContext& c) {
  std::string text;
  for (const StandaloneArray& array : c.arrays) {
    if (c.cuda == nullptr) {
      text += fmt::format("  arrays.{0} = zeros(plan.sizes.{0});\n", array.member);
    } else if (made_on_host(array)) {
      text += fmt::format("  arrays.{0} = memory.copy({0});\n", array.member);
    } else {
      text += fmt::format("  arrays.{0} = memory.zeros<real>(plan.sizes.{0});\n", array.member);
    }
  }
  return text;
}

std::string host_allocations(const StandaloneContext& c) {
  std::string text;
  for (const StandaloneArray& array : c.arrays) {
    if (!made_on_host(array)) continue;
    text += fmt::format(
        "  std::vector<real> {0}(static_cast<std::size_t>(plan.sizes.{0}));\n  host.{0} = {0}.data();\n",
        array.member);
  }
  return text;
}

}  // namespace

std::string standalone_example(const StandaloneContext& c) {
  const char* const text =
      c.cuda == nullptr ? templates::standalone_example_host : templates::standalone_example_cuda;
  return filled(text, {{"P", c.symbol()},
                       {"BASE", c.base()},
                       {"VERSION", c.names.version},
                       {"REAL", c.real_name()},
                       {"HOST_ALLOCATIONS", host_allocations(c)},
                       {"ALLOCATIONS", allocations(c)},
                       {"MODELS", models(c, true)},
                       {"MODEL_LIST", models(c, false)},
                       {"FACTORS", factors(c)},
                       {"READS", reads(c)},
                       {"STEP", step(c)}});
}

std::string standalone_case_header(const StandaloneContext& c) {
  const StandaloneCase& e = c.example;
  std::string sources, probes, values;
  for (const StandaloneSource& source : e.sources) {
    sources +=
        fmt::format("const Source source_{}{{{{{}}}, {}}};\n", source_name(c.injection(source.injection)),
                    list(source.node, c.dims()), source.strength);
  }
  for (const StandaloneProbe& probe : e.probes)
    probes += fmt::format("    {{\"{}\", {{{}}}}},\n", probe.field, list(probe.node, c.dims()));
  for (const double v : e.values)
    values += c.real == Real::float32 ? fmt::format("    {:.9e},\n", v) : fmt::format("    {:.17e},\n", v);
  const auto [members, faces] = grid(c);
  return filled(templates::standalone_case, {{"P", c.symbol()},
                                             {"BASE", c.base()},
                                             {"VERSION", c.names.version},
                                             {"FACES", faces},
                                             {"GRID", members},
                                             {"SOURCES", sources},
                                             {"PROBES", probes},
                                             {"PROBE_COUNT", std::to_string(e.probes.size())},
                                             {"EACH", std::to_string(standalone_probes)},
                                             {"STEPS", std::to_string(e.steps)},
                                             {"EVERY", std::to_string(e.every)},
                                             {"SAMPLES", std::to_string(standalone_samples)},
                                             {"TOLERANCE", c.real == Real::float32 ? "2e-5" : "1e-13"},
                                             {"VALUES", values}});
}

}  // namespace ondula::emit
