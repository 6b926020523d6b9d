// Anisotropic media, and Klein-Gordon's, as users write them: their own checks, and models that are refused.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/equations/users/users.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/messages.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
TEST_CASE("users' equations: anisotropic media and Klein-Gordon's pass their own checks") {
  ONDULA_NEEDS_CLANG();
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"vti_acoustic", {"2", "3"}},
      {"elastic_vti", {"2", "3"}},
      {"elastic_orthorhombic", {"2", "3"}},
      {"acoustic_impedance", {"1", "2", "3"}},
      {"klein_gordon", {"1", "2", "3"}}};
  for (const auto& [name, all] : cases) {
    for (const std::string& dims : all) {
      if (!full_matrices() && dims == "3") continue;
      const Outcome outcome =
          run_program({"check", "docs/examples/equations/" + name + ".cpp", "--dims", dims, "--order", "4"});
      CAPTURE(name);
      CAPTURE(dims);
      CAPTURE(outcome.out);
      CAPTURE(outcome.err);
      CHECK(outcome.status == 0);
    }
  }
}

TEST_CASE("users' equations: Klein-Gordon's waves obey omega^2 = vp^2 k^2 + m^2") {
  ONDULA_NEEDS_CLANG();
  const double vp = 2500, m = 300;
  const Box box{.equation = user_equation("klein_gordon"),
                .models = {{"vp", vp}, {"m", m}},
                .half = {},
                .recorded = "u"};
  const double omega = std::hypot(vp * wavenumber(box), m);
  const Complex found = measured(box, {omega, {{"u", 1}}}, 0.2, 400);
  CHECK(found.real() == doctest::Approx(omega).epsilon(0.01));
  CHECK(std::fabs(found.imag()) < 1e-3 * omega);
  MESSAGE(fmt::format("frequency {:.5g}, by the formula {:.5g}", found.real(), omega));
}

TEST_CASE("A4: acoustic VTI with epsilon below delta is refused with the reason and the cell") {
  ONDULA_NEEDS_CLANG();
  Grid grid;
  grid.axes = {"z", "x"};
  grid.shape = {11, 12};
  grid.spacing = {10, 10};
  grid.origin = {0, 0};
  grid.faces = {{Face{FaceKind::absorbing, 5}, Face{FaceKind::absorbing, 5}},
                {Face{FaceKind::absorbing, 5}, Face{FaceKind::absorbing, 5}}};
  PropagatorOptions options;
  options.dt = 5e-4;
  options.steps = 3;
  options.substeps = 1;
  options.order = 4;
  options.absorb.frequency = 20;
  Propagator run(user_equation("vti_acoustic"), grid, options);
  run.set_model("vp", 2000);
  run.set_model("rho", 2000);
  run.set_model("epsilon", 0.05);
  std::vector<double> delta(11 * 12, 0.02);
  run.set_model("delta", delta);
  const std::vector<Shot> shots{
      {.sources = {{.field = "sh", .position = {50, 50}, .wavelet = {1, 0, 0}}}, .receivers = {}}};
  CHECK_NOTHROW(run.forward(shots));
  delta[3 * 12 + 7] = 0.15;
  run.set_model("delta", delta);
  check_mentions(refusal([&] { run.forward(shots); }),
                 {"vti_acoustic", "epsilon < delta, where the equation has waves that grow", "(z 3, x 7)"});
}

TEST_CASE("E18: a component along an axis that is not there is refused, with the axes there are") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory folder;
  const auto file = folder.path() / "mine.cpp";
  write_bytes(file,
              "#include <ondula/dsl.hpp>\n"
              "EQUATION(mine, \"a component across\") {\n"
              "  auto c = parameter(\"c\", \"m/s\", positive);\n"
              "  auto v = vector(\"v\", \"m/s\");\n"
              "  auto p = scalar(\"p\", \"m/s\");\n"
              "  evolve(dt(v) = c * grad(p));\n"
              "  evolve(dt(p) = c * (div(v) + d(v[\"y\"], \"y\")));\n"
              "}\n");
  const EquationDefinition definition = load_equation(file.string());
  CHECK_NOTHROW(definition.instantiate({"z", "y", "x"}));
  check_mentions(refusal([&] { definition.instantiate({"z", "x"}); }),
                 {"mine.cpp:7:", "equation mine", "\"y\""});
}

}  // namespace ondula::test
