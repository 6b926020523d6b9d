// The derivative of every operation, beside the operation.
// SPDX-License-Identifier: MIT
#include "compiler/passes/linearize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/error.hpp"
#include "compiler/passes/names.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

class Linearizer {
 public:
  explicit Linearizer(const ir::Program& physical) : physical_(physical), pool_(*physical.pool) {
    result_.program = physical;
    result_.program.direction = "born";
    result_.program.operations.clear();
    result_.suffix = free_suffix();
    for (ir::Field field : physical.fields) {
      field.name += result_.suffix;
      field.group += result_.suffix;
      result_.program.fields.push_back(std::move(field));
    }
  }

  ir::Tangent run() {
    for (const ir::Operation& operation : physical_.operations) {
      std::visit([&](const auto& own) { differentiate(own); }, operation);
      out().push_back(operation);
    }
    return std::move(result_);
  }

 private:
  std::vector<ir::Operation>& out() { return result_.program.operations; }

  /// One that makes no name of generated text twice.
  std::string free_suffix() const {
    std::set<std::string> known;
    for (const ir::Field& field : physical_.fields) known.insert(identifier(field.name));
    for (const ir::Parameter& parameter : physical_.parameters) known.insert(identifier(parameter.name));
    for (int i = 1;; ++i) {
      const std::string suffix = i == 1 ? ".born" : fmt::format(".born{}", i);
      const bool taken = std::any_of(
          physical_.fields.begin(), physical_.fields.end(),
          [&](const ir::Field& field) { return known.contains(identifier(field.name + suffix)); });
      if (!taken) return suffix;
    }
  }

  void differentiate(const ir::Sample& sample) {
    out().push_back(ir::Sample{result_.derivative_of(sample.field), sample.level});
  }

  void differentiate(const ir::Halo& halo) {
    out().push_back(ir::Halo{result_.derivative_of(halo.field), halo.level});
  }

  void differentiate(const ir::Ring& /*ring*/) { throw InternalError("rings are for steps back"); }

  void differentiate(const ir::Update& update) {
    ir::Update own = update;
    own.field = result_.derivative_of(update.field);
    own.value = tangent(update.value);
    out().push_back(std::move(own));
  }

  void differentiate(const ir::Injection& injection) {
    const std::string field = result_.derivative_of(injection.field);
    if (fed_.insert(field).second)
      out().push_back(ir::Injection{field, field, injection.level, pool_.constant(1)});
  }

  /// The derivative of what is linear in the fields.
  Expr tangent(Expr e) {
    switch (e->kind) {
      case Kind::field:
        return pool_.field(result_.derivative_of(e->name), e->level);
      case Kind::sum: {
        std::vector<Expr> terms;
        for (const Expr term : e->args) terms.push_back(tangent(term));
        return pool_.sum(std::move(terms));
      }
      case Kind::product:
        return product(e);
      case Kind::quotient: {
        if (ir::contains(e->args[1], Kind::field)) fail(e);
        const Expr own = pool_.quotient(tangent(e->args[0]), e->args[1]);
        if (!ir::contains(e->args[1], Kind::parameter)) return own;
        const Expr changed = pool_.tangent(pool_.quotient(pool_.constant(1), e->args[1]));
        return pool_.sum({own, pool_.product({changed, e->args[0]})});
      }
      case Kind::derivative:
        return pool_.derivative(tangent(e->args[0]), e->axis, e->order, e->staggered);
      default:
        fail(e);
    }
  }

  /// A coefficient's change stays one value, whatever the coefficient is made of.
  Expr product(Expr e) {
    std::vector<Expr> steady, perturbed, changed;
    Expr varying;
    for (const Expr factor : e->args) {
      const bool varies = ir::contains(factor, Kind::field);
      if (varies && varying) fail(e);
      if (varies) varying = factor;
      perturbed.push_back(varies ? tangent(factor) : factor);
      if (!varies) (factor->kind == Kind::profile ? changed : steady).push_back(factor);
    }
    if (!varying) fail(e);
    const Expr own = pool_.product(std::move(perturbed));
    const Expr coefficient = pool_.product(std::move(steady));
    if (!ir::contains(coefficient, Kind::parameter)) return own;
    if (ir::time_dependent(coefficient)) fail(e);
    changed.push_back(pool_.tangent(coefficient));
    changed.push_back(varying);
    return pool_.sum({own, pool_.product(std::move(changed))});
  }

  [[noreturn]] void fail(Expr e) const {
    throw UserError(fmt::format("equation {}: {} is not linear in the fields: it has no linearised step",
                                physical_.equation, ir::text(e, physical_.axes)));
  }

  const ir::Program& physical_;
  ir::Pool& pool_;
  ir::Tangent result_;
  std::set<std::string> fed_;
};

}  // namespace

ir::Tangent linearize(const ir::Program& physical) { return Linearizer(physical).run(); }

}  // namespace ondula::passes
