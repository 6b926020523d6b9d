// Signs of monomials.
// SPDX-License-Identifier: MIT
#include "compiler/passes/positive.hpp"

#include <algorithm>
#include <map>

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

/// Atoms by id, each as often as it is a factor, and the monomials' constants.
using Monomial = std::vector<std::uint32_t>;
using Polynomial = std::map<Monomial, ir::Number>;

class Signs {
 public:
  explicit Signs(const ir::Program& program) : program_(program) {}

  Zeros of(Expr e) {
    Zeros all = Zeros::flat;
    const Polynomial terms = polynomial(e);
    if (terms.empty()) return Zeros::unknown;
    for (const auto& [factors, constant] : terms) {
      if (constant.value() < 0) return Zeros::unknown;
      const Zeros one = of_monomial(factors);
      if (one == Zeros::unknown) return one;
      if (one == Zeros::positive) all = one;
    }
    return all;
  }

 private:
  Polynomial polynomial(Expr e) {
    Polynomial result;
    if (e->kind == Kind::constant) {
      if (!e->number.is(0)) result[{}] = e->number;
    } else if (e->kind == Kind::sum) {
      for (const Expr term : e->args) add(result, polynomial(term));
    } else if (e->kind == Kind::product) {
      result[{}] = 1;
      for (const Expr factor : e->args) result = times(result, polynomial(factor));
    } else {
      atoms_[e->id] = e;
      result[{e->id}] = 1;
    }
    return result;
  }

  static void add(Polynomial& into, const Polynomial& from) {
    for (const auto& [factors, constant] : from) {
      const auto [at, fresh] = into.emplace(factors, constant);
      if (!fresh) at->second = at->second + constant;
      if (at->second.is(0)) into.erase(at);
    }
  }

  static Polynomial times(const Polynomial& a, const Polynomial& b) {
    Polynomial result;
    for (const auto& [f, x] : a) {
      for (const auto& [g, y] : b) {
        Monomial factors = f;
        factors.insert(factors.end(), g.begin(), g.end());
        std::sort(factors.begin(), factors.end());
        add(result, {{factors, x * y}});
      }
    }
    return result;
  }

  Zeros of_monomial(const Monomial& factors) {
    Zeros result = Zeros::positive;
    for (const std::uint32_t id : factors) {
      Zeros one = of_atom(atoms_.at(id));
      const bool squared = std::count(factors.begin(), factors.end(), id) > 1;
      if (one == Zeros::unknown && squared && nonnegative(atoms_.at(id))) one = Zeros::flat;
      if (one == Zeros::unknown) return one;
      if (one == Zeros::flat) result = one;
    }
    return result;
  }

  bool nonnegative(Expr e) const {
    const ir::Parameter* parameter = e->kind == Kind::parameter ? program_.find_parameter(e->name) : nullptr;
    return parameter != nullptr && parameter->sign == ir::Sign::nonnegative;
  }

  Zeros of_atom(Expr e) {
    switch (e->kind) {
      case Kind::symbol:  // steps and spacings
        return Zeros::positive;
      case Kind::parameter:
        return program_.find_parameter(e->name)->sign == ir::Sign::positive ? Zeros::positive
                                                                            : Zeros::unknown;
      case Kind::average:
        return of(e->args[0]);
      case Kind::surface: {
        Zeros weakest = Zeros::positive;
        for (const Expr arg : e->args) weakest = std::max(weakest, of(arg));
        return weakest;
      }
      case Kind::function:
        return of_function(*e);
      case Kind::quotient:
        return of(e->args[1]) == Zeros::positive ? of(e->args[0]) : Zeros::unknown;
      default:
        return Zeros::unknown;
    }
  }

  /// Positive where the function is, whatever its argument or because that is positive. Of where(c, a, b) the
  /// weaker one; a square root's slope at 0 is infinite, so it keeps nothing weaker.
  Zeros of_function(const ir::Node& f) {
    const auto positive = [&](Expr e) { return of(e) == Zeros::positive; };
    bool proven = false;
    if (f.name == "exp")
      proven = true;
    else if (f.name == "sqrt" || f.name == "pow" || f.name == "abs" || f.name == "tanh")
      proven = positive(f.args[0]);
    else if (f.name == "min")
      proven = positive(f.args[0]) && positive(f.args[1]);
    else if (f.name == "max")
      proven = positive(f.args[0]) || positive(f.args[1]);
    else if (f.name == "where")
      return std::max(of(f.args[1]), of(f.args[2]));
    return proven ? Zeros::positive : Zeros::unknown;
  }

  const ir::Program& program_;
  std::map<std::uint32_t, Expr> atoms_;
};

}  // namespace

Zeros zeros(const ir::Program& program, Expr coefficient) { return Signs(program).of(coefficient); }

}  // namespace ondula::passes
