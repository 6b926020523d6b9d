// A small acoustic run: what the tests of the Propagator start from.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "equations/equations.hpp"
#include "runtime/propagator.hpp"

namespace ondula::test {

inline Grid small_grid(int dims, std::int64_t nodes = 24, const Face& face = {FaceKind::absorbing, 5}) {
  const auto count = static_cast<std::size_t>(dims);
  Grid grid;
  grid.axes = default_axes(dims);
  grid.shape.assign(count, nodes);
  grid.spacing.assign(count, 10.0);
  grid.origin.assign(count, 0.0);
  grid.faces.assign(count, {face, face});
  return grid;
}

inline PropagatorOptions small_options(const jit::CacheOptions& cache = {}) {
  PropagatorOptions options;
  options.dt = 1e-3;
  options.steps = 60;
  options.order = 4;
  options.cache = cache;
  return options;
}

/// A source off the middle, two receivers, one of them off the grid points.
inline Shot small_shot(int dims) {
  const auto count = static_cast<std::size_t>(dims);
  Source source;
  source.field = "u";
  source.position.assign(count, 100.0);
  source.position[0] = 80;
  for (int n = 0; n < 40; ++n)
    source.wavelet.push_back(std::sin(0.3 * n) * std::exp(-0.01 * (n - 15) * (n - 15)));
  Shot shot;
  shot.sources.push_back(source);
  for (const double z : {150.0, 163.7}) {
    Receiver receiver;
    receiver.field = "u";
    receiver.position.assign(count, 120.0);
    receiver.position[0] = z;
    shot.receivers.push_back(receiver);
  }
  return shot;
}

/// The traces of one small shot through `propagator`, whose model is set here.
inline std::vector<double> small_record(Propagator& propagator, int dims) {
  propagator.set_model("vp", 2000.0);
  const Shot shot = small_shot(dims);
  return propagator.forward({&shot, 1}).at(0).at("u").data;
}

inline std::vector<double> small_record(int dims, const PropagatorOptions& options) {
  Propagator propagator(equations::acoustic(), small_grid(dims), options);
  return small_record(propagator, dims);
}

}  // namespace ondula::test
