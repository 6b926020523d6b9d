// Printing values and transposes.
// SPDX-License-Identifier: MIT
#include "compiler/emit/chain_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "compiler/emit/nodal_text.hpp"
#include "compiler/error.hpp"
#include "compiler/ir/ratios.hpp"
#include "compiler/passes/names.hpp"

namespace ondula::emit {
namespace {

using ir::Expr;
using ir::Kind;

/// In parentheses, for use as an operand.
std::string steady_text(Expr e) {
  const ParameterPrinter none = [](const std::string& name, const ir::HalfCells&) -> std::string {
    throw InternalError("parameter " + name + " where none may be");
  };
  const std::string text = nodal_text(e, none, "");
  const bool simple = text.find(' ') == std::string::npos && !text.starts_with('-');
  return simple ? text : "(" + text + ")";
}

/// Whether `text` has `name` as a word.
bool names(const std::string& text, const std::string& name) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::string ChainText::values(const std::string& rest) const {
  std::string text;
  for (auto line = values_.rbegin(); line != values_.rend(); ++line) {
    if (names(rest, line->first) || names(text, line->first)) text = line->second + text;
  }
  return text;
}

ChainText::ChainText(Expr e, int dims, std::string prefix) : dims_(dims), prefix_(std::move(prefix)) {
  result_ = static_cast<std::size_t>(write(e, {}));
}

int ChainText::push(Step step, const std::string& value) {
  step.varies = step.op == Op::parameter || std::any_of(step.args.begin(), step.args.end(), [&](int i) {
                  return steps_[static_cast<std::size_t>(i)].varies;
                });
  step.name = fmt::format("{}{}", prefix_, next_++);
  values_.emplace_back(step.name, fmt::format("const double {} = {};\n", step.name, value));
  steps_.push_back(std::move(step));
  return static_cast<int>(steps_.size()) - 1;
}

int ChainText::plain(std::string text) {
  Step step;
  step.name = std::move(text);
  steps_.push_back(std::move(step));
  return static_cast<int>(steps_.size()) - 1;
}

int ChainText::write(Expr e, const ir::HalfCells& at) {
  const std::pair key{e->id, at};
  const auto found = written_.find(key);
  if (found != written_.end()) return found->second;
  // What surfaces choose is never steady: which entry it is depends on the node.
  const bool text = ir::is_steady(e) && !ir::contains(e, Kind::surface) && !ir::contains(e, Kind::function);
  const int step = text ? plain(steady_text(e)) : fresh(e, at);
  written_[key] = step;
  return step;
}

int ChainText::fresh(Expr e, const ir::HalfCells& at) {
  switch (e->kind) {
    case Kind::parameter:
      return parameter(e->name, at);
    case Kind::sum:
      return chain(Op::add, e->args, at);
    case Kind::product:
      return chain(Op::multiply, e->args, at);
    case Kind::quotient:
      return quotient(e, at);
    case Kind::average:
      return average(e, at);
    case Kind::surface:
      return surface(e, at);
    case Kind::function:
      return function(e, at);
    default:
      throw InternalError("standalone sources cannot differentiate " + ir::text(e));
  }
}

std::vector<int> ChainText::written(const std::vector<Expr>& args, const ir::HalfCells& at) {
  std::vector<int> result;
  for (const Expr arg : args) result.push_back(write(arg, at));
  return result;
}

int ChainText::chain(Op op, const std::vector<Expr>& args, const ir::HalfCells& at) {
  int result = write(args.at(0), at);
  for (std::size_t i = 1; i < args.size(); ++i) {
    const int next = write(args[i], at);
    Step step;
    step.op = op;
    step.args = {result, next};
    result = push(step, fmt::format("{} {} {}", name(result), op == Op::add ? "+" : "*", name(next)));
  }
  return result;
}

std::string ChainText::place(const std::string& kind, const std::string& call, const ir::HalfCells& at) {
  std::string& known = places_[{kind, at}];
  if (known.empty()) {
    known = fmt::format("{}_{}{}", kind, prefix_, places_.size() - 1);
    values_.emplace_back(
        known, fmt::format("const {} {} = {}(*grid, node, {{{}}});\n", kind == "met" ? "int" : "index", known,
                           call, fmt::join(at.begin(), at.begin() + dims_, ", ")));
  }
  return known;
}

int ChainText::parameter(const std::string& name, const ir::HalfCells& at) {
  Step step;
  step.op = Op::parameter;
  step.detail = passes::identifier(name);
  step.node = place("node", "model_at", at);
  return push(step, fmt::format("models->{}[{}]", step.detail, step.node));
}

int ChainText::quotient(Expr e, const ir::HalfCells& at) {
  const std::vector<ir::Ratio> ratios = ir::ratios_of(e->args[1]);
  Step step;
  if (ratios.empty()) {
    step.op = Op::divide;
    step.args = written(e->args, at);
    return push(step, fmt::format("{} / {}", name(step.args[0]), name(step.args[1])));
  }
  step.op = Op::parallel;
  for (const ir::Ratio& ratio : ratios) {
    std::vector<std::string> factors;
    for (const Expr factor : ratio.above) factors.push_back(steady_text(factor));
    const std::string above = fmt::format("{}", fmt::join(factors, " * "));
    step.args.push_back(plain(factors.size() > 1 ? "(" + above + ")" : above));
    step.args.push_back(ratio.below ? write(ratio.below, at) : plain("1.0"));
  }
  const int unit = push(step, fmt::format("parallel({})", list(step.args, true)));
  if (ir::is_constant(e->args[0], 1)) return unit;
  Step product;
  product.op = Op::multiply;
  product.args = {write(e->args[0], at), unit};
  return push(product, fmt::format("{} * {}", name(product.args[0]), name(unit)));
}

int ChainText::average(Expr e, const ir::HalfCells& at) {
  std::vector<ir::HalfCells> around = {at};
  for (std::size_t a = 0; a < at.size(); ++a) {
    const int half = e->offset[a];
    for (ir::HalfCells& node : around) node[a] += (half - (half & 1)) / 2;
    if ((half & 1) == 0) continue;
    const std::vector<ir::HalfCells> before = around;
    for (ir::HalfCells node : before) {
      node[a] += 1;
      around.push_back(node);
    }
  }
  Step step;
  step.op = Op::mean;
  for (const ir::HalfCells& node : around) step.args.push_back(write(e->args[0], node));
  if (step.args.size() == 1) return step.args[0];
  return push(step, fmt::format("harmonic_mean({})", list(step.args, false)));
}

int ChainText::surface(Expr e, const ir::HalfCells& at) {
  Step step;
  step.op = Op::select;
  step.detail = place("met", "surfaces_at", at);
  step.args = written(e->args, at);
  std::string text;
  for (std::size_t k = 0; k + 1 < step.args.size(); ++k)
    text += fmt::format("{} == {} ? {} : ", step.detail, k, name(step.args[k]));
  return push(step, text + name(step.args.back()));
}

int ChainText::function(Expr e, const ir::HalfCells& at) {
  Step step;
  step.op = Op::function;
  step.detail = e->name;
  step.args = written(e->args, at);
  std::vector<std::string> args;
  for (const int arg : step.args) args.push_back(name(arg));
  if (e->name == "where") return push(step, fmt::format("{} != 0 ? {} : {}", args[0], args[1], args[2]));
  if (e->name == "less") return push(step, fmt::format("{} < {} ? 1.0 : 0.0", args[0], args[1]));
  if (e->name == "less_equal") return push(step, fmt::format("{} <= {} ? 1.0 : 0.0", args[0], args[1]));
  const std::string call = e->name == "inverse_or_zero" ? e->name : "std::" + e->name;
  return push(step, fmt::format("{}({})", call, fmt::join(args, ", ")));
}

std::string ChainText::list(const std::vector<int>& args, bool pairs) const {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!pairs)
      items.push_back(name(args[i]));
    else if (i % 2 == 0)
      items.push_back(fmt::format("{{{}, {}}}", name(args[i]), name(args[i + 1])));
  }
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}

