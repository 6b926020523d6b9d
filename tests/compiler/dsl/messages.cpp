// Messages of the language and of the passes that no other test has word for word: each behind the author's
// line. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "tests/compiler/dsl/complaint.hpp"

namespace ondula::test {

namespace {

/// The whole message behind the place, whose column the compiler of the tests counts as it likes.
void check_message(const EquationDefinition& definition, const std::string& expected) {
  const std::string message = complaint(definition);
  INFO(message);
  CHECK(message.find("messages.cpp:" + std::to_string(mistake()) + ":") != std::string::npos);
  const std::string equation = ": equation " + definition.name() + ": ";
  const std::size_t at = message.find(equation);
  REQUIRE(at != std::string::npos);
  CHECK(message.substr(at + equation.size()) == expected);
}

}  // namespace

EQUATION(laplacian_of_parameter, "only fields are differentiated") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = laplacian(vp) * u);
}

EQUATION(gradient_of_tensor, "of rank 2") {
  auto s = symmetric_tensor("s", "Pa");
  mistake() = __LINE__ + 1;
  auto t = grad(s);
  evolve(dt(s) = trace(t) * s);
}

EQUATION(laplacian_of_number, "of the number 3") {
  auto u = scalar("u", "Pa");
  const dsl::Tensor three = 3;
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = laplacian(three) * u);
}

EQUATION(varying_divisor, "by a source") {
  auto u = scalar("u", "Pa");
  auto c = parameter("c", "Pa/s^2");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = c * u / source(u));
}

EQUATION(second_of_second, "the Laplacian of a Laplacian") {
  auto c = parameter("c", "m^4/s^2");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = c * laplacian(laplacian(u)));
}

EQUATION(first_of_second, "the gradient of a Laplacian") {
  auto c = parameter("c", "m^4/s^2");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = c * div(grad(laplacian(u))));
}

EQUATION(source_of_vector, "a point source on a vector") {
  auto v = vector("v", "m/s");
  mistake() = __LINE__ + 1;
  evolve(dt(v) = source(v));
}

EQUATION(moment_on_vector, "a moment rate on a vector") {
  auto v = vector("v", "m/s");
  mistake() = __LINE__ + 1;
  evolve(dt(v) = moment_rate(v));
}

EQUATION(same_name_printed, "v_z beside v.z") {
  auto v = vector("v", "m/s");
  mistake() = __LINE__ + 1;
  auto w = scalar("v_z", "m/s");
  evolve(dt(v) = grad(w));
}

TEST_CASE("dsl: the messages about what may be differentiated, word for word") {
  check_message(laplacian_of_parameter(), "laplacian() of an expression without a field");
  check_message(gradient_of_tensor(), "grad() takes a scalar or a vector, found a rank-2 tensor");
  const std::string number = complaint(laplacian_of_number());
  CHECK(number.ends_with("messages.cpp:" + std::to_string(mistake()) +
                         ": the Laplacian of the plain number 3"));
}

TEST_CASE("dsl: the messages about what layers and steps cannot have, word for word") {
  check_message(varying_divisor(),
                "evolution of u: a divisor that varies in time: the equation must be linear");
  check_message(second_of_second(), "a second derivative of a derivative inside a layer is not supported");
  check_message(first_of_second(), "a derivative of a second derivative inside a layer is not supported");
}

TEST_CASE("dsl: the messages about sources and names, word for word") {
  check_message(source_of_vector(), "source(v) takes a scalar, found a vector");
  check_message(moment_on_vector(), "moment_rate(v) takes a rank-2 tensor, found a vector");
  check_message(same_name_printed(),
                "field v_z reads like v.z in generated code: name one of them otherwise");
}

}  // namespace ondula::test
