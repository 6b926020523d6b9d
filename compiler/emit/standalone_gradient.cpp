// The gradient of standalone sources: what is kept of a step, and the chain from sums to models.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/emit/chain_text.hpp"
#include "compiler/emit/nodal_text.hpp"
#include "compiler/emit/standalone_context.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/names.hpp"
#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

using Terms = std::vector<std::pair<ir::Expr, std::string>>;

/// The injections of a program.
std::vector<const ir::Injection*> injections(const ir::Program& program) {
  std::vector<const ir::Injection*> all;
  for (const ir::Operation& operation : program.operations) {
    if (const auto* injection = std::get_if<ir::Injection>(&operation)) all.push_back(injection);
  }
  return all;
}

bool multiplies(const StandaloneContext& c) {
  const auto all = injections(c.adjoint->program());
  return std::any_of(all.begin(), all.end(), [](const auto* i) { return !i->times.empty(); });
}

std::string times_declaration(const StandaloneContext& c) {
  return fmt::format(
      "{0} {1}_add_times({2}* array, long long count, const long long* at, const {2}* amounts, const {2}* "
      "factors{3})",
      c.result(), c.symbol(), c.real_name(), c.stream_parameter());
}

std::string residual_name(const StandaloneContext& c, const ir::Injection& injection) {
  return fmt::format("{}_residual_{}_to_{}", c.symbol(), plain_identifier(injection.source),
                     plain_identifier(injection.field));
}

/// Of a model at a node: `double NAME(grid, models, node)`.
std::string nodal_declaration(const StandaloneContext& c, const std::string& name, bool defined) {
  const char* const unused = defined ? "[[maybe_unused]] " : "";
  return fmt::format(
      "double {1}({2}const {0}_grid* grid, {2}const {0}_models* models, {2}const long long* node)",
      c.symbol(), name, unused);
}

const ir::AdjointVariable* variable(const StandaloneContext& c, const std::string& field) {
  for (const ir::AdjointVariable& v : c.gradient->adjoint.variables) {
    if (v.field == field) return &v;
  }
  return nullptr;
}

std::string share_name(const StandaloneContext& c, const std::string& field, const std::string& state) {
  return fmt::format("{}_share_{}_of_{}", c.symbol(), plain_identifier(field), plain_identifier(state));
}

/// Fields that sources feed, once each.
std::vector<std::string> fed_fields(const StandaloneContext& c) {
  std::vector<std::string> fields;
  for (const ir::Injection* injection : injections(c.program())) {
    if (std::find(fields.begin(), fields.end(), injection->field) == fields.end())
      fields.push_back(injection->field);
  }
  return fields;
}

std::string source_gradient(const StandaloneContext& c, const ir::Injection& injection, bool defined) {
  const char* const unused = defined ? "[[maybe_unused]] " : "";
  return fmt::format(
      "void {0}_add_source_gradient_{1}({2}const {0}_grid* grid, {2}const {0}_models* models, {2}const long "
      "long* node, {2}double fed, {2}const {0}_gradient* gradient)",
      c.symbol(), plain_identifier(injection.source), unused);
}

std::string kept_struct(const StandaloneContext& c) {
  const std::string p = c.symbol();
  std::string text = fmt::format(
      "\n// What a gradient needs of a step: addresses of arrays of plan->kept_size elements{}, that start "
      "from zero. Of a run\n// of n steps n + 1 of them: the state at its start, and what each step left.\n"
      "typedef struct {}_kept {{\n",
      c.cuda() ? " of device memory" : "", p);
  for (const ir::Save& save : c.gradient->adjoint.saves)
    text += fmt::format("  {}* {};\n", c.real_name(), StandaloneContext::kept(save));
  text += fmt::format(
      "}} {0}_kept;\n\n"
      "// Before a step that is kept: says where it finds and leaves what is written where it is kept.\n"
      "void {0}_bind_kept({0}_arrays* arrays, const {0}_kept* before, const {0}_kept* after);\n\n"
      "// After it, addresses having changed places: copies the rest.\n"
      "{1} {0}_keep(const {0}_plan* plan, const {0}_arrays* arrays, const {0}_kept* after{2});\n\n"
      "// Before the step of the adjoint that transposes the step from `before` to `after`.\n"
      "void {0}_bind_adjoint({0}_adjoint_arrays* adjoint, const {0}_kept* before, const {0}_kept* after);\n",
      p, c.result(), c.stream_parameter());
  if (multiplies(c))
    text += "\n// array[at[k]] += amounts[k] * factors[at[k]]; the places differ.\n" + times_declaration(c) +
            ";\n";
  return text;
}

