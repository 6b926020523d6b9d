// Staggering parity, linearity, and where coefficients live.
// SPDX-License-Identifier: MIT
#include "compiler/passes/check.hpp"

#include <fmt/format.h>

#include "compiler/error.hpp"
#include "compiler/passes/linear.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::HalfCells;
using ir::Kind;

class Placer {
 public:
  explicit Placer(const ir::Equation& equation) : equation_(equation), pool_(*equation.pool) {}

  Expr place(Expr e, const HalfCells& at) const {
    switch (e->kind) {
      case Kind::field:
      case Kind::source:
        require(e, field(e->name).stagger, at);
        return e;
      case Kind::sum: {
        std::vector<Expr> terms;
        for (const Expr term : e->args) terms.push_back(place(term, at));
        return pool_.sum(std::move(terms));
      }
      case Kind::derivative: {
        HalfCells inner = at;
        int& along = inner[static_cast<std::size_t>(e->axis)];
        if (e->staggered) along = 1 - along;
        return pool_.derivative(place(e->args[0], inner), e->axis, e->order, e->staggered);
      }
      case Kind::function:
        if (!ir::is_rate(e)) break;
        require(e->args[0], field(e->args[0]->name).stagger, at);
        return e;
      default:
        break;
    }
    const Factored split = factored(pool_, e);
    const ScaledCoefficient parts = scaled(pool_, split.coefficient);
    std::vector<Expr> factors = {parts.scalar};
    if (parts.nodal) factors.push_back(pool_.average(parts.nodal, at));
    if (split.dependent) {
      if (split.dependent == e) throw UserError(fmt::format("cannot place {}", ir::text(e, equation_.axes)));
      factors.push_back(place(split.dependent, at));
    }
    return pool_.product(std::move(factors));
  }

 private:
  const ir::Field& field(const std::string& name) const {
    for (const ir::Field& f : equation_.fields) {
      if (f.name == name) return f;
    }
    throw InternalError("no field " + name);
  }

  void require(Expr e, const HalfCells& found, const HalfCells& wanted) const {
    if (found == wanted) return;
    const auto describe = [&](const HalfCells& at) {
      std::string text;
      for (std::size_t a = 0; a < equation_.axes.size(); ++a) {
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", equation_.axes[a], at[a] != 0 ? "+1/2" : "");
      }
      return "(" + text + ")";
    };
    throw UserError(
        fmt::format("{} lives at {}, but is used at {}: an odd number of first derivatives along an axis "
                    "moves a term by half a cell there",
                    ir::text(e, equation_.axes), describe(found), describe(wanted)));
  }

  const ir::Equation& equation_;
  ir::Pool& pool_;
};

}  // namespace

ir::Equation check(const ir::Equation& equation) {
  ir::Equation result = equation;
  const Placer placer(equation);
  for (ir::Evolution& evolution : result.evolutions) {
    try {
      HalfCells at{};
      for (const ir::Field& field : equation.fields) {
        if (field.name == evolution.field) at = field.stagger;
      }
      evolution.rhs = placer.place(evolution.rhs, at);
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: equation {}: evolution of {}: {}", evolution.location.text(),
                                  equation.name, evolution.field, error.what()));
    }
  }
  return result;
}

}  // namespace ondula::passes
