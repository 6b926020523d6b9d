// When damping and memory lose energy, from right sides.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/error.hpp"
#include "compiler/passes/positive.hpp"
#include "runtime/scheme_terms.hpp"

// Why these conditions suffice: numerics.md, Damping and memory. Each field g of one stage that the other
// stage reads has a drive of its own, E_g: minus the transpose of how it is read. A field whose right side is
// a multiple of its own E_g has an energy of its own; those whose right sides hold each other's E_g share
// one, through the inverse of the matrix of those multiples.

namespace ondula {
namespace {

using ir::Expr;

/// A derivative of a field, as it stands in a right side.
struct Atom {
  std::string field;
  std::vector<Slope> slopes;
  friend bool operator==(const Atom&, const Atom&) = default;
};

/// One part of E_g: an atom, with the sign that its reader gives it.
struct Part {
  Atom atom;
  double scale = 1;
};

class Damping {
 public:
  Damping(const ir::Program& program, const std::vector<RightSide>& sides)
      : program_(program), pool_(*program.pool), sides_(sides) {
    for (const RightSide& side : sides) drives_[side.field->name] = drive_of(side.field->name);
  }

  std::vector<Condition> run() {
    for (const RightSide& side : sides_) {
      restoring(side);
      if (!side.means.empty()) with_memory(side);
    }
    for (const RightSide& side : sides_) {
      if (side.field->time_order == 2)
        rates(side);
      else if (!side.memory)
        plain(side);
      exchanged(side);
    }
    return std::move(conditions_);
  }

 private:
  [[noreturn]] void unknown(const RightSide& side, const std::string& why) const {
    unknown_limit(program_, side.field->name, why);
  }

  const RightSide& side_of(const std::string& field) const {
    return *std::find_if(sides_.begin(), sides_.end(),
                         [&](const RightSide& s) { return s.field->name == field; });
  }

  Expr negative(const std::vector<Expr>& coefficients) const {
    std::vector<Expr> terms;
    for (const Expr c : coefficients) terms.push_back(pool_.negate(c));
    return pool_.sum(std::move(terms));
  }

  void require(const RightSide& side, Expr value, const std::string& what, bool strict = false) {
    const bool known = strict ? positive(value) : nonnegative(value);
    if (!known) conditions_.push_back({what, side.field->name, 1, {value}, strict, {}});
  }

  /// True for every model whose values have the signs that the author declared.
  bool nonnegative(Expr e) const {
    switch (e->kind) {
      case ir::Kind::constant:
        return e->number.value() >= 0;
      case ir::Kind::parameter:
        return program_.find_parameter(e->name)->sign != ir::Sign::any;
      case ir::Kind::average:
      case ir::Kind::sum:
      case ir::Kind::product:
      case ir::Kind::quotient:
        return std::all_of(e->args.begin(), e->args.end(), [&](Expr arg) { return nonnegative(arg); });
      default:
        return positive(e);
    }
  }

  bool positive(Expr e) const { return passes::zeros(program_, e) == passes::Zeros::positive; }

  std::vector<Part> drive_of(const std::string& field) const {
    std::vector<Part> parts;
    for (const RightSide& reader : sides_) {
      for (const Term& term : reader.across) {
        if (term.field != field || term.slopes.empty()) continue;
        std::vector<Slope> back(term.slopes.rbegin(), term.slopes.rend());
        parts.push_back({{reader.field->name, std::move(back)}, term.scale});
      }
    }
    return parts;
  }

  static bool holds(const std::vector<Part>& drive, const Term& term) {
    return std::any_of(drive.begin(), drive.end(),
                       [&](const Part& part) { return part.atom == Atom{term.field, term.slopes}; });
  }

  /// The fields that share an energy with this one, in the program's order.
  std::vector<const RightSide*> group_of(const RightSide& side) const {
    std::vector<const RightSide*> group = {&side};
    const auto tied = [&](const RightSide& a, const RightSide& b) {
      return std::any_of(a.across.begin(), a.across.end(),
                         [&](const Term& term) { return holds(drives_.at(b.field->name), term); });
    };
    for (bool grown = true; grown;) {
      grown = false;
      for (const RightSide& other : sides_) {
        if (other.field->half_step != side.field->half_step || !other.read) continue;
        if (std::find(group.begin(), group.end(), &other) != group.end()) continue;
        const bool joins = std::any_of(group.begin(), group.end(), [&](const RightSide* own) {
          return tied(*own, other) || (own->read && tied(other, *own));
        });
        if (!joins) continue;
        group.push_back(&other);
        grown = true;
      }
    }
    return group;
  }