std::string binds(const StandaloneContext& c) {
  const std::string p = c.symbol();
  std::string kept, back;
  for (const ir::Save& save : c.gradient->adjoint.saves) {
    const ir::Field& field = c.keeping->program().field(save.field);
    const std::string member = StandaloneContext::kept(save);
    if (field.saved) {
      kept += fmt::format("  arrays->{} = after->{};\n", c.current(*c.keeping, save.field), member);
    } else if (field.apart) {
      kept += fmt::format("  arrays->{} = before->{};\n", c.current(*c.keeping, save.field), member);
      kept += fmt::format("  arrays->{} = after->{};\n", c.written(*c.keeping, save.field), member);
    }
    for (const StandaloneArray& array : c.arrays) {
      if (array.holder != "adjoint" || array.argument.name != save.name) continue;
      back += fmt::format("  adjoint->{} = {}->{};\n", array.member,
                          array.argument.slot == 0 ? "after" : "before", member);
    }
  }
  const std::string parameters =
      fmt::format("[[maybe_unused]] const {0}_kept* before, [[maybe_unused]] const {0}_kept* after", p);
  return fmt::format(
      "\nextern \"C\" void {0}_bind_kept([[maybe_unused]] {0}_arrays* arrays, {1}) {{\n{2}}}\n"
      "\nextern \"C\" void {0}_bind_adjoint([[maybe_unused]] {0}_adjoint_arrays* adjoint, {1}) {{\n{3}}}\n",
      p, parameters, kept, back);
}

/// The transpose of an expression at `node`, in a scope of its own.
std::string scoped(const ChainText& chain, const std::string& cotangent) {
  if (!chain.varies()) return "";
  const std::string text = chain.transpose(cotangent);
  return "  {\n" + chain.values(text) + text + "  }\n";
}

std::string model_gradient(const StandaloneContext& c, const ir::CoefficientGradient& g) {
  const auto& axes = c.program().axes;
  const ChainText coefficient(g.coefficient, c.dims(), "v");
  if (!coefficient.varies()) return "";
  std::vector<std::string> of, half;
  for (const std::string& field : g.of) of.push_back(StandaloneContext::description(c.forward, field));
  for (int a = 0; a < c.dims(); ++a)
    half.emplace_back(g.stagger[static_cast<std::size_t>(a)] != 0 ? "true" : "false");
  const Terms& terms = g.value.terms;
  const auto sum_of = [&](const std::string& accumulator) {
    return fmt::format("sums->{}[at]", c.current(*c.adjoint, accumulator));
  };
  std::string text = fmt::format(
      "  // {}\n  for_live(*grid, {}, [&](const index (&node)[dims]) {{\n"
      "    [[maybe_unused]] const index at = {}_at(plan, node);\n    double cotangent = 0;\n",
      ir::text(g.coefficient, axes), StandaloneContext::description(*c.adjoint, terms.front().second),
      c.symbol());
  for (const auto& [factor, accumulator] : terms) {
    const ChainText value(factor, c.dims(), "f");
    text +=
        fmt::format("    if ({0} != 0) {{\n{1}      cotangent += {2} * static_cast<double>({0});\n    }}\n",
                    sum_of(accumulator), value.values(value.result()), value.result());
  }
  const std::string back = coefficient.transpose("cotangent");
  text += fmt::format(
      "    cotangent *= cell_share(*grid, {{{}}}, {{{}}}, node);\n    if (cotangent == 0) return;\n{}{}  "
      "}});\n",
      fmt::join(of, ", "), fmt::join(half, ", "), coefficient.values(back), back);
  return text;
}

