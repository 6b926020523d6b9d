// Small random experiments for linearised modelling, and what is measured of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "equations/equations.hpp"
#include "runtime/propagator.hpp"

namespace ondula::test {

/// What distinguishes one experiment from another.
struct BornCase {
  std::string equation = "acoustic";
  int dims = 2;
  int order = 4;
  /// One letter for each face, axis by axis, minus first, repeated: l a layer, f free surface, r rigid wall,
  /// p periodic.
  std::string faces = "l";
  Backend backend = Backend::reference;
  DType dtype = DType::float64;
  int substeps = 1;
  bool fluid = false;  ///< vs = 0 in the first third of the nodes
  double kappa = 1;
};

/// A medium that varies from node to node, sources and receivers off the grid points, some beside the first
/// face of the first axis, a perturbation of every parameter.
class BornSetup {
 public:
  explicit BornSetup(const BornCase& given) : c(given) {
    grid.axes = default_axes(c.dims);
    for (int a = 0; a < c.dims; ++a) {
      grid.shape.push_back(shape[static_cast<std::size_t>(a)] + (c.dims == 1 ? 10 : c.dims == 3 ? -4 : 0));
      grid.spacing.push_back(10 + a);
      grid.origin.push_back(0);
      grid.faces.push_back({face(2 * a), face(2 * a + 1)});
    }
    options.dt = c.substeps == 1 ? 8e-4 : 2.4e-3;
    options.steps = c.substeps == 1 ? 60 : 30;
    options.substeps = c.substeps;
    options.order = c.order;
    options.dtype = c.dtype;
    options.backend = c.backend;
    options.threads = 1;
    options.absorb.frequency = 15;
    options.absorb.velocity = 3000;
    options.absorb.kappa = c.kappa;
    options.compile_later = true;
    medium();
    points();
  }

  Propagator propagator() const { return propagator(models); }
  Propagator propagator(const std::map<std::string, std::vector<double>>& medium) const {
    Propagator result(equations::find(c.equation), grid, options);
    for (const auto& [name, values] : medium) result.set_model(name, values);
    return result;
  }

  /// The models moved by `h` along the perturbation.
  std::map<std::string, std::vector<double>> moved(double h) const {
    auto result = models;
    for (auto& [name, values] : result) {
      const auto found = perturbation.find(name);
      for (std::size_t i = 0; found != perturbation.end() && i < values.size(); ++i)
        values[i] += h * found->second[i];
    }
    return result;
  }

  double random() { return std::uniform_real_distribution<double>(-1, 1)(generator_); }
  std::span<const Shot> shots() const { return {&shot, 1}; }

  BornCase c;
  Grid grid;
  PropagatorOptions options;
  std::map<std::string, std::vector<double>> models, perturbation;
  Shot shot;

 private:
  static constexpr std::array<std::int64_t, 3> shape = {17, 13, 15};

  Face face(int number) const {
    const char letter = c.faces[static_cast<std::size_t>(number) % c.faces.size()];
    if (letter == 'f') return {FaceKind::free_surface, 0};
    if (letter == 'r') return {FaceKind::rigid, 0};
    if (letter == 'p') return {FaceKind::periodic, 0};
    return {FaceKind::absorbing, 5};
  }

  void add(const std::string& name, double mean, double spread) {
    std::size_t nodes = 1;
    for (const std::int64_t n : grid.shape) nodes *= static_cast<std::size_t>(n);
    std::vector<double>& values = models[name];
    std::vector<double>& change = perturbation[name];
    for (std::size_t i = 0; i < nodes; ++i) {
      const bool none = name == "vs" && c.fluid && i < nodes / 3;
      values.push_back(none ? 0 : mean + spread * random());
      change.push_back(none ? 0 : mean * random());
    }
  }

  void medium() {
    add("vp", 2500, 400);
    if (c.equation != "acoustic") add("rho", 2000, 300);
    if (c.equation == "elastic") add("vs", 1200, 300);
  }

