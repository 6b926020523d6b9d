// The closed forms of the Taylor weights.
// SPDX-License-Identifier: MIT
#include "compiler/passes/stencil.hpp"

#include <fmt/format.h>

#include "compiler/error.hpp"

namespace ondula::passes {
namespace {

using ir::Number;

Number odd_positive(int m) { return m % 2 == 1 ? 1 : -1; }

/// (M!)^2 / ((M-m)! (M+m)!), factor by factor, so that no intermediate leaves 64 bits.
Number binomial_ratio(int radius, int m) {
  Number result = 1;
  for (int k = 1; k <= m; ++k) result = result * Number::ratio(radius - m + k, radius + k);
  return result;
}

}  // namespace

void require_order(int order) {
  if (order < 2 || order > max_order || order % 2 != 0) {
    throw UserError(fmt::format("order {}: supported are 2, 4, 6, 8, 10, 12, 14 and 16", order));
  }
}

std::vector<Number> second_derivative(int order) {
  require_order(order);
  const int radius = order / 2;
  std::vector<Number> weights = {0};
  for (int m = 1; m <= radius; ++m) {
    weights.push_back(odd_positive(m) * Number::ratio(2, m * m) * binomial_ratio(radius, m));
    weights[0] = weights[0] + Number::ratio(-2, m * m);
  }
  return weights;
}

std::vector<Number> first_derivative(int order) {
  require_order(order);
  const int radius = order / 2;
  std::vector<Number> weights;
  for (int m = 1; m <= radius; ++m) {
    weights.push_back(odd_positive(m) * Number::ratio(1, m) * binomial_ratio(radius, m));
  }
  return weights;
}

std::vector<Number> staggered(int order) {
  require_order(order);
  const int radius = order / 2;
  std::vector<Number> weights;
  for (int m = 1; m <= radius; ++m) {
    // ((2M-1)!!)^2 / (2^(2M-2) (M+m-1)! (M-m)! (2m-1)^2) by Lagrange: the product over the other pairs of
    // nodes, at +-(k - 1/2), of (2k-1)^2 / ((2k-1)^2 - (2m-1)^2), over 2m-1.
    Number weight = Number::ratio(1, 2 * m - 1);
    for (int k = 1; k <= radius; ++k) {
      if (k == m) continue;
      const int own = (2 * m - 1) * (2 * m - 1);
      const int other = (2 * k - 1) * (2 * k - 1);
      weight = weight * Number::ratio(other, other - own);
    }
    weights.push_back(weight);
  }
  return weights;
}

}  // namespace ondula::passes
