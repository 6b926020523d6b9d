// Random media, sources and receivers.
// SPDX-License-Identifier: MIT
#include "tests/runtime/gradient/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

Face face_of(char letter, int width) {
  switch (letter) {
    case 'f':
      return free_surface;
    case 'r':
      return rigid;
    case 'p':
      return {FaceKind::periodic, 0};
    case 'a':
      return {FaceKind::antisymmetric, 0};
    default:
      return {FaceKind::absorbing, width};
  }
}

const std::vector<std::vector<std::int64_t>>& shapes() {
  static const std::vector<std::vector<std::int64_t>> all = {{24}, {13, 11}, {8, 7, 9}};
  return all;
}

std::vector<double> anywhere(const Problem& p, Random& random) {
  std::vector<double> position;
  for (std::size_t a = 0; a < p.grid.shape.size(); ++a) {
    position.push_back(p.grid.origin[a] +
                       p.grid.spacing[a] * static_cast<double>(p.grid.shape[a] - 1) * random.uniform());
  }
  return position;
}

/// So near the first axis' first face that a window of radius 4 crosses it.
std::vector<double> near_face(const Problem& p, Random& random) {
  std::vector<double> position = anywhere(p, random);
  position[0] = p.grid.origin[0] + 0.3 * p.grid.spacing[0];
  return position;
}

Source random_source(const Problem& p, Random& random, int number) {
  const std::size_t dims = p.grid.shape.size();
  Source s;
  s.position = number == 3 ? near_face(p, random) : anywhere(p, random);
  s.wavelet = noise(random, static_cast<std::size_t>(p.options.steps));
  if (p.equation.name() != "elastic") {
    s.field = "u";
    if (number == 2) s.scaling = Scaling::raw;
    return s;
  }
  if (number % 2 == 1) {
    s.kind = SourceKind::force;
    s.components = noise(random, dims);
    return s;
  }
  s.kind = SourceKind::moment_rate;
  s.strength = 1e3;
  s.components.resize(dims * dims);
  for (std::size_t a = 0; a < dims; ++a) {
    for (std::size_t b = 0; b <= a; ++b)
      s.components[a * dims + b] = s.components[b * dims + a] = 2 * random.uniform() - 1;
  }
  return s;
}

std::vector<std::string> recorded(const Problem& p) {
  if (p.equation.name() != "elastic") return {"u"};
  const std::size_t dims = p.grid.shape.size();
  if (dims == 1) return {"v.z", "s.zz", "pressure"};
  if (dims == 2) return {"v.z", "v.x", "s.zz", "s.zx", "pressure", "e.zx", "fibre"};
  return {"v.z", "v.y", "s.zz", "s.yx", "pressure", "e.zx", "fibre"};
}

Arrays random_state(const Problem& p, Random& random) {
  Arrays state;
  for (const std::string& name : facts(p.equation, p.grid.axes).initial) {
    const double size = p.equation.name() != "elastic" ? 1e-2 : name[0] == 'v' ? 1e-9 : 1e-3;
    state[name] = noise(random, p.nodes(), size);
  }
  return state;
}

}  // namespace

std::string text(const Setting& s) {
  return fmt::format("{} {}-D, order {}, faces {}, {}, {}, {} substeps{}{}, kappa {}", s.equation, s.dims,
                     s.order, s.faces, s.backend == Backend::host ? "host" : "reference",
                     s.dtype == DType::float32 ? "float32" : "float64", s.substeps,
                     s.initial ? ", initial state" : "",
                     s.fluid ? s.middle ? ", fluid in the middle" : ", fluid" : "", s.kappa);
}

std::size_t Problem::nodes() const {
  std::size_t count = 1;
  for (const std::int64_t n : grid.shape) count *= static_cast<std::size_t>(n);
  return count;
}

std::size_t Problem::at(const std::vector<std::int64_t>& node) const {
  std::int64_t flat = 0;
  for (std::size_t a = 0; a < node.size(); ++a) flat = flat * grid.shape[a] + node[a];
  return static_cast<std::size_t>(flat);
}

void Problem::give(Propagator& propagator) const {
  for (const auto& [name, values] : models) propagator.set_model(name, values);
  for (const auto& [name, values] : initial) propagator.set_initial(name, values);
}

Propagator Problem::propagator() const {
  Propagator result(equation, grid, options);
  give(result);
  return result;
}

std::vector<double> noise(Random& random, std::size_t count, double size) {
  std::vector<double> values(count);
  for (double& v : values) v = size * (2 * random.uniform() - 1);
  return values;
}

