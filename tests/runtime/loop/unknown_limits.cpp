// Equations whose stability limit nobody knows are refused, each by its own field and reason.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "compiler/dsl/dsl.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/scheme.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {

EQUATION(damped_memory, "a pressure that is damped and has memory") {
  auto c = parameter("c", "m^2/s^2", positive);
  auto q = parameter("q", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto p = scalar("p", "m^2/s^2"), r = scalar("r", "m^2/s^3");
  evolve(dt(v) = grad(p));
  evolve(dt(p) = c * div(v) - q * p - r);
  evolve(dt(r) = q * c * div(v) - q * r);
}

EQUATION(memory_elsewhere, "a memory of another slope than what the field drives") {
  auto c = parameter("c", "m^2/s^2", positive), k = parameter("k", "m^2/s^2", positive);
  auto q = parameter("q", "1/s", positive);
  auto v = vector("v", "m/s"), w = vector("w", "m/s");
  auto p = scalar("p", "m^2/s^2"), r = scalar("r", "m^2/s^3"), f = scalar("f", "m^2/s^2");
  evolve(dt(v) = grad(p));
  evolve(dt(w) = grad(f) + 0.5 * grad(p));
  evolve(dt(p) = c * div(v) - r);
  evolve(dt(f) = k * div(w));
  evolve(dt(r) = q * c * div(w) - q * r);
}

EQUATION(damped_displacement, "dt(u) = w, the displacement damped") {
  auto c = parameter("c", "m^2/s^2", positive);
  auto q = parameter("q", "1/s", nonnegative);
  auto u = scalar("u", "Pa"), w = scalar("w", "Pa/s");
  evolve(dt(w) = c * laplacian(u));
  evolve(dt(u) = w - q * u);
}

EQUATION(ring, "three fields in a circle") {
  auto c = parameter("c", "m^2/s", positive);
  auto f = scalar("f", "Pa"), g = scalar("g", "Pa"), h = scalar("h", "Pa");
  evolve(dt(f) = c * laplacian(g));
  evolve(dt(g) = c * laplacian(h));
  evolve(dt(h) = c * laplacian(f));
}

EQUATION(coupled, "a second-order field that another enters without a derivative") {
  auto k = parameter("k", "m^2/s^2", positive);
  auto a = parameter("a", "1/s^2");
  auto u = scalar("u", "Pa"), w = scalar("w", "Pa");
  evolve(dtt(u) = k * laplacian(u) + a * w);
  evolve(dtt(w) = k * laplacian(w));
}

EQUATION(mixed, "a wave and a field that follows it") {
  auto k = parameter("k", "m^2/s^2", positive);
  auto d = parameter("d", "m^2/s", positive);
  auto u = scalar("u", "Pa"), m = scalar("m", "Pa");
  evolve(dtt(u) = k * laplacian(u));
  evolve(dt(m) = d * laplacian(u));
}

TEST_CASE(
    "an equation of another form than the two known is refused with its name, the field and the reason") {
  const auto reason = [](const EquationDefinition& equation) {
    const auto compiled = passes::compile(equation, {{"x"}, 4, false, false});
    return refusal([&] { scheme_of(compiled.physical); });
  };
  check_mentions(reason(damped_memory()), {"equation damped_memory", "update of p is not known",
                                           "it is damped and has memory, r, too", "dtt(u) = A u"});
  check_mentions(reason(memory_elsewhere()), {"equation memory_elsewhere", "update of p",
                                              "its drive differs by direction", "its memory's relation"});
  check_mentions(reason(damped_displacement()),
                 {"equation damped_displacement", "update of u", "it is damped, and w enters it without"});
  check_mentions(reason(ring()), {"equation ring", "update of g is not known",
                                  "it reads h, which is updated in the same half"});
  check_mentions(reason(coupled()), {"equation coupled", "update of u", "w enters it without a derivative"});
  check_mentions(reason(mixed()), {"equation mixed", "first and second time derivatives stand together"});
}

}  // namespace ondula::test
