// The baseline's nine cases: sizes, models, shots, and the figures that others published for them.
// SPDX-License-Identifier: MIT
#include "bench/baseline_cases.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "equations/equations.hpp"

namespace ondula::bench {
namespace {

constexpr double frequency = 10, delay = 0.1;
constexpr std::int64_t source_depth = 5;

std::vector<double> ricker(double dt, std::int64_t steps) {
  std::vector<double> values;
  for (std::int64_t k = 0; k < steps; ++k) {
    const double a = std::pow(std::numbers::pi * frequency * (static_cast<double>(k) * dt - delay), 2);
    values.push_back((1 - 2 * a) * std::exp(-a));
  }
  return values;
}

/// The position of a node, or of the half cell below it.
std::vector<double> position(const Setup& setup, std::vector<std::int64_t> node, bool half) {
  std::vector<double> at;
  for (std::size_t a = 0; a < node.size(); ++a)
    at.push_back((static_cast<double>(node[a]) + (half && a == 0 ? 0.5 : 0)) * setup.grid.spacing[a]);
  return at;
}

std::vector<Receiver> receivers(const Case& c, const Setup& setup, bool half) {
  std::vector<Receiver> result;
  const auto add = [&](std::vector<std::int64_t> node) {
    Receiver receiver;
    receiver.field = half ? "v.z" : "u";
    receiver.position = position(setup, std::move(node), half);
    result.push_back(receiver);
  };
  for (std::int64_t x = 4; x <= c.n - 4; x += 4) {
    if (c.dims == 2) add({source_depth, x});
    for (std::int64_t y = 4; c.dims == 3 && y <= c.n - 4; y += 4) add({source_depth - 2, y, x});
  }
  return result;
}

Source source(const Case& c, const Setup& setup, int shot, bool half) {
  const auto n = static_cast<double>(c.n);
  const double x = c.shots == 1 ? n / 2 : n / 4 + shot * (n / 2) / (c.shots - 1);
  std::vector<std::int64_t> node = {source_depth};
  if (c.dims == 3) node.push_back(c.n / 2);
  node.push_back(std::llround(x));
  Source result;
  result.position = position(setup, node, half);
  result.wavelet = ricker(setup.options.dt, c.steps);
  // A source is spread over its cell: this strength leaves what codes without volumes add.
  result.strength = std::pow(setup.grid.spacing[0], c.dims);
  if (half) {
    result.kind = SourceKind::force;
    result.components.assign(static_cast<std::size_t>(c.dims), 0.0);
    result.components[0] = 1;
  } else {
    result.field = "u";
  }
  return result;
}

}  // namespace

std::array<Case, 9> baseline_cases() {
  return {{
      {"ac2D 1024 x1", "acoustic", 2, 1024, 1, 500, 50, 4, {".38/.08", "2.52/2.46", "1.8e-7"}},
      {"ac2D 1024 x4", "acoustic", 2, 1024, 4, 500, 50, 4, {".64/.28", "9.99/9.82", "2.4e-7"}},
      {"ac2D 2048 x4", "acoustic", 2, 2048, 4, 500, 50, 4, {"OOM", "OOM", "-"}},
      {"el2D 1024 x1", "elastic", 2, 1024, 1, 500, 50, 4, {".64/.35", "12.46/4.91", "5.5e-7"}},
      {"el2D 1024 x4", "elastic", 2, 1024, 4, 500, 50, 4, {"OOM/1.38", "OOM/19.56", "-"}},
      {"el2D 2048 x4", "elastic", 2, 2048, 4, 500, 50, 4, {"OOM", "OOM", "-"}},
      {"ac3D 192", "acoustic", 3, 192, 1, 300, 20, 4, {"1.21/.65", "15.71/15.86", "2.7e-5"}},
      {"el3D 128", "elastic", 3, 128, 1, 300, 20, 4, {"OOM/1.84", "OOM/18.35", "-"}},
      {"el3D 192", "elastic", 3, 192, 1, 300, 20, 4, {"OOM", "OOM", "-"}},
  }};
}

Case scaled(Case full, const Scale& scale) {
  const double grid = full.dims == 2 ? scale.grid2 : scale.grid3;
  full.n = std::max<std::int64_t>(12, std::llround(static_cast<double>(full.n) / grid));
  full.steps = std::llround(static_cast<double>(full.steps) / scale.steps);
  full.width = static_cast<int>(std::lround(full.width / scale.layer));
  return full;
}

Setup set_up(const Case& c) {
  Setup setup{equations::find(c.equation), {}, {}, {}, {}};
  const auto dims = static_cast<std::size_t>(c.dims);
  const Face face{FaceKind::absorbing, c.width};
  setup.grid.axes = default_axes(c.dims);
  setup.grid.shape.assign(dims, c.n);
  setup.grid.spacing.assign(dims, c.dims == 2 ? 10.0 : 20.0);
  setup.grid.origin.assign(dims, 0.0);
  setup.grid.faces.assign(dims, {face, face});
  setup.options.dt = c.dims == 2 ? 1e-3 : 2e-3;
  setup.options.steps = c.steps;
  setup.options.order = c.order;
  setup.options.substeps = 1;
  setup.options.absorb.frequency = frequency;

  std::int64_t plane = 1;
  for (std::size_t a = 1; a < dims; ++a) plane *= c.n;
  std::vector<double>& vp = setup.models["vp"];
  for (std::int64_t z = 0; z < c.n; ++z)
    vp.insert(vp.end(), static_cast<std::size_t>(plane),
              1500 + 1500.0 * static_cast<double>(z) / static_cast<double>(c.n - 1));
  if (c.equation != "acoustic") setup.models["rho"].assign(vp.size(), 2000);
  const bool elastic = c.equation == "elastic";
  if (elastic) {
    for (const double v : setup.models["vp"]) setup.models["vs"].push_back(0.56 * v);
  }
  for (int k = 0; k < c.shots; ++k) {
    Shot shot;
    shot.sources = {source(c, setup, k, elastic)};
    shot.receivers = receivers(c, setup, elastic);
    setup.shots.push_back(shot);
  }
  return setup;
}

Propagator Setup::propagator() const {
  Propagator result(equation, grid, options);
  for (const auto& [name, values] : models) result.set_model(name, values);
  return result;
}

Misfit sum_of_squares(const std::map<std::string, Traces>& records) {
  Misfit misfit;
  for (const auto& [field, traces] : records) {
    Traces& slope = misfit.adjoint[field];
    slope = traces;
    for (double& value : slope.data) {
      misfit.value += value * value;
      value *= 2;
    }
  }
  return misfit;
}

double relative_l2(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a.at(i) - b[i]) * (a.at(i) - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

}  // namespace ondula::bench