Problem random_medium(const Setting& s) {
  Problem p;
  p.equation = equations::find(s.equation);
  std::vector<std::int64_t> shape = shapes()[static_cast<std::size_t>(s.dims - 1)];
  for (std::int64_t& nodes : shape) nodes += s.more;
  p.grid = grid(shape, 10);
  for (std::size_t a = 0; a < p.grid.shape.size(); ++a) {
    p.grid.spacing[a] = 10 + static_cast<double>(a);
    p.grid.origin[a] = -20 * static_cast<double>(a);
    for (std::size_t side = 0; side < 2; ++side) {
      p.grid.faces[a][side] =
          face_of(s.faces[(2 * a + side) % s.faces.size()], static_cast<int>(4 + (a + side) % 3));
    }
  }
  PropagatorOptions& o = p.options;
  o = options(s.substeps * 8e-4, s.steps, s.order);
  o.substeps = s.substeps;
  o.dtype = s.dtype;
  o.backend = s.backend;
  o.absorb.frequency = 15;
  o.absorb.velocity = 3000;
  o.absorb.kappa = s.kappa;
  o.compile_later = true;
  Random random(s.seed);
  const auto around = [&](double mean, double spread) {
    std::vector<double> values = noise(random, p.nodes(), spread);
    for (double& v : values) v += mean;
    return values;
  };
  p.models["vp"] = around(2500, 400);
  if (s.equation != "acoustic") p.models["rho"] = around(2000, 300);
  if (s.equation == "elastic") {
    p.models["vs"] = around(1200, 200);
    if (s.fluid) {
      const auto third = static_cast<std::ptrdiff_t>(p.nodes() / 3);
      std::fill_n(p.models["vs"].begin() + (s.middle ? third : 0), third, 0.0);
    }
  }
  if (s.initial) p.initial = random_state(p, random);
  return p;
}

Problem random_problem(const Setting& s) {
  Problem p = random_medium(s);
  Random random(s.seed + 1000);
  Shot shot;
  for (int k = 0; k < 4; ++k) shot.sources.push_back(random_source(p, random, k));
  for (const std::string& field : recorded(p)) {
    for (int k = 0; k < 3; ++k) {
      Receiver r{field, k == 2 ? near_face(p, random) : anywhere(p, random)};
      if (k == 1) r.interpolation = Interpolation::linear;
      if (field == "fibre") r.direction = noise(random, p.grid.shape.size());
      shot.receivers.push_back(std::move(r));
    }
  }
  p.shots = {shot};
  return p;
}

double size_of(const std::vector<double>& values) {
  return values.empty() ? 1e-300 : std::sqrt(energy(values) / static_cast<double>(values.size())) + 1e-300;
}

LeastSquares::LeastSquares(const Problem& problem) {
  Problem other = problem;
  Random random(99);
  for (auto& [name, values] : other.models) {
    for (double& v : values) v *= 0.97 + 0.06 * random.uniform();
  }
  for (auto& [name, values] : other.initial) {
    for (double& v : values) v *= 0.8 + 0.4 * random.uniform();
  }
  for (Shot& shot : other.shots) {
    for (Source& source : shot.sources) {
      for (double& v : source.wavelet) v *= 0.8 + 0.4 * random.uniform();
    }
  }
  target = other.propagator().forward(other.shots);
  for (const auto& records : target) {
    for (const auto& [field, traces] : records) {
      const double size = size_of(traces.data);
      const double count = static_cast<double>(traces.data.size());
      weights.emplace(field, 1 / (size * size * std::max(1.0, count)));
    }
  }
}

double LeastSquares::value(const Records& records) const {
  double sum = 0;
  for (std::size_t s = 0; s < records.size(); ++s) {
    for (const auto& [field, traces] : records[s]) {
      const std::vector<double>& wanted = target[s].at(field).data;
      double squares = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        squares += (traces.data[i] - wanted[i]) * (traces.data[i] - wanted[i]);
      sum += weights.at(field) / 2 * squares;
    }
  }
  return sum;
}

AdjointSources LeastSquares::adjoint(std::int64_t shot, const std::map<std::string, Traces>& records) const {
  AdjointSources result = records;
  for (auto& [field, traces] : result) {
    const std::vector<double>& wanted = target[static_cast<std::size_t>(shot)].at(field).data;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      traces.data[i] = weights.at(field) * (traces.data[i] - wanted[i]);
  }
  return result;
}

MisfitFunction LeastSquares::function() const {
  return [this](std::int64_t shot, const std::map<std::string, Traces>& records) {
    return Misfit{0, adjoint(shot, records)};
  };
}

double worst_difference(const Arrays& gradient, const Arrays& reference) {
  double worst = 0;
  for (const auto& [name, values] : reference) {
    const double largest = max_abs(values);
    worst = detail::worse(worst, max_abs_diff(gradient.at(name), values) / (largest > 0 ? largest : 1));
  }
  return worst;
}

}  // namespace ondula::test
