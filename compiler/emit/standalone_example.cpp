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
  if (!c.cuda()) return fmt::format("{}({});\n", function, arguments);
  return fmt::format("check({0}({1}, stream), \"{0}\");\n", function, arguments);
}

/// Whether a step back adds the opposite of what a source gave.
bool taken_off(const StandaloneContext& c, const ir::Injection& given) {
  if (!c.reverse) return false;
  for (const StandalonePart& part : c.reverse->parts) {
    if (part.injection < 0) continue;
    const ir::Injection& injection = c.reverse->injection(part.injection);
    if (injection.field == given.field && injection.source == given.source)
      return c.reverse->takes_off(c.program(), injection);
  }
  return false;
}

std::string factors(const StandaloneContext& c) {
  std::string text;
  for (const StandaloneSource& source : c.example.sources) {
    const ir::Injection& injection = c.forward.injection(source.injection);
    const std::string name = source_name(injection);
    const std::string factor = fmt::format(
        "{}_factor_{}(&grid{})", c.symbol(), name,
        factor_needs_models(injection) ? fmt::format(", &models, example::source_{}.node", name) : "");
    if (!c.cuda()) {
      text += fmt::format(
          "  const double factor_{0} = {1} * (example::source_{0}.strength / volume);\n"
          "  const real weight_{0} = static_cast<real>(factor_{0});\n"
          "  const long long place_{0} = {2}_at(&plan, example::source_{0}.node);\n",
          name, factor, c.symbol());
    } else {
      text += fmt::format(
          "  const real* const series_{0} = series({1} * (example::source_{0}.strength / volume));\n"
          "  const long long* const place_{0} = place(example::source_{0}.node);\n",
          name, factor);
      if (taken_off(c, injection)) {
        text += fmt::format(
            "  const real* const taken_{0} = series(-{1} * (example::source_{0}.strength / volume));\n", name,
            factor);
      }
    }
  }
  return text;
}

/// Of a step back its sources too, which may have to be taken off.
std::string injected(const StandaloneContext& c, const StandaloneStep& step, int operation) {
  std::string text;
  const ir::Injection& injection = step.injection(operation);
  const bool off = step.back() && step.takes_off(c.program(), injection);
  for (const StandaloneSource& source : c.example.sources) {
    const ir::Injection& given = c.forward.injection(source.injection);
    if (given.source != injection.source || given.field != injection.field) continue;
    const std::string name = source_name(injection);
    const std::string target = c.written(step, injection.field);
    if (!c.cuda()) {
      text += fmt::format(
          "    const real amount_{0} = {1}weight_{0} * amplitude;\n"
          "    {2}_add(arrays.{3}, 1, &place_{0}, &amount_{0});\n",
          name, off ? "-" : "", c.symbol(), target);
    } else {
      text += "    " + call(c, c.symbol() + "_add",
                            fmt::format("arrays.{}, 1, place_{}, {}_{} + n", target, name,
                                        off ? "taken" : "series", name));
    }
  }
  return text;
}

/// One step in its program's order.
std::string step_text(const StandaloneContext& c, const StandaloneStep& step) {
  std::string text;
  for (const StandalonePart& part : step.parts) {
    const std::string ring = part.rings.empty() ? "" : ", ring";
    text += part.injection >= 0 ? injected(c, step, part.injection)
                                : "    " + call(c, c.launcher(step, part), "&plan, &arrays" + ring);
  }
  for (const ir::Field& field : c.program().fields) {
    if (field.time_order == 2)
      text += fmt::format("    std::swap(arrays.{}, arrays.{});\n", c.current(field.name),
                          c.written(c.forward, field.name));
  }
  return text;
}

/// Fields that are no memory variables.
std::vector<const ir::Field*> whole_fields(const StandaloneContext& c) {
  std::vector<const ir::Field*> fields;
  for (const ir::Field& field : c.program().fields) {
    if (field.strip_axis < 0) fields.push_back(&field);
  }
  return fields;
}

/// reversal.WHAT for each field, its array in host memory.
std::string looks(const StandaloneContext& c, const std::string& what, const std::string& look) {
  std::string text;
  std::size_t number = 0;
  for (const ir::Field* field : whole_fields(c)) {
    const std::string array = "arrays." + c.current(field->name);
    const std::string there =
        c.cuda() ? fmt::format("fetched({}, plan.sizes.{}).data()", array, c.current(field->name)) : array;
    text += fmt::format("      reversal.{}({}{}, plan, {});\n", what, number++, look, there);
  }
  return text;
}

