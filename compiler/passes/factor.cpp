// Pairing of taps, balanced sums, explicit fma.
// SPDX-License-Identifier: MIT
#include "compiler/passes/factor.hpp"

#include <map>
#include <vector>

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

/// sign * left * right, or sign * left where right is null; both already binary.
struct Term {
  bool negative = false;
  Expr left;
  Expr right;
};

class Factorer {
 public:
  explicit Factorer(ir::Pool& pool) : pool_(pool) {}

  Expr binary(Expr e) {
    const auto found = known_.find(e->id);
    if (found != known_.end()) return found->second;
    const Expr result = make(e);
    known_[e->id] = result;
    return result;
  }

 private:
  Expr make(Expr e) {
    switch (e->kind) {
      case Kind::sum:
        return sum(e);
      case Kind::product:
        return value_of(term_of(e));
      case Kind::quotient:
        return pool_.function("div", {binary(e->args[0]), binary(e->args[1])});
      case Kind::function: {
        if (e->name == "whole") return binary(e->args[0]);
        std::vector<Expr> args;
        for (const Expr arg : e->args) args.push_back(binary(arg));
        return pool_.function(e->name, std::move(args));
      }
      default:
        return e;
    }
  }

  /// A product as sign and two halves: the constant and scalar part first, multiplied left to right.
  Term term_of(Expr e) {
    Term term;
    if (e->kind != Kind::product) {
      term.left = binary(e);
      return term;
    }
    std::vector<Expr> factors;
    for (const Expr factor : e->args) {
      if (factor->kind == Kind::constant && factor->number.value() < 0) {
        term.negative = !term.negative;
        const Expr positive = pool_.constant(-factor->number);
        if (!ir::is_constant(positive, 1)) factors.push_back(positive);
      } else {
        factors.push_back(binary(factor));
      }
    }
    Expr left = factors[0];
    for (std::size_t i = 1; i + 1 < factors.size(); ++i) left = pool_.function("mul", {left, factors[i]});
    term.left = left;
    if (factors.size() > 1) term.right = factors.back();
    return term;
  }

  Expr value_of(const Term& term) {
    const Expr product = term.right ? pool_.function("mul", {term.left, term.right}) : term.left;
    return term.negative ? pool_.function("neg", {product}) : product;
  }

  Expr sum(Expr e) {
    std::vector<Term> terms;
    for (const Expr arg : e->args) terms.push_back(term_of(arg));
    return tree(paired(terms), 0, 0).first;
  }

  /// Terms with the same factor `left` and an access as `right`, two by two, in the order of the first of
  /// each pair.
  std::vector<Term> paired(const std::vector<Term>& terms) {
    std::vector<Term> result;
    std::vector<bool> used(terms.size(), false);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (used[i]) continue;
      used[i] = true;
      std::size_t partner = terms.size();
      for (std::size_t j = i + 1; j < terms.size() && terms[i].right; ++j) {
        if (!used[j] && terms[j].right && terms[j].left == terms[i].left) {
          partner = j;
          break;
        }
      }
      if (partner == terms.size()) {
        result.push_back(terms[i]);
        continue;
      }
      used[partner] = true;
      const bool same = terms[i].negative == terms[partner].negative;
      Term both = terms[i];
      both.right = pool_.function(same ? "add" : "sub", {terms[i].right, terms[partner].right});
      result.push_back(both);
    }
    return result;
  }

  /// (value, negated) of terms [begin, end); end 0 means all.
  std::pair<Expr, bool> tree(const std::vector<Term>& terms, std::size_t begin, std::size_t end) {
    const bool top = end == 0;
    if (top) end = terms.size();
    std::pair<Expr, bool> result;
    if (end - begin == 1) {
      const Term& term = terms[begin];
      result = {term.right ? pool_.function("mul", {term.left, term.right}) : term.left, term.negative};
    } else {
      const std::size_t middle = begin + (end - begin + 1) / 2;
      result = joined(terms, begin, middle, end);
    }
    if (top && result.second) return {pool_.function("neg", {result.first}), false};
    return result;
  }

  std::pair<Expr, bool> joined(const std::vector<Term>& terms, std::size_t begin, std::size_t middle,
                               std::size_t end) {
    // A lone product on either side folds into the other side as one fma.
    if (middle - begin == 1 && terms[begin].right) return fused(terms[begin], tree(terms, middle, end));
    if (end - middle == 1 && terms[middle].right) return fused(terms[middle], tree(terms, begin, middle));
    const auto left = tree(terms, begin, middle);
    const auto right = tree(terms, middle, end);
    if (left.second == right.second) return {pool_.function("add", {left.first, right.first}), left.second};
    if (left.second) return {pool_.function("sub", {right.first, left.first}), false};
    return {pool_.function("sub", {left.first, right.first}), false};
  }

  std::pair<Expr, bool> fused(const Term& product, const std::pair<Expr, bool>& other) {
    if (product.negative == other.second) {
      return {pool_.function("fma", {product.left, product.right, other.first}), other.second};
    }
    if (product.negative) {
      return {pool_.function("fma", {pool_.function("neg", {product.left}), product.right, other.first}),
              false};
    }
    return {pool_.function("fma", {product.left, product.right, pool_.function("neg", {other.first})}),
            false};
  }

  ir::Pool& pool_;
  std::map<std::uint32_t, Expr> known_;
};

}  // namespace

Expr factor(ir::Pool& pool, Expr e) { return Factorer(pool).binary(e); }

}  // namespace ondula::passes
