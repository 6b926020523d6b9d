// Leapfrog updates from evolution equations.
// SPDX-License-Identifier: MIT
#include "compiler/passes/discretize_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/error.hpp"
#include "compiler/passes/linear.hpp"
#include "compiler/passes/time_levels.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

/// A coefficient times what varies in time.
struct Weighted {
  Expr coefficient;
  Expr of;
};

/// The right side of a field f apart.
struct Parts {
  std::vector<std::pair<std::string, Expr>> sources;  // field fed, coefficient
  std::vector<Expr> own;                              // coefficients A of A*f
  std::vector<Expr> rates;                            // coefficients of dt(f), f of second order
  std::vector<std::pair<std::string, Expr>> means;    // fields of f's own level, coefficient
  std::vector<Weighted> rest;
};

class Discretizer {
 public:
  Discretizer(const ir::Equation& equation, int order)
      : equation_(equation), pool_(*equation.pool), levels_(time_levels(equation)) {
    program_.equation = equation.name;
    program_.description = equation.description;
    program_.axes = equation.axes;
    program_.pool = equation.pool;
    program_.order = order;
    program_.parameters = equation.parameters;
    program_.requirements = equation.requirements;
    program_.speeds = equation.speeds;
    program_.fields = equation.fields;
    program_.stated = equation.evolutions;
  }

  ir::Program run() {
    for (const ir::Field& field : equation_.fields) program_.operations.push_back(ir::Sample{field.name});
    for (const std::vector<std::size_t>& statement : levels_.statements) update(statement);
    mark_half_steps();
    return std::move(program_);
  }

 private:
  void update(const std::vector<std::size_t>& statement) {
    std::vector<ir::Operation> injections, halos;
    for (const std::size_t i : statement) {
      const ir::Evolution& evolution = equation_.evolutions[i];
      try {
        update(evolution, injections);
      } catch (const UserError& error) {
        throw UserError(fmt::format("{}: equation {}: evolution of {}: {}", evolution.location.text(),
                                    equation_.name, evolution.field, error.what()));
      }
      halos.push_back(ir::Halo{evolution.field, 1});
    }
    for (const std::size_t i : statement) updated_.insert(equation_.evolutions[i].field);
    program_.operations.insert(program_.operations.end(), injections.begin(), injections.end());
    program_.operations.insert(program_.operations.end(), halos.begin(), halos.end());
  }

  void update(const ir::Evolution& evolution, std::vector<ir::Operation>& injections) {
    const Expr dt = pool_.symbol("dt");
    const bool second = evolution.order == 2;
    const Expr scale = second ? pool_.product({dt, dt}) : dt;
    const Parts parts = parts_of(evolution);
    const Expr now = pool_.field(evolution.field, 0), one = pool_.constant(1);
    // What is taken half at either side of the step: dt/2 times the coefficient of f, or of its rate.
    const Expr half = half_of(second ? parts.rates : parts.own);
    const Expr divisor = pool_.sum({one, pool_.negate(half)});
    std::vector<Expr> terms;
    if (second) {
      const Expr kept = pool_.negate(pool_.sum({one, half}));
      terms = {pool_.product({pool_.constant(2), now}),
               pool_.product({kept, pool_.field(evolution.field, -1)})};
      for (const Expr a : parts.own) terms.push_back(pool_.product({scale, a, now}));
    } else {
      terms = {pool_.product({pool_.sum({one, half}), now})};
    }
    if (parts.means.empty()) {
      for (const Weighted& term : parts.rest)
        terms.push_back(pool_.product({scale, term.coefficient, latest(term.of)}));
    } else {
      for (const Weighted& term : collected(driven(parts, scale)))
        terms.push_back(pool_.product({term.coefficient, term.of}));
    }
    Expr value = pool_.sum(std::move(terms));
    if (!ir::is_constant(divisor, 1)) value = pool_.quotient(value, divisor);
    program_.operations.push_back(ir::Update{
        evolution.field, 1, value, false, {ir::Region{ir::RegionKind::live, -1}}, evolution.location});
    for (const auto& [source, coefficient] : parts.sources) {
      const Expr factor = pool_.quotient(pool_.product({scale, coefficient}), divisor);
      injections.push_back(ir::Injection{source, evolution.field, 1, factor});
    }
  }

  Expr half_of(const std::vector<Expr>& coefficients) {
    return pool_.product(
        {pool_.constant(ir::Number::ratio(1, 2)), pool_.symbol("dt"), pool_.sum(coefficients)});
  }

  /// scale * (the rest, and the means of other fields), all that is read as it is when f is updated.
  std::vector<Weighted> driven(const Parts& parts, Expr scale) {
    std::vector<Weighted> terms;
    for (const Weighted& term : parts.rest)
      terms.push_back({pool_.product({scale, term.coefficient}), latest(term.of)});
    for (const auto& [field, coefficient] : parts.means) {
      for (const Weighted& term : mean_of(field))
        terms.push_back({pool_.product({scale, coefficient, term.coefficient}), term.of});
    }
    return terms;
  }