/// The way back: where rings stand, what is kept on the way there, and every step undone.
std::vector<std::pair<std::string, std::string>> reversal(const StandaloneContext& c) {
  const std::string expected = c.cuda() ? "{found.begin(), found.end()}" : "found";
  std::string result = fmt::format("  bool passed = example::as_expected({});\n", expected);
  if (!c.example.run_values.empty()) result += "  passed = example::as_run(found) && passed;\n";
  if (c.reverse) result += "  passed = reversal.near_enough() && passed;\n";
  if (c.adjoint)
    result += fmt::format("  passed = {}_gradient_as_expected({}) && passed;\n", c.symbol(), expected);
  result += "  return passed ? 0 : 1;";
  const std::string declared =
      c.adjoint ? "/// Whether the gradient of the case is right, in example_gradient; tells its figures.\n"
                  "bool @P@_gradient_as_expected(const std::vector<double>& records);\n\n"
                : "";
  if (!c.reverse) {
    return {{"UNDONE", ""}, {"RINGS", ""},      {"KEEPS", ""},         {"KEEP_RING", ""},
            {"BACK", ""},   {"RETURN", result}, {"DECLARED", declared}};
  }
  const std::string memory =
      c.cuda() ? "  real* const rings = memory.zeros<real>(example::steps * plan.ring_size);\n"
                 "  const auto fetched = [](const real* array, long long count) {\n"
                 "    std::vector<real> values(static_cast<std::size_t>(count));\n"
                 "    check(cudaMemcpy(values.data(), array, values.size() * sizeof(real), "
                 "cudaMemcpyDeviceToHost), \"cudaMemcpy\");\n    return values;\n  };\n"
               : "  std::vector<real> memory_of_rings(static_cast<std::size_t>(example::steps * "
                 "plan.ring_size));\n"
                 "  real* const rings = memory_of_rings.data();\n";
  const std::string back = fmt::format(
      "\n  // The way back: from the last step to the first each is undone.\n"
      "  for (long long n = example::steps - 1; n >= 0; --n) {{\n"
      "    const real* const ring = rings + n * plan.ring_size;\n{}{}"
      "    if (n % example::every == 0) {{\n{}    }}\n  }}\n",
      c.cuda() ? "" : "    const real amplitude = static_cast<real>(example::pulse(n));\n",
      step_text(c, *c.reverse), looks(c, "compare", ", n / example::every"));
  return {{"UNDONE", "; and its steps undone"},
          {"RINGS", "  // Of each step its own ring, and of each look the fields.\n" + memory +
                        "  example::Reversal reversal;\n\n"},
          {"KEEPS", looks(c, "keep", "")},
          {"KEEP_RING",
           "    " + call(c, c.symbol() + "_keep_ring", "&plan, &arrays, rings + n * plan.ring_size")},
          {"BACK", back},
          {"RETURN", result},
          {"DECLARED", declared}};
}

std::string reads(const StandaloneContext& c) {
  std::string text;
  const bool host = !c.cuda();
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
    if (array.kept || array.holder != "arrays") continue;
    if (!c.cuda()) {
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

/// What the case needs for the way back.
std::string reversal_case(const StandaloneContext& c) {
  if (!c.reverse) return "";
  std::string fields;
  for (const ir::Field* field : whole_fields(c)) {
    std::vector<std::string> half;
    for (int a = 0; a < c.dims(); ++a)
      half.emplace_back(field->stagger[static_cast<std::size_t>(a)] != 0 ? "true" : "false");
    fields += fmt::format("    {{\"{}\", {{{}}}}},\n", field->name, fmt::join(half, ", "));
  }
  return filled(templates::standalone_reversal,
                {{"FIELDS", fields},
                 {"FIELD_COUNT", std::to_string(whole_fields(c).size())},
                 {"REVERSED_TOLERANCE", c.real == Real::float32 ? "1e-5" : "1e-12"}});
}

/// What a run of Ondula's own finds, to the last bit.
std::string run_case(const StandaloneContext& c) {
  if (c.example.run_values.empty()) return "";
  std::string values;
  for (const double v : c.example.run_values)
    values += c.real == Real::float32 ? fmt::format("    {:.9e},\n", v) : fmt::format("    {:.17e},\n", v);
  return filled(templates::standalone_run, {{"VALUES", values}, {"REAL", c.real_name()}});
}

}  // namespace

std::string standalone_step_text(const StandaloneContext& c, const StandaloneStep& step) {
  return step_text(c, step);
}

std::string standalone_example(const StandaloneContext& c) {
  std::vector<std::pair<std::string, std::string>> values = reversal(c);
  const std::vector<std::pair<std::string, std::string>> others = {{"P", c.symbol()},
                                                                   {"BASE", c.base()},
                                                                   {"VERSION", c.names.version},
                                                                   {"REAL", c.real_name()},
                                                                   {"HOST_ALLOCATIONS", host_allocations(c)},
                                                                   {"ALLOCATIONS", allocations(c)},
                                                                   {"MODELS", models(c, true)},
                                                                   {"MODEL_LIST", models(c, false)},
                                                                   {"FACTORS", factors(c)},
                                                                   {"READS", reads(c)},
                                                                   {"STEP", step_text(c, c.forward)}};
  values.insert(values.end(), others.begin(), others.end());
  return filled(c.cuda() ? templates::standalone_example_cuda : templates::standalone_example_host, values);
}

std::string standalone_case_header(const StandaloneContext& c) {
  const StandaloneCase& e = c.example;
  std::string sources, probes, values;
  for (const StandaloneSource& source : e.sources) {
    sources += fmt::format("const Source source_{}{{{{{}}}, {}}};\n",
                           source_name(c.forward.injection(source.injection)), list(source.node, c.dims()),
                           source.strength);
  }
  for (const StandaloneProbe& probe : e.probes)
    probes += fmt::format("    {{\"{}\", {{{}}}}},\n", probe.field, list(probe.node, c.dims()));
  for (const double v : e.values)
    values += c.real == Real::float32 ? fmt::format("    {:.9e},\n", v) : fmt::format("    {:.17e},\n", v);
  const auto [members, faces] = grid(c);
  return filled(templates::standalone_case, {{"RUN", run_case(c)},
                                             {"REVERSAL", reversal_case(c)},
                                             {"GRADIENT", standalone_gradient_case(c)},
                                             {"P", c.symbol()},
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
