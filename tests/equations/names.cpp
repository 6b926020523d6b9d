// An author's names never meet those of generated text: awkward names give the numbers of plain ones.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "equations/equations.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {

/// Three coupled waves; the two texts differ in names only. COUPLED(NAME, parameters c and k, fields f, g, h)
#define COUPLED(NAME, C, K, F, G, H)                                    \
  EQUATION(NAME, "three coupled waves") {                               \
    auto c = parameter(C, "m/s", positive);                             \
    auto k = parameter(K, "1/s^2");                                     \
    auto f = scalar(F, "Pa"), g = scalar(G, "Pa"), h = scalar(H, "Pa"); \
    evolve(dtt(f) = sq(c) * laplacian(f) + k * g + source(f));          \
    evolve(dtt(g) = sq(c) * laplacian(g) + k * h);                      \
    evolve(dtt(h) = sq(c) * laplacian(h) - k * f);                      \
  }

COUPLED(plain, "speed", "pull", "p", "q", "o")
COUPLED(temporaries, "c0", "w1", "t0", "r0", "tmp0")
COUPLED(emitters, "nx", "row", "i", "real", "z")
COUPLED(arguments, "tile", "scalars", "arrays", "n", "index")
COUPLED(blocks, "first", "last", "earlier", "later", "begin")
COUPLED(devices, "u_vec", "threadIdx", "blockIdx", "warpSize", "half")
COUPLED(keywords, "lambda", "new", "double", "in", "register")
COUPLED(functions, "fma", "sqrt", "begin", "end", "main")
COUPLED(suffixes, "a_z", "s_z", "u", "u_next", "u_psi_z")
COUPLED(sides, "dt", "h_z", "u_zeta_x_lo", "u_hi", "u_half")
COUPLED(macros, "unix", "linux", "ONDULA_ROW", "ONDULA_LOOP", "x")

/// The name under trial.
std::string& tried() {
  static std::string name;
  return name;
}

EQUATION(named, "a field of any name") {
  auto vp = parameter("vp", "m/s", positive);
  auto u = scalar(tried(), "Pa");
  evolve(dtt(u) = sq(vp) * laplacian(u));
}

/// A vector and a scalar whose name is what a component would be printed as.
#define WITH_VECTOR(NAME, V, F)                   \
  EQUATION(NAME, "a vector beside a scalar") {    \
    auto c = parameter("speed", "m/s", positive); \
    auto k = parameter("rate", "1/s");            \
    auto v = vector(V, "m/s");                    \
    auto f = scalar(F, "m/s");                    \
    evolve(dt(v) = c * grad(f) + force(v));       \
    evolve(dt(f) = c * div(v) - k * f);           \
  }

WITH_VECTOR(plain_vector, "velocity", "pressure")
WITH_VECTOR(component_name, "v", "v_z")
WITH_VECTOR(memory_name, "f_memory", "f")
WITH_VECTOR(stride_name, "s", "f")
WITH_VECTOR(profile_a, "a", "f")
WITH_VECTOR(profile_b, "b", "f")

namespace {

void check_same(const EquationDefinition& plain_names, const std::vector<EquationDefinition>& awkward) {
  const auto expected = nameless_fields(plain_names);
  for (const EquationDefinition& equation : awkward) {
    CAPTURE(equation.name());
    CHECK(nameless_fields(equation) == expected);
  }
}

}  // namespace

TEST_CASE("F1: names of the emitters' own temporaries and arguments give the numbers of neutral names") {
  ONDULA_NEEDS_CLANG();
  check_same(plain(), {temporaries(), emitters(), arguments(), blocks(), devices(), functions()});
}

TEST_CASE("F1: names that look like another's with a suffix give the numbers of neutral names") {
  ONDULA_NEEDS_CLANG();
  check_same(plain(), {suffixes(), sides(), macros()});
}

TEST_CASE("F1: components and scalars that would be printed alike stay apart") {
  ONDULA_NEEDS_CLANG();
  check_same(plain_vector(), {stride_name(), profile_a(), profile_b(), memory_name()});
  CHECK_THROWS_WITH_AS(component_name().instantiate({"z", "x"}),
                       doctest::Contains("field v_z reads like v.z in generated code"), UserError);
}

TEST_CASE("F2: C++ keywords as names of parameters and fields compile, and give the numbers of plain names") {
  ONDULA_NEEDS_CLANG();
  check_same(plain(), {keywords()});
}

TEST_CASE("F2: what is no plain identifier is refused as a name, with what is allowed") {
  for (const char* name :
       {"", "__x", "_x", "x_", "x__y", "1x", "u.z", "a b", "u-v", "u\n", "\u03bb", "\xc3\xa9t\xc3\xa9"}) {
    CAPTURE(name);
    tried() = name;
    CHECK_THROWS_WITH_AS(
        named().instantiate({"z"}),
        doctest::Contains("is no name: a letter, then letters, digits and single underscores"), UserError);
  }
  for (const char* name : {"x", "x1", "u_1", "operator", "Ox_y9"}) {
    tried() = name;
    CHECK(named().instantiate({"z"}).fields[0].name == name);
  }
}

}  // namespace ondula::test