  /// (f' + f)/2 = (f + dt/2 * driven)/(1 - dt/2 * own), f' itself eliminated.
  std::vector<Weighted> mean_of(const std::string& field) {
    const auto evolution = std::find_if(equation_.evolutions.begin(), equation_.evolutions.end(),
                                        [&](const ir::Evolution& e) { return e.field == field; });
    const Parts parts = parts_of(*evolution);
    if (!parts.sources.empty()) {
      throw UserError(fmt::format(
          "it takes the mean over a step of {}, which has a source: give the source to the field it drives",
          field));
    }
    const Expr divisor = pool_.sum({pool_.constant(1), pool_.negate(half_of(parts.own))});
    const Expr half = pool_.product({pool_.constant(ir::Number::ratio(1, 2)), pool_.symbol("dt")});
    std::vector<Weighted> terms = driven(parts, half);
    terms.insert(terms.begin(), {pool_.constant(1), pool_.field(field, 0)});
    for (Weighted& term : terms) term.coefficient = pool_.quotient(term.coefficient, divisor);
    return terms;
  }

  /// One term for each thing that varies in time.
  std::vector<Weighted> collected(const std::vector<Weighted>& terms) {
    std::vector<Weighted> result;
    for (const Weighted& term : terms) {
      const auto same =
          std::find_if(result.begin(), result.end(), [&](const Weighted& w) { return w.of == term.of; });
      if (same == result.end())
        result.push_back(term);
      else
        same->coefficient = pool_.sum({same->coefficient, term.coefficient});
    }
    return result;
  }

  Parts parts_of(const ir::Evolution& evolution) {
    Parts parts;
    split(evolution.rhs, pool_.constant(1), evolution.field, parts);
    return parts;
  }

  void split(Expr e, Expr outer, const std::string& own, Parts& parts) {
    if (e->kind == Kind::sum) {
      for (const Expr term : e->args) split(term, outer, own, parts);
      return;
    }
    const Factored factors = factored(pool_, e);
    const Expr coefficient = pool_.product({outer, factors.coefficient});
    const Expr inner = factors.dependent;
    if (!inner) throw UserError("a term without a field or a source");
    if (inner->kind == Kind::sum) {
      // Only sums that hold a source, the field itself or one whose mean is taken need opening; others stay
      // whole, as the author wrote them.
      if (ir::contains(inner, Kind::source) || holds_split(inner, own)) {
        std::vector<Expr> kept;
        for (const Expr term : inner->args) {
          const bool open = ir::contains(term, Kind::source) || holds_split(term, own);
          if (open)
            split(term, coefficient, own, parts);
          else
            kept.push_back(term);
        }
        if (!kept.empty()) parts.rest.push_back({coefficient, pool_.sum(std::move(kept))});
        return;
      }
    } else if (inner->kind == Kind::source) {
      const auto known = std::find_if(parts.sources.begin(), parts.sources.end(),
                                      [&](const auto& source) { return source.first == inner->name; });
      if (known == parts.sources.end())
        parts.sources.emplace_back(inner->name, coefficient);
      else
        known->second = pool_.sum({known->second, coefficient});
      return;
    } else if (ir::is_rate(inner)) {
      parts.rates.push_back(coefficient);
      return;
    } else if (inner->kind == Kind::field && inner->name == own) {
      parts.own.push_back(coefficient);
      return;
    } else if (inner->kind == Kind::field && levels_.means.contains({own, inner->name})) {
      parts.means.emplace_back(inner->name, coefficient);
      return;
    }
    if (ir::contains(inner, Kind::source)) throw UserError("a source under a derivative");
    parts.rest.push_back({coefficient, inner});
  }

  /// The field itself or one whose mean it takes, outside any derivative.
  bool holds_split(Expr e, const std::string& own) const {
    if (e->kind == Kind::field) return e->name == own || levels_.means.contains({own, e->name});
    if (e->kind == Kind::derivative) return false;
    return std::any_of(e->args.begin(), e->args.end(), [&](Expr arg) { return holds_split(arg, own); });
  }

  /// First-order fields updated earlier in this step are read at their new level.
  Expr latest(Expr e) const {
    return rewrite(pool_, e, [&](Expr node) -> Expr {
      if (node->kind != Kind::field || !updated_.contains(node->name)) return {};
      if (program_.field(node->name).time_order == 2) return {};
      return pool_.field(node->name, 1);
    });
  }

  /// A first-order field lives at half steps if a later update of the same step reads its new value, and so
  /// do those that it takes means of.
  void mark_half_steps() {
    std::set<std::string> read_new;
    for (const ir::Operation& operation : program_.operations) {
      if (const auto* update = std::get_if<ir::Update>(&operation)) collect_new(update->value, read_new);
    }
    for (bool grown = true; grown;) {
      grown = false;
      for (const auto& [field, other] : levels_.means) {
        if (read_new.contains(field) != read_new.contains(other)) {
          read_new.insert({field, other});
          grown = true;
        }
      }
    }
    for (ir::Field& field : program_.fields)
      field.half_step = field.time_order == 1 && read_new.contains(field.name);
  }

  static void collect_new(Expr e, std::set<std::string>& names) {
    if (e->kind == Kind::field && e->level == 1) names.insert(e->name);
    for (const Expr arg : e->args) collect_new(arg, names);
  }

  const ir::Equation& equation_;
  ir::Pool& pool_;
  ir::Program program_;
  TimeLevels levels_;
  std::set<std::string> updated_;
};

}  // namespace

ir::Program discretize_time(const ir::Equation& checked, int order) {
  return Discretizer(checked, order).run();
}

}  // namespace ondula::passes
