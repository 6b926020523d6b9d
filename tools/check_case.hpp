// What `ondula check` tests an equation on: a small grid, random models, sources and receivers of every kind.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/program.hpp"
#include "runtime/propagator.hpp"

namespace ondula::tools {

using Models = std::map<std::string, std::vector<double>>;

/// What a check found.
struct CheckLine {
  int dims = 0;
  std::string name;    ///< "dot product, wavelets"
  std::string figure;  ///< empty: none could be had
  std::string bar;     ///< what the figure must be
  bool passed = false;
  std::string note;  ///< why there is no figure
};

/// What all checks of one equation share.
struct CheckSettings {
  EquationDefinition definition;
  int order = 8;
  DType dtype = DType::float64;
  Backend backend = Backend::host;
  std::map<std::string, double> models;  ///< values stated by the caller
  std::shared_ptr<jit::HostCompiler> compiler;
};

/// An equation in one number of dimensions on a small grid with a free surface, or a rigid wall where it has
/// none, and layers; models of random
/// values within 10 % of a typical one; one shot for each kind of source and field, each with receivers of
/// everything that can be recorded, near and away from the surface; a step of 0.8 of the limit.
class CheckCase {
 public:
  CheckCase(const CheckSettings& settings, int dims);

  /// Ready to run, with the case's models or others.
  Propagator propagator(DType dtype) const { return propagator(dtype, models_); }
  Propagator propagator(DType dtype, const Models& models) const;
  /// The same with other options.
  Propagator propagator(const PropagatorOptions& options, const Grid& grid, const Models& models) const;
  PropagatorOptions options(DType dtype) const;

  const CheckSettings& settings() const { return settings_; }
  int dims() const { return static_cast<int>(grid_.axes.size()); }
  const Grid& grid() const { return grid_; }
  const EquationFacts& facts() const { return facts_; }
  const std::vector<ir::Field>& fields() const { return fields_; }
  const std::vector<Shot>& shots() const { return shots_; }
  const Models& models() const { return models_; }
  double typical(const std::string& parameter) const { return typical_.at(parameter); }
  double limit() const { return limit_; }
  /// Why a rigid wall, or a layer, stands in the free surface's place; empty where neither does.
  const std::string& surface_refusal() const { return surface_refusal_; }
  /// Why it is a layer: what gradients beside a wall lack.
  const std::string& wall_refusal() const { return wall_refusal_; }
  std::size_t nodes() const;
  /// `count` values between -1 and 1, the same in every run of the program.
  std::vector<double> noise(std::size_t count, unsigned seed) const;

 private:
  void choose_models(const ir::Program& program);
  void choose_shots();
  Source make_source(std::mt19937& generator, SourceKind kind, const std::string& name, bool shallow) const;
  std::vector<double> place(std::mt19937& generator, bool shallow) const;

  CheckSettings settings_;
  Grid grid_;
  EquationFacts facts_;
  std::vector<ir::Field> fields_;
  std::string surface_refusal_, wall_refusal_;
  std::map<std::string, double> typical_;
  Models models_;
  std::vector<Shot> shots_;
  double limit_ = 0, fastest_ = 0;
};

/// Dot products, Taylor tests, linearised modelling.
std::vector<CheckLine> check_derivatives(const CheckCase& test);
/// The limit of the step, and the order of accuracy in space.
std::vector<CheckLine> check_step(const CheckCase& test);

}  // namespace ondula::tools
