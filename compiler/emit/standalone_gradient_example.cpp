// The example of a gradient among standalone sources, and what it must find.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/emit/standalone_context.hpp"
#include "compiler/passes/names.hpp"
#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

class GradientExample {
 public:
  explicit GradientExample(const StandaloneContext& context) : c_(context), p_(context.symbol()) {}

  std::string print() const {
    const bool cuda = c_.cuda();
    const std::vector<std::pair<std::string, std::string>> values = {
        {"INCLUDES", includes()},
        {"MEMORY", cuda ? templates::standalone_memory_cuda : templates::standalone_memory_host},
        {"ADD_TIMES", add_times()},
        {"MODEL_LIST", parameters([](std::size_t k, auto) { return fmt::format("values[{}].data()", k); })},
        {"GRADIENT_LIST",
         parameters([](std::size_t k, auto) { return fmt::format("result[{}].data()", k); })},
        {"MODELS", models()},
        {"HOST_ALLOCATIONS", host_allocations()},
        {"ALLOCATIONS", allocations()},
        {"KEPT_ALLOCATIONS", kept_allocations()},
        {"WEIGHTS", weights()},
        {"WEIGHT_MEMBERS", weight_members()},
        {"READS", reads()},
        {"STEP", forward_step()},
        {"KEEP", call("_keep", "&plan, &arrays, run.slot(n + 1)")},
        {"FELT", felt()},
        {"STEP_BACK", back_step()},
        {"SUMS", sums()},
        {"SOURCE_GRADIENTS", source_gradients()},
        {"WAVELETS", wavelets()},
        {"P", p_},
        {"BASE", c_.base()},
        {"REAL", c_.real_name()},
        {"VERSION", c_.names.version}};
    return filled(templates::standalone_gradient_example, values);
  }

 private:
  std::string includes() const {
    const char* const host =
        "#include <algorithm>\n#include <cmath>\n#include <cstdio>\n#include <memory>\n#include <utility>\n"
        "#include <vector>\n";
    const char* const cuda =
        "#include <cuda_runtime.h>\n\n#include <cmath>\n#include <cstdio>\n#include <cstdlib>\n#include "
        "<utility>\n#include <vector>\n";
    return c_.cuda() ? cuda : host;
  }