/// Declarations of the symbols that any of `expressions` uses.
std::string symbols(const StandaloneContext& c, const std::vector<ir::Expr>& expressions) {
  NodalNames names;
  for (const ir::Expr e : expressions) collect_names(e, true, names);
  std::string text;
  for (const std::string& symbol : names.symbols) {
    if (symbol == "dt") {
      text += "  [[maybe_unused]] const double dt = grid->dt;\n";
      continue;
    }
    const auto& axes = c.program().axes;
    const auto axis =
        symbol.starts_with("h_") ? std::find(axes.begin(), axes.end(), symbol.substr(2)) : axes.end();
    if (axis == axes.end()) throw InternalError("no value for " + symbol);
    text +=
        fmt::format("  [[maybe_unused]] const double {} = grid->spacing[{}];\n", symbol, axis - axes.begin());
  }
  return text;
}

std::string models_gradient(const StandaloneContext& c) {
  std::vector<ir::Expr> expressions;
  std::string text;
  for (const ir::CoefficientGradient& g : c.gradient->adjoint.gradients) {
    expressions.push_back(g.coefficient);
    for (const auto& [factor, accumulator] : g.value.terms) expressions.push_back(factor);
    text += model_gradient(c, g);
  }
  return fmt::format(
      "\nvoid {0}_add_gradient(const {0}_grid* grid, const {0}_plan* plan, const {0}_models* models, const "
      "{0}_adjoint_arrays* sums, const {0}_gradient* gradient) {{\n{1}{2}}}\n",
      c.symbol(), symbols(c, expressions), text);
}

/// What a model does to a source's factor; and, where a sum counted what the source gave, less that.
std::string source_text(const StandaloneContext& c, const ir::Injection& injection) {
  std::vector<ir::Expr> expressions = {injection.factor};
  const ChainText factor(injection.factor, c.dims(), "v");
  std::string text = scoped(factor, "fed");
  for (const ir::CoefficientGradient& g : c.gradient->adjoint.gradients) {
    if (!g.injected || g.of.front() != injection.field) continue;
    expressions.push_back(g.coefficient);
    const ChainText coefficient(g.coefficient, c.dims(), "v");
    const ChainText given(injection.factor, c.dims(), "f");
    const std::string back = coefficient.transpose(fmt::format("-injected / {}", coefficient.result()));
    text += fmt::format(
        "  {{\n{0}{1}    const double injected = {2} * fed;\n    if (injected != 0 && {3} != 0) {{\n{4}    "
        "}}\n"
        "  }}\n",
        given.values(given.result()), coefficient.values(back), given.result(), coefficient.result(), back);
  }
  return fmt::format("\n{} {{\n{}{}}}\n", source_gradient(c, injection, true), symbols(c, expressions), text);
}

std::string value_function(const StandaloneContext& c, const std::string& name, ir::Expr e,
                           const std::string& before, const std::string& after) {
  const ChainText value(e, c.dims(), "v");
  return fmt::format("\n{} {{\n{}{}{}  return {}{};\n}}\n", nodal_declaration(c, name, true), symbols(c, {e}),
                     before, value.values(value.result()), value.result(), after);
}

std::string share_text(const StandaloneContext& c, const std::string& field) {
  std::vector<std::string> half;
  for (int a = 0; a < c.dims(); ++a)
    half.emplace_back(c.program().field(field).stagger[static_cast<std::size_t>(a)] != 0 ? "true" : "false");
  return fmt::format("cell_share(*grid, {{{}}}, {{{}}}, node)",
                     StandaloneContext::description(c.forward, field), fmt::join(half, ", "));
}

