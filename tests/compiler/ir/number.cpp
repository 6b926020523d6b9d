// Exact rationals and their fall-back to double.
// SPDX-License-Identifier: MIT
#include "compiler/ir/number.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "compiler/error.hpp"

using ondula::ir::Number;

TEST_CASE("number: arithmetic is exact and in lowest terms") {
  CHECK((Number::ratio(1, 3) + Number::ratio(1, 6)).text() == "1/2");
  CHECK((Number::ratio(-2, 3) * Number::ratio(9, 4)).text() == "-3/2");
  CHECK((Number(7) / Number(-14)).text() == "-1/2");
  CHECK((-Number::ratio(5, 2)).value() == -2.5);
  CHECK(Number::ratio(4, -6).denominator() == 3);
  CHECK((Number::ratio(6, 3)).is(2));
  CHECK(Number::ratio(0, 5) == Number(0));
}

TEST_CASE("number: whole doubles are exact, others keep all digits") {
  CHECK(Number(3.0).is(3));
  CHECK(Number(3.0) == Number(3));
  CHECK_FALSE(Number(0.1).exact());
  CHECK(Number(0.1).text() == "0.1");
  CHECK((Number(0.1) * Number(3)).value() == 0.1 * 3);
  CHECK_FALSE(Number(1e300).exact());
}

TEST_CASE("number: past 64 bits arithmetic continues in double") {
  const Number big = std::numeric_limits<std::int64_t>::max();
  CHECK((big * Number::ratio(1, 3) * Number(3)) == big);
  const Number product = big * big;
  CHECK_FALSE(product.exact());
  CHECK(product.value() == doctest::Approx(8.507059173023462e37));
  CHECK_FALSE((Number::ratio(1, std::numeric_limits<std::int64_t>::max()) + Number::ratio(1, 3)).exact());
}

TEST_CASE("number: a zero denominator is refused") {
  CHECK_THROWS_AS(Number::ratio(1, 0), ondula::InternalError);
}