  /// Damping of a field by itself. Fields of one energy must lose the same, or nobody knows the energy's
  /// loss.
  void plain(const RightSide& side) {
    if (side.own.empty()) return;
    const Expr loss = negative(side.own);
    require(side, loss, fmt::format("what damps {}", side.field->name));
    if (!side.read) return;
    for (const Term& term : side.across) {
      // As in dt(u) = w, dt(w) = laplacian(u): the energy of u is that of its slopes.
      const auto& back = side_of(term.field).across;
      const bool slopes = std::any_of(back.begin(), back.end(), [&](const Term& t) {
        return t.field == side.field->name && !t.slopes.empty();
      });
      if (term.slopes.empty() && slopes)
        unknown(side, fmt::format("it is damped, and {} enters it without a derivative", term.field));
    }
    for (const RightSide* other : group_of(side)) {
      if (!(negative(other->own) == loss)) {
        unknown(side, fmt::format("it is damped otherwise than {}, with which it shares one law",
                                  other->field->name));
      }
    }
  }

  void rates(const RightSide& side) {
    if (side.rates.empty()) return;
    require(side, negative(side.rates), fmt::format("what damps {}", side.field->name));
    alone(side, "damped");
  }

  /// A term in the field itself that is part of the operator: it must pull back.
  void restoring(const RightSide& side) {
    if (side.bare.empty()) return;
    require(side, negative(side.bare), fmt::format("what pulls {} back", side.field->name));
    alone(side, "pulled back");
  }

  void alone(const RightSide& side, const std::string& how) const {
    for (const Term& term : side.across) {
      if (term.field != side.field->name)
        unknown(side, fmt::format("it is {}, and {} drives it besides itself", how, term.field));
    }
  }

  /// Fields of different stages that feed each other without a derivative.
  void exchanged(const RightSide& side) {
    if (side.field->time_order == 2 || !side.read) return;
    for (const Term& term : side.across) {
      if (!term.slopes.empty()) continue;
      const RightSide& other = side_of(term.field);
      std::vector<Expr> products;
      bool waves = false;
      for (const Term& back : other.across) {
        if (back.field != side.field->name) continue;
        int order = 0;
        for (const Slope& slope : back.slopes) order += slope.order;
        waves = waves || order == 2;
        if (order == 0) products.push_back(pool_.product({placed(side, term), placed(other, back)}));
      }
      const bool own = std::all_of(other.across.begin(), other.across.end(),
                                   [&](const Term& t) { return t.field == side.field->name; });
      const bool here = std::all_of(side.across.begin(), side.across.end(),
                                    [&](const Term& t) { return t.field == other.field->name; });
      if ((!waves && products.empty()) || !(own || here))
        unknown(side, fmt::format("{} enters it without a derivative", term.field));
      if (products.empty()) continue;
      require(
          side, negative(products),
          fmt::format("minus the product of what {} and {} feed each other", side.field->name, term.field));
    }
  }

  /// A term's coefficient at the points of its own field.
  Expr placed(const RightSide& side, const Term& term) const {
    std::vector<Expr> factors = {pool_.constant(ir::Number(term.scale))};
    for (const TermFactor& factor : term.factors) {
      if (factor.depth != 0)
        unknown(side, fmt::format("a coefficient stands inside a derivative of {}", term.field));
      factors.push_back(pool_.average(factor.nodal, side.field->stagger));
    }
    return pool_.product(std::move(factors));
  }

