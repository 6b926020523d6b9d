// What must hold for damping and memory to lose energy: known from signs, or looked at in every model.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>

#include "compiler/dsl/dsl.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/stability.hpp"
#include "tests/equations/engines.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {

EQUATION(damped_flow, "pressure and velocity, both damped by amounts of any sign") {
  auto c = parameter("c", "m^2/s^2", positive);
  auto q = parameter("q", "1/s"), k = parameter("k", "1/s");
  auto v = vector("v", "m/s");
  auto p = scalar("p", "m^2/s^2");
  evolve(dt(v) = grad(p) - q * v);
  evolve(dt(p) = c * div(v) - k * p);
}

EQUATION(damped_with_signs, "the same, its signs declared, memory besides") {
  auto c = parameter("c", "m^2/s^2", positive), q = parameter("q", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto p = scalar("p", "m^2/s^2");
  evolve(dt(v) = grad(p) - q / 2 * v);
  evolve(dt(p) = c * div(v) - (q + q) * p);
}

EQUATION(springs, "a restoring force of any sign") {
  auto c = parameter("c", "m^2/s^2", positive), m = parameter("m", "1/s^2"), eta = parameter("eta", "1/s");
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = c * laplacian(u) - m * u - eta * dt(u));
}

EQUATION(charges, "a field and a current that feed each other") {
  auto c = parameter("c", "m/s", positive), a = parameter("a", "1/s"), b = parameter("b", "1/s");
  auto h = vector("h", "V/m");
  auto e = scalar("e", "V/m"), j = scalar("j", "V/m");
  evolve(dt(h) = c * grad(e));
  evolve(dt(e) = c * div(h) - a * j);
  evolve(dt(j) = b * e);
}

EQUATION(memory, "a pressure with memory") {
  auto c = parameter("c", "m^2/s^2", positive), share = parameter("share", "1"), d = parameter("d", "1/s");
  auto v = vector("v", "m/s");
  auto p = scalar("p", "m^2/s^2"), r = scalar("r", "m^2/s^3");
  evolve(dt(v) = grad(p));
  evolve(dt(p) = c * div(v) - r);
  evolve(dt(r) = d * (share * c * div(v) - r));
}

EQUATION(uneven, "normal stresses that are damped by what differs from the law's other damping") {
  auto lambda = parameter("lambda", "Pa", positive), rho = parameter("rho", "kg/m^3", positive);
  auto q = parameter("q", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = div(s) / rho);
  evolve(dt(s) = lambda * trace(grad(v)) * identity() + 2 * lambda * sym(grad(v)) - q * s);
}

namespace {

/// The limits of a 2-D model that is `values` everywhere but at one cell.
Limits limits_of(const EquationDefinition& equation, const std::map<std::string, double>& values,
                 const std::string& changed = "", double to = 0) {
  const ir::Domain domain = layered({9, 8}, 3);
  const auto compiled = passes::compile(equation, {default_axes(2), 4, false, false});
  loop::Models models;
  for (const auto& [name, value] : values) {
    std::vector<double> array(72, value);
    if (name == changed) array[5 * 8 + 3] = to;
    models[name] = loop::ModelArray(array);
  }
  return limits(compiled.physical, domain, models, 1);
}

std::size_t conditions_of(const EquationDefinition& equation) {
  return scheme_of(passes::compile(equation, {default_axes(2), 4, false, false}).physical).conditions.size();
}

}  // namespace

TEST_CASE("damping conditions: where declared signs settle them nothing is looked at") {
  CHECK(conditions_of(damped_with_signs()) == 0);
  CHECK(conditions_of(uneven()) == 0);
  CHECK(conditions_of(damped_flow()) == 3);
  CHECK(conditions_of(springs()) == 2);
}

TEST_CASE("damping conditions: damping leaves the limit where it is") {
  const double free = limits_of(damped_flow(), {{"c", 4e6}, {"q", 0}, {"k", 0}}).step;
  CHECK(limits_of(damped_flow(), {{"c", 4e6}, {"q", 1e5}, {"k", 1e5}}).step == free);
  CHECK(limits_of(springs(), {{"c", 4e6}, {"m", 0}, {"eta", 1e5}}).step ==
        limits_of(springs(), {{"c", 4e6}, {"m", 0}, {"eta", 0}}).step);
  const Limits held = limits_of(springs(), {{"c", 4e6}, {"m", 1e5}, {"eta", 0}});
  CHECK(held.step < limits_of(springs(), {{"c", 4e6}, {"m", 0}, {"eta", 0}}).step);
  CHECK(held.speeds.fastest == doctest::Approx(2000));
}

TEST_CASE("damping conditions: a model that would feed waves is refused, with what, where and how much") {
  const std::map<std::string, double> flow = {{"c", 4e6}, {"q", 10}, {"k", 10}};
  check_mentions(refusal([&] { limits_of(damped_flow(), flow, "k", -3); }),
                 {"equation damped_flow: at cell (5, 3) what damps p is -3; it must be 0 or more"});
  check_mentions(refusal([&] { limits_of(damped_flow(), flow, "q", -3); }), {"what damps v.z is"});
  const std::map<std::string, double> held = {{"c", 4e6}, {"m", 10}, {"eta", 10}};
  check_mentions(refusal([&] { limits_of(springs(), held, "m", -1); }),
                 {"at cell (5, 3) what pulls u back is -1"});
  check_mentions(refusal([&] { limits_of(springs(), held, "eta", -1); }),
                 {"at cell (5, 3) what damps u is -1"});
  const std::map<std::string, double> plasma = {{"c", 2000}, {"a", 10}, {"b", 10}};
  check_mentions(refusal([&] { limits_of(charges(), plasma, "b", -2); }),
                 {"at cell (5, 3) minus the product of what e and j feed each other is -20"});
}

TEST_CASE("damping conditions: memory holds a share of the modulus between nothing and all of it") {
  const std::map<std::string, double> good = {{"c", 4e6}, {"share", 0.4}, {"d", 50}};
  const Limits limits = limits_of(memory(), good);
  CHECK(limits.speeds.fastest == doctest::Approx(2000));
  CHECK(limits.step == limits_of(memory(), {{"c", 4e6}, {"share", 0}, {"d", 50}}).step);
  // All of it: a fluid that holds nothing for long.
  CHECK_NOTHROW(limits_of(memory(), {{"c", 4.1e6 / 3}, {"share", 1}, {"d", 1 / 0.07}}));
  check_mentions(refusal([&] { limits_of(memory(), good, "share", -0.25); }),
                 {"at cell (5, 3) what a memory of p holds is -1e+06"});
  check_mentions(refusal([&] { limits_of(memory(), good, "share", 1.25); }),
                 {"at cell (5, 3) the law of p once its memory has relaxed is -1e+06"});
  check_mentions(refusal([&] { limits_of(memory(), good, "d", 0); }),
                 {"at cell (5, 3) the rate at which r fades is 0; it must be positive"});
}

}  // namespace ondula::test
