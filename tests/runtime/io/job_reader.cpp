// Strict JSON: syntax, keys that stand twice, numbers in ranges.
// SPDX-License-Identifier: MIT
#include "runtime/io/job_reader.hpp"

#include "tests/runtime/io/job_text.hpp"
#include "tests/support/messages.hpp"

using namespace ondula;
using namespace ondula::io;
using ondula::test::check_mentions;

namespace {

std::string parse_complaint(const std::string& text) {
  return ondula::test::message_of<UserError>([&] { parse_strict(text); });
}

}  // namespace

TEST_CASE("a syntax error names line and column") {
  check_mentions(parse_complaint("{\n  \"a\": 1,\n  \"b\" 2\n}"), {"line 3", "column 7", "not valid JSON"});
  check_mentions(parse_complaint(""), {"line 1", "not valid JSON"});
  check_mentions(parse_complaint("{\"a\": NaN}"), {"line 1", "not valid JSON"});
  check_mentions(parse_complaint("{\"a\": 1} trailing"), {"not valid JSON"});
}

TEST_CASE("a number too large for float64 is refused") {
  check_mentions(parse_complaint("{\"a\": 1e999}"), {"not valid JSON"});
}

TEST_CASE("a key that stands twice is named by its path") {
  check_mentions(parse_complaint(R"({"a": 1, "a": 1})"), {"a: the key stands twice"});
  check_mentions(parse_complaint(R"({"s": [{}, 1, {"at": {"z": 1, "x": 2, "z": 3}}]})"),
                 {"s[2].at.z: the key stands twice"});
  CHECK(parse_complaint(R"({"s": [{"z": 1}, {"z": 1}], "z": {"z": 1}})").empty());
}

TEST_CASE("a number outside its range names value, range and unit") {
  const nlohmann::ordered_json value = -2.5;
  const Node node(value, "time.dt");
  CHECK_THROWS_WITH_AS(node.number(positive_number("s")), "time.dt: found -2.5; allowed: a number > 0, in s",
                       UserError);
  CHECK_THROWS_WITH_AS(node.number(Range{0, 1, true, true, ""}),
                       "time.dt: found -2.5; allowed: a number > 0 and < 1", UserError);
  CHECK(node.number(any_number()) == -2.5);
}

TEST_CASE("whole numbers may be written 3.0, and nothing else passes for one") {
  const auto integer = [](const nlohmann::ordered_json& value) { return Node(value, "n").integer(0, 10); };
  CHECK(integer(3.0) == 3);
  CHECK(integer(10) == 10);
  for (const nlohmann::ordered_json& bad :
       {nlohmann::ordered_json(3.5), nlohmann::ordered_json(-1), nlohmann::ordered_json(11),
        nlohmann::ordered_json(true), nlohmann::ordered_json("3"), nlohmann::ordered_json(1e300)}) {
    CHECK_THROWS_WITH_AS(integer(bad), doctest::Contains("allowed: a whole number from 0 to 10"), UserError);
  }
}
