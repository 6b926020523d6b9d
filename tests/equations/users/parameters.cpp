// Functions of parameters, uniform parameters and declared speeds, through whole runs.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "compiler/ir/real_functions.hpp"
#include "tests/equations/users/users.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/program.hpp"
#include "tests/verification/setup.hpp"

namespace ondula::test {
namespace {

/// Each function once, on coefficients at nodes and at half cells.
constexpr const char* everything = R"(#include <ondula/dsl.hpp>
EQUATION(everything, "a speed from every function, and the medium's softness") {
  auto vp = parameter("vp", "m/s", positive);
  auto a = parameter("a", "1");
  auto gamma = uniform("gamma", "1", positive);
  auto angle = uniform("angle", "rad");
  auto u = scalar("u", "Pa");
  auto soft = 1 + exp(-gamma) * abs(sin(angle + a)) + sq(cos(a)) + tan(a / 4) / 4;
  auto stiff = sqrt(1 + tanh(a)) + pow(gamma, 0.7) + max(a, 0.1 * gamma) + log(2 + min(a, gamma));
  auto share = where(a < 0.1 || a >= 0.105, 0.9 + a, 1.1 - a);
  evolve(dtt(u) = sq(vp) * share * (div(grad(u) / soft) + 0.1 * stiff * laplacian(u) + source(u)));
}
)";

EQUATION(slowed, "waves slowed by one number for all cells") {
  auto vp = parameter("vp", "m/s", positive);
  auto gamma = uniform("gamma", "1", positive);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(vp) * exp(-gamma) * (laplacian(u) + source(u)));
}

EQUATION(slowed_by_cells, "the same, by a number for each cell") {
  auto vp = parameter("vp", "m/s", positive);
  auto gamma = parameter("gamma", "1", positive);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(vp) * exp(-gamma) * (laplacian(u) + source(u)));
}

EQUATION(stated_speeds, "speeds that the author states") {
  auto vp = parameter("vp", "m/s", positive);
  auto u = scalar("u", "Pa");
  speeds(2 * vp, vp / 2);
  evolve(dtt(u) = sq(vp) * (laplacian(u) + source(u)));
}

Shot shot_of(std::int64_t samples) {
  Shot shot;
  shot.sources.push_back(source({60, 50}, ricker_wavelet(30, 0.03, 0.001, samples)));
  shot.receivers.push_back(receiver({35, 100}));
  return shot;
}

Propagator slow(const EquationDefinition& equation, Backend backend = Backend::host) {
  PropagatorOptions chosen = options(0.001, 60, 4);
  chosen.backend = backend;
  const Grid box = grid({15, 17}, 10, {FaceKind::absorbing, 5});
  Propagator propagator(equation, box, chosen);
  propagator.set_model("vp",
                       on_nodes(box, [](const auto& n) { return 2000.0 + 30 * static_cast<double>(n[0]); }));
  propagator.set_model("gamma", 0.2);
  return propagator;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

TEST_CASE("functions of parameters: gradients, Born modelling and limits of an equation with all of them") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory folder;
  const std::string path = (folder.path() / "everything.cpp").string();
  std::ofstream(path) << everything;
  for (const char* backend : {"host", "reference"}) {
    const Outcome outcome = run_program({"check", path, "--dims", "2", "--order", "4", "--backend", backend,
                                         "--model", "gamma=0.4", "--model", "angle=0.3"});
    CAPTURE(outcome.out);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    for (const char* name : {"vp", "a", "gamma", "angle"})
      CHECK(holds(outcome.out, std::string("dot product, Born of ") + name));
  }
}

