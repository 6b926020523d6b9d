// What the absorbing layer sends back, against a domain that needs none (numerics.md, Why that R).
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/support/compare.hpp"
#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

using Cell = std::array<std::int64_t, 2>;

/// A 2-D homogeneous run, order 8, in cells of the interior. Receivers may stand on any cell of it.
struct Experiment {
  Cell shape{101, 101};
  Cell source{50, 50};
  std::vector<Cell> receivers;
  std::int64_t steps = 800;
  double speed = 1500, spacing = 5, frequency = 25, dt = 5e-4;
  DType dtype = DType::float64;
};

/// Traces with a layer of widths[axis][side] cells, the interior extended by `more` cells of the medium on
/// every side.
std::vector<std::vector<double>> traces(const Experiment& e, const std::array<std::array<int, 2>, 2>& widths,
                                        std::int64_t more, std::optional<double> layer_frequency = {}) {
  Grid g = grid({e.shape[0] + 2 * more, e.shape[1] + 2 * more}, e.spacing);
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t side = 0; side < 2; ++side) g.faces[a][side] = {FaceKind::absorbing, widths[a][side]};
    g.origin[a] = -static_cast<double>(more) * e.spacing;
  }
  const auto metres = [&](const Cell& cell) {
    return std::vector<double>{static_cast<double>(cell[0]) * e.spacing,
                               static_cast<double>(cell[1]) * e.spacing};
  };
  PropagatorOptions o = options(e.dt, e.steps, 8);
  o.dtype = e.dtype;
  o.absorb.frequency = layer_frequency;
  Shot shot;
  shot.sources.push_back(
      source(metres(e.source), ricker_wavelet(e.frequency, 2 / e.frequency, e.dt, e.steps)));
  for (const Cell& cell : e.receivers) shot.receivers.push_back(receiver(metres(cell)));
  return acoustic_traces(g, o, {e.speed}, shot);
}

std::vector<std::vector<double>> traces(const Experiment& e, int width,
                                        std::optional<double> layer_frequency = {}) {
  return traces(e, {{{width, width}, {width, width}}}, 0, layer_frequency);
}

/// The same with the faces so far that nothing comes back to any cell within the run.
std::vector<std::vector<double>> traces_without(const Experiment& e) {
  const double cells = static_cast<double>(e.steps) * e.dt * e.speed / e.spacing;
  return traces(e, {{{0, 0}, {0, 0}}}, static_cast<std::int64_t>(cells / 2) + 5);
}

/// The largest max|diff|/max|ref| over the traces, in dB.
double worst_db(const std::vector<std::vector<double>>& with,
                const std::vector<std::vector<double>>& without) {
  double worst = -std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < with.size(); ++r)
    worst = detail::worse(worst, difference_db(with[r], without[r]));
  return worst;
}

/// Cells `depth` cells from the layer's inner edge, which is the outermost interior node, along two faces
/// from their middles to the corners.
std::vector<Cell> beside_layer(const Experiment& e, std::int64_t depth) {
  std::vector<Cell> cells;
  for (std::int64_t along = 50; along < e.shape[1] - depth; along += 9) {
    cells.push_back({depth, along});
    cells.push_back({along, e.shape[1] - 1 - depth});
  }
  cells.push_back({depth, depth});
  return cells;
}

void check_widths(DType dtype, double bar20, double bar20_beside, double bar10, double bar10_beside) {
  Experiment away, beside;
  away.dtype = beside.dtype = dtype;
  away.receivers = beside_layer(away, 5);
  for (const Cell& cell : {Cell{30, 30}, Cell{50, 80}}) away.receivers.push_back(cell);
  beside.receivers = beside_layer(beside, 1);
  const auto away_reference = traces_without(away), beside_reference = traces_without(beside);
  const auto measured = [&](int width) {
    return std::pair{worst_db(traces(away, width), away_reference),
                     worst_db(traces(beside, width), beside_reference)};
  };
  const auto [wide, wide_beside] = measured(20);
  const auto [narrow, narrow_beside] = measured(10);
  CHECK(wide < bar20);
  CHECK(wide_beside < bar20_beside);
  CHECK(narrow < bar10);
  CHECK(narrow_beside < bar10_beside);
  MESSAGE(fmt::format("20 cells {:.1f} dB, beside the layer {:.1f}; 10 cells {:.1f} dB, beside it {:.1f}",
                      wide, wide_beside, narrow, narrow_beside));
}

}  // namespace

TEST_CASE("layer: 20 and 10 cells send back what numerics.md allows, float64") {
  check_widths(DType::float64, -100, -85, -85, -70);
}