  /// The right side's multiples of each E_g of `group`.
  std::vector<Expr> multiples(const RightSide& side, const std::vector<const RightSide*>& group) const {
    std::vector<Expr> row;
    std::map<const Term*, int> used;
    for (const RightSide* member : group) {
      std::optional<Expr> common;
      for (const Part& part : drives_.at(member->field->name)) {
        std::vector<Expr> terms;
        for (const Term& term : side.across) {
          if (!(part.atom == Atom{term.field, term.slopes})) continue;
          terms.push_back(pool_.product({pool_.constant(ir::Number(1 / part.scale)), placed(side, term)}));
          ++used[&term];
        }
        const Expr sum = pool_.sum(std::move(terms));
        if (common && !(*common == sum))
          unknown(side, "its drive differs by direction, and its memory's relation to it is not known");
        common = sum;
      }
      row.push_back(common.value_or(pool_.constant(0)));
    }
    if (!std::all_of(side.across.begin(), side.across.end(), [&](const Term& t) { return used[&t] == 1; }))
      unknown(side,
              "its memory's relation to it is not known: it has another drive than the field that holds it");
    return row;
  }

  /// A field that takes means of memory variables: its law once they have relaxed, and what each of them
  /// holds, must be positive.
  void with_memory(const RightSide& side) {
    if (side.memory)
      unknown(side, fmt::format("it is a memory variable, and takes {} itself", side.means[0].first));
    if (!side.own.empty())
      unknown(side, fmt::format("it is damped and has memory, {}, too", side.means[0].first));
    if (!side.read) return;  // it drives nothing
    const std::vector<const RightSide*> group = group_of(side);
    const bool first = std::all_of(group.begin(), group.end(),
                                   [&](const RightSide* s) { return s >= &side || s->means.empty(); });
    if (!first) return;  // looked at with the first of the fields that share its law
    const std::size_t n = group.size();
    std::vector<Expr> relaxed, fast;
    std::map<std::uint32_t, std::vector<Expr>> mechanisms;  // by what the memory fades with
    for (std::size_t i = 0; i < n; ++i) {
      if (group[i]->field->stagger != side.field->stagger)
        unknown(side, fmt::format("it shares a law with {}, which lives elsewhere", group[i]->field->name));
      const std::vector<Expr> row = multiples(*group[i], group);
      relaxed.insert(relaxed.end(), row.begin(), row.end());
    }
    fast = relaxed;
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& [name, coefficient] : group[i]->means) {
        const RightSide& memory = side_of(name);
        if (!memory.memory) unknown(*group[i], fmt::format("{} enters it without a derivative", name));
        if (memory.own.empty()) unknown(memory, "it is a memory variable that does not fade");
        const Expr rate = negative(memory.own);
        require(memory, rate, fmt::format("the rate at which {} fades", name), true);
        auto& held = mechanisms[rate->id];
        if (held.empty()) held.assign(n * n, pool_.constant(0));
        const std::vector<Expr> row = multiples(memory, group);
        for (std::size_t j = 0; j < n; ++j) {
          const Expr part = pool_.quotient(pool_.product({pool_.constant(-1), coefficient, row[j]}), rate);
          held[i * n + j] = pool_.sum({held[i * n + j], part});
          relaxed[i * n + j] = pool_.sum({relaxed[i * n + j], pool_.negate(part)});
        }
      }
    }
    for (auto& [rate, held] : mechanisms)
      matrix(side, n, std::move(held), fmt::format("what a memory of {} holds", names(group)));
    matrix(side, n, std::move(relaxed),
           fmt::format("the law of {} once its memory has relaxed", names(group)), fast);
  }

  void matrix(const RightSide& side, std::size_t size, std::vector<Expr> entries, std::string what,
              const std::vector<Expr>& beside = {}) {
    if (size == 1 && nonnegative(entries[0])) return;
    conditions_.push_back({std::move(what), side.field->name, size, std::move(entries), false, beside});
  }

  static std::string names(const std::vector<const RightSide*>& group) {
    std::string text;
    for (const RightSide* side : group) text += (text.empty() ? "" : ", ") + side->field->name;
    return text;
  }

  const ir::Program& program_;
  ir::Pool& pool_;
  const std::vector<RightSide>& sides_;
  std::map<std::string, std::vector<Part>> drives_;
  std::vector<Condition> conditions_;
};

}  // namespace

std::vector<Condition> damping_conditions(const ir::Program& program, const std::vector<RightSide>& sides) {
  return Damping(program, sides).run();
}

}  // namespace ondula