TEST_CASE("functions of parameters: where they have no slope it is 0, or the first argument's") {
  const auto slope = [](const char* name, double x, double y = 0, std::size_t j = 0) {
    const std::size_t count = std::string(name) == "min" || std::string(name) == "max" ? 2 : 1;
    return ir::real_function(name, count).slopes[j](x, y);
  };
  CHECK(slope("sqrt", 0) == 0);
  CHECK(slope("sqrt", 4) == 0.25);
  CHECK(slope("abs", 0) == 0);
  CHECK(slope("abs", -2) == -1);
  for (const char* name : {"min", "max"}) {
    CHECK(slope(name, 3, 3, 0) == 1);
    CHECK(slope(name, 3, 3, 1) == 0);
  }
  CHECK(slope("tan", 0) == 1);
  CHECK_THROWS_AS(ir::real_function("sinh", 1), InternalError);
}

TEST_CASE("uniform parameters: one number in, one number out, the sum over the cells") {
  ONDULA_NEEDS_CLANG();
  const Shot shot = shot_of(60);
  const MisfitFunction half_square = [](std::int64_t, const std::map<std::string, Traces>& records) {
    Misfit misfit;
    for (const auto& [field, traces] : records) {
      misfit.value += energy(traces.data) / 2;
      misfit.adjoint[field] = traces;
    }
    return misfit;
  };
  for (const Backend backend : {Backend::host, Backend::reference}) {
    Propagator one = slow(slowed(), backend), many = slow(slowed_by_cells(), backend);
    const Gradient a = one.gradient({&shot, 1}, half_square), b = many.gradient({&shot, 1}, half_square);
    CHECK(a.misfit > 0);
    REQUIRE(a.models.at("gamma").size() == 1);
    CHECK(a.models.at("gamma")[0] == doctest::Approx(sum(b.models.at("gamma"))).epsilon(1e-12));
    CHECK(max_abs_diff(a.models.at("vp"), b.models.at("vp")) <= 1e-12 * max_abs(b.models.at("vp")));
    const auto born = one.born({&shot, 1}, {{"gamma", {0.1}}})[0].at("u").data;
    const auto cells = many.born({&shot, 1}, {{"gamma", std::vector<double>(15 * 17, 0.1)}})[0].at("u").data;
    CHECK(max_abs(cells) > 0);
    CHECK(max_abs_diff(born, cells) <= 1e-12 * max_abs(cells));
  }
}

TEST_CASE("uniform parameters: arrays that vary are refused, constant ones are the number") {
  ONDULA_NEEDS_CLANG();
  Propagator propagator = slow(slowed());
  std::vector<double> values(15 * 17, 0.2);
  CHECK_NOTHROW(propagator.set_model("gamma", values));
  CHECK_NOTHROW(propagator.set_model("gamma", std::vector<double>{0.2}));
  values[7] = 0.3;
  check_mentions(
      refusal([&] { propagator.set_model("gamma", values); }),
      {"model gamma: it is uniform, one number for the whole model", "0.2 at index 0", "0.3 at index 7"});
  const Shot shot = shot_of(60);
  check_mentions(refusal([&] { propagator.born({&shot, 1}, {{"gamma", values}}); }),
                 {"perturbation of gamma: it is uniform"});
}

TEST_CASE("uniform parameters: a job gives a number, its gradient is a file of one, without a picture") {
  ONDULA_NEEDS_CLANG();
  Workshop shop;
  std::ofstream(shop.folder() / "slowed.cpp")
      << "#include <ondula/dsl.hpp>\nEQUATION(slowed, \"waves slowed by one number\") {\n"
         "  auto vp = parameter(\"vp\", \"m/s\", positive);\n"
         "  auto gamma = uniform(\"gamma\", \"1\", positive);\n  auto u = scalar(\"u\", \"Pa\");\n"
         "  evolve(dtt(u) = sq(vp) * exp(-gamma) * (laplacian(u) + source(u)));\n}\n";
  shop.job["equation"] = "slowed.cpp";
  shop.job["models"]["gamma"] = 0.1;
  shop.job["output"]["pictures"] = true;
  const Outcome first = shop.run();
  CAPTURE(first.err);
  REQUIRE(first.status == 0);
  std::filesystem::rename(shop.out() / "records_u.npy", shop.folder() / "observed.npy");
  shop.job["models"]["gamma"] = 0.12;
  shop.job["observed"] = {{"u", "observed.npy"}};
  const Outcome second = shop.command("gradient", {"--force"});
  CAPTURE(second.err);
  REQUIRE(second.status == 0);
  const io::Array gamma = shop.records("gradient_gamma.npy");
  CHECK(gamma.shape == std::vector<std::int64_t>{1});
  CHECK(gamma.data.at(0) > 0);  // slower than what was observed
  CHECK(std::filesystem::exists(shop.out() / "gradient_vp.png"));
  CHECK_FALSE(std::filesystem::exists(shop.out() / "gradient_gamma.png"));
}

