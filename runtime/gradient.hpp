// What a gradient is asked for and gives back.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/types.hpp"

namespace ondula {

/// Which model nodes gain what the model's continuation under the absorbing layers contributes.
enum class Extent {
  model,    ///< all: the true derivative, what lies under the layers folded onto the edge nodes
  interior  ///< none: contributions of the layers are dropped, as several peers do
};

struct GradientOptions {
  std::vector<std::string> parameters;  ///< of the equation; empty: all
  bool wavelets = false;                ///< dJ/dwavelet of every source
  bool initial = false;                 ///< dJ/d(initial state)
  bool illumination = false;            ///< of the sources, see Gradient
  bool records = false;                 ///< give the records too
  /// Unset: the model's, or with boundary saving, which rebuilds the interior alone, the interior's.
  std::optional<Extent> extent;
};

/// dJ/drecords of one shot, in the shapes of its records; a field that is left out counts as zeros.
using AdjointSources = std::map<std::string, Traces>;

/// The misfit of one shot and its derivative with respect to the records.
struct Misfit {
  double value = 0;
  AdjointSources adjoint;
};

/// Called once for each shot, with its number and records, before its backward run.
using MisfitFunction = std::function<Misfit(std::int64_t, const std::map<std::string, Traces>&)>;

/// Derivatives of the sum of the shots' misfits, exact for the discrete scheme (numerics.md, Gradient).
struct Gradient {
  double misfit = 0;
  std::vector<double> shot_misfits;
  /// dJ/dparameter at the grid's nodes, C order, per the parameter's unit; of a uniform one a single number.
  std::map<std::string, std::vector<double>> models;
  /// dJ/dwavelet[shot][source][sample], for as many samples as the source's wavelet has.
  std::vector<std::vector<std::vector<double>>> wavelets;
  /// dJ/d(initial field), named as in set_initial, at the grid's nodes.
  std::map<std::string, std::vector<double>> initial;
  /// Sum over shots and steps of the squares of what is kept of each step (acoustic: laplacian(u) with the
  /// layers; elastic: the velocities), at the nodes; half-cell values at the node before them.
  std::vector<double> illumination;
  Records records;
};

}  // namespace ondula
