// Moduli on the rows of free surfaces.
// SPDX-License-Identifier: MIT
#include "compiler/passes/surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/error.hpp"
#include "compiler/passes/linear.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::FieldKind;
using ir::Kind;

/// A normal stress's new value: its own terms, and coefficients of D_b v_b for each axis b.
struct Law {
  ir::Update* update = nullptr;
  std::vector<Expr> own;
  std::array<std::vector<Expr>, ir::max_axes> coefficients;
  std::array<Expr, ir::max_axes> slopes;  ///< D_b v_b, null where it does not occur
};

class Surfacer {
 public:
  explicit Surfacer(const ir::Program& program) : program_(program), pool_(*program.pool) {}

  ir::Program run() {
    program_.no_surface = kinds_reason();
    for (const std::string& group : tensor_groups()) {
      if (program_.no_surface.empty()) program_.no_surface = changed(group);
    }
    return std::move(program_);
  }

 private:
  /// Mirrors are right for scalars driven by gradients, and for velocities with their stresses; nothing else.
  std::string kinds_reason() const {
    bool scalars = false, tensors = false;
    for (const ir::Field& field : program_.fields) {
      if (field.electric)
        return "nothing that obeys curls vanishes on it; a rigid face is a perfect electric conductor";
      scalars |= field.kind == FieldKind::scalar;
      tensors |= field.kind == FieldKind::tensor;
    }
    if (scalars && tensors) {
      return "it has scalars beside stresses, and which combination of them vanishes on a surface is not "
             "known";
    }
    for (const ir::Operation& operation : program_.operations) {
      const auto* update = std::get_if<ir::Update>(&operation);
      if (update == nullptr || program_.field(update->field).kind != FieldKind::vector) continue;
      if (differentiates_vector(update->value)) {
        return fmt::format("{} is driven by derivatives of a vector: a surface needs the stresses as fields",
                           update->field);
      }
    }
    return "";
  }

  bool differentiates_vector(Expr e) const {
    if (e->kind == Kind::derivative && holds_vector(e->args[0])) return true;
    return std::any_of(e->args.begin(), e->args.end(), [&](Expr arg) { return differentiates_vector(arg); });
  }

  bool holds_vector(Expr e) const {
    if (e->kind == Kind::field) return program_.field(e->name).kind == FieldKind::vector;
    return std::any_of(e->args.begin(), e->args.end(), [&](Expr arg) { return holds_vector(arg); });
  }

  std::vector<std::string> tensor_groups() const {
    std::vector<std::string> groups;
    for (const ir::Field& field : program_.fields) {
      const bool known = std::find(groups.begin(), groups.end(), field.group) != groups.end();
      if (field.kind == FieldKind::tensor && !known) groups.push_back(field.group);
    }
    return groups;
  }

  /// Gives the normal stresses of `group` their law on surfaces; a reason where that cannot be done.
  std::string changed(const std::string& group) {
    std::vector<Law> laws(static_cast<std::size_t>(program_.dims()));
    for (ir::Operation& operation : program_.operations) {
      auto* update = std::get_if<ir::Update>(&operation);
      if (update == nullptr) continue;
      const ir::Field& field = program_.field(update->field);
      if (field.group != group || field.component[0] != field.component[1]) continue;
      Law& law = laws[static_cast<std::size_t>(field.component[0])];
      law.update = update;
      const Expr value = update->value->kind == Kind::quotient ? update->value->args[0] : update->value;
      if (const Expr odd = read(value, pool_.constant(1), law)) {
        return fmt::format("the normal stress {} depends on {}, for which no rule is known on a surface",
                           field.name, ir::text(odd, program_.axes));
      }
    }
    const std::optional<Moduli> moduli = isotropic(laws);
    if (!moduli) {
      return fmt::format(
          "the normal stresses of {} follow no isotropic law: a rule is known for lambda "
          "trace(grad(v)) + 2 mu sym(grad(v)) only",
          group);
    }
    for (const Law& law : laws) rewrite_value(law, *moduli);
    return "";
  }

  /// Collects the terms of outer*e in `law`; the first term that is none of the known kinds is returned.
  Expr read(Expr e, Expr outer, Law& law) {
    if (e->kind == Kind::sum) {
      for (const Expr term : e->args) {
        if (const Expr odd = read(term, outer, law)) return odd;
      }
      return {};
    }
    const Factored parts = factored(pool_, e);
    const Expr coefficient = pool_.product({outer, parts.coefficient});
    const Expr inner = parts.dependent;
    if (inner->kind == Kind::sum) return read(inner, coefficient, law);
    if (inner->kind == Kind::field && inner->name == law.update->field) {
      law.own.push_back(pool_.product({coefficient, inner}));
      return {};
    }
    if (inner->kind != Kind::derivative || inner->args[0]->kind != Kind::field) return inner;
    const ir::Field& field = program_.field(inner->args[0]->name);
    if (field.kind != FieldKind::vector || field.component[0] != inner->axis || inner->order != 1) {
      return inner;
    }
    const auto axis = static_cast<std::size_t>(inner->axis);
    // Two vectors (a mixture's) are two systems, not one.
    if (law.slopes[axis] && !(law.slopes[axis] == inner)) return inner;
    law.slopes[axis] = inner;
    law.coefficients[axis].push_back(coefficient);
    return {};
  }

