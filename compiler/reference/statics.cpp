// Evaluation of time-independent expressions, node by node.
// SPDX-License-Identifier: MIT
#include "compiler/reference/statics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "compiler/reference/images.hpp"

namespace ondula::reference {
namespace {

using ir::Expr;
using ir::Kind;

template <class F>
Static mapped(const Static& a, const F& f) {
  return combined(a, a, [&](double x, double) { return f(x); });
}

double sum(double x, double y) { return x + y; }

/// The part of where(c, a, b) that a gives, and the one that b gives.
double chosen(double condition, double value) { return condition != 0 ? value : 0; }
double left_out(double condition, double value) { return condition != 0 ? 0 : value; }

Static times(const Static& a, const Static& b) {
  return combined(a, b, [](double x, double y) { return x * y; });
}

}  // namespace

Statics::Statics(const ir::Program& program, const ir::Domain& domain, const Layout& layout,
                 std::map<std::string, double> symbols, const ir::LayerOptions& options)
    : program_(program),
      domain_(domain),
      layout_(layout),
      symbols_(std::move(symbols)),
      profiles_(domain.profiles(options)) {}

void Statics::set_parameter(const std::string& name, std::span<const double> values) {
  parameters_[name] = extended(name, values);
}

std::vector<double> Statics::extended(const std::string& name, std::span<const double> values) const {
  if (program_.find_parameter(name) == nullptr) {
    throw InternalError(fmt::format("equation {} has no parameter {}", program_.equation, name));
  }
  if (values.size() != at(domain_.points())) {
    throw InternalError(
        fmt::format("parameter {}: {} values for {} points", name, values.size(), domain_.points()));
  }
  std::vector<double> array(at(layout_.size), 0.0);
  auto next = values.begin();
  for_rows(layout_, layout_.grid(), [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
    std::copy_n(next, count, array.begin() + first);
    next += count;
  });
  for (int axis = 0; axis < layout_.dims; ++axis) {
    fill(layout_, axis, ir::parameter_images(domain_, axis, layout_.halo[at(axis)]), array);
  }
  return array;
}

Static Statics::evaluate(Expr e) const {
  switch (e->kind) {
    case Kind::constant:
      return {e->number.value(), {}};
    case Kind::symbol:
      return symbol(e->name);
    case Kind::parameter: {
      const auto found = parameters_.find(e->name);
      if (found == parameters_.end()) throw InternalError("parameter " + e->name + " has no values");
      return {0, found->second};
    }
    case Kind::coefficient: {
      const ir::Coefficient* coefficient = program_.find_coefficient(e->name);
      if (coefficient == nullptr || e->offset != ir::HalfCells{}) break;
      return evaluate(coefficient->definition);
    }
    case Kind::profile:
      return profile(*e);
    case Kind::average:
      return average(*e);
    case Kind::surface: {
      std::vector<Static> by_count;
      for (const Expr value : e->args) by_count.push_back(evaluate(value));
      return surface(by_count);
    }
    case Kind::sum: {
      Static sum = evaluate(e->args[0]);
      for (std::size_t i = 1; i < e->args.size(); ++i) {
        sum = combined(sum, evaluate(e->args[i]), [](double x, double y) { return x + y; });
      }
      return sum;
    }
    case Kind::product:
      return product_of_statics(e);
    case Kind::quotient:
      return combined(evaluate(e->args[0]), evaluate(e->args[1]), [](double x, double y) { return x / y; });
    case Kind::function:
      return function(*e);
    default:
      break;
  }
  throw InternalError(fmt::format("the reference cannot evaluate {}", ir::text(e, program_.axes)));
}

Static Statics::product_of_statics(Expr product) const {
  Static result{1, {}};
  for (const Expr factor : product->args) {
    if (!varies(factor)) result = times(result, evaluate(factor));
  }
  return result;
}

Static Statics::symbol(const std::string& name) const {
  const auto given = symbols_.find(name);
  if (given != symbols_.end()) return {given->second, {}};
  for (const ir::Scalar& scalar : program_.scalars) {
    if (scalar.name == name) return evaluate(scalar.definition);
  }
  throw InternalError(fmt::format("equation {}: no value for the symbol {}", program_.equation, name));
}

Static Statics::profile(const ir::Node& node) const {
  const auto found = std::find_if(profiles_.begin(), profiles_.end(), [&](const ir::Profile& p) {
    return p.name == node.name && p.axis == node.axis && p.half == node.staggered;
  });
  if (found == profiles_.end()) {
    throw InternalError(fmt::format("no layer profile {} along axis {}", node.name, node.axis));
  }
  Static result;
  result.array.assign(at(layout_.size), 0.0);
  for_rows(layout_, layout_.grid(), [&](std::int64_t first, std::int64_t count, const ir::Extents& i) {
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t along = i[at(node.axis)] + (node.axis == layout_.dims - 1 ? n : 0);
      result.array[at(first + n)] = found->values[at(along)];
    }
  });
  return result;
}

