// What an author may get wrong: each mistake is told with the equation, the thing, and the author's file and
// line. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/check.hpp"
#include "compiler/passes/discretize_time.hpp"
#include "equations/equations.hpp"
#include "tests/compiler/dsl/complaint.hpp"

namespace ondula::test {

EQUATION(wrong_unit, "vp where vp^2 belongs") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = vp * laplacian(u));
}

EQUATION(wrong_sum, "adds a density to a speed") {
  auto vp = parameter("vp", "m/s");
  auto rho = parameter("rho", "kg/m^3");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  auto nonsense = vp + rho;
  evolve(dtt(u) = nonsense * laplacian(u));
}

EQUATION(rate_of_first_order, "dt(u) on the right of a dt()") {
  auto k = parameter("k", "1");
  auto u = scalar("u", "Pa"), w = scalar("w", "Pa");
  evolve(dt(u) = -u / 2.0 * parameter("q", "1/s"));
  mistake() = __LINE__ + 1;
  evolve(dt(w) = k * dt(u));
}

EQUATION(rate_of_another, "dt(w) on the right of dtt(u)") {
  auto k = parameter("k", "m^2/s^2"), q = parameter("q", "1/s");
  auto u = scalar("u", "Pa"), w = scalar("w", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = k * laplacian(u) - q * dt(w));
  evolve(dtt(w) = k * laplacian(w));
}

EQUATION(rate_of_slopes, "a viscous term") {
  auto k = parameter("k", "m^2/s^2"), nu = parameter("nu", "m^2/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = k * laplacian(u) + nu * laplacian(dt(u)));
}

EQUATION(second_rate, "dtt(u) on a right side") {
  auto k = parameter("k", "m^2/s^2");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = k * laplacian(u) + 0.5 * dtt(u));
}

EQUATION(flat_curl, "the curl of a vector in the plane") {
  auto c = parameter("c", "m/s");
  auto e = vector("e", "V/m");
  auto h = axial_vector("h", "V/m");
  evolve(dt(e) = c * e / parameter("l", "m"));
  mistake() = __LINE__ + 1;
  evolve(dt(h) = c * curl(e));
}

EQUATION(curls_on_a_line, "an axial vector along one axis") {
  mistake() = __LINE__ + 1;
  auto h = axial_vector("h", "A/m");
  evolve(dt(h) = h * parameter("q", "1/s"));
}

TEST_CASE("mistakes: rates and curls where they have no meaning") {
  check_complaint(rate_of_first_order(), {"dt(u) on the right side of a dt()", "write what it equals"});
  check_complaint(rate_of_another(), {"dt(w) on the right side of dtt(u)", "only dt(u) itself"});
  check_complaint(rate_of_slopes(), {"dt(u) under a derivative"});
  check_complaint(second_rate(), {"dtt(u) on a right side: only dt(u)"});
  check_complaint(flat_curl(), {"curl() of a vector in two dimensions", "axial vector and the scalar"});
  check_complaint(curls_on_a_line(), {"axial_vector(\"h\") needs two or three axes"}, 1);
}

EQUATION(unknown_unit, "a unit nobody knows") {
  mistake() = __LINE__ + 1;
  auto vp = parameter("vp", "km/s", positive);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(vp) * laplacian(u));
}

EQUATION(unknown_field_unit, "a field in bar") {
  mistake() = __LINE__ + 1;
  auto u = scalar("u", "bar");
  evolve(dtt(u) = laplacian(u));
}

EQUATION(wrong_rank, "a vector equals a scalar") {
  auto c = parameter("c", "m^2/s");
  auto v = vector("v", "m/s");
  mistake() = __LINE__ + 1;
  evolve(dt(v) = c * div(v));
}

EQUATION(rank_sum, "adds a scalar to a vector") {
  auto v = vector("v", "m/s");
  mistake() = __LINE__ + 1;
  auto nonsense = v + div(v);
  evolve(dt(v) = nonsense);
}

EQUATION(vector_product, "multiplies two vectors") {
  auto v = vector("v", "m/s");
  mistake() = __LINE__ + 1;
  evolve(dt(v) = v * v);
}

EQUATION(vector_divisor, "divides by a vector") {
  auto c = parameter("c", "1/s");
  auto v = vector("v", "m/s");
  mistake() = __LINE__ + 1;
  evolve(dt(v) = c / v);
}

EQUATION(field_divisor, "divides by a field") {
  auto c = parameter("c", "Pa^2/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dt(u) = c / u);
}

EQUATION(zero_divisor, "divides by the number 0") {
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = laplacian(u) / 0);
}

EQUATION(trace_of_vector, "the trace of a vector") {
  auto c = parameter("c", "1/s");
  auto v = vector("v", "m/s");
  mistake() = __LINE__ + 1;
  auto t = trace(v);
  evolve(dt(v) = c * v + grad(t));
}

EQUATION(sym_of_scalar, "the symmetric part of a scalar") {
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  auto t = sym(u);
  evolve(dtt(u) = trace(t));
}

EQUATION(laplacian_of_vector, "the Laplacian of a vector") {
  auto v = vector("v", "m/s");
  mistake() = __LINE__ + 1;
  auto t = laplacian(v);
  evolve(dt(v) = t);
}

EQUATION(div_of_scalar, "the divergence of a scalar") {
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  auto t = div(u);
  evolve(dtt(u) = t);
}

EQUATION(force_on_scalar, "a body force on a scalar") {
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = force(u));
}

EQUATION(source_of_expression, "a source term of no field") {
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = source(u + u));
}

EQUATION(grad_of_parameter, "differentiates a model") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  auto slope = grad(vp);
  evolve(dtt(u) = vp * div(vp * grad(u)) + u * div(slope) * vp);
}

