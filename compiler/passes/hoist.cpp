// Scalars and coefficient arrays.
// SPDX-License-Identifier: MIT
#include "compiler/passes/hoist.hpp"

#include <fmt/format.h>

#include <map>

#include "compiler/passes/linear.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::HalfCells;
using ir::Kind;

class Hoister {
 public:
  explicit Hoister(ir::Program& program) : program_(program), pool_(*program.pool) {
    for (const ir::Scalar& s : program.scalars) scalars_[s.definition->id] = s.name;
    for (const ir::Coefficient& c : program.coefficients) coefficients_[c.definition->id] = c.name;
    given_ = coefficients_;
  }

  Expr hoist(Expr e) {
    if (e->kind == Kind::average || ir::is_tangent(e)) return averaged(e);
    if (!ir::time_dependent(e)) return constant_in_time(e);
    switch (e->kind) {
      case Kind::sum: {
        std::vector<Expr> terms;
        for (const Expr term : e->args) terms.push_back(hoist(term));
        return pool_.sum(std::move(terms));
      }
      case Kind::product:
        return hoisted_product(e);
      case Kind::quotient:
        return pool_.quotient(hoist(e->args[0]), hoist(e->args[1]));
      case Kind::function: {
        std::vector<Expr> args;
        for (const Expr arg : e->args) args.push_back(hoist(arg));
        return pool_.function(e->name, std::move(args));
      }
      default:
        return e;
    }
  }

 private:
  Expr hoisted_product(Expr e) {
    std::vector<Expr> steady, averages, moving;
    for (const Expr factor : e->args) {
      if (factor->kind == Kind::average || ir::is_tangent(factor))
        averages.push_back(factor);
      else if (ir::time_dependent(factor))
        moving.push_back(hoist(factor));
      else
        steady.push_back(factor);
    }
    std::vector<Expr> factors;
    const Expr scale = pool_.product(std::move(steady));
    const bool folds = !averages.empty() && !ir::contains(scale, Kind::parameter);
    if (!folds && !ir::is_constant(scale, 1)) factors.push_back(constant_in_time(scale));
    for (std::size_t i = 0; i < averages.size(); ++i)
      factors.push_back(averaged(averages[i], folds && i == 0 ? scale : pool_.constant(1)));
    factors.insert(factors.end(), moving.begin(), moving.end());
    return pool_.product(std::move(factors));
  }

  Expr constant_in_time(Expr e) {
    if (e->kind == Kind::constant) return e;
    if (ir::is_tangent(e)) return averaged(e);
    if (ir::contains(e, Kind::average)) {
      const ScaledCoefficient parts = scaled(pool_, e);
      if (parts.nodal->kind == Kind::average) {
        return averaged(parts.nodal, parts.scalar);
      }
      return rewrite(pool_, e, [&](Expr node) {
        if (node->kind == Kind::average || ir::is_tangent(node)) return averaged(node);
        return ir::contains(node, Kind::average) ? Expr{} : constant_in_time(node);
      });
    }
    if (!ir::contains(e, Kind::parameter) && !ir::contains(e, Kind::surface)) return scalar(e);
    const auto opposite = given_.find(pool_.negate(e)->id);
    if (opposite != given_.end()) return pool_.negate(pool_.coefficient(opposite->second));
    return pool_.coefficient(coefficient_name(e));
  }

  /// w_i, with a leading minus pulled out so that +w and -w are one scalar.
  Expr scalar(Expr e) {
    if (e->kind == Kind::product && e->args[0]->kind == Kind::constant && e->args[0]->number.value() < 0) {
      return pool_.negate(scalar(pool_.negate(e)));
    }
    if (!ir::contains(e, Kind::symbol)) return e;
    const auto found = scalars_.find(e->id);
    if (found != scalars_.end()) return pool_.symbol(found->second);
    const std::string name = fmt::format("w{}", program_.scalars.size());
    program_.scalars.push_back({name, e});
    scalars_[e->id] = name;
    return pool_.symbol(name);
  }

  std::string coefficient_name(Expr definition) {
    const auto found = coefficients_.find(definition->id);
    if (found != coefficients_.end()) return found->second;
    std::string name = fmt::format("c{}", program_.coefficients.size());
    // Of what was given some may be missing.
    for (std::size_t next = program_.coefficients.size(); program_.find_coefficient(name) != nullptr; ++next)
      name = fmt::format("c{}", next);
    program_.coefficients.push_back({name, definition});
    coefficients_[definition->id] = name;
    return name;
  }

  Expr averaged(Expr e) { return averaged(e, pool_.constant(1)); }

  /// `scale` times the harmonic mean of the nodes around an off-node point; a nodal value read elsewhere is
  /// its own mean.
  Expr averaged(Expr e, Expr scale) {
    if (ir::is_tangent(e))
      return pool_.product({constant_in_time(scale), pool_.coefficient(coefficient_name(e))});
    std::vector<HalfCells> around = {HalfCells{}};
    for (std::size_t axis = 0; axis < e->offset.size(); ++axis) {
      std::vector<HalfCells> next;
      for (HalfCells at : around) {
        const int half = e->offset[axis];
        if (half % 2 == 0) {
          at[axis] = half;
          next.push_back(at);
          continue;
        }
        at[axis] = half - 1;
        next.push_back(at);
        at[axis] = half + 1;
        next.push_back(at);
      }
      around = std::move(next);
    }
    const Expr nodal = e->args[0];
    if (around.size() == 1)
      return pool_.product({constant_in_time(scale), pool_.coefficient(coefficient_name(nodal), around[0])});
    const Expr one = pool_.constant(1);
    const bool reciprocal = nodal->kind == Kind::quotient && ir::is_constant(nodal->args[0], 1);
    const std::string name = coefficient_name(reciprocal ? nodal->args[1] : pool_.quotient(one, nodal));
    std::vector<Expr> terms;
    for (const HalfCells& at : around) terms.push_back(pool_.coefficient(name, at));
    const Expr count = pool_.constant(static_cast<int>(around.size()));
    return pool_.quotient(constant_in_time(pool_.product({count, scale})), pool_.sum(std::move(terms)));
  }

  ir::Program& program_;
  ir::Pool& pool_;
  std::map<std::uint32_t, std::string> scalars_;
  std::map<std::uint32_t, std::string> coefficients_, given_;
};

}  // namespace

ir::Program hoist(const ir::Program& program, const ir::Program* given) {
  ir::Program result = program;
  if (given != nullptr) {
    result.scalars = given->scalars;
    result.coefficients = given->coefficients;
  }
  Hoister hoister(result);
  std::vector<ir::Operation> operations = program.operations;
  for (ir::Operation& operation : operations) {
    if (auto* update = std::get_if<ir::Update>(&operation)) update->value = hoister.hoist(update->value);
  }
  result.operations = std::move(operations);
  return result;
}

}  // namespace ondula::passes
