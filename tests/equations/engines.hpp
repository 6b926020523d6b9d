// Any equation on both engines, below the Propagator: what tests of equations it cannot run yet start from.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/dsl/dsl.hpp"
#include "compiler/emit/host_text.hpp"
#include "compiler/emit/manifest.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/loop/engine.hpp"

namespace ondula::test {

/// What a run of one equation consists of, besides the engine that executes it.
struct EngineCase {
  ir::Domain domain;
  int order = 8;
  DType dtype = DType::float64;
  bool stretched = false;
  passes::Fusion fusion = passes::Fusion::loads;
  double dt = 1e-3;
  int steps = 50;
  std::map<std::string, std::vector<double>> models;  ///< a value per node, or one for all
  std::map<std::string, double> sources;  ///< field and strength: a pulse in the middle of the grid
  bool noise = false;                     ///< start from noise in every scalar and velocity
  double layer_velocity = 3000;           ///< m/s
  double layer_frequency = 20;            ///< Hz
  /// Of compiled kernels, with so many threads; empty: the host's, fresh memory NaN.
  std::function<std::unique_ptr<device::Device>(int)> device;
};

/// `shape` nodes of 10 m, `width` cells of layer on every face; width 0 makes rigid walls.
ir::Domain layered(const std::vector<std::int64_t>& shape, std::int64_t width);

/// Values between `low` and `high` that look random and are the same everywhere.
std::vector<double> scattered(const ir::Domain& domain, double low, double high, unsigned seed);

/// The same over the padded grid.
std::vector<double> padded_noise(const ir::Domain& domain, double low, double high, unsigned seed);

/// The same pair of faces on every axis. Models keep their size: layers lie outside the grid.
EngineCase with_faces(EngineCase c, const std::array<FaceKind, 2>& faces);

/// A pulse in a scattered medium of the equation named: float64, and what EngineCase starts with. Elastic
/// ones have fluid cells among solid ones, and a pulse in v.z and in s.zz.
EngineCase acoustic_case(const ir::Domain& domain, int order);
EngineCase density_case(const ir::Domain& domain, int order);
EngineCase elastic_case(const ir::Domain& domain, int order);

passes::Compilation compiled(const EquationDefinition& equation, const EngineCase& c);

/// An engine with its models set, and what it refers to.
struct Running {
  passes::Compilation compilation;
  std::unique_ptr<device::Device> device;  ///< null for the reference
  std::unique_ptr<loop::Models> models;
  std::unique_ptr<loop::Engine> engine;
  std::int64_t done = 0;  ///< steps so far

  /// All fields now, memory variables left out.
  std::map<std::string, std::vector<double>> fields() const;
  void set_fields(const std::map<std::string, std::vector<double>>& fields);
  void steps(std::int64_t count);
};

Running on_reference(const EquationDefinition& equation, const EngineCase& c);
Running on_host(const EquationDefinition& equation, const EngineCase& c, int threads = 1);

/// The fields after the last step, by name, memory variables left out: from the reference, or from the
/// kernels on `threads` threads.
std::map<std::string, std::vector<double>> reference_fields(const EquationDefinition& equation,
                                                            const EngineCase& c);
std::map<std::string, std::vector<double>> host_fields(const EquationDefinition& equation,
                                                       const EngineCase& c, int threads = 2);

/// The fields, in the order of their declaration, after some steps of an equation of two parameters, a speed
/// and another: from the kernels in float32, in 2-D, whatever anything is called.
std::vector<std::vector<double>> nameless_fields(const EquationDefinition& equation);

/// The fields after the last step from any text that has the host's entry points for `compilation`'s kernels.
std::map<std::string, std::vector<double>> text_fields(const passes::Compilation& compilation,
                                                       const EngineCase& c, const std::string& text,
                                                       const std::vector<std::string>& options,
                                                       int threads = 1);

/// The largest max|host - reference| / max|reference| over the fields, looked at four times, relative to the
/// largest value of the four; NaN where anything is not finite. A field that is 0 all over in the reference
/// counts by its own magnitude.
double host_error(const EquationDefinition& equation, const EngineCase& c);

}  // namespace ondula::test