TEST_CASE("functions of parameters: without a value somewhere they are refused, with the cell") {
  ONDULA_NEEDS_CLANG();
  Propagator propagator(user_equation("vti_acoustic"), grid({9, 9}, 10), options(1e-5, 1, 2));
  const std::map<std::string, double> models = {{"vp", 3000}, {"rho", 2000}, {"epsilon", 0.1}};
  for (const auto& [name, value] : models) propagator.set_model(name, value);
  std::vector<double> delta(81, 0.05);
  delta[9 * 3 + 4] = -0.7;
  propagator.set_model("delta", delta);
  const Shot nothing;
  check_mentions(refusal([&] { propagator.forward({&nothing, 1}); }),
                 {"equation vti_acoustic", "sqrt(2*delta + 1) of -0.4, which must be 0 or more",
                  "at cell (z 3, x 4), delta = -0.7"});
}

TEST_CASE("users' equations: impedance and density are one equation in two pairs of parameters") {
  ONDULA_NEEDS_CLANG();
  const Grid box = grid({31, 34}, 10, free_surface);
  const double dt = 0.001;
  Shot shot;
  shot.sources.push_back(source({120, 150}, ricker_wavelet(25, 0.06, dt, 150)));
  shot.receivers.push_back(receiver({80, 215}));
  const std::vector<double> vp = on_nodes(box, [](const auto& n) { return n[0] > 15 ? 2600.0 : 2000.0; });
  const std::vector<double> rho = on_nodes(box, [](const auto& n) { return n[1] > 20 ? 2300.0 : 1900.0; });
  std::vector<double> impedance = vp;
  for (std::size_t i = 0; i < vp.size(); ++i) impedance[i] *= rho[i];
  Propagator given(user_equation("acoustic_impedance"), box, options(dt, 150, 4));
  given.set_model("vp", vp);
  given.set_model("impedance", impedance);
  Propagator known(equations::acoustic_density(), box, options(dt, 150, 4));
  known.set_model("vp", vp);
  known.set_model("rho", rho);
  const auto a = given.forward({&shot, 1})[0].at("u").data, b = known.forward({&shot, 1})[0].at("u").data;
  CHECK(max_abs(b) > 0);
  CHECK(max_abs_diff(a, b) < 1e-11 * max_abs(b));
}

TEST_CASE(
    "speeds: what the author states is what layers and warnings go by; the step's limit does not change") {
  ONDULA_NEEDS_CLANG();
  PropagatorOptions chosen = options(0.001, 60, 4);
  const Grid box = grid({15, 17}, 10, {FaceKind::absorbing, 5});
  Propagator stated(stated_speeds(), box, chosen), plain(equations::acoustic(), box, chosen);
  for (Propagator* p : {&stated, &plain}) p->set_model("vp", 2000);
  const Estimate a = stated.estimate({}), b = plain.estimate({});
  CHECK(a.fastest == doctest::Approx(4000));
  CHECK(b.fastest == doctest::Approx(2000));
  CHECK(a.cfl_limit == doctest::Approx(b.cfl_limit).epsilon(0.01));
}

}  // namespace ondula::test