TEST_CASE("layer: 20 and 10 cells send back what numerics.md allows, float32") {
  check_widths(DType::float32, -90, -85, -85, -70);
}

TEST_CASE("layer: at grazing incidence over 250 cells 20 cells send back under -35 dB") {
  Experiment e;
  e.shape = {80, 310};
  e.source = {5, 30};
  e.receivers = {{5, 280}};
  e.steps = 2000;
  const double found = worst_db(traces(e, 20), traces_without(e));
  CHECK(found < -35);
  MESSAGE(fmt::format("{:.1f} dB", found));
}

TEST_CASE("A13: the layer is as good at 0.2 mm and 1 MHz as at 10 m and 10 Hz") {
  Experiment metres;
  metres.spacing = 10;
  metres.frequency = 10;
  metres.dt = 1e-3;
  metres.receivers = beside_layer(metres, 5);
  // The same run in other units: 15 points per wavelength at 3000 m/s, c dt/h 0.15.
  Experiment millimetres = metres;
  millimetres.spacing = 2e-4;
  millimetres.frequency = 1e6;
  millimetres.speed = 3000;
  millimetres.dt = 1e-8;
  const double large = worst_db(traces(metres, 20), traces_without(metres));
  const double small = worst_db(traces(millimetres, 20), traces_without(millimetres));
  CHECK(large < -100);
  CHECK(small < -100);
  CHECK(std::fabs(large - small) < 0.5);
  // And in water, with 7.5 points per wavelength.
  millimetres.speed = 1500;
  const double water = worst_db(traces(millimetres, 20), traces_without(millimetres));
  CHECK(water < -100);
  MESSAGE(fmt::format("10 m {:.2f} dB, 0.2 mm {:.2f} dB, in water {:.2f} dB", large, small, water));
}

TEST_CASE("A14: a centred source leaves the same residual at the four sides within 1 %") {
  Experiment e;
  e.receivers = {{2, 50}, {98, 50}, {50, 2}, {50, 98}};
  const auto with = traces(e, 10), without = traces_without(e);
  std::vector<double> residual;
  for (std::size_t r = 0; r < 4; ++r) residual.push_back(energy(difference(with[r], without[r])));
  for (const double at_side : residual) CHECK(std::fabs(at_side / residual[0] - 1) < 0.01);
  MESSAGE(fmt::format("residual energies over the first: {:.6f} {:.6f} {:.6f}", residual[1] / residual[0],
                      residual[2] / residual[0], residual[3] / residual[0]));
}

TEST_CASE("A26: widths 0, 1, 5 and 10 on the four faces absorb each as if all faces had its width") {
  Experiment e;
  e.receivers = {{10, 50}, {90, 50}, {50, 10}, {50, 90}};
  const auto without = traces_without(e);
  const auto mixed = traces(e, {{{0, 1}, {5, 10}}}, 0);
  const std::array<int, 4> widths = {0, 1, 5, 10};
  std::vector<double> reflected;
  for (std::size_t face = 0; face < 4; ++face) {
    const auto own = difference(traces(e, widths[face])[face], without[face]);
    const auto found = difference(mixed[face], without[face]);
    // Until the wave off a neighbouring face begins, after sqrt(40^2 + 100^2) = 108 cells; the wave off this
    // face has come 60 and has passed. The wavelet peaks at 2/f and begins 1.5/f earlier.
    const double until = 108 * e.spacing / e.speed + 0.5 / e.frequency;
    const auto count = static_cast<std::size_t>(until / e.dt);
    REQUIRE(count <= own.size());
    const std::span<const double> own_part(own.data(), count), found_part(found.data(), count);
    CAPTURE(widths[face]);
    CHECK(relative_l2(found_part, own_part) < 0.01);
    reflected.push_back(20 * std::log10(max_abs(found_part) / max_abs(without[face])));
  }
  CHECK(reflected[0] > -6);            // a wall
  CHECK(reflected[1] < reflected[0]);  // a single cell takes little
  CHECK(reflected[2] < reflected[1] - 40);
  CHECK(reflected[3] < reflected[2] - 30);
  MESSAGE(fmt::format("sent back: {:.1f}, {:.1f}, {:.1f}, {:.1f} dB", reflected[0], reflected[1],
                      reflected[2], reflected[3]));
}

TEST_CASE("A27: a layer of frequency 0 runs and absorbs") {
  Experiment e;
  e.receivers = beside_layer(e, 5);
  const double found = worst_db(traces(e, 20, 0.0), traces_without(e));
  CHECK(found < -60);
  MESSAGE(fmt::format("{:.1f} dB", found));
}
