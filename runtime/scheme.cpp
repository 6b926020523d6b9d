// Taking right sides apart.
// SPDX-License-Identifier: MIT
#include "runtime/scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/error.hpp"
#include "compiler/ir/evaluate.hpp"
#include "runtime/scheme_terms.hpp"

namespace ondula {

using ir::Expr;
using ir::Kind;

void unknown_limit(const ir::Program& program, const std::string& field, const std::string& why) {
  throw UserError(
      fmt::format("equation {}: the stability limit of its update of {} is not known: {}. Known are dtt(u) = "
                  "A u, and pairs "
                  "dt(f) = A g, dt(g) = B f of fields that feed each other through derivatives, with damping "
                  "and memory beside them (docs/numerics.md, Damping and memory)",
                  program.equation, field, why));
}

namespace {

/// A term as met in a right side.
struct Leaf {
  Term term;
  Expr coefficient;  ///< all of it that stands outside derivatives, placed
  bool rate = false;
};

class Splitter {
 public:
  Splitter(const ir::Program& program, const std::string& field)
      : program_(program), pool_(*program.pool), field_(field) {}

  std::vector<Leaf> split(Expr value) {
    walk(value, {Term{}, pool_.constant(1)});
    return std::move(leaves_);
  }

 private:
  void walk(Expr e, Leaf outer) {
    switch (e->kind) {
      case Kind::sum:
        for (const Expr term : e->args) walk(term, outer);
        return;
      case Kind::product:
        product(e, std::move(outer));
        return;
      case Kind::derivative:
        outer.term.slopes.push_back({e->axis, e->order, e->staggered});
        walk(e->args[0], std::move(outer));
        return;
      case Kind::field:
        outer.term.field = e->name;
        leaves_.push_back(std::move(outer));
        return;
      case Kind::source:
        return;
      case Kind::constant:
        if (e->number.is(0)) return;
        break;
      case Kind::function:
        if (!ir::is_rate(e)) break;
        outer.term.field = e->args[0]->name;
        outer.rate = true;
        leaves_.push_back(std::move(outer));
        return;
      default:
        break;
    }
    unknown_limit(program_, field_, "it holds " + ir::text(e, program_.axes));
  }

  void product(Expr e, Leaf outer) {
    Expr inner;
    std::vector<Expr> coefficients = {outer.coefficient};
    for (const Expr factor : e->args) {
      if (ir::time_dependent(factor)) {
        inner = factor;
        continue;
      }
      if (outer.term.slopes.empty()) coefficients.push_back(factor);
      if (!ir::contains(factor, Kind::parameter)) {
        outer.term.scale *= ir::scalar_value(factor, {});
      } else {
        const Expr nodal = factor->kind == Kind::average ? factor->args[0] : factor;
        outer.term.factors.push_back({nodal, outer.term.slopes.size()});
      }
    }
    if (!inner) unknown_limit(program_, field_, "a term without a field");
    outer.coefficient = pool_.product(std::move(coefficients));
    walk(inner, std::move(outer));
  }

  const ir::Program& program_;
  ir::Pool& pool_;
  const std::string& field_;
  std::vector<Leaf> leaves_;
};

/// Sorts the terms of one right side.
RightSide sorted(const ir::Program& program, const ir::Evolution& evolution) {
  RightSide side;
  side.field = &program.field(evolution.field);
  const bool second = evolution.order == 2;
  for (Leaf& leaf : Splitter(program, evolution.field).split(evolution.rhs)) {
    const bool own = leaf.term.field == evolution.field, bare = leaf.term.slopes.empty();
    const bool together = second || program.field(leaf.term.field).half_step == side.field->half_step;
    if (leaf.rate) {
      side.rates.push_back(leaf.coefficient);
    } else if (second) {
      if (bare && !own)
        unknown_limit(program, evolution.field,
                      fmt::format("{} enters it without a derivative", leaf.term.field));
      if (bare) side.bare.push_back(leaf.coefficient);
      side.across.push_back(std::move(leaf.term));
    } else if (!together) {
      side.across.push_back(std::move(leaf.term));
    } else if (!bare) {
      unknown_limit(program, evolution.field,
                    fmt::format("it reads {}, which is updated in the same half of the step",
                                own ? "itself" : leaf.term.field));
    } else if (own) {
      side.own.push_back(leaf.coefficient);
    } else {
      side.means.emplace_back(leaf.term.field, leaf.coefficient);
    }
  }
  return side;
}

void mark_reads(std::vector<RightSide>& sides) {
  const auto reads = [](const RightSide& reader, const std::string& name) {
    return std::any_of(reader.across.begin(), reader.across.end(),
                       [&](const Term& t) { return t.field == name; });
  };
  for (RightSide& side : sides) {
    const std::string& name = side.field->name;
    side.read = std::any_of(sides.begin(), sides.end(), [&](const RightSide& r) { return reads(r, name); });
    side.memory = !side.read && std::any_of(sides.begin(), sides.end(), [&](const RightSide& r) {
      return std::any_of(r.means.begin(), r.means.end(), [&](const auto& m) { return m.first == name; });
    });
  }
}

}  // namespace

Scheme scheme_of(const ir::Program& program) {
  std::vector<RightSide> sides;
  std::set<int> orders;
  for (const ir::Evolution& evolution : program.stated) orders.insert(evolution.order);
  if (orders.empty()) throw InternalError("a program without a statement");
  if (orders.size() > 1)
    unknown_limit(program, program.stated[0].field, "first and second time derivatives stand together");
  for (const ir::Evolution& evolution : program.stated) sides.push_back(sorted(program, evolution));
  mark_reads(sides);
  const bool second = *orders.begin() == 2;
  Scheme scheme;
  scheme.stages.resize(second ? 1 : 2);
  for (const RightSide& side : sides) {
    if (!second && !side.read) continue;
    const std::size_t stage = second || side.field->half_step ? 0 : 1;
    scheme.stages[stage].push_back({side.field->name, side.across});
  }
  for (const auto& stage : scheme.stages) {
    if (stage.empty())
      unknown_limit(program, sides[0].field->name, "no two fields feed each other through derivatives");
  }
  scheme.conditions = damping_conditions(program, sides);
  return scheme;
}

}  // namespace ondula
