// Taking updates apart.
// SPDX-License-Identifier: MIT
#include "runtime/scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/error.hpp"
#include "compiler/ir/evaluate.hpp"

namespace ondula {
namespace {

using ir::Expr;
using ir::Kind;

[[noreturn]] void unknown(const ir::Program& program, const std::string& field, const std::string& why) {
  throw UserError(
      fmt::format("equation {}: the stability limit of its update of {} is not known: {}. Known are dtt(u) = "
                  "A u, and pairs "
                  "dt(f) = A g, dt(g) = B f of fields that only feed each other through derivatives",
                  program.equation, field, why));
}

/// A leaf with its time level, as met in an update.
struct Leaf {
  Term term;
  int level = 0;
};

class Splitter {
 public:
  Splitter(const ir::Program& program, const std::string& field) : program_(program), field_(field) {}

  std::vector<Leaf> split(Expr value) {
    walk(value, Term{});
    return std::move(leaves_);
  }

 private:
  void walk(Expr e, Term outer) {
    switch (e->kind) {
      case Kind::sum:
        for (const Expr term : e->args) walk(term, outer);
        return;
      case Kind::product:
        product(e, std::move(outer));
        return;
      case Kind::derivative:
        outer.slopes.push_back({e->axis, e->order, e->staggered});
        walk(e->args[0], std::move(outer));
        return;
      case Kind::field:
        outer.field = e->name;
        leaves_.push_back({std::move(outer), e->level});
        return;
      case Kind::quotient:
        // What discretize_time makes of a term in the field itself: over 1 + dt/2 times its coefficient.
        unknown(program_, field_,
                fmt::format("a term in {} itself without a derivative (damping): {}", field_,
                            ir::text(e->args[1], program_.axes)));
      default:
        unknown(program_, field_, "it holds " + ir::text(e, program_.axes));
    }
  }

  void product(Expr e, Term outer) {
    Expr inner;
    for (const Expr factor : e->args) {
      if (ir::time_dependent(factor)) {
        inner = factor;
      } else if (!ir::contains(factor, Kind::parameter)) {
        outer.scale *= ir::scalar_value(factor, {{"dt", 1.0}});
      } else {
        const Expr nodal = factor->kind == Kind::average ? factor->args[0] : factor;
        outer.factors.push_back({nodal, outer.slopes.size()});
      }
    }
    if (!inner) unknown(program_, field_, "a term without a field");
    walk(inner, std::move(outer));
  }

  const ir::Program& program_;
  const std::string& field_;
  std::vector<Leaf> leaves_;
};

struct Split {
  const ir::Field* field = nullptr;
  std::vector<Leaf> leaves;
};

bool plain(const ir::Program& program, const ir::Update& update) {
  const bool live = std::any_of(update.regions.begin(), update.regions.end(),
                                [](const ir::Region& r) { return r.kind == ir::RegionKind::live; });
  return live && !update.accumulate && program.field(update.field).strip_axis < 0;
}

/// The terms of the operator: what is left without the field's own levels.
FieldTerms operator_terms(const ir::Program& program, const Split& split) {
  FieldTerms result{split.field->name, {}};
  for (const Leaf& leaf : split.leaves) {
    const Term& t = leaf.term;
    if (t.slopes.empty() && t.factors.empty() && t.field == split.field->name) continue;
    if (t.slopes.empty()) {
      if (t.field == split.field->name)
        unknown(program, t.field, fmt::format("a term in {} itself without a derivative (damping)", t.field));
      unknown(program, split.field->name, fmt::format("{} enters it without a derivative", t.field));
    }
    result.terms.push_back(t);
  }
  return result;
}

Scheme leapfrog(const ir::Program& program, const std::vector<Split>& splits) {
  Scheme scheme;
  scheme.stages.resize(2);
  for (const Split& s : splits) {
    FieldTerms terms = operator_terms(program, s);
    for (const Leaf& leaf : s.leaves) {
      if (leaf.term.slopes.empty()) continue;
      const bool other = program.field(leaf.term.field).half_step;
      if (other == s.field->half_step || leaf.level != (other ? 1 : 0)) {
        unknown(program, s.field->name,
                fmt::format("it reads {}, which is updated in the same half of the step", leaf.term.field));
      }
    }
    scheme.stages[s.field->half_step ? 0 : 1].push_back(std::move(terms));
  }
  return scheme;
}

}  // namespace

Scheme scheme_of(const ir::Program& program) {
  std::vector<Split> splits;
  std::set<std::string> seen;
  std::set<int> orders;
  for (const ir::Operation& operation : program.operations) {
    const auto* update = std::get_if<ir::Update>(&operation);
    if (update == nullptr || !plain(program, *update) || !seen.insert(update->field).second) continue;
    splits.push_back({&program.field(update->field), Splitter(program, update->field).split(update->value)});
    orders.insert(splits.back().field->time_order);
  }
  if (splits.empty()) throw InternalError("a program without updates");
  if (orders.size() > 1)
    unknown(program, splits[0].field->name, "first and second time derivatives stand together");
  if (*orders.begin() == 1) return leapfrog(program, splits);
  Scheme scheme;
  scheme.stages.resize(1);
  for (const Split& s : splits) scheme.stages[0].push_back(operator_terms(program, s));
  return scheme;
}

}  // namespace ondula
