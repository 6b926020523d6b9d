// Compiled kernels against the whole-array reference: every dimension, order and kind of face.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

using Pair = std::array<Face, 2>;

Face layer(int width) { return {FaceKind::absorbing, width}; }

/// The faces of the three axes; fewer dimensions take the last ones.
struct Faces {
  std::string name;
  std::array<Pair, 3> axes;
};

const Face periodic{FaceKind::periodic, 0}, odd{FaceKind::antisymmetric, 0};
const Pair through = {periodic, periodic}, walls = {rigid, rigid}, odds = {odd, odd};

const std::vector<Faces>& all_faces() {
  static const std::vector<Faces> faces = {
      {"layers of different widths",
       {Pair{layer(3), layer(6)}, Pair{layer(5), layer(1)}, Pair{layer(7), layer(4)}}},
      {"layers and widths of 0",
       {Pair{layer(0), layer(4)}, Pair{layer(5), layer(0)}, Pair{layer(0), layer(6)}}},
      {"free z-", {Pair{free_surface, layer(4)}, Pair{layer(3), layer(5)}, Pair{layer(4), layer(6)}}},
      {"free on every minus face",
       {Pair{free_surface, layer(4)}, Pair{free_surface, layer(5)}, Pair{free_surface, layer(3)}}},
      {"free on every plus face",
       {Pair{layer(4), free_surface}, Pair{layer(2), free_surface}, Pair{layer(5), free_surface}}},
      {"free all around",
       {Pair{free_surface, free_surface}, Pair{free_surface, free_surface},
        Pair{free_surface, free_surface}}},
      {"free y-", {Pair{layer(4), layer(3)}, Pair{free_surface, layer(5)}, Pair{layer(6), rigid}}},
      {"free x+, rigid z-", {Pair{rigid, layer(4)}, Pair{layer(5), layer(3)}, Pair{layer(4), free_surface}}},
      {"rigid", {walls, walls, walls}},
      {"antisymmetric", {odds, odds, odds}},
      {"periodic", {through, through, through}},
      {"periodic x under a free surface", {Pair{free_surface, layer(5)}, Pair{layer(4), rigid}, through}},
      {"periodic z and y beside layers", {through, through, Pair{layer(3), layer(6)}}},
  };
  return faces;
}

struct Setting {
  std::vector<std::int64_t> shape;
  int order = 8;
  DType dtype = DType::float64;
  double kappa = 1;
  Faces faces;
  std::int64_t steps = 200;
};

constexpr double spacing = 10, fastest = 3000;

Grid grid_of(const Setting& s) {
  Grid g = grid(s.shape, spacing);
  const std::size_t first = 3 - s.shape.size();
  for (std::size_t a = 0; a < s.shape.size(); ++a) {
    g.faces[a] = s.faces.axes[first + a];
    g.origin[a] = -30.0 * static_cast<double>(a);
    g.spacing[a] = spacing * (1 + 0.2 * static_cast<double>(a));
  }
  return g;
}

/// A point at the given fraction of every axis, off the nodes.
std::vector<double> at_fraction(const Grid& g, double fraction) {
  std::vector<double> position;
  for (std::size_t a = 0; a < g.shape.size(); ++a) {
    position.push_back(g.origin[a] + g.spacing[a] * static_cast<double>(g.shape[a] - 1) * fraction);
  }
  return position;
}

/// A point on a node near that fraction, never on the outermost one.
std::vector<double> on_node(const Grid& g, double fraction) {
  std::vector<double> position;
  for (std::size_t a = 0; a < g.shape.size(); ++a) {
    const double node = std::max(1.0, std::floor(static_cast<double>(g.shape[a] - 2) * fraction));
    position.push_back(g.origin[a] + g.spacing[a] * node);
  }
  return position;
}

/// Two shots: sources and receivers on and off nodes, by sinc and by linear weights, two sources at once.
std::vector<Shot> shots_of(const Grid& g, double dt, std::int64_t steps) {
  const auto wavelet = ricker_wavelet(0.03 / dt, 1.2 / (0.03 / dt), dt, steps);
  std::vector<Shot> shots(2);
  shots[0].sources = {source(at_fraction(g, 0.37), wavelet)};
  shots[0].receivers = {receiver(at_fraction(g, 0.71)), receiver(on_node(g, 0.2)),
                        receiver(at_fraction(g, 0.13))};
  shots[1].sources = {
      source(on_node(g, 0.6), wavelet),
      source(at_fraction(g, 0.81), ricker_wavelet(0.05 / dt, 30 * dt, dt, steps / 2), Interpolation::linear)};
  shots[1].receivers = {receiver(at_fraction(g, 0.44), Interpolation::linear), receiver(on_node(g, 0.9))};
  return shots;
}

struct Result {
  Records records;
  std::map<std::string, std::vector<double>> state;
};

