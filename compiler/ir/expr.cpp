// The pool of expressions: interning, the few simplifications every pass relies on, and printing.
// SPDX-License-Identifier: MIT
#include "compiler/ir/expr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compiler/error.hpp"

namespace ondula::ir {
namespace {

void mix(std::uint64_t& hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
}

std::uint64_t hash_of(const Node& node) {
  std::uint64_t hash = static_cast<std::uint64_t>(node.kind);
  mix(hash, static_cast<std::uint64_t>(node.number.numerator()));
  mix(hash, static_cast<std::uint64_t>(node.number.denominator()));
  mix(hash, std::hash<double>{}(node.number.value()));
  for (const char c : node.name) mix(hash, static_cast<unsigned char>(c));
  mix(hash, static_cast<std::uint64_t>(node.level + 16));
  for (const int o : node.offset) mix(hash, static_cast<std::uint64_t>(o + 1024));
  mix(hash, static_cast<std::uint64_t>(node.axis * 8 + node.order * 2 + (node.staggered ? 1 : 0)));
  for (const Expr arg : node.args) mix(hash, arg->id);
  return hash;
}

bool same(const Node& a, const Node& b) {
  return a.kind == b.kind && a.number == b.number && a.name == b.name && a.level == b.level &&
         a.offset == b.offset && a.axis == b.axis && a.order == b.order && a.staggered == b.staggered &&
         a.args == b.args;
}

}  // namespace

Expr Pool::intern(Node node) {
  auto& bucket = by_hash_[hash_of(node)];
  for (const Node* candidate : bucket) {
    if (same(*candidate, node)) return Expr(candidate);
  }
  node.id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(std::move(node));
  bucket.push_back(&nodes_.back());
  return Expr(&nodes_.back());
}

Expr Pool::constant(const Number& value) { return intern({.kind = Kind::constant, .number = value}); }
Expr Pool::symbol(const std::string& name) { return intern({.kind = Kind::symbol, .name = name}); }
Expr Pool::parameter(const std::string& name) { return intern({.kind = Kind::parameter, .name = name}); }
Expr Pool::source(const std::string& field) { return intern({.kind = Kind::source, .name = field}); }
Expr Pool::let(const std::string& name) { return intern({.kind = Kind::let, .name = name}); }

Expr Pool::coefficient(const std::string& name, const HalfCells& offset) {
  return intern({.kind = Kind::coefficient, .name = name, .offset = offset});
}

Expr Pool::field(const std::string& name, int level, const HalfCells& offset) {
  return intern({.kind = Kind::field, .name = name, .level = level, .offset = offset});
}

Expr Pool::profile(const std::string& name, int axis, bool staggered) {
  return intern({.kind = Kind::profile, .name = name, .axis = axis, .staggered = staggered});
}

Expr Pool::derivative(Expr operand, int axis, int order, bool staggered) {
  if (is_constant(operand, 0)) return operand;
  return intern(
      {.kind = Kind::derivative, .axis = axis, .order = order, .staggered = staggered, .args = {operand}});
}

Expr Pool::average(Expr nodal, const HalfCells& stagger) {
  if (nodal->kind == Kind::constant || nodal->kind == Kind::symbol || stagger == HalfCells{}) return nodal;
  return intern({.kind = Kind::average, .offset = stagger, .args = {nodal}});
}

Expr Pool::surface(std::vector<Expr> by_count) {
  const bool one = std::all_of(by_count.begin(), by_count.end(), [&](Expr e) { return e == by_count[0]; });
  if (one) return by_count.at(0);
  return intern({.kind = Kind::surface, .args = std::move(by_count)});
}

Expr Pool::sum(std::vector<Expr> terms) {
  std::vector<Expr> kept;
  Number folded;
  const auto add = [&](auto&& self, Expr term) -> void {
    if (term->kind == Kind::sum) {
      for (const Expr inner : term->args) self(self, inner);
    } else if (term->kind == Kind::constant) {
      folded = folded + term->number;
    } else {
      kept.push_back(term);
    }
  };
  for (const Expr term : terms) add(add, term);
  if (!folded.is(0)) kept.push_back(constant(folded));
  if (kept.empty()) return constant(0);
  if (kept.size() == 1) return kept.front();
  return intern({.kind = Kind::sum, .args = std::move(kept)});
}

Expr Pool::product(std::vector<Expr> factors) {
  std::vector<Expr> kept;
  Number folded = 1;
  const auto add = [&](auto&& self, Expr factor) -> void {
    if (factor->kind == Kind::product) {
      for (const Expr inner : factor->args) self(self, inner);
    } else if (factor->kind == Kind::constant) {
      folded = folded * factor->number;
    } else {
      kept.push_back(factor);
    }
  };
  for (const Expr factor : factors) add(add, factor);
  if (folded.is(0)) return constant(0);
  if (kept.empty()) return constant(folded);
  if (!folded.is(1)) kept.insert(kept.begin(), constant(folded));
  if (kept.size() == 1) return kept.front();
  return intern({.kind = Kind::product, .args = std::move(kept)});
}

Expr Pool::quotient(Expr numerator, Expr denominator) {
  if (is_constant(denominator, 0)) throw UserError("an expression divides by the constant 0");
  if (numerator->kind == Kind::constant && denominator->kind == Kind::constant) {
    return constant(numerator->number / denominator->number);
  }
  if (denominator->kind == Kind::constant)
    return product({constant(Number(1) / denominator->number), numerator});
  if (is_constant(numerator, 0)) return numerator;
  return intern({.kind = Kind::quotient, .args = {numerator, denominator}});
}

Expr Pool::function(const std::string& name, std::vector<Expr> args) {
  return intern({.kind = Kind::function, .name = name, .args = std::move(args)});
}

bool is_constant(Expr e, std::int64_t value) { return e->kind == Kind::constant && e->number.is(value); }

bool contains(Expr e, Kind kind) {
  if (e->kind == kind) return true;
  for (const Expr arg : e->args) {
    if (contains(arg, kind)) return true;
  }
  return false;
}

bool time_dependent(Expr e) {
  return contains(e, Kind::field) || contains(e, Kind::source) || contains(e, Kind::profile) ||
         contains(e, Kind::let);
}

}  // namespace ondula::ir
