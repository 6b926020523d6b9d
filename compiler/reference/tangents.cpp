// Forward differentiation of time-independent expressions, node by node.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>

#include "compiler/error.hpp"
#include "compiler/reference/images.hpp"
#include "compiler/reference/statics.hpp"

namespace ondula::reference {
namespace {

using ir::Expr;
using ir::Kind;

bool steady(Expr e) { return !ir::contains(e, Kind::parameter); }

double sum(double x, double y) { return x + y; }

/// An infinite slope times nothing is nothing.
double guarded(double change, double slope) { return change == 0 ? 0 : change * slope; }

Static slope_times(const Static& change, const Static& slope) { return combined(change, slope, guarded); }

Static square(const Static& x) {
  return combined(x, x, [](double a, double b) { return a * b; });
}

}  // namespace

void Statics::set_perturbation(const std::string& name, std::span<const double> values) {
  perturbation_[name] = extended(name, values);
}

Static Statics::tangent(Expr e) const {
  if (steady(e)) return {};
  switch (e->kind) {
    case Kind::parameter: {
      const auto found = perturbation_.find(e->name);
      return found == perturbation_.end() ? Static{} : Static{0, found->second};
    }
    case Kind::sum: {
      Static result;
      for (const Expr term : e->args) result = combined(result, tangent(term), sum);
      return result;
    }
    case Kind::product: {
      Static result;
      for (const Expr& factor : e->args) {
        Static term = tangent(factor);
        for (const Expr& other : e->args) {
          // By place: equal factors are equal handles.
          if (&other != &factor) term = slope_times(term, evaluate(other));
        }
        result = combined(result, term, sum);
      }
      return result;
    }
    case Kind::quotient: {
      const Static above = evaluate(e->args[0]), below = evaluate(e->args[1]);
      const Static own = combined(tangent(e->args[0]), below, [](double x, double y) { return x / y; });
      return combined(own, combined(above, tangent_of_reciprocal(e->args[1]), guarded), sum);
    }
    case Kind::average:
      return tangent_of_average(*e);
    case Kind::surface: {
      std::vector<Static> by_count;
      for (const Expr value : e->args) by_count.push_back(tangent(value));
      return surface(by_count);
    }
    case Kind::function:
      return tangent_of_function(*e);
    default:
      throw InternalError(fmt::format("the reference cannot differentiate {}", ir::text(e, program_.axes)));
  }
}

/// d(1/e). In a sum of c_i/e_i one e_i may be 0: then 1/e is e_i/c_i, and its slope 1/c_i.
Static Statics::tangent_of_reciprocal(Expr e) const {
  const std::vector<Expr> terms = e->kind == Kind::sum ? e->args : std::vector<Expr>{e};
  const Static whole = square(evaluate(e));
  Static result;
  for (const Expr& term : terms) {
    if (steady(term)) continue;
    if (term->kind != Kind::quotient || !steady(term->args[0])) {
      const Static part = combined(tangent(term), whole, [](double x, double y) { return -x / y; });
      result = combined(result, part, sum);
      continue;
    }
    const Static above = evaluate(term->args[0]), below = evaluate(term->args[1]);
    Static others;
    for (const Expr& other : terms) {
      if (&other != &term) others = combined(others, evaluate(other), sum);
    }
    Static share = combined(others, below, [](double x, double y) { return x * y; });  // no number: 0 of 0
    share = combined(above, share, [](double c, double s) { return std::isnan(s) ? 0 : 1 / (c + s); });
    const Static slope = combined(above, square(share), [](double x, double y) { return x * y; });
    result = combined(result, slope_times(tangent(term->args[1]), slope), sum);
  }
  return result;
}

/// d mean/d e_i = (mean/e_i)^2/n, 0 where e_i is 0.
Static Statics::tangent_of_average(const ir::Node& node) const {
  const Static nodal = evaluate(node.args[0]), change = tangent(node.args[0]);
  if (change.uniform()) return {};  // of parameters that are not perturbed
  const Static mean = average(node);
  std::vector<std::int64_t> corners = {0};
  ir::Box box = layout_.everything();
  for (int axis = 0; axis < layout_.dims; ++axis) {
    if (node.offset[at(axis)] == 0) continue;
    box[at(axis)].hi -= 1;
    const std::size_t before = corners.size();
    for (std::size_t c = 0; c < before; ++c) corners.push_back(corners[c] + layout_.stride[at(axis)]);
  }
  Static result;
  result.array.assign(at(layout_.size), 0.0);
  for_rows(layout_, box, [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
    for (std::int64_t i = first; i < first + count; ++i) {
      for (const std::int64_t corner : corners) {
        const double value = nodal[i + corner];
        const double part = value == 0 ? 0 : mean[i] / value;
        result.array[at(i)] += part * part * change[i + corner] / static_cast<double>(corners.size());
      }
    }
  });
  return result;
}

Static Statics::tangent_of_function(const ir::Node& node) const {
  const Static x = evaluate(node.args.at(0)), change = tangent(node.args.at(0));
  const auto by = [&](const auto& slope) { return slope_times(change, combined(x, x, slope)); };
  if (node.name == "less" || node.name == "less_equal") return {};
  if (node.name == "where") {
    const auto chosen = [](double c, double value) { return c != 0 ? value : 0; };
    const auto left_out = [](double c, double value) { return c != 0 ? 0 : value; };
    return combined(combined(x, tangent(node.args.at(1)), chosen),
                    combined(x, tangent(node.args.at(2)), left_out), sum);
  }
  if (node.name == "sqrt") return by([](double v, double) { return v == 0 ? 0 : 0.5 / std::sqrt(v); });
  if (node.name == "exp") return by([](double v, double) { return std::exp(v); });
  if (node.name == "log") return by([](double v, double) { return 1 / v; });
  if (node.name == "sin") return by([](double v, double) { return std::cos(v); });
  if (node.name == "cos") return by([](double v, double) { return -std::sin(v); });
  if (node.name == "tan") return by([](double v, double) { return 1 + std::tan(v) * std::tan(v); });
  if (node.name == "tanh") return by([](double v, double) { return 1 - std::tanh(v) * std::tanh(v); });
  if (node.name == "abs") return by([](double v, double) { return v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0; });
  if (node.args.size() == 2) {
    const Static y = evaluate(node.args[1]), second = tangent(node.args[1]);
    const auto both = [&](const auto& slope_x, const auto& slope_y) {
      return combined(slope_times(change, combined(x, y, slope_x)),
                      slope_times(second, combined(x, y, slope_y)), sum);
    };
    if (node.name == "pow") {
      return both([](double a, double b) { return a == 0 && b < 1 ? 0 : b * std::pow(a, b - 1); },
                  [](double a, double b) { return std::pow(a, b) * std::log(a); });
    }
    const auto least = [](double a, double b) { return b < a ? 0.0 : 1.0; };
    const auto most = [](double a, double b) { return a < b ? 0.0 : 1.0; };
    const auto not_least = [&](double a, double b) { return 1 - least(a, b); };
    const auto not_most = [&](double a, double b) { return 1 - most(a, b); };
    if (node.name == "min") return both(least, not_least);
    if (node.name == "max") return both(most, not_most);
  }
  throw InternalError("the reference cannot differentiate the function " + node.name);
}

}  // namespace ondula::reference
