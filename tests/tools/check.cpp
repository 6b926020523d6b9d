// `ondula check`: what it says of the equations, and that it can say no.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <set>

#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("Built-in equations pass their own checks") {
  const std::vector<std::vector<std::string>> runs = {
      {"check", "acoustic", "--json"},
      {"check", "acoustic_density", "--dims", "2", "--order", "4", "--json"},
      {"check", "elastic", "--dims", "1", "--json", "--dtype", "float32"},
      {"check", "acoustic", "--dims", "2", "--order", "4", "--json", "--backend", "reference"}};
  const std::vector<std::size_t> lines = {24, 11, 14, 8};
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const Outcome outcome = run_program(runs[k]);
    CAPTURE(outcome.out);
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "");
    const Json answer = Json::parse(outcome.out);
    CHECK(answer["passed"] == true);
    CHECK(answer["checks"].size() == lines[k]);
    std::set<std::string> names;
    for (const Json& line : answer["checks"]) {
      CHECK(line["passed"] == true);
      CHECK(line["figure"] != "");
      names.insert(line["check"].get<std::string>() + line["dims"].dump());
    }
    CHECK(names.size() == lines[k]);
  }
}

TEST_CASE("A check that fails is status 1, in the table and in JSON") {
  // Shear faster than pressure: the bulk modulus is negative, and the medium no medium.
  const std::vector<std::string> words = {"check",   "elastic", "--dims",  "2",
                                          "--order", "4",       "--model", "vs=4000"};
  const Outcome outcome = run_program(words);
  CAPTURE(outcome.out);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 1);
  CHECK(outcome.out.find("bounded at 0.99 of the limit") != std::string::npos);
  CHECK(outcome.out.find("FAIL  shot 0: at step ") != std::string::npos);
  CHECK(outcome.err.find("checks failed") != std::string::npos);
  std::vector<std::string> json = words;
  json.emplace_back("--json");
  const Outcome answer = run_program(json);
  CHECK(answer.status == 1);
  CHECK(Json::parse(answer.out)["passed"] == false);
}

TEST_CASE("What check cannot test is refused by name") {
  const auto refused = [](std::vector<std::string> words, const std::string& text) {
    words.insert(words.begin(), "check");
    const Outcome outcome = run_program(words);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find(text) != std::string::npos);
  };
  refused({"acustic"}, "Did you mean \"acoustic\"?");
  refused({"acoustic", "--dims", "4"}, "--dims: found 4; allowed: 1, 2, 3");
  refused({"acoustic", "--order", "5"}, "--order: found 5");
  refused({"acoustic", "--dtype", "half"}, "--dtype: found \"half\"; allowed: float32, float64");
  refused({"acoustic", "--model", "vq=3"}, "--model: the equation acoustic has no parameter \"vq\"");
  refused({"acoustic", "--model", "vp"}, "--model: found \"vp\"; allowed: NAME=NUMBER");
}

}  // namespace
}  // namespace ondula::test
