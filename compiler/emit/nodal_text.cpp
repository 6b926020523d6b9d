// Printing sums, products, quotients, functions, means and surface values.
// SPDX-License-Identifier: MIT
#include "compiler/emit/nodal_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/error.hpp"

namespace ondula::emit {
namespace {

using ir::Expr;
using ir::Kind;

std::string decimal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string number(const ir::Number& n) {
  if (n.exact() && n.denominator() != 1) return fmt::format("{}.0 / {}.0", n.numerator(), n.denominator());
  return decimal(n.value());
}

class NodalPrinter {
 public:
  NodalPrinter(const ParameterPrinter& parameter, const std::string& met)
      : parameter_(parameter), met_(met) {}

  std::string print(Expr e, const ir::HalfCells& cells) const {
    switch (e->kind) {
      case Kind::constant:
        return number(e->number);
      case Kind::symbol:
        return e->name;
      case Kind::parameter:
        return parameter_(e->name, cells);
      case Kind::sum:
        return sum(e, cells);
      case Kind::product:
        return product(e, cells);
      case Kind::quotient:
        return fmt::format("{} / {}", operand(e->args[0], cells), operand(e->args[1], cells, true));
      case Kind::surface:
        return surface(e, cells);
      case Kind::average:
        return mean(e, cells);
      case Kind::function:
        return function(e, cells);
      default:
        throw InternalError("standalone sources cannot express " + ir::text(e));
    }
  }

 private:
  /// In parentheses where C++ would otherwise take it apart.
  std::string operand(Expr e, const ir::HalfCells& cells, bool after_slash = false) const {
    const std::string text = print(e, cells);
    const bool simple = text.find(' ') == std::string::npos && !text.starts_with('-');
    const bool factors = !after_slash && e->kind == Kind::product;
    const bool closed = e->kind == Kind::parameter || e->kind == Kind::average || e->kind == Kind::surface ||
                        e->kind == Kind::function;
    return simple || factors || closed ? text : "(" + text + ")";
  }

  std::string sum(Expr e, const ir::HalfCells& cells) const {
    std::string text;
    for (const Expr arg : e->args) {
      const std::string term = arg->kind == Kind::sum ? operand(arg, cells) : print(arg, cells);
      const bool minus = term.starts_with('-');
      if (text.empty())
        text = term;
      else
        text += (minus ? " - " : " + ") + (minus ? term.substr(1) : term);
    }
    return text;
  }

  std::string product(Expr e, const ir::HalfCells& cells) const {
    std::string text;
    for (const Expr arg : e->args) {
      // -1 * x is written -x, and -2 * x without parentheses.
      const bool first = text.empty();
      if (first && arg->kind == Kind::constant && arg->number.value() < 0 && e->args.size() > 1) {
        text = arg->number.value() == -1 ? "-" : number(arg->number) + " * ";
        if (arg->number.exact() && arg->number.denominator() != 1) text = "(" + number(arg->number) + ") * ";
        continue;
      }
      const bool joined = first || text == "-" || text.ends_with("* ");
      text += (joined ? "" : " * ") + operand(arg, cells, !first);
    }
    return text;
  }

  std::string surface(Expr e, const ir::HalfCells& cells) const {
    if (met_.empty()) return print(e->args[0], cells);
    std::string text;
    for (std::size_t k = 0; k + 1 < e->args.size(); ++k)
      text += fmt::format("{} == {} ? {} : ", met_, k, print(e->args[k], cells));
    return "(" + text + print(e->args.back(), cells) + ")";
  }

  std::string function(Expr e, const ir::HalfCells& cells) const {
    std::vector<std::string> args;
    for (const Expr arg : e->args) args.push_back(print(arg, cells));
    const auto chosen = [&](const std::string& condition, const std::string& a, const std::string& b) {
      return fmt::format("({} ? {} : {})", condition, a, b);
    };
    const auto closed = [&](std::size_t j) { return operand(e->args[j], cells, true); };
    if (e->name == "where") return chosen(closed(0) + " != 0", closed(1), closed(2));
    if (e->name == "less") return chosen(closed(0) + " < " + closed(1), "1.0", "0.0");
    if (e->name == "less_equal") return chosen(closed(0) + " <= " + closed(1), "1.0", "0.0");
    if (e->name == "min") return chosen(closed(1) + " < " + closed(0), closed(1), closed(0));
    if (e->name == "max") return chosen(closed(0) + " < " + closed(1), closed(1), closed(0));
    if (e->name == "inverse_or_zero") throw InternalError("standalone sources cannot express " + ir::text(e));
    return fmt::format("std::{}({})", e->name, fmt::join(args, ", "));
  }

  /// The harmonic mean over the nodes around a position half a cell away.
  std::string mean(Expr e, const ir::HalfCells& cells) const {
    std::string values;
    for (unsigned corner = 0; corner < 8; ++corner) {
      ir::HalfCells node = cells;
      bool exists = true;
      for (std::size_t a = 0; a < node.size(); ++a) {
        const bool up = ((corner >> a) & 1U) != 0;
        exists = exists && (!up || e->offset[a] != 0);
        node[a] += up ? 1 : 0;
      }
      if (exists) values += (values.empty() ? "" : ", ") + print(e->args[0], node);
    }
    return "mean({" + values + "})";
  }

  const ParameterPrinter& parameter_;
  const std::string& met_;
};

}  // namespace

std::string nodal_text(Expr e, const ParameterPrinter& parameter, const std::string& met) {
  return NodalPrinter(parameter, met).print(e, {});
}

void collect_names(Expr e, bool surfaces, NodalNames& names) {
  if (e->kind == Kind::symbol) names.symbols.insert(e->name);
  if (e->kind == Kind::parameter) names.parameters.insert(e->name);
  if (e->kind == Kind::surface) {
    names.surfaces |= surfaces;
    if (!surfaces) return collect_names(e->args[0], surfaces, names);
  }
  for (const Expr arg : e->args) collect_names(arg, surfaces, names);
}

}  // namespace ondula::emit
