// Stencils in place of derivatives.
// SPDX-License-Identifier: MIT
#include "compiler/passes/expand.hpp"

#include <map>

#include "compiler/error.hpp"
#include "compiler/passes/stencil.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::HalfCells;
using ir::Kind;

class Expander {
 public:
  explicit Expander(const ir::Program& program) : program_(program), pool_(*program.pool) {}

  /// `e` as read `shift` half cells away from the point of the update, which lies at `at`.
  Expr expand(Expr e, const HalfCells& shift, const HalfCells& at) {
    switch (e->kind) {
      case Kind::field:
        return pool_.field(e->name, e->level, plus(e->offset, shift));
      case Kind::derivative:
        return stencil(e, shift, at);
      case Kind::average:
        return pool_.average(e->args[0], plus(at, shift));
      case Kind::parameter:
        return pool_.average(e, plus(at, shift));
      case Kind::surface:
        if (shift != HalfCells{} || at != HalfCells{}) {
          throw InternalError("equation " + program_.equation + ": a surface value is read off its node");
        }
        return e;
      case Kind::profile:
        if (shift != HalfCells{}) {
          throw UserError("equation " + program_.equation +
                          ": a layer with kappa other than 1 needs an equation without nested derivatives, "
                          "such as div(b grad(u)); take kappa 1");
        }
        return e;
      case Kind::sum: {
        std::vector<Expr> terms;
        for (const Expr term : e->args) terms.push_back(expand(term, shift, at));
        return collected(pool_.sum(std::move(terms)));
      }
      case Kind::product: {
        std::vector<Expr> factors;
        for (const Expr factor : e->args) factors.push_back(expand(factor, shift, at));
        return pool_.product(std::move(factors));
      }
      case Kind::quotient:
        return pool_.quotient(expand(e->args[0], shift, at), expand(e->args[1], shift, at));
      case Kind::function: {
        if (ir::is_tangent(e)) return tangent(e, plus(at, shift));
        std::vector<Expr> args;
        for (const Expr arg : e->args) args.push_back(expand(arg, shift, at));
        return pool_.function(e->name, std::move(args));
      }
      default:
        return e;
    }
  }

 private:
  static HalfCells plus(HalfCells a, const HalfCells& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }

  /// A tangent at `position` half cells: its array has an entry for each point of its own stagger, so that
  /// what is left is an offset in whole cells.
  Expr tangent(Expr e, HalfCells position) {
    for (int& half : position) half -= half & 1;
    return pool_.average(e, position);
  }

  Expr stencil(Expr e, const HalfCells& shift, const HalfCells& at) {
    const std::size_t axis = static_cast<std::size_t>(e->axis);
    const Expr h = pool_.symbol("h_" + program_.axes[axis]);
    const Expr per = pool_.quotient(pool_.constant(1), e->order == 2 ? pool_.product({h, h}) : h);
    std::vector<Expr> terms;
    const auto tap = [&](const ir::Number& weight, int half_cells) {
      HalfCells there = shift;
      there[axis] += half_cells;
      terms.push_back(
          pool_.product({pool_.product({pool_.constant(weight), per}), expand(e->args[0], there, at)}));
    };
    if (e->order == 2) {
      const auto weights = second_derivative(program_.order);
      tap(weights[0], 0);
      for (std::size_t m = 1; m < weights.size(); ++m) {
        tap(weights[m], 2 * static_cast<int>(m));
        tap(weights[m], -2 * static_cast<int>(m));
      }
    } else {
      const auto weights = e->staggered ? staggered(program_.order) : first_derivative(program_.order);
      for (std::size_t m = 0; m < weights.size(); ++m) {
        const int half_cells = e->staggered ? 2 * static_cast<int>(m) + 1 : 2 * static_cast<int>(m) + 2;
        tap(weights[m], half_cells);
        tap(-weights[m], -half_cells);
      }
    }
    const Expr all = collected(pool_.sum(std::move(terms)));
    // First derivatives stay whole within a larger sum, so that every use of one is the same expression.
    return e->staggered && all->kind == Kind::sum ? pool_.function("whole", {all}) : all;
  }

  /// Terms scalar*rest of a sum with the same rest become one; scalars are made of constants and symbols.
  Expr collected(Expr e) {
    if (e->kind != Kind::sum) return e;
    std::vector<Expr> order;
    std::map<std::uint32_t, std::vector<Expr>> scalars;
    for (const Expr term : e->args) {
      std::vector<Expr> scalar, rest;
      if (term->kind == Kind::product) {
        for (const Expr factor : term->args) (is_scalar(factor) ? scalar : rest).push_back(factor);
      } else {
        rest.push_back(term);
      }
      const Expr key = pool_.product(rest);
      if (!scalars.contains(key->id)) order.push_back(key);
      scalars[key->id].push_back(pool_.product(scalar));
    }
    std::vector<Expr> terms;
    for (const Expr key : order) terms.push_back(pool_.product({pool_.sum(scalars[key->id]), key}));
    return pool_.sum(std::move(terms));
  }

  static bool is_scalar(Expr e) {
    return !ir::time_dependent(e) && !ir::contains(e, Kind::parameter) && !ir::contains(e, Kind::coefficient);
  }

  const ir::Program& program_;
  ir::Pool& pool_;
};

}  // namespace

ir::Program expand(const ir::Program& program) {
  ir::Program result = program;
  Expander expander(program);
  for (ir::Operation& operation : result.operations) {
    if (auto* update = std::get_if<ir::Update>(&operation)) {
      update->value = expander.expand(update->value, {}, program.field(update->field).stagger);
    }
  }
  return result;
}

}  // namespace ondula::passes