EQUATION(not_symmetric, "an unsymmetric right side") {
  auto c = parameter("c", "Pa");
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dt(s) = c * grad(v));
  evolve(dt(v) = div(s) / parameter("rho", "kg/m^3"));
}

EQUATION(evolves_twice, "the same field twice") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(vp) * laplacian(u));
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = laplacian(u) * vp * vp);
}

EQUATION(left_expression, "evolves what is no field") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u + u) = sq(vp) * laplacian(u));
}

EQUATION(declared_twice, "one name twice") {
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  auto again = parameter("u", "m/s");
  evolve(dtt(u) = again * again * laplacian(u));
}

EQUATION(unused_parameter, "a parameter without a use") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  auto rho = parameter("rho", "kg/m^3");
  evolve(dtt(u) = sq(vp) * laplacian(u));
}

EQUATION(never_evolved, "a field that stays 0") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  auto w = scalar("w", "Pa");
  evolve(dtt(u) = sq(vp) * laplacian(u + w));
}

EQUATION(nonlinear, "a product of fields") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  auto one = parameter("one", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = sq(vp) * (u / one) * laplacian(u));
}

EQUATION(source_under_derivative, "a source that is differentiated") {
  auto vp = parameter("vp", "m/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dtt(u) = sq(vp) * laplacian(u + source(u)));
}

EQUATION(constant_term, "a term without a field") {
  auto c = parameter("c", "Pa/s");
  auto u = scalar("u", "Pa");
  mistake() = __LINE__ + 1;
  evolve(dt(u) = c);
}

EQUATION(nothing_evolves, "declares and leaves") { parameter("vp", "m/s"); }

EQUATION(greek, "a name outside the alphabet") {
  mistake() = __LINE__ + 1;
  auto u = scalar("\u03bb", "Pa");
  evolve(dtt(u) = laplacian(u));
}

EQUATION(cpp_names, "names that C++ keeps for itself") {
  auto c = parameter("lambda", "m/s", positive), d = parameter("register", "m/s", positive);
  auto u = scalar("double", "Pa"), w = scalar("in", "Pa");
  evolve(dtt(u) = sq(c) * laplacian(w));
  evolve(dtt(w) = sq(d) * laplacian(u));
}

TEST_CASE("dsl: a wrong unit is told with both units") {
  check_complaint(wrong_unit(),
                  {"right side of dtt(u)", "has unit [kg/(m^2 s^3)]", "needed is [kg/(m s^4)]"});
  check_complaint(wrong_sum(), {"adds [kg/m^3] to [m/s]", "one unit"});
  check_complaint(unknown_unit(), {"parameter vp", "\"km\"", "Hz, N, Pa"});
  check_complaint(unknown_field_unit(), {"field u", "\"bar\""});
}

TEST_CASE("dsl: a wrong rank is told with both ranks") {
  check_complaint(wrong_rank(), {"v has rank 1, its right side rank 0"});
  check_complaint(rank_sum(), {"adds a scalar to a vector"});
  check_complaint(vector_product(), {"multiplies a vector by a vector", "must be a scalar"});
  check_complaint(vector_divisor(), {"divides by a vector"});
  check_complaint(trace_of_vector(), {"trace() takes a rank-2 tensor, found a vector"});
  check_complaint(sym_of_scalar(), {"sym() takes a rank-2 tensor, found a scalar"});
  check_complaint(laplacian_of_vector(), {"laplacian() takes a scalar, found a vector"});
  check_complaint(div_of_scalar(), {"div() takes a vector or a tensor, found a scalar"});
  check_complaint(force_on_scalar(), {"force(u) takes a vector, found a scalar"});
}

TEST_CASE("dsl: what may not be divided by or differentiated") {
  check_complaint(field_divisor(), {"divides by a field", "linear"});
  check_complaint(zero_divisor(), {"divides by 0"});
  check_complaint(source_of_expression(), {"source() takes a field, found an expression"});
  check_complaint(grad_of_parameter(), {"only fields are differentiated"});
  check_complaint(not_symmetric(), {"right side of s is not symmetric", "s.zx"});
}

TEST_CASE("dsl: declarations and left sides are checked") {
  check_complaint(evolves_twice(), {"u evolves twice (first at"});
  check_complaint(left_expression(), {"left side must be dt() or dtt() of a field"});
  check_complaint(declared_twice(), {"\"u\" is declared twice"});
  check_complaint(unused_parameter(), {"parameter rho is never used"});
  check_complaint(never_evolved(), {"field w never evolves"});
}

TEST_CASE("dsl: an equation that is not linear, or drives itself from nowhere, is refused") {
  check_complaint(nonlinear(), {"evolution of u", "must be linear"});
  check_complaint(source_under_derivative(), {"evolution of u", "a source under a derivative"});
  check_complaint(constant_term(), {"evolution of u", "a term without a field"});
}

TEST_CASE("dsl: an equation without evolution is refused") {
  CHECK(complaint(nothing_evolves()).find("equation nothing_evolves: nothing evolves") != std::string::npos);
}

TEST_CASE("F2: names of fields are plain identifiers, C++'s own words included") {
  check_complaint(greek(), {"is no name", "a-z"});
  CHECK(complaint(cpp_names()).empty());
}

TEST_CASE("dsl: the same mistake is told in every dimension") {
  for (const int dims : {1, 2, 3}) check_complaint(wrong_unit(), {"needed is [kg/(m s^4)]"}, dims);
}

TEST_CASE("dsl: dimensions other than 1, 2 and 3 are refused") {
  CHECK_THROWS_WITH_AS(default_axes(4), "dims 4: allowed are 1, 2 and 3", UserError);
}

}  // namespace ondula::test
