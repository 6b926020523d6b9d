// Stiffness tensors: which couplings the staggered grid has, and their product with a strain.
// SPDX-License-Identifier: MIT
#include "compiler/dsl/stiffness.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/dsl/access.hpp"
#include "compiler/error.hpp"

namespace ondula::dsl {
namespace {

using ir::Expr;

std::string sorted(std::string pair) {
  std::sort(pair.begin(), pair.end());
  return pair;
}

bool shear(const std::string& pair) { return pair[0] != pair[1]; }

bool same(const Modulus& a, const Modulus& b) {
  const std::string p = sorted(a.stress.name), q = sorted(a.strain.name);
  const std::string r = sorted(b.stress.name), s = sorted(b.strain.name);
  return (p == r && q == s) || (p == s && q == r);
}

[[noreturn]] void fail(const Modulus& m, const std::string& what) {
  const std::string text =
      fmt::format("stiffness of \"{}\" and \"{}\": {}", m.stress.name, m.strain.name, what);
  Author* author = Access::author(m.value.tensor);
  if (author != nullptr) Access::fail(author, m.value.where, text);
  throw UserError(fmt::format("{}:{}: {}", m.value.where.file_name(), m.value.where.line(), text));
}

void require_pair(const Modulus& m, const std::string& pair) {
  const bool axes = pair.size() == 2 && pair.find_first_not_of("xyz") == std::string::npos;
  if (!axes) fail(m, fmt::format("\"{}\" is no pair of axes, such as \"xx\" or \"xz\"", pair));
}

/// The places of `pair` in a rank-2 tensor; empty where the instantiation lacks an axis of it.
std::vector<std::size_t> places(Author* author, const AxisName& pair) {
  const int a = Access::axis(author, {pair.name.substr(0, 1), pair.where});
  const int b = Access::axis(author, {pair.name.substr(1, 1), pair.where});
  if (a < 0 || b < 0) return {};
  const std::size_t d = Access::dims(author);
  const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
  if (first == second) return {first * d + first};
  return {first * d + second, second * d + first};
}

}  // namespace

Stiffness::Stiffness(std::initializer_list<Modulus> moduli) {
  for (const Modulus& m : moduli) set(m.stress, m.strain, m.value);
}

void Stiffness::set(const AxisName& stress, const AxisName& strain, const Located& value) {
  const Modulus added{stress, strain, value};
  require_pair(added, stress.name);
  require_pair(added, strain.name);
  if (value.tensor.rank() != 0)
    fail(added, fmt::format("a modulus is a scalar, found {}", Access::rank_name(value.tensor)));
  for (const Expr e : value.tensor.components()) {
    if (ir::time_dependent(e)) fail(added, "a modulus is made of parameters, found a field");
  }
  if ((shear(stress.name) || shear(strain.name)) && sorted(stress.name) != sorted(strain.name)) {
    fail(
        added,
        "these two live on different points of the staggered grid; a shear component goes with itself alone: "
        "orthorhombic symmetry along the axes is the most there is");
  }
  for (const Modulus& m : moduli_) {
    if (same(m, added)) fail(added, "it is given twice (the tensor is symmetric: each pair once)");
  }
  const auto& unit = value.tensor.unit();
  for (const Modulus& m : moduli_) {
    const auto& other = m.value.tensor.unit();
    if (unit && other && !(*unit == *other))
      fail(added, fmt::format("[{}] beside [{}]: moduli have one unit", unit->text(), other->text()));
  }
  moduli_.push_back(added);
}

Stiffness Author::stiffness(std::initializer_list<Modulus> moduli) { return moduli; }

Tensor contract(const Stiffness& stiffness, const Located& strain) {
  Author* author = Access::require(strain, "contract()");
  const Tensor& e = strain.tensor;
  if (e.rank() != 2) {
    Access::fail(author, strain.where,
                 fmt::format("contract() takes a rank-2 tensor, found {}", Access::rank_name(e)));
  }
  const std::size_t d = Access::dims(author);
  for (std::size_t i = 0; i < d * d; ++i) {
    if (!(e.components()[i] == e.components()[i % d * d + i / d]))
      Access::fail(author, strain.where, "contract() takes a symmetric tensor: use sym(...)");
  }
  ir::Pool& pool = Access::pool(author);
  std::vector<std::vector<Expr>> terms(d * d);
  std::optional<ir::Unit> modulus;
  const auto add = [&](const std::vector<std::size_t>& into, const std::vector<std::size_t>& from, Expr c) {
    const auto twice = static_cast<std::int64_t>(from.size());  // c e_xz + c e_zx
    for (const std::size_t place : into)
      terms[place].push_back(pool.product({pool.constant(twice), c, e.components()[from[0]]}));
  };
  for (const Modulus& m : stiffness.moduli()) {
    const auto stress = places(author, m.stress), other = places(author, m.strain);
    if (!modulus) modulus = m.value.tensor.unit();
    if (stress.empty() || other.empty()) continue;
    const Expr c = Access::lifted(m.value.tensor, author).components()[0];
    add(stress, other, c);
    if (stress != other && sorted(m.stress.name) != sorted(m.strain.name)) add(other, stress, c);
  }
  std::vector<Expr> components;
  for (auto& sum : terms) components.push_back(pool.sum(std::move(sum)));
  std::optional<ir::Unit> unit;
  if (modulus && e.unit()) unit = *modulus * *e.unit();
  return Access::make(author, 2, std::move(components), unit);
}

}  // namespace ondula::dsl
