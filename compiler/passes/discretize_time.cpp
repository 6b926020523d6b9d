// Leapfrog updates from evolution equations.
// SPDX-License-Identifier: MIT
#include "compiler/passes/discretize_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/error.hpp"
#include "compiler/passes/linear.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

/// The right side apart: terms with a source, the pointwise term in the field itself, and the rest.
struct Parts {
  std::vector<std::pair<std::string, Expr>> sources;  // field fed, coefficient
  std::vector<Expr> own;                              // coefficients A of A*f
  std::vector<Expr> rest;
};

class Discretizer {
 public:
  Discretizer(const ir::Equation& equation, int order) : equation_(equation), pool_(*equation.pool) {
    program_.equation = equation.name;
    program_.description = equation.description;
    program_.axes = equation.axes;
    program_.pool = equation.pool;
    program_.order = order;
    program_.parameters = equation.parameters;
    program_.requirements = equation.requirements;
    program_.speeds = equation.speeds;
    program_.fields = equation.fields;
  }

  ir::Program run() {
    for (const ir::Field& field : equation_.fields) program_.operations.push_back(ir::Sample{field.name});
    std::size_t begin = 0;
    while (begin < equation_.evolutions.size()) {
      std::size_t end = begin + 1;
      while (end < equation_.evolutions.size() && same_statement(begin, end)) ++end;
      statement(begin, end);
      begin = end;
    }
    mark_half_steps();
    return std::move(program_);
  }

 private:
  /// Statements [a, b] are one: an author's single one, or those of a field's components, none of which reads
  /// another, so that their order does not matter.
  bool same_statement(std::size_t a, std::size_t b) const {
    const ir::Evolution& left = equation_.evolutions[a];
    const ir::Evolution& right = equation_.evolutions[b];
    if (program_.field(left.field).group != program_.field(right.field).group) return false;
    if (left.location.line == right.location.line && left.location.file == right.location.file) return true;
    std::set<std::string> earlier;
    for (std::size_t i = a; i < b; ++i) earlier.insert(equation_.evolutions[i].field);
    return left.order == right.order && !reads(right.rhs, earlier);
  }

  static bool reads(Expr e, const std::set<std::string>& names) {
    if (e->kind == Kind::field) return names.contains(e->name);
    return std::any_of(e->args.begin(), e->args.end(), [&](Expr arg) { return reads(arg, names); });
  }

  void statement(std::size_t begin, std::size_t end) {
    std::vector<ir::Operation> injections, halos;
    for (std::size_t i = begin; i < end; ++i) {
      const ir::Evolution& evolution = equation_.evolutions[i];
      try {
        update(evolution, injections);
      } catch (const UserError& error) {
        throw UserError(fmt::format("{}: equation {}: evolution of {}: {}", evolution.location.text(),
                                    equation_.name, evolution.field, error.what()));
      }
      halos.push_back(ir::Halo{evolution.field, 1});
    }
    for (std::size_t i = begin; i < end; ++i) updated_.insert(equation_.evolutions[i].field);
    program_.operations.insert(program_.operations.end(), injections.begin(), injections.end());
    program_.operations.insert(program_.operations.end(), halos.begin(), halos.end());
  }

  void update(const ir::Evolution& evolution, std::vector<ir::Operation>& injections) {
    const Expr dt = pool_.symbol("dt");
    const bool second = evolution.order == 2;
    const Expr scale = second ? pool_.product({dt, dt}) : dt;
    Parts parts;
    split(evolution.rhs, pool_.constant(1), evolution.field, parts);
    const Expr now = pool_.field(evolution.field, 0);
    Expr divisor = pool_.constant(1);
    std::vector<Expr> terms;
    if (second) {
      terms = {pool_.product({pool_.constant(2), now}), pool_.negate(pool_.field(evolution.field, -1))};
      for (const Expr a : parts.own) terms.push_back(pool_.product({scale, a, now}));
    } else if (parts.own.empty()) {
      terms = {now};
    } else {
      const Expr half = pool_.product({pool_.constant(ir::Number::ratio(1, 2)), dt, pool_.sum(parts.own)});
      divisor = pool_.sum({pool_.constant(1), pool_.negate(half)});
      terms = {pool_.product({pool_.sum({pool_.constant(1), half}), now})};
    }
    for (const Expr term : parts.rest) terms.push_back(pool_.product({scale, latest(term)}));
    Expr value = pool_.sum(std::move(terms));
    if (!ir::is_constant(divisor, 1)) value = pool_.quotient(value, divisor);
    program_.operations.push_back(ir::Update{
        evolution.field, 1, value, false, {ir::Region{ir::RegionKind::live, -1}}, evolution.location});
    for (const auto& [source, coefficient] : parts.sources) {
      const Expr factor = pool_.quotient(pool_.product({scale, coefficient}), divisor);
      injections.push_back(ir::Injection{source, evolution.field, 1, factor});
    }
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
      // Only sums that hold a source or the field itself need opening; others stay whole, as the author wrote
      // them.
      if (ir::contains(inner, Kind::source) || holds_own(inner, own)) {
        std::vector<Expr> kept;
        for (const Expr term : inner->args) {
          const bool open = ir::contains(term, Kind::source) || holds_own(term, own);
          if (open)
            split(term, coefficient, own, parts);
          else
            kept.push_back(term);
        }
        if (!kept.empty()) parts.rest.push_back(pool_.product({coefficient, pool_.sum(std::move(kept))}));
        return;
      }
    } else if (inner->kind == Kind::source) {
      parts.sources.emplace_back(inner->name, coefficient);
      return;
    } else if (inner->kind == Kind::field && inner->name == own) {
      parts.own.push_back(coefficient);
      return;
    }
    if (ir::contains(inner, Kind::source)) throw UserError("a source under a derivative");
    parts.rest.push_back(pool_.product({coefficient, inner}));
  }

  /// The field itself, outside any derivative.
  static bool holds_own(Expr e, const std::string& own) {
    if (e->kind == Kind::field) return e->name == own;
    if (e->kind == Kind::derivative) return false;
    for (const Expr arg : e->args) {
      if (holds_own(arg, own)) return true;
    }
    return false;
  }

  /// First-order fields updated earlier in this step are read at their new level.
  Expr latest(Expr e) const {
    return rewrite(pool_, e, [&](Expr node) -> Expr {
      if (node->kind != Kind::field || !updated_.contains(node->name)) return {};
      if (program_.field(node->name).time_order == 2) return {};
      return pool_.field(node->name, 1);
    });
  }

  /// A first-order field lives at half steps if a later update of the same step reads its new value.
  void mark_half_steps() {
    std::set<std::string> read_new;
    for (const ir::Operation& operation : program_.operations) {
      if (const auto* update = std::get_if<ir::Update>(&operation)) collect_new(update->value, read_new);
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
  std::set<std::string> updated_;
};

}  // namespace

ir::Program discretize_time(const ir::Equation& checked, int order) {
  return Discretizer(checked, order).run();
}

}  // namespace ondula::passes