std::string ChainText::slope_of_function(const Step& step, std::size_t j) const {
  const std::string& x = name(step.args[0]);
  const std::string& y = name(step.args.back());
  if (step.detail == "inverse_or_zero") return fmt::format("-{0} * {0}", step.name);
  if (step.detail == "sqrt") return fmt::format("{0} == 0 ? 0.0 : 0.5 / {0}", step.name);
  if (step.detail == "exp") return step.name;
  if (step.detail == "log") return "1 / " + x;
  if (step.detail == "sin") return fmt::format("std::cos({})", x);
  if (step.detail == "cos") return fmt::format("-std::sin({})", x);
  if (step.detail == "tan") return fmt::format("1 + {0} * {0}", step.name);
  if (step.detail == "tanh") return fmt::format("1 - {0} * {0}", step.name);
  if (step.detail == "less" || step.detail == "less_equal") return "0.0";
  if (step.detail == "where")
    return j == 0 ? "0.0" : fmt::format("{} != 0 ? {}", x, j == 1 ? "1.0 : 0.0" : "0.0 : 1.0");
  if (step.detail == "abs") return fmt::format("{0} > 0 ? 1.0 : {0} < 0 ? -1.0 : 0.0", x);
  if (step.detail == "min") return fmt::format("{} < {} ? {}", y, x, j == 0 ? "0.0 : 1.0" : "1.0 : 0.0");
  if (step.detail == "max") return fmt::format("{} < {} ? {}", x, y, j == 0 ? "0.0 : 1.0" : "1.0 : 0.0");
  if (step.detail == "pow")
    return fmt::format("power_slope_of_{}({}, {})", j == 0 ? "base" : "exponent", x, y);
  throw InternalError("standalone sources have no derivative of " + step.detail);
}

