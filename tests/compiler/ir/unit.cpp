// Reading, printing and combining units.
// SPDX-License-Identifier: MIT
#include "compiler/ir/unit.hpp"

#include <doctest/doctest.h>

#include "compiler/error.hpp"
#include "tests/support/messages.hpp"

using ondula::ir::Unit;

TEST_CASE("unit: spellings of the same unit are equal") {
  CHECK(Unit::parse("Pa") == Unit::parse("kg/m/s^2"));
  CHECK(Unit::parse("N/m^2") == Unit::parse("Pa"));
  CHECK(Unit::parse("Hz") == Unit::parse("1/s"));
  CHECK(Unit::parse("J") == Unit::parse("N*m"));
  CHECK(Unit::parse("m s^-1") == Unit::parse("m/s"));
  CHECK(Unit::parse("V") == Unit::parse("J/C"));
  CHECK(Unit::parse("C") == Unit::parse("A*s"));
  CHECK(Unit::parse("ohm") == Unit::parse("V/A"));
  CHECK(Unit::parse("S") == Unit::parse("1/ohm"));
  CHECK(Unit::parse("F") == Unit::parse("C/V"));
  CHECK(Unit::parse("H") == Unit::parse("V*s/A"));
  CHECK(Unit::parse("T") == Unit::parse("V s/m^2"));
  CHECK(Unit::parse("1/s^2") == Unit::parse("m^2/s^2") / Unit::parse("m^2"));
  CHECK(Unit::parse("1") / (Unit::parse("F/m") * Unit::parse("H/m")) == Unit::parse("m^2/s^2"));
  CHECK_FALSE(Unit::parse("m/s") == Unit::parse("m/s^2"));
}

TEST_CASE("unit: products, quotients and powers") {
  const Unit speed = Unit::parse("m/s");
  CHECK(speed * speed == Unit::parse("m^2/s^2"));
  CHECK(speed / speed == Unit::parse("1"));
  CHECK(Unit::parse("kg/m^3") * speed.power(2) == Unit::parse("Pa"));
}

TEST_CASE("unit: text") {
  CHECK(Unit::parse("Pa").text() == "kg/(m s^2)");
  CHECK(Unit::parse("m/s").text() == "m/s");
  CHECK(Unit::parse("1").text() == "1");
  CHECK(Unit::parse("1/s^2").text() == "1/s^2");
  CHECK(Unit::parse("V/m").text() == "kg m/(s^3 A)");
}

TEST_CASE("unit: what cannot be read is named, with what is known") {
  for (const auto& [text, part] : {std::pair{"m/sec", "\"sec\""},
                                   {"km", "\"km\""},
                                   {"m^x", "\"m^x\""},
                                   {"m^", "\"m^\""},
                                   {"", "\"\""},
                                   {"m//s", "\"\""},
                                   {"m^-", "\"m^-\""}}) {
    CAPTURE(text);
    ondula::test::check_mentions(ondula::test::refusal([&] { Unit::parse(text); }),
                                 {part, "m, kg, s, A, Hz, N, Pa, J"});
  }
}