std::string refusal(const StandaloneContext& c) {
  const ir::Program& back = c.adjoint->program();
  const ir::Adjoint& adjoint = c.gradient->adjoint;
  std::string text = fmt::format(
      "\nconst char* {0}_no_gradient(const {0}_grid* grid, [[maybe_unused]] const {0}_models* models) {{\n"
      "  for (int axis = 0; axis < dims; ++axis) {{\n"
      "    const auto mirrors = [&](int side) {{\n      const int face = grid->face[axis][side];\n"
      "      return face == {0}_free_surface || face == {0}_rigid;\n    }};\n",
      c.symbol());
  if (!adjoint.no_mirror.empty()) {
    text += fmt::format("    if (mirrors(0) || mirrors(1))\n      return \"{}\";\n",
                        "no adjoint is derived beside free surfaces and walls");
  }
  text += fmt::format(
      "    const bool layer = grid->width[axis][0] > 0 || grid->width[axis][1] > 0;\n"
      "    if (layer && (mirrors(0) || mirrors(1)) && grid->shape[axis] < {})\n"
      "      return \"an axis has too few nodes between a layer and a face without one\";\n  }}\n",
      back.apron_cells());
  for (const ir::Expr divisor : adjoint.divisors) {
    const ChainText value(divisor, c.dims(), "v");
    text += fmt::format(
        "  {{\n{0}    bool zero = false;\n    for_nodes(*grid, [&](const index (&node)[dims]) {{\n"
        "{1}      zero = zero || {2} == 0;\n    }});\n"
        "    if (zero) return \"a bulk modulus of the models is 0\";\n  }}\n",
        symbols(c, {divisor}), value.values(value.result()), value.result());
  }
  return text + "  return nullptr;\n}\n";
}

}  // namespace

std::string standalone_gradient_header(const StandaloneContext& c) {
  const std::string p = c.symbol();
  const char* const host = c.cuda() ? " On the host." : "";
  std::string text = kept_struct(c);
  text += fmt::format(
      "\n// dJ/dmodel, C order over the grid's shape; null: not wanted.\ntypedef struct {}_gradient {{\n", p);
  for (const ir::Parameter& parameter : c.program().parameters)
    text += fmt::format("  double* {};\n", passes::identifier(parameter.name));
  text += fmt::format(
      "}} {0}_gradient;\n\n"
      "// In words why these models, or this grid, have no gradient; or null.\n"
      "const char* {0}_no_gradient(const {0}_grid* grid, const {0}_models* models);\n\n"
      "// Adds what the sums of an adjoint's run say of the models, through coefficients, their means and "
      "the "
      "layers.{1}\n"
      "void {0}_add_gradient(const {0}_grid* grid, const {0}_plan* plan, const {0}_models* models, const "
      "{0}_adjoint_arrays* sums, const {0}_gradient* gradient);\n",
      p, c.cuda() ? " The sums in host memory." : "");
  for (const ir::Injection* injection : injections(c.adjoint->program())) {
    text += fmt::format(
        "\n// A residual r of {} at a node, dJ/d(what was read there), adds this times r to the adjoint's {} "
        "there{}.\n{};\n",
        injection->source, c.written(*c.adjoint, injection->field),
        injection->times.empty() ? "" : ", times what was kept before the step",
        nodal_declaration(c, residual_name(c, *injection), false));
  }
  for (const std::string& field : fed_fields(c)) {
    for (const auto& [factor, state] : variable(c, field)->value.terms) {
      text += fmt::format("\n// dJ/d{} at a node is the adjoint's {} there times this{}.\n{};\n", field,
                          c.current(*c.adjoint, state),
                          variable(c, field)->value.terms.size() > 1 ? ", plus the other shares" : "",
                          nodal_declaration(c, share_name(c, field, state), false));
    }
  }
  for (const ir::Injection* injection : injections(c.program())) {
    text += fmt::format(
        "\n// Adds what the models do to a source of {0} at a node: `fed` is the sum over steps of its "
        "amplitude over a cell's\n// volume times dJ/d{1}.{2}\n{3};\n",
        injection->source, injection->field, host, source_gradient(c, *injection, false));
  }
  return text;
}