std::string ChainText::slope(const Step& step, std::size_t j) const {
  const std::string& own = name(step.args[j]);
  switch (step.op) {
    case Op::multiply:
      return name(step.args[1 - j]);
    case Op::divide:
      return j == 0 ? "1 / " + name(step.args[1]) : fmt::format("-{} / {}", step.name, own);
    case Op::mean:
      return fmt::format("mean_slope({}, {}, {}.0)", step.name, own, step.args.size());
    case Op::parallel:
      return fmt::format("parallel_slope({}, {}, {})", list(step.args, true), j / 2, step.name);
    case Op::select:
      return fmt::format("{} {} {} ? 1.0 : 0.0", step.detail, j + 1 < step.args.size() ? "==" : ">=", j);
    default:
      return slope_of_function(step, j);
  }
}

std::string ChainText::transpose(const std::string& cotangent) const {
  if (!varies()) return "";
  std::string text;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    if (steps_[s].varies)
      text += fmt::format("double d_{} = {};\n", steps_[s].name, s == result_ ? cotangent : "0");
  }
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Step& step = steps_[s];
    if (!step.varies) continue;
    if (step.op == Op::parameter) {
      text += fmt::format("if (gradient->{0} != nullptr) gradient->{0}[{1}] += d_{2};\n", step.detail,
                          step.node, step.name);
      continue;
    }
    for (std::size_t j = 0; j < step.args.size(); ++j) {
      const Step& arg = steps_[static_cast<std::size_t>(step.args[j])];
      if (!arg.varies) continue;
      if (step.op == Op::add)
        text += fmt::format("d_{} += d_{};\n", arg.name, step.name);
      else
        text += fmt::format("d_{0} += times(d_{1}, {2});\n", arg.name, step.name, slope(step, j));
    }
  }
  return text;
}

}  // namespace ondula::emit
