// The baseline's nine cases: sizes, models, shots, and the figures that others published for them.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "runtime/propagator.hpp"

namespace ondula::bench {

/// Two codes' figures for a case, as published: an eager one's and a hand-written kernel's; "OOM" where it
/// ran out of its 32 GB.
struct Published {
  std::string seconds;     ///< of a gradient with every step kept, eager / hand-written
  std::string gib;         ///< its peak
  std::string difference;  ///< relative L2 of the two gradients of vp
};

struct Case {
  std::string label, equation;
  int dims = 2;
  std::int64_t n = 0;  ///< nodes per axis
  int shots = 1;
  std::int64_t steps = 0;
  int width = 0;  ///< layer cells on every face
  int order = 4;
  Published published;
};

/// At full size: 10 m and 1 ms in 2-D, 20 m and 2 ms in 3-D.
std::array<Case, 9> baseline_cases();

/// What a case's sizes are divided by.
struct Scale {
  double grid2 = 8, grid3 = 6, layer = 4, steps = 3;
};

/// The case with fewer nodes, layer cells and steps; spacing, step, velocities and wavelet stay.
Case scaled(Case full, const Scale& scale);

/// What a Propagator and its calls need. vp is 1500 to 3000 m/s, linear in depth, vs 0.56 vp, rho 2000; a 10
/// Hz Ricker wavelet at 0.1 s; sources at depth 5, x evenly from n/4 to 3n/4; receivers every 4 cells from 4
/// to n - 4, in 2-D at depth 5, in 3-D at depth 3 over the plane. First-order systems: a vertical force, and
/// v.z.
struct Setup {
  EquationDefinition equation;
  Grid grid;
  PropagatorOptions options;
  std::map<std::string, std::vector<double>> models;
  std::vector<Shot> shots;

  Propagator propagator() const;
};

Setup set_up(const Case& c);

/// The sum of squares of all records.
Misfit sum_of_squares(const std::map<std::string, Traces>& records);

/// |a - b| / |b|.
double relative_l2(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace ondula::bench