  std::vector<double> position(bool beside) {
    std::vector<double> result;
    for (std::size_t a = 0; a < grid.shape.size(); ++a)
      result.push_back(static_cast<double>(grid.shape[a] - 1) * grid.spacing[a] * (0.5 + 0.5 * random()));
    if (beside) result[0] = 0.3 * grid.spacing[0];
    return result;
  }

  void points() {
    const bool elastic = c.equation == "elastic";
    const auto n = static_cast<std::size_t>(c.dims);
    for (int k = 0; k < 4; ++k) {
      Source source;
      source.position = position(k >= 2);
      for (std::int64_t i = 0; i < options.steps; ++i) source.wavelet.push_back(random());
      if (!elastic) {
        source.field = "u";
        if (k == 3) source.scaling = Scaling::raw;
        if (k == 3) source.strength = 1e-6;
      } else if (k % 2 == 1) {
        source.kind = SourceKind::force;
        for (std::size_t a = 0; a < n; ++a) source.components.push_back(random());
      } else {
        source.kind = SourceKind::moment_rate;
        source.strength = 1e3;
        source.components.resize(n * n);
        for (std::size_t a = 0; a < n; ++a) {
          for (std::size_t b = 0; b <= a; ++b)
            source.components[a * n + b] = source.components[b * n + a] = random();
        }
      }
      shot.sources.push_back(source);
    }
    std::vector<std::string> fields = {"u"};
    if (elastic) fields = {"v.z", "s.zz", "pressure", "e.zz"};
    if (elastic && c.dims > 1) fields.insert(fields.end(), {"v.x", "s.zx", "e.zx"});
    for (const std::string& field : fields) {
      for (int k = 0; k < 3; ++k) shot.receivers.push_back({field, position(k == 2)});
    }
  }

  std::mt19937 generator_{7};
};

/// The largest difference over the largest value, field by field.
inline double largest_difference(const Records& a, const Records& b) {
  double worst = 0;
  for (std::size_t s = 0; s < a.size(); ++s) {
    for (const auto& [field, traces] : a[s]) {
      double most = 0, apart = 0;
      for (std::size_t i = 0; i < traces.data.size(); ++i) {
        most = std::max(most, std::fabs(traces.data[i]));
        apart = std::max(apart, std::fabs(traces.data[i] - b[s].at(field).data[i]));
      }
      if (most > 0) worst = std::max(worst, apart / most);
    }
  }
  return worst;
}

/// |<Born m, d> - <m, gradient d>| over the product of the norms, for random d of the fields' sizes.
inline double born_dot_error(const BornCase& c) {
  BornSetup setup(c);
  Propagator propagator = setup.propagator();
  const Records linear = propagator.born(setup.shots(), setup.perturbation);
  std::vector<AdjointSources> adjoint(1);
  double left = 0, right = 0, of_records = 0, of_adjoint = 0;
  for (const auto& [field, traces] : linear[0]) {
    double size = 0;
    for (const double value : traces.data) size += value * value;
    size = std::sqrt(size / static_cast<double>(traces.data.size()));
    Traces& own = adjoint[0][field] = traces;
    for (std::size_t i = 0; i < own.data.size(); ++i) {
      own.data[i] = size > 0 ? setup.random() / size : 0;
      left += own.data[i] * traces.data[i];
      of_records += size > 0 ? traces.data[i] * traces.data[i] / (size * size) : 0;
      of_adjoint += own.data[i] * own.data[i] * size * size;
    }
  }
  const Gradient gradient = propagator.gradient(setup.shots(), adjoint);
  for (const auto& [name, change] : setup.perturbation) {
    for (std::size_t i = 0; i < change.size(); ++i) right += change[i] * gradient.models.at(name)[i];
  }
  const double scale = std::sqrt(of_records * of_adjoint);
  return scale > 0 ? std::fabs(left - right) / scale : 1;
}

/// How central differences of forward runs approach born: the relative error (all fields scaled to one size)
/// at the last of three halvings, and the slopes of log2 of the first order's remainder.
struct BornDifferences {
  double error = 0;
  double slope = 0;
};

}  // namespace ondula::test
