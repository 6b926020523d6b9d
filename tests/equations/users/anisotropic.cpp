// Anisotropic media, and Klein-Gordon's, as users write them: phase speeds, and models that are refused.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tests/equations/users/users.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/messages.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Values = std::map<std::string, double>;
using Wave = std::map<std::string, double>;  ///< amplitudes of cos(k.x - omega t) by field

constexpr std::int64_t nodes = 24;
constexpr double spacing = 5;

/// A plane wave over a periodic square of one wavelength along each axis, for a quarter of its period: the
/// largest difference from the formula, over the largest amplitude of a field of its kind.
double distance(const EquationDefinition& equation, const Values& models, double omega, const Wave& wave) {
  Grid grid;
  grid.axes = {"z", "x"};
  grid.shape = {nodes, nodes};
  grid.spacing = {spacing, spacing};
  grid.origin = {0, 0};
  grid.faces = {{Face{FaceKind::periodic, 0}, Face{FaceKind::periodic, 0}},
                {Face{FaceKind::periodic, 0}, Face{FaceKind::periodic, 0}}};
  PropagatorOptions options;
  options.order = 12;
  options.dtype = DType::float64;
  options.substeps = 1;
  options.steps = 101;
  const double quarter = std::numbers::pi / (2 * omega);
  options.dt = quarter / static_cast<double>(options.steps - 1);
  Propagator run(equation, grid, options);
  for (const auto& [name, value] : models) run.set_model(name, value);
  const double k = 2 * std::numbers::pi / (static_cast<double>(nodes) * spacing);
  const std::vector<ir::Field> fields = equation.instantiate(grid.axes).fields;
  const auto value = [&](const ir::Field& field, std::int64_t iz, std::int64_t ix, double time) {
    const double z = (static_cast<double>(iz) + 0.5 * field.stagger[0]) * spacing;
    const double x = (static_cast<double>(ix) + 0.5 * field.stagger[1]) * spacing;
    return wave.at(field.name) * std::cos(k * (z + x) - omega * time);
  };
  const auto values = [&](const ir::Field& field, double time) {
    std::vector<double> all;
    for (std::int64_t iz = 0; iz < nodes; ++iz)
      for (std::int64_t ix = 0; ix < nodes; ++ix) all.push_back(value(field, iz, ix, time));
    return all;
  };
  Shot shot;
  for (const ir::Field& field : fields) {
    run.set_initial(field.name, values(field, run.time_offset(field.name)));
    if (field.time_order == 2) run.set_initial(field.name + ".previous", values(field, -options.dt));
    for (const std::int64_t at : {3, 10}) {
      shot.receivers.push_back({.field = field.name,
                                .position = {(static_cast<double>(at) + 0.5 * field.stagger[0]) * spacing,
                                             (5 + 0.5 * field.stagger[1]) * spacing}});
    }
  }
  const std::vector<Shot> shots{shot};
  const auto records = run.forward(shots).front();
  std::map<std::string, double> most, size;
  for (const ir::Field& field : fields) {
    const Traces& traces = records.at(field.name);
    const auto last = static_cast<std::size_t>(options.steps);
    const double time = quarter + run.time_offset(field.name);
    size[field.group] = std::max(size[field.group], std::fabs(wave.at(field.name)));
    most[field.group] =
        std::max({most[field.group], std::fabs(traces.data[last - 1] - value(field, 3, 5, time)),
                  std::fabs(traces.data[2 * last - 1] - value(field, 10, 5, time))});
  }
  double worst = 0;
  for (const auto& [group, own] : most) worst = std::max(worst, own / size[group]);
  return worst;
}

/// Elastic moduli of the z-x plane, Pa, over the density.
struct Plane {
  double c11, c13, c33, c55;
};