/// 2^k / sum(1/e) over the 2^k nodes around the point. 1/0 = inf and 2^k/inf = 0 make it 0 where any e is 0.
Static Statics::average(const ir::Node& node) const {
  const Static nodal = evaluate(node.args[0]);
  if (nodal.uniform()) return nodal;
  std::vector<double> sums = nodal.array;
  for (double& value : sums) value = 1.0 / value;
  double corners = 1;
  for (int axis = 0; axis < layout_.dims; ++axis) {
    if (node.offset[at(axis)] == 0) continue;
    corners *= 2;
    ir::Box box = layout_.everything();
    box[at(axis)].hi -= 1;  // the last halo entry has no neighbour, and no derivative reads it
    const std::int64_t next = layout_.stride[at(axis)];
    for_rows(layout_, box, [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
      for (std::int64_t i = first; i < first + count; ++i) sums[at(i)] += sums[at(i + next)];
    });
  }
  for (double& value : sums) value = corners / value;
  return {0, std::move(sums)};
}

/// The value for as many surfaces as meet in each node.
Static Statics::surface(const std::vector<Static>& by_count) const {
  Static result;
  result.array.resize(at(layout_.size));
  for (std::size_t i = 0; i < result.array.size(); ++i)
    result.array[i] = by_count[0][static_cast<std::int64_t>(i)];
  for (int k = 1; k < static_cast<int>(by_count.size()); ++k) {
    const bool last = k + 1 == static_cast<int>(by_count.size());
    for_rows(layout_, layout_.grid(), [&](std::int64_t first, std::int64_t count, const ir::Extents& i) {
      for (std::int64_t n = 0; n < count; ++n) {
        int met = 0;
        for (int axis = 0; axis < layout_.dims; ++axis) {
          met += domain_.surfaces(axis, i[at(axis)] + (axis == layout_.dims - 1 ? n : 0));
        }
        if (met == k || (last && met > k)) result.array[at(first + n)] = by_count[at(k)][first + n];
      }
    });
  }
  return result;
}

Static Statics::function(const ir::Node& node) const {
  if (node.name == "tangent") return tangent(node.args.at(0));
  const Static first = evaluate(node.args.at(0));
  if (node.name == "where") {
    const Static then = evaluate(node.args.at(1)), otherwise = evaluate(node.args.at(2));
    return combined(combined(first, then, chosen), combined(first, otherwise, left_out), sum);
  }
  if (node.name == "sqrt") return mapped(first, [](double x) { return std::sqrt(x); });
  if (node.name == "exp") return mapped(first, [](double x) { return std::exp(x); });
  if (node.name == "log") return mapped(first, [](double x) { return std::log(x); });
  if (node.name == "sin") return mapped(first, [](double x) { return std::sin(x); });
  if (node.name == "cos") return mapped(first, [](double x) { return std::cos(x); });
  if (node.name == "tan") return mapped(first, [](double x) { return std::tan(x); });
  if (node.name == "tanh") return mapped(first, [](double x) { return std::tanh(x); });
  if (node.name == "abs") return mapped(first, [](double x) { return std::fabs(x); });
  if (node.args.size() == 2) {
    const Static second = evaluate(node.args[1]);
    if (node.name == "pow") return combined(first, second, [](double x, double y) { return std::pow(x, y); });
    if (node.name == "min") return combined(first, second, [](double x, double y) { return std::min(x, y); });
    if (node.name == "max") return combined(first, second, [](double x, double y) { return std::max(x, y); });
    if (node.name == "less")
      return combined(first, second, [](double x, double y) { return x < y ? 1.0 : 0.0; });
    if (node.name == "less_equal")
      return combined(first, second, [](double x, double y) { return x <= y ? 1.0 : 0.0; });
  }
  throw InternalError("the reference does not know the function " + node.name);
}

}  // namespace ondula::reference
