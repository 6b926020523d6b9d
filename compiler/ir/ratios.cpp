// Taking denominators apart.
// SPDX-License-Identifier: MIT
#include "compiler/ir/ratios.hpp"

#include <algorithm>
#include <optional>

namespace ondula::ir {
namespace {

std::optional<Ratio> ratio_of(Expr e) {
  if (is_steady(e)) return Ratio{{e}, {}};
  if (e->kind == Kind::quotient && is_steady(e->args[0])) return Ratio{{e->args[0]}, e->args[1]};
  if (e->kind != Kind::product) return {};
  Ratio result;
  for (const Expr factor : e->args) {
    if (is_steady(factor)) {
      result.above.push_back(factor);
      continue;
    }
    if (factor->kind != Kind::quotient || !is_steady(factor->args[0]) || result.below) return {};
    result.above.push_back(factor->args[0]);
    result.below = factor->args[1];
  }
  return result;
}

}  // namespace

bool is_steady(Expr e) { return !contains(e, Kind::parameter); }

std::vector<Ratio> ratios_of(Expr denominator) {
  std::vector<Ratio> result;
  const bool sum = denominator->kind == Kind::sum;
  for (const Expr term : sum ? denominator->args : std::vector<Expr>{denominator}) {
    const std::optional<Ratio> ratio = ratio_of(term);
    if (!ratio) return {};
    result.push_back(*ratio);
  }
  const bool any = std::any_of(result.begin(), result.end(), [](const Ratio& r) { return bool(r.below); });
  return any ? result : std::vector<Ratio>{};
}

}  // namespace ondula::ir