std::string standalone_gradient_setup(const StandaloneContext& c) {
  std::string text = filled(templates::standalone_chain, {{"P", c.symbol()}});
  text += refusal(c) + models_gradient(c);
  for (const ir::Injection* injection : injections(c.adjoint->program())) {
    const bool sum = c.adjoint->program().field(injection->field).accumulator;
    const std::string target = StandaloneContext::description(*c.adjoint, injection->field);
    text += value_function(c, residual_name(c, *injection), injection->factor,
                           sum ? "" : fmt::format("  if (!lives(*grid, {}, node)) return 0;\n", target),
                           " / " + share_text(c, injection->source));
  }
  for (const std::string& field : fed_fields(c)) {
    if (variable(c, field) == nullptr) throw InternalError("no adjoint of " + field);
    for (const auto& [factor, state] : variable(c, field)->value.terms)
      text += value_function(c, share_name(c, field, state), factor, "", " * " + share_text(c, field));
  }
  for (const ir::Injection* injection : injections(c.program())) text += source_text(c, *injection);
  return text;
}

std::string standalone_kept_functions(const StandaloneContext& c) {
  const std::string p = c.symbol();
  std::string copies;
  for (const ir::Save& save : c.gradient->adjoint.saves) {
    const ir::Field& field = c.keeping->program().field(save.field);
    if (field.saved || field.apart) continue;  // written there by the step
    const std::string from = "arrays->" + c.current(save.field),
                      to = "after->" + StandaloneContext::kept(save);
    copies += c.cuda()
                  ? fmt::format(
                        "  cudaMemcpyAsync({}, {}, plan->kept_size * sizeof(real), "
                        "cudaMemcpyDeviceToDevice, (cudaStream_t)stream);\n",
                        to, from)
                  : fmt::format("  for (index k = 0; k < plan->kept_size; ++k) {}[k] = {}[k];\n", to, from);
  }
  std::string text = binds(c);
  text += fmt::format(
      "\nextern \"C\" {1} {0}_keep([[maybe_unused]] const {0}_plan* plan, [[maybe_unused]] const {0}_arrays* "
      "arrays, [[maybe_unused]] const {0}_kept* after{2}) {{\n{3}{4}}}\n",
      p, c.result(), c.cuda() ? ", [[maybe_unused]] void* stream" : "", copies,
      c.cuda() ? "  return (int)cudaGetLastError();\n" : "");
  if (!multiplies(c)) return text;
  if (!c.cuda())
    return text +
           fmt::format(
               "\nextern \"C\" {} {{\n  for (index k = 0; k < count; ++k) array[at[k]] += amounts[k] * "
               "factors[at[k]];\n}}\n",
               times_declaration(c));
  return text +
         fmt::format(
             "\nnamespace {{\n\n__global__ void add_times_kernel(real* array, long long count, const long "
             "long* at, const real* amounts, const real* factors) {{\n"
             "  const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  if (k < count) array[at[k]] += amounts[k] * factors[at[k]];\n}}\n\n}}  // namespace\n"
             "\nextern \"C\" {} {{\n  if (count > 0)\n    add_times_kernel<<<blocks_of(count), 128, 0, "
             "(cudaStream_t)stream>>>(array, count, at, amounts, factors);\n"
             "  return (int)cudaGetLastError();\n}}\n",
             times_declaration(c));
}

}  // namespace ondula::emit