  /// lambda and 2 mu, times what every coefficient carries, and D_b v_b for each axis b.
  struct Moduli {
    Expr lambda;
    Expr twice_mu;
    std::vector<Expr> slopes;
  };

  std::optional<Moduli> isotropic(const std::vector<Law>& laws) {
    Moduli moduli;
    const std::size_t dims = laws.size();
    for (std::size_t a = 0; a < dims; ++a) {
      if (laws[a].update == nullptr || !laws[a].slopes[a]) return {};
      moduli.slopes.push_back(laws[a].slopes[a]);
    }
    const std::vector<Expr>& shared = laws[0].coefficients[1];  // none in 1-D, where the split is of no use
    moduli.lambda = pool_.sum(shared);
    moduli.twice_mu = difference(laws[0].coefficients[0], shared);
    for (std::size_t a = 0; a < dims; ++a) {
      if (!(difference(laws[a].coefficients[a], shared) == moduli.twice_mu)) return {};
      for (std::size_t b = 0; b < dims; ++b) {
        const bool fits = !laws[a].slopes[b] || laws[a].slopes[b] == moduli.slopes[b];
        if (!fits || (a != b && !(pool_.sum(laws[a].coefficients[b]) == moduli.lambda))) return {};
      }
    }
    return moduli;
  }

  /// The sum of `terms` without one of each of `taken`.
  Expr difference(std::vector<Expr> terms, const std::vector<Expr>& taken) {
    for (const Expr term : taken) {
      const auto found = std::find(terms.begin(), terms.end(), term);
      if (found != terms.end())
        terms.erase(found);
      else
        terms.push_back(pool_.negate(term));
    }
    return pool_.sum(std::move(terms));
  }

  /// own + surface(lambda)*(sum of D_b v_b) + 2 mu D_a v_a.
  void rewrite_value(const Law& law, const Moduli& moduli) {
    if (ir::is_constant(moduli.lambda, 0)) return;
    const auto own_axis = static_cast<std::size_t>(program_.field(law.update->field).component[0]);
    std::vector<Expr> terms = law.own;
    terms.push_back(pool_.product({on_surfaces(moduli), pool_.sum(moduli.slopes)}));
    terms.push_back(pool_.product({moduli.twice_mu, moduli.slopes[own_axis]}));
    Expr value = pool_.sum(std::move(terms));
    if (law.update->value->kind == Kind::quotient) value = pool_.quotient(value, law.update->value->args[1]);
    law.update->value = value;
  }

  /// lambda with k surfaces: 2 lambda mu/(k lambda + 2 mu), written so that mu = 0 and lambda = 0 give 0.
  /// What both moduli carry alike, the time step, stays outside.
  Expr on_surfaces(const Moduli& moduli) {
    if (ir::is_constant(moduli.twice_mu, 0)) {
      return pool_.surface({moduli.lambda, pool_.constant(0)});
    }
    const ScaledCoefficient lambda = scaled(pool_, moduli.lambda);
    const ScaledCoefficient twice_mu = scaled(pool_, moduli.twice_mu);
    const std::optional<Expr> ratio = quotient_of_scalars(twice_mu.scalar, lambda.scalar);
    if (!ratio || !lambda.nodal || !twice_mu.nodal) return softened(moduli.lambda, moduli.twice_mu);
    return pool_.product({lambda.scalar, softened(lambda.nodal, pool_.product({*ratio, twice_mu.nodal}))});
  }

  Expr softened(Expr lambda, Expr twice_mu) {
    std::vector<Expr> by_count = {lambda};
    const Expr one = pool_.constant(1);
    for (int k = 1; k < program_.dims(); ++k) {
      const Expr compliance =
          pool_.sum({pool_.quotient(one, lambda), pool_.quotient(pool_.constant(k), twice_mu)});
      by_count.push_back(pool_.quotient(one, compliance));
    }
    return pool_.surface(std::move(by_count));
  }

  /// above/below where that is a number: both are products of numbers and the same symbols.
  std::optional<Expr> quotient_of_scalars(Expr above, Expr below) {
    const auto apart = [](Expr e) {
      std::pair<ir::Number, std::vector<Expr>> parts{1, {}};
      const std::vector<Expr> factors = e->kind == Kind::product ? e->args : std::vector<Expr>{e};
      for (const Expr factor : factors) {
        if (factor->kind == Kind::constant)
          parts.first = parts.first * factor->number;
        else
          parts.second.push_back(factor);
      }
      return parts;
    };
    const auto [a, a_rest] = apart(above);
    const auto [b, b_rest] = apart(below);
    if (a_rest != b_rest) return {};
    return pool_.constant(a / b);
  }

  ir::Program program_;
  ir::Pool& pool_;
};

}  // namespace

ir::Program surface(const ir::Program& program) { return Surfacer(program).run(); }

ir::Expr medium(ir::Pool& pool, ir::Expr e) {
  return rewrite(pool, e, [&](ir::Expr part) {
    return part->kind == ir::Kind::surface ? medium(pool, part->args[0]) : ir::Expr();
  });
}

void require_surface(const ir::Program& program, const ir::Domain& domain) {
  if (program.no_surface.empty() || !domain.has_free_surface()) return;
  throw UserError(fmt::format("equation {}: a free surface is refused: {}; take a layer or a wall",
                              program.equation, program.no_surface));
}

}  // namespace ondula::passes
