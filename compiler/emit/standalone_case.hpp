// standalone_case: the small run that a set of standalone sources ships, and what it must find.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/program.hpp"

namespace ondula::emit {

/// A model whose value at node k (C order) is base + step * (k mod 7): exact in every type.
struct StandaloneModel {
  std::string name;
  double base = 0;
  double step = 0;
};

/// A point source at a node of the padded grid.
struct StandaloneSource {
  int injection = 0;  ///< index of its Injection among the program's operations
  ir::Extents node{};
  double strength = 1;
  std::string source{};  ///< that Injection's
};

/// A node of the padded grid where a field is looked at.
struct StandaloneProbe {
  std::string field;
  ir::Extents node{};
};

/// dJ/dmodel of one parameter, for J the product of the records with `standalone_residual`.
struct StandaloneModelGradient {
  std::string name;
  double peak = 0;             ///< the largest magnitude over all nodes; of others, where it is 0
  std::vector<double> values;  ///< at standalone_gradient_node(j, nodes)
  double sum = 0;              ///< over all nodes k, each times (k mod 5 - 2)
};

/// The run, and what it must find.
struct StandaloneCase {
  ir::Domain domain;
  ir::LayerOptions layer;  ///< with the step
  std::int64_t steps = 0;
  std::int64_t every = 0;  ///< steps between two looks
  std::vector<StandaloneModel> models;
  std::vector<StandaloneSource> sources;
  std::vector<StandaloneProbe> probes;  ///< as many of each field, side by side
  std::vector<double> values;           ///< (look, probe)
  std::vector<double> run_values{};     ///< the same of compiled kernels, in their type; may be empty
  std::vector<StandaloneModelGradient> gradient{};  ///< empty where there is none
};

/// The amplitude of the example's sources at step n: a pulse of this many samples, exact in every type.
constexpr std::int64_t standalone_samples = 16;
/// How many probes each field has.
constexpr std::size_t standalone_probes = 3;
double standalone_pulse(std::int64_t n);

/// What the gradient of the example weighs value number `i` of (look, probe) with, whose field's values are
/// `peak` at most: exact in every type.
double standalone_residual(std::size_t i, double peak);
/// Of how many nodes the gradient is told; and of which, of so many.
constexpr std::size_t standalone_gradient_nodes = 8;
std::size_t standalone_gradient_node(std::size_t j, std::size_t nodes);
/// The largest magnitude of each probe's field, at any of the looks.
std::vector<double> standalone_peaks(const StandaloneCase& c);

/// A small case that fits `program`: a free surface before the first axis (a layer where the equation has
/// none), a wall at the end of the last in 2-D, a periodic axis in 3-D, layers of unequal widths elsewhere. A
/// source of each kind is in the middle; every field is looked at near it, and within the layers. Its values
/// are to be filled in. Throws UserError where the equation has no source.
StandaloneCase standalone_case(const ir::Program& program);

}  // namespace ondula::emit