  template <class F>
  std::string parameters(const F& f) const {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < c_.example.models.size(); ++k) all.push_back(f(k, c_.example.models[k]));
    return fmt::format("{}", fmt::join(all, ", "));
  }

  std::string models() const {
    return parameters([](std::size_t, const StandaloneModel& m) {
      return fmt::format("example::model({}, {})", m.base, m.step);
    });
  }

  /// A call that a CUDA example checks.
  std::string call(const std::string& function, const std::string& arguments) const {
    const std::string name = function.starts_with('_') ? p_ + function : function;
    if (!c_.cuda()) return fmt::format("    {}({});\n", name, arguments);
    return fmt::format("    check({0}({1}, nullptr), \"{0}\");\n", name, arguments);
  }

  std::string add_times() const {
    bool used = false;
    for (const ir::Operation& operation : c_.adjoint->program().operations) {
      const auto* injection = std::get_if<ir::Injection>(&operation);
      used |= injection != nullptr && !injection->times.empty();
    }
    if (!used) return "";
    if (!c_.cuda()) {
      return "  void add_times(real* array, long long at, real amount, const real* factors) const {\n"
             "    @P@_add_times(array, 1, &at, &amount, factors);\n  }\n";
    }
    return "  void add_times(real* array, long long at, real amount, const real* factors) const {\n"
           "    point(at, amount);\n"
           "    check(@P@_add_times(array, 1, place_, value_, factors, nullptr), \"@P@_add_times\");\n  }\n";
  }

  static bool made_on_host(const StandaloneArray& array) {
    return array.is_profile() || array.is_coefficient();
  }

  std::string host_allocations() const {
    std::string text;
    for (const StandaloneArray& array : c_.arrays) {
      if (!made_on_host(array)) continue;
      text += fmt::format(
          "    std::vector<real> {0}(static_cast<std::size_t>(plan.sizes.{0}));\n    host.{0} = "
          "{0}.data();\n",
          array.member);
    }
    return text;
  }

  std::string allocations() const {
    std::string text;
    for (const StandaloneArray& array : c_.arrays) {
      const bool back = array.holder == "adjoint";
      if (array.kept) continue;
      if (made_on_host(array))
        text += fmt::format("    arrays.{0} = memory.copy({0});\n", array.member);
      else
        text += fmt::format("    {0}.{1} = memory.zeros(plan.{2}sizes.{1});\n", array.holder, array.member,
                            back ? "adjoint_" : "");
    }
    return text;
  }

  std::string kept_allocations() const {
    std::string text;
    for (const ir::Save& save : c_.gradient->adjoint.saves)
      text += fmt::format("      one.{} = memory.zeros(plan.kept_size);\n", StandaloneContext::kept(save));
    return text;
  }

  const ir::Injection& given(const StandaloneSource& source) const {
    return c_.forward.injection(source.injection);
  }
  std::string name(const StandaloneSource& source) const { return plain_identifier(given(source).source); }

  std::string weights() const {
    std::string text;
    for (const StandaloneSource& source : c_.example.sources) {
      const std::string models = factor_needs_models(given(source))
                                     ? fmt::format(", &run.models, example::source_{}.node", name(source))
                                     : "";
      text += fmt::format(
          "    {0} = {1}_factor_{0}(&run.grid{2}) * (example::source_{0}.strength / run.volume);\n"
          "    at_{0} = {1}_at(&run.plan, example::source_{0}.node);\n",
          name(source), p_, models);
    }
    return text;
  }

  std::string weight_members() const {
    std::string text;
    for (const StandaloneSource& source : c_.example.sources)
      text += fmt::format("  double {0} = 0;\n  long long at_{0} = 0;\n", name(source));
    return text;
  }

  std::string reads() const {
    std::string text;
    for (std::size_t p = 0; p < c_.example.probes.size(); ++p) {
      text += fmt::format("      found.push_back(memory.read(arrays.{}, run.places[{}]));\n",
                          c_.current(*c_.keeping, c_.example.probes[p].field), p);
    }
    return text;
  }

  std::string swaps(const StandaloneStep& step, const std::string& holder) const {
    std::string text;
    for (const ir::Field& field : step.program().fields) {
      if (field.time_order == 2 && !field.saved)
        text += fmt::format("    std::swap({0}.{1}, {0}.{2});\n", holder, c_.current(step, field.name),
                            c_.written(step, field.name));
    }
    return text;
  }

  std::string forward_step() const {
    const StandaloneStep& step = *c_.keeping;
    std::string text;
    for (const StandalonePart& part : step.parts) {
      if (part.injection < 0) {
        text += call(c_.launcher(step, part), "&plan, &arrays");
        continue;
      }
      const ir::Injection& injection = step.injection(part.injection);
      for (const StandaloneSource& source : c_.example.sources) {
        if (given(source).source != injection.source || given(source).field != injection.field) continue;
        text += fmt::format(
            "    memory.add(arrays.{0}, weights.at_{1}, static_cast<real>(weights.{1}) * amplitude);\n",
            c_.written(step, injection.field), name(source));
      }
    }
    return text + swaps(step, "arrays");
  }

  std::string felt() const {
    std::string text;
    for (const StandaloneSource& source : c_.example.sources)
      text += fmt::format("  double {}[example::steps] = {{}};\n", name(source));
    return text;
  }

  const ir::AdjointVariable* variable(const std::string& field) const {
    for (const ir::AdjointVariable& v : c_.gradient->adjoint.variables) {
      if (v.field == field) return &v;
    }
    return nullptr;
  }

  std::string look(const std::string& state) const {
    std::string text;
    for (const StandaloneSource& source : c_.example.sources) {
      const ir::AdjointVariable* const v = variable(given(source).field);
      for (const auto& [factor, own] : v->value.terms) {
        if (own != state) continue;
        text += fmt::format(
            "    felt.{0}[n] += {1}_share_{2}_of_{3}(&run.grid, &run.models, example::source_{0}.node) *\n"
            "                   memory.read(adjoint.{4}, {1}_at(&plan, example::source_{0}.node));\n",
            name(source), p_, plain_identifier(v->field), plain_identifier(state),
            c_.current(*c_.adjoint, state));
      }
    }
    return text;
  }

  /// What is kept of the field that residuals are multiplied by.
  std::string factors(const ir::Injection& injection) const {
    for (const ir::Save& save : c_.gradient->adjoint.saves) {
      if (save.name == injection.times) return "run.slot(n)->" + StandaloneContext::kept(save);
    }
    return "adjoint." + c_.current(*c_.adjoint, injection.times);
  }

  std::string residuals(const ir::Injection& injection) const {
    std::string text;
    for (std::size_t p = 0; p < c_.example.probes.size(); p += standalone_probes) {
      if (c_.example.probes[p].field != injection.source) continue;
      const bool times = !injection.times.empty();
      text += fmt::format(
          "    for (std::size_t p = {0}; looked && p < {1}; ++p) {{\n"
          "      const double factor = {2}_residual_{3}_to_{4}(&run.grid, &run.models, "
          "example::probes[p].node);\n"
          "      memory.{5}(adjoint.{6}, run.places[p], static_cast<real>(factor * residuals[look + "
          "p]){7});\n"
          "    }}\n",
          p, p + standalone_probes, p_, plain_identifier(injection.source), plain_identifier(injection.field),
          times ? "add_times" : "add", c_.written(*c_.adjoint, injection.field),
          times ? ", " + factors(injection) : "");
    }
    return text;
  }

  std::string back_step() const {
    const StandaloneStep& step = *c_.adjoint;
    std::string text;
    for (const StandalonePart& part : step.parts) {
      for (const std::string& state : part.looks) text += look(state);
      if (!part.looks.empty()) continue;
      text += part.injection >= 0 ? residuals(step.injection(part.injection))
                                  : call(c_.launcher(step, part), "&plan, &arrays, &adjoint");
    }
    return text + swaps(step, "adjoint");
  }

  std::string sums() const {
    std::string text;
    for (const ir::Field& field : c_.adjoint->program().fields) {
      if (!field.accumulator || field.strip_axis >= 0) continue;
      const std::string member = c_.current(*c_.adjoint, field.name);
      text += fmt::format(
          "  std::vector<real> {0} = run.memory.get(run.adjoint.{0}, plan.adjoint_sizes.{0});\n"
          "  sums.{0} = {0}.data();\n",
          member);
    }
    return text;
  }

  std::string source_gradients() const {
    std::string text;
    for (const StandaloneSource& source : c_.example.sources) {
      text += fmt::format(
          "  double fed_{0} = 0;\n"
          "  for (long long n = 0; n < example::steps; ++n)\n"
          "    fed_{0} += example::pulse(n) * (example::source_{0}.strength / run.volume) * felt.{0}[n];\n"
          "  {1}_add_source_gradient_{0}(&run.grid, &run.models, example::source_{0}.node, fed_{0}, "
          "&gradient);\n",
          name(source), p_);
    }
    return text;
  }

  std::string wavelets() const {
    std::string text;
    for (const StandaloneSource& source : c_.example.sources)
      text +=
          fmt::format("    by_wavelets += example::pulse(n) * weights.{0} * felt.{0}[k];\n", name(source));
    return text;
  }

  const StandaloneContext& c_;
  std::string p_;
};

}  // namespace

std::string standalone_gradient_example(const StandaloneContext& c) { return GradientExample(c).print(); }

std::string standalone_gradient_case(const StandaloneContext& c) {
  if (!c.adjoint) return "";
  std::string gradients;
  for (const StandaloneModelGradient& g : c.example.gradient) {
    std::vector<std::string> values;
    for (const double v : g.values) values.push_back(fmt::format("{:.17e}", v));
    gradients += fmt::format("    {{\"{}\", {:.17e}, {{{}}}, {:.17e}}},\n", "gradient of " + g.name, g.peak,
                             fmt::join(values, ", "), g.sum);
  }
  const bool single = c.real == Real::float32;
  return filled(templates::standalone_gradient_case, {{"NODES", std::to_string(standalone_gradient_nodes)},
                                                      {"GRADIENTS", gradients},
                                                      {"TOLERANCE", single ? "2e-5" : "1e-13"},
                                                      {"DOT_TOLERANCE", single ? "1e-5" : "1e-13"},
                                                      {"CHANGE", single ? "1e-3" : "1e-5"},
                                                      {"DIFFERENCE_TOLERANCE", single ? "1e-2" : "1e-6"}});
}

}  // namespace ondula::emit