Result run(const Setting& s, Backend backend) {
  const Grid g = grid_of(s);
  double inverse = 0;
  for (const double h : g.spacing) inverse += 1 / (h * h);
  PropagatorOptions o =
      options(0.8 * acoustic_limit(s.order, 1, 1 / std::sqrt(inverse), fastest), s.steps, s.order);
  o.dtype = s.dtype;
  o.backend = backend;
  o.absorb.kappa = s.kappa;
  Propagator propagator(equations::acoustic(), g, o);
  Random random(7);
  propagator.set_model("vp",
                       on_nodes(g, [&](const auto&) { return 1500 + (fastest - 1500) * random.uniform(); }));
  // At rest: an initial velocity would feed the mode of wavenumber 0, where rounding grows like steps^1.5.
  const auto state = on_nodes(g, [&](const auto&) { return 1e-3 * random.normal(); });
  propagator.set_initial("u", state);
  propagator.set_initial("u.previous", state);
  Result result;
  result.records = propagator.forward(shots_of(g, o.dt, s.steps));
  result.state = propagator.state().fields();
  return result;
}

/// max|diff|/max|ref| over both shots' records and the final state; checks the bar of
/// numerics.md.
double check_setting(const Setting& s) {
  CAPTURE(s.faces.name);
  CAPTURE(s.order);
  CAPTURE(s.shape.size());
  CAPTURE(s.kappa);
  CAPTURE((s.dtype == DType::float32));
  const Result host = run(s, Backend::host), reference = run(s, Backend::reference);
  REQUIRE(host.records.size() == 2);
  // Against the largest value the run is seen to reach: what the layers have left of a field at last holds
  // the rounding of all that passed.
  double largest = 0, worst = 0;
  const auto compare = [&](const std::vector<double>& a, const std::vector<double>& b) {
    worst = detail::worse(worst, max_abs_diff(a, b));
    largest = detail::worse(largest, max_abs(b));
  };
  for (std::size_t shot = 0; shot < 2; ++shot) {
    compare(host.records[shot].at("u").data, reference.records[shot].at("u").data);
  }
  for (const auto& [name, values] : reference.state) compare(host.state.at(name), values);
  REQUIRE(largest > 0);
  worst /= largest;
  CHECK(worst < (s.dtype == DType::float32 ? 2e-5 : 1e-13));
  return worst;
}

/// Every kind of face with orders in turn (with every order where `all`), the types and kappa alternating.
void check_dimension(const std::vector<std::int64_t>& shape, bool all) {
  std::array<double, 2> worst{};
  int counter = 0;
  for (std::size_t f = 0; f < all_faces().size(); ++f) {
    for (int order = 2; order <= 16; order += 2) {
      const int turn = static_cast<int>(f) + order / 2;
      if (!all && turn % 4 != 0) continue;
      for (const DType dtype : {DType::float32, DType::float64}) {
        const int way = counter++;
        if (!full_matrices() && (dtype == DType::float64) != (turn % 3 != 0)) continue;
        const double kappa = way % 3 == 0 ? 2 : 1;
        double& most = worst[dtype == DType::float32 ? 0 : 1];
        most = detail::worse(most, check_setting({shape, order, dtype, kappa, all_faces()[f]}));
      }
    }
  }
  MESSAGE(fmt::format("largest difference: float32 {:.1e}, float64 {:.1e}", worst[0], worst[1]));
}

}  // namespace

TEST_CASE("host equals the reference: 1-D, every kind of face and order") { check_dimension({41}, true); }

TEST_CASE("host equals the reference: 2-D, every kind of face and order") { check_dimension({21, 26}, true); }

TEST_CASE("host equals the reference: 3-D, every kind of face, the orders in turn") {
  check_dimension({12, 10, 14}, full_matrices());
}

TEST_CASE("host equals the reference: grids smaller than the stencil reaches") {
  // 100 steps: where nothing leaves, the mean over 25 points keeps all of their rounding.
  for (const auto& faces : all_faces()) {
    check_setting({{5, 5}, 8, DType::float64, 1, faces, 100});
    check_setting({{9, 10}, 16, DType::float64, 2, faces, 100});
    check_setting({{3, 4, 5}, 4, DType::float32, 1, faces, 100});
  }
}

TEST_CASE("host equals the reference: 11^n cells at orders 2 to 16") {
  for (int dims = 1; dims <= 3; ++dims) {
    for (int order = 2; order <= 16; order += 2) {
      const std::size_t f = static_cast<std::size_t>(order / 2 + 3 * dims) % all_faces().size();
      const std::int64_t steps = dims == 3 ? 60 : 200;
      check_setting({std::vector<std::int64_t>(static_cast<std::size_t>(dims), 11), order,
                     order % 4 == 0 ? DType::float64 : DType::float32, 1, all_faces()[f], steps});
    }
  }
}
