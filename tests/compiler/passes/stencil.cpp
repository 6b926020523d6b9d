// Taylor weights: known values, and Fornberg's general recursion in exact arithmetic.
// SPDX-License-Identifier: MIT
#include "compiler/passes/stencil.hpp"

#include <doctest/doctest.h>

#include "compiler/error.hpp"

namespace {

using namespace ondula;
using ir::Number;

/// Weights of derivative `order` at 0 on `nodes` (Fornberg 1988, the recursion for arbitrary nodes). Values
/// at intermediate steps stay within 64 bits only where Number says so; the caller checks exact().
std::vector<Number> fornberg(const std::vector<Number>& nodes, int derivative) {
  const std::size_t count = nodes.size();
  const auto last = static_cast<std::size_t>(derivative);
  std::vector<std::vector<Number>> weights(count, std::vector<Number>(last + 1, Number(0)));
  weights[0][0] = 1;
  Number before = 1;
  Number previous = nodes[0];
  for (std::size_t n = 1; n < count; ++n) {
    Number product = 1;
    const Number here = nodes[n];
    for (std::size_t i = 0; i < n; ++i) {
      const Number gap = here + -nodes[i];
      product = product * gap;
      if (i + 1 == n) {
        for (std::size_t k = last + 1; k-- > 0;) {
          const Number lower =
              k > 0 ? Number(static_cast<std::int64_t>(k)) * weights[n - 1][k - 1] : Number(0);
          weights[n][k] = before / product * (lower + -(previous * weights[n - 1][k]));
        }
      }
      for (std::size_t k = last + 1; k-- > 0;) {
        const Number lower = k > 0 ? Number(static_cast<std::int64_t>(k)) * weights[i][k - 1] : Number(0);
        weights[i][k] = (here * weights[i][k] + -lower) / gap;
      }
    }
    before = product;
    previous = here;
  }
  std::vector<Number> result;
  for (const auto& row : weights) result.push_back(row[last]);
  return result;
}

/// Nodes 0, 1, -1, 2, -2, ... up to `radius`, or 1/2, -1/2, 3/2, ...
std::vector<Number> nodes(int radius, bool half) {
  std::vector<Number> result;
  if (!half) result.push_back(0);
  for (int m = 1; m <= radius; ++m) {
    const Number at = half ? Number::ratio(2 * m - 1, 2) : Number(m);
    result.push_back(at);
    result.push_back(-at);
  }
  return result;
}

void check_equal(const Number& found, const Number& expected) {
  CHECK(found.exact());
  if (expected.exact()) {
    CHECK(found.text() == expected.text());
  } else {
    CHECK(found.value() == doctest::Approx(expected.value()).epsilon(1e-10));
  }
}

}  // namespace

TEST_CASE("stencil: known weights") {
  using Weights = std::vector<Number>;
  const auto q = [](std::int64_t a, std::int64_t b) { return Number::ratio(a, b); };
  CHECK(passes::second_derivative(2) == Weights{-2, 1});
  CHECK(passes::second_derivative(4) == Weights{q(-5, 2), q(4, 3), q(-1, 12)});
  CHECK(passes::second_derivative(8) == Weights{q(-205, 72), q(8, 5), q(-1, 5), q(8, 315), q(-1, 560)});
  CHECK(passes::first_derivative(2) == Weights{q(1, 2)});
  CHECK(passes::first_derivative(6) == Weights{q(3, 4), q(-3, 20), q(1, 60)});
  CHECK(passes::staggered(2) == Weights{1});
  CHECK(passes::staggered(4) == Weights{q(9, 8), q(-1, 24)});
  CHECK(passes::staggered(8) == Weights{q(1225, 1024), q(-245, 3072), q(49, 5120), q(-5, 7168)});
}

TEST_CASE("stencil: weights agree with Fornberg's recursion at every order") {
  for (int order = 2; order <= passes::max_order; order += 2) {
    const int radius = order / 2;
    CAPTURE(order);
    const auto second = fornberg(nodes(radius, false), 2), first = fornberg(nodes(radius, false), 1),
               half = fornberg(nodes(radius, true), 1);
    check_equal(passes::second_derivative(order)[0], second[0]);
    for (int m = 1; m <= radius; ++m) {
      const auto i = static_cast<std::size_t>(m);
      check_equal(passes::second_derivative(order)[i], second[2 * i - 1]);
      check_equal(passes::first_derivative(order)[i - 1], first[2 * i - 1]);
      check_equal(passes::staggered(order)[i - 1], half[2 * i - 2]);
    }
  }
}

TEST_CASE("A2: order 32 and odd orders are refused with the supported list") {
  for (const int order : {-2, 0, 3, 18, 32}) {
    CHECK_THROWS_WITH_AS(
        passes::staggered(order),
        (std::string("order ") + std::to_string(order) + ": supported are 2, 4, 6, 8, 10, 12, 14 and 16")
            .c_str(),
        UserError);
  }
}
