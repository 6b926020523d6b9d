// Whole-array sums, products, quotients and derivatives.
// SPDX-License-Identifier: MIT
#include "compiler/reference/evaluate.hpp"

#include <fmt/format.h>

#include "compiler/error.hpp"
#include "compiler/passes/stencil.hpp"

namespace ondula::reference {
namespace {

using ir::Expr;
using ir::Kind;

std::vector<double> values(const std::vector<ir::Number>& numbers) {
  std::vector<double> result;
  for (const ir::Number& number : numbers) result.push_back(number.value());
  return result;
}

/// out[i] = f(out[i], value[i]) over the rows of `box`.
template <class Real, class F>
void apply(const Layout& layout, const ir::Box& box, const Value<Real>& value, Real* out, const F& f) {
  for_rows(layout, box, [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
    if (value.array == nullptr) {
      for (std::int64_t i = first; i < first + count; ++i) out[i] = f(out[i], value.number);
    } else {
      for (std::int64_t i = first; i < first + count; ++i) out[i] = f(out[i], value.array[i]);
    }
  });
}

template <class Real>
void copy(const Layout& layout, const ir::Box& box, const Value<Real>& value, Real* out) {
  apply(layout, box, value, out, [](Real, Real x) { return x; });
}

}  // namespace

template <class Real>
Value<Real> Coefficients<Real>::of(Expr e) {
  auto found = kept_.find(e->id);
  if (found == kept_.end()) {
    const Static exact = varies(e) ? statics_.product_of_statics(e) : statics_.evaluate(e);
    Kept rounded{static_cast<Real>(exact.number), {}};
    rounded.array.reserve(exact.array.size());
    for (const double value : exact.array) rounded.array.push_back(static_cast<Real>(value));
    found = kept_.emplace(e->id, std::move(rounded)).first;
  }
  const Kept& kept = found->second;
  return {kept.array.empty() ? nullptr : kept.array.data(), kept.number};
}

template <class Real>
Evaluator<Real>::Evaluator(const ir::Program& program, const ir::Domain& domain, const Layout& layout,
                           Coefficients<Real>& coefficients, Fields fields)
    : program_(program),
      layout_(layout),
      spacing_(domain.spacing),
      coefficients_(coefficients),
      fields_(std::move(fields)),
      second_(values(passes::second_derivative(program.order))),
      centred_(values(passes::first_derivative(program.order))),
      staggered_(values(passes::staggered(program.order))) {}

template <class Real>
void Evaluator<Real>::clear() {
  known_.clear();
  used_ = 0;
}

template <class Real>
Real* Evaluator<Real>::scratch() {
  if (used_ == arrays_.size()) arrays_.push_back(std::make_unique<std::vector<Real>>(at(layout_.size)));
  return arrays_[used_++]->data();
}

template <class Real>
Value<Real> Evaluator<Real>::evaluate(Expr e, const ir::HalfCells& stagger, const ir::Box& box) {
  if (!varies(e)) return coefficients_.of(e);
  if (e->kind == Kind::field) return field(*e, stagger);
  const Key key{e->id, {box[0].lo, box[0].hi, box[1].lo, box[1].hi, box[2].lo, box[2].hi}};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  Real* out = scratch();
  switch (e->kind) {
    case Kind::sum:
      sum(*e, stagger, box, out);
      break;
    case Kind::product:
      product(e, stagger, box, out);
      break;
    case Kind::quotient:
      quotient(*e, stagger, box, out);
      break;
    case Kind::derivative:
      derivative(*e, stagger, box, out);
      break;
    default:
      throw InternalError(fmt::format("the reference cannot evaluate {}", ir::text(e, program_.axes)));
  }
  return known_[key] = {out, 0};
}

template <class Real>
Value<Real> Evaluator<Real>::field(const ir::Node& node, const ir::HalfCells& stagger) const {
  if (node.offset != ir::HalfCells{}) {
    throw InternalError("the reference executes programs before expand: found an offset of " + node.name);
  }
  if (program_.field(node.name).stagger != stagger) {
    throw InternalError(fmt::format("equation {}: {} is read at another point of the cell than it lives at",
                                    program_.equation, node.name));
  }
  return {fields_(node.name, node.level).data(), 0};
}

template <class Real>
void Evaluator<Real>::sum(const ir::Node& node, const ir::HalfCells& stagger, const ir::Box& box, Real* out) {
  copy(layout_, box, evaluate(node.args[0], stagger, box), out);
  for (std::size_t i = 1; i < node.args.size(); ++i) {
    apply(layout_, box, evaluate(node.args[i], stagger, box), out, [](Real x, Real y) { return x + y; });
  }
}

/// The factors that do not vary enter as one coefficient, folded in double and rounded once.
template <class Real>
void Evaluator<Real>::product(Expr e, const ir::HalfCells& stagger, const ir::Box& box, Real* out) {
  copy(layout_, box, coefficients_.of(e), out);
  for (const Expr factor : e->args) {
    if (!varies(factor)) continue;
    apply(layout_, box, evaluate(factor, stagger, box), out, [](Real x, Real y) { return x * y; });
  }
}

template <class Real>
void Evaluator<Real>::quotient(const ir::Node& node, const ir::HalfCells& stagger, const ir::Box& box,
                               Real* out) {
  copy(layout_, box, evaluate(node.args[0], stagger, box), out);
  apply(layout_, box, evaluate(node.args[1], stagger, box), out, [](Real x, Real y) { return x / y; });
}

template <class Real>
void Evaluator<Real>::derivative(const ir::Node& node, const ir::HalfCells& stagger, const ir::Box& box,
                                 Real* out) {
  const std::size_t axis = at(node.axis);
  const int radius = program_.radius();
  ir::HalfCells inner = stagger;
  if (node.staggered) inner[axis] = 1 - inner[axis];
  ir::Box wider = box;
  wider[axis] = {box[axis].lo - radius, box[axis].hi + radius};
  const Value<Real> operand = evaluate(node.args[0], inner, wider);
  if (operand.array == nullptr) throw InternalError("the derivative of a number");
  const Real* f = operand.array;

  const bool second = node.order == 2;
  const double scale = second ? 1.0 / (spacing_[axis] * spacing_[axis]) : 1.0 / spacing_[axis];
  const std::int64_t step = layout_.stride[axis];
  for_rows(layout_, box, [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
    const Real centre = second ? static_cast<Real>(second_[0] * scale) : Real(0);
    for (std::int64_t i = first; i < first + count; ++i) out[i] = second ? centre * f[i] : Real(0);
    for (int m = 1; m <= radius; ++m) {
      const std::size_t k = at(m);
      // An entry i of a half-cell array sits at i + 1/2: seen from a node, +m - 1/2 is entry m - 1 and
      // -m + 1/2 entry -m; seen from a half cell, the nodes at +m - 1/2 and -m + 1/2 are entries m and 1 - m.
      const std::int64_t plus = !node.staggered || stagger[axis] != 0 ? m : m - 1;
      const std::int64_t minus = !node.staggered ? -m : stagger[axis] != 0 ? 1 - m : -m;
      const double weight = second ? second_[k] : node.staggered ? staggered_[k - 1] : centred_[k - 1];
      const Real w = static_cast<Real>(weight * scale);
      const Real sign = second ? Real(1) : Real(-1);
      for (std::int64_t i = first; i < first + count; ++i) {
        out[i] += w * (f[i + plus * step] + sign * f[i + minus * step]);
      }
    }
  });
}

template class Coefficients<float>;
template class Coefficients<double>;
template class Evaluator<float>;
template class Evaluator<double>;

}  // namespace ondula::reference