/// The two waves at 45 degrees, whose wave vector is k(1, 1): rho omega^2 a = Christoffel's matrix a. Their
/// fields, with velocity of amplitude 1: s = -C:(a k)/omega.
std::array<std::pair<double, Wave>, 2> at_45_degrees(const Plane& c, double rho) {
  const double k = 2 * std::numbers::pi / (static_cast<double>(nodes) * spacing);
  const double zz = k * k * (c.c33 + c.c55), xx = k * k * (c.c11 + c.c55), zx = k * k * (c.c13 + c.c55);
  std::array<std::pair<double, Wave>, 2> found;
  for (const int sign : {0, 1}) {
    const double square =
        ((zz + xx) + (sign == 0 ? 1 : -1) * std::sqrt((zz - xx) * (zz - xx) + 4 * zx * zx)) / 2;
    const double omega = std::sqrt(square / rho);
    double az = zx, ax = square - zz;
    const double length = std::hypot(az, ax);
    az /= length;
    ax /= length;
    const double p = -k / omega;
    found[static_cast<std::size_t>(sign)] = {omega,
                                             {{"v.z", az},
                                              {"v.x", ax},
                                              {"s.zz", p * (c.c33 * az + c.c13 * ax)},
                                              {"s.xx", p * (c.c13 * az + c.c11 * ax)},
                                              {"s.zx", p * c.c55 * (az + ax)}}};
  }
  return found;
}

}  // namespace

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

TEST_CASE("users' equations: plane waves of anisotropic elastic media run as Christoffel's matrix says") {
  ONDULA_NEEDS_CLANG();
  double worst = 0;
  const double rho = 2200, vp = 3000, vs = 1500, epsilon = 0.2, delta = 0.1;
  const double c33 = rho * vp * vp, c55 = rho * vs * vs, c11 = c33 * (1 + 2 * epsilon);
  const double c13 = std::sqrt((c33 - c55) * (c33 - c55 + 2 * delta * c33)) - c55;
  for (const auto& [omega, wave] : at_45_degrees({c11, c13, c33, c55}, rho)) {
    worst = std::max(
        worst, distance(user_equation("elastic_vti"),
                        {{"vp", vp}, {"vs", vs}, {"rho", rho}, {"epsilon", epsilon}, {"delta", delta}}, omega,
                        wave));
  }
  for (const auto& [omega, wave] : at_45_degrees({3.1e10, 0.9e10, 2.2e10, 0.6e10}, 2400)) {
    worst = std::max(
        worst, distance(user_equation("elastic_orthorhombic"),
                        {{"rho", 2400}, {"c11", 3.1e10}, {"c13", 0.9e10}, {"c33", 2.2e10}, {"c55", 0.6e10}},
                        omega, wave));
  }
  CHECK(worst < 0.01);
  MESSAGE(fmt::format("P and S at 45 degrees after a quarter of a period: within {:.1e}", worst));
}

TEST_CASE("users' equations: acoustic VTI waves at 45 degrees, and Klein-Gordon's, obey their dispersion") {
  ONDULA_NEEDS_CLANG();
  const double k = 2 * std::numbers::pi / (static_cast<double>(nodes) * spacing);
  const double rho = 2000, vp = 2500, epsilon = 0.25, delta = 0.1;
  const double c33 = rho * vp * vp, c11 = c33 * (1 + 2 * epsilon), c13 = c33 * std::sqrt(1 + 2 * delta);
  // The same with no shear stiffness: of Christoffel's two waves the first.
  const auto [omega, elastic] = at_45_degrees({c11, c13, c33, 0}, rho)[0];
  const Wave wave = {{"v.z", elastic.at("v.z")},
                     {"v.x", elastic.at("v.x")},
                     {"sh", elastic.at("s.xx")},
                     {"sv", elastic.at("s.zz")}};
  const double vti =
      distance(user_equation("vti_acoustic"),
               {{"vp", vp}, {"rho", rho}, {"epsilon", epsilon}, {"delta", delta}}, omega, wave);
  const double m = 80, cut = std::sqrt(2 * vp * vp * k * k + m * m);
  const double massive = distance(user_equation("klein_gordon"), {{"vp", vp}, {"m", m}}, cut, {{"u", 1}});
  CHECK(vti < 0.01);
  CHECK(massive < 0.01);
  MESSAGE(fmt::format("VTI within {:.1e}, Klein-Gordon within {:.1e}", vti, massive));
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
