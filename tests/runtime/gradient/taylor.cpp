// Taylor tests: what a misfit's first-order expansion leaves falls with the square of the step.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/runtime/gradient/objective.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"

namespace ondula::test {
namespace {

/// A grid whose first face is a free surface, layers elsewhere.
std::string surfaced(int dims) { return dims == 1 ? "fl" : dims == 2 ? "flll" : "flllll"; }

Setting setting(const std::string& equation, int dims, int order = 4) {
  Setting s;
  s.equation = equation;
  s.dims = dims;
  s.order = order;
  s.faces = surfaced(dims);
  s.initial = true;
  s.steps = dims == 3 ? 25 : 40;
  return s;
}

/// The node next to a position; for scalars not one on the surface, where vp has no effect.
std::size_t nearest(const Problem& p, const std::vector<double>& position) {
  std::vector<std::int64_t> node;
  for (std::size_t a = 0; a < position.size(); ++a)
    node.push_back(std::lround((position[a] - p.grid.origin[a]) / p.grid.spacing[a]));
  if (p.equation.name() != "elastic") node[0] = std::max<std::int64_t>(node[0], 1);
  return p.at(node);
}

/// Interior, edges, corners, a source's and a receiver's cell, those beside layers and surface.
std::map<std::string, std::size_t> cells(const Problem& p) {
  const std::size_t dims = p.grid.shape.size();
  std::vector<std::int64_t> middle(dims), corner(dims), surface, edge, layer;
  for (std::size_t a = 0; a < dims; ++a) {
    middle[a] = p.grid.shape[a] / 2;
    corner[a] = p.grid.shape[a] - 1;
  }
  std::map<std::string, std::size_t> found = {
      {"interior", p.at(middle)},
      {"corner of two layers", p.at(corner)},
      {"source", nearest(p, p.shots[0].sources[1].position)},
      {"receiver", nearest(p, p.shots[0].receivers[0].position)},
  };
  surface = edge = layer = middle;
  edge.back() = 0;
  found["edge"] = p.at(edge);
  layer.back() = 1;
  found["second beside a layer"] = p.at(layer);
  surface[0] = 1;
  found["below the surface"] = p.at(surface);
  surface[0] = 0;
  if (p.equation.name() == "elastic") found["on the surface"] = p.at(surface);
  corner[0] = 0;
  if (p.equation.name() == "elastic") found["corner of surface and layer"] = p.at(corner);
  return found;
}

/// In 1-D nothing depends on vs: the second-order term vanishes with the first.
bool without_effect(const Problem& p, const Gradient& gradient, const std::string& name) {
  if (p.grid.shape.size() > 1 || name != "vs") return false;
  CHECK(max_abs(gradient.models.at("vs")) < 1e-12 * max_abs(gradient.models.at("vp")));
  return true;
}

/// f(parameter) for those that have an effect.
template <class F>
void each_parameter(const Problem& p, const Gradient& gradient, const F& f) {
  for (const auto& [name, values] : p.models) {
    if (!without_effect(p, gradient, name)) f(name);
  }
}

void whole_models(const Setting& s) {
  CAPTURE(text(s));
  Objective objective(random_problem(s));
  const Problem& p = objective.problem();
  const Gradient gradient = objective.gradient();
  each_parameter(p, gradient, [&](const std::string& name) {
    check_taylor(objective, gradient, whole_model(p, name), "all of " + name);
  });
  // Records are linear in what follows and the misfit is a square: nothing but the second order is left,
  // whatever the step.
  Random random(8);
  for (const auto& [name, values] : p.initial) {
    Direction direction;
    direction.initial[name] = noise(random, values.size(), 0.3 * max_abs(values));
    check_taylor(objective, gradient, direction, "initial " + name);
  }
  for (std::size_t i = 0; i < p.shots[0].sources.size(); ++i) {
    Direction direction;
    direction.wavelets = {std::vector<std::vector<double>>(p.shots[0].sources.size())};
    direction.wavelets[0][i] = noise(random, p.shots[0].sources[i].wavelet.size(), 0.3);
    check_taylor(objective, gradient, direction, fmt::format("wavelet {}", i));
  }
}

void single_cells(const Setting& s) {
  CAPTURE(text(s));
  Objective objective(random_problem(s));
  const Problem& p = objective.problem();
  const Gradient gradient = objective.gradient();
  each_parameter(p, gradient, [&](const std::string& name) {
    for (const auto& [where, node] : cells(p)) {
      if (p.grid.shape.size() == 1 && name == "vp" && node == 0) {
        CHECK(gradient.models.at(name)[node] == 0);  // the row's one stress is 0
        continue;
      }
      check_taylor(objective, gradient, one_node(p, name, node), name + ", " + where);
    }
  });
}

/// The largest difference of `nodes` entries from central differences, over the gradient's largest.
double worst_of(Objective& objective, const Gradient& gradient, const std::vector<std::size_t>& nodes) {
  double worst = 0;
  for (const auto& [name, values] : gradient.models) {
    for (const std::size_t node : nodes) {
      const double found = std::fabs(values[node] - objective.difference(name, node)) / max_abs(values);
      worst = detail::worse(worst, found);
    }
  }
  return worst;
}

/// Upper half 1500 m/s, lower half 3000, vs and rho alike; noise of a few percent on both.
Problem two_layers(const std::string& equation, const std::string& faces) {
  Setting s = setting(equation, 2);
  s.faces = faces;
  s.steps = 60;
  Problem p = random_problem(s);
  for (auto& [name, values] : p.models) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool upper = i < 6 * static_cast<std::size_t>(p.grid.shape[1]);
      const double mean = name == "vp" ? 2500 : name == "vs" ? 1200 : 2000;
      values[i] = values[i] / mean * 0.1 + 0.9;  // 1 with noise
      values[i] *= name == "vp"   ? (upper ? 1500 : 3000)
                   : name == "vs" ? (upper ? 700 : 1600)
                                  : (upper ? 1500 : 2300);
    }
  }
  return p;
}

}  // namespace

TEST_CASE("Taylor: whole models, wavelets and initial states of every equation, 1-D to 3-D") {
  ONDULA_NEEDS_CLANG();
  for (const EquationDefinition& equation : equations::all()) {
    for (int dims = 1; dims <= 3; ++dims) {
      // The text of 3-D elastic kernels at order 4 is compiled for the single cells too.
      if (dims == 3 && equation.name() != "elastic" && !full_matrices()) continue;
      whole_models(setting(equation.name(), dims));
      if (!full_matrices()) continue;
      for (const int order : {2, 8, 12}) {
        if (dims < 3 || equation.name() != "acoustic_density")
          whole_models(setting(equation.name(), dims, order));
      }
    }
  }
}

TEST_CASE(
    "Taylor: single cells of every equation: interior, edge, corner, source, receiver, layer, surface") {
  ONDULA_NEEDS_CLANG();
  for (const EquationDefinition& equation : equations::all()) {
    for (int dims = 1; dims <= 3; ++dims) {
      if (dims != 2 && equation.name() != "elastic" && !full_matrices()) continue;
      single_cells(setting(equation.name(), dims));
    }
  }
}

TEST_CASE("Taylor: with substeps, stretched layers, periodic axes, walls and several surfaces") {
  ONDULA_NEEDS_CLANG();
  for (const EquationDefinition& equation : equations::all()) {
    for (const std::string faces : {"flpp", "rlfr", "ffff"}) {
      Setting s = setting(equation.name(), 2);
      s.faces = faces;
      s.substeps = 3;
      s.kappa = equation.name() == "acoustic_density" ? 1 : 2;
      whole_models(s);
    }
  }
}

TEST_CASE("A6: across a contact of 1500 and 3000 m/s the gradient is the finite difference, slope 2") {
  ONDULA_NEEDS_CLANG();
  for (const EquationDefinition& equation : equations::all()) {
    double worst = 0;
    for (const std::string faces : {"l", "flll"}) {
      CAPTURE(equation.name());
      CAPTURE(faces);
      Objective objective(two_layers(equation.name(), faces));
      const Problem& p = objective.problem();
      const Gradient gradient = objective.gradient();
      std::vector<std::size_t> nodes;
      for (const std::int64_t x : {4, 7}) {
        for (std::int64_t z = 1; z < 11; ++z) nodes.push_back(p.at({z, x}));
      }
      const double found = worst_of(objective, gradient, nodes);
      CHECK(found < 1e-5);  // numerics ask for 1e-3
      worst = detail::worse(worst, found);
      for (const auto& [name, values] : p.models) {
        check_taylor(objective, gradient, whole_model(p, name), name);
        for (const std::int64_t z : {5, 6})
          check_taylor(objective, gradient, one_node(p, name, p.at({z, 5})), name + " at the contact");
      }
    }
    MESSAGE(
        fmt::format("{}: 20 cells across the contact, largest difference {:.1e}", equation.name(), worst));
  }
}

TEST_CASE("A22: in the three cells beside the absorbing layer the gradient is the finite difference") {
  ONDULA_NEEDS_CLANG();
  for (const EquationDefinition& equation : equations::all()) {
    CAPTURE(equation.name());
    Setting s = setting(equation.name(), 2);
    s.faces = "l";
    s.steps = 80;
    Objective objective(random_problem(s));
    const Problem& p = objective.problem();
    const Gradient gradient = objective.gradient();
    std::vector<std::size_t> nodes;
    for (std::int64_t k = 0; k < 3; ++k) {
      const std::int64_t z = p.grid.shape[0] - 1 - k, x = p.grid.shape[1] - 1 - k;
      for (const auto& node : {std::vector{k, x / 2}, {z, x / 2}, {z / 2, k}, {z / 2, x}, {k, k}, {z, x}})
        nodes.push_back(p.at(node));
    }
    const double worst = worst_of(objective, gradient, nodes);
    CHECK(worst < 1e-6);
    MESSAGE(fmt::format("{}: largest difference {:.1e}", equation.name(), worst));
    for (const auto& [name, values] : p.models) {
      for (std::int64_t k = 0; k < 3; ++k)
        check_taylor(objective, gradient, one_node(p, name, p.at({6, k})), name + " beside the layer");
    }
  }
}

TEST_CASE("Taylor: vs, vp and density across a contact of fluid and solid") {
  ONDULA_NEEDS_CLANG();
  Setting s = setting("elastic", 2);
  s.fluid = true;
  s.initial = false;
  s.steps = 60;
  for (const bool wavelets : {false, true}) {
    CAPTURE(wavelets);
    Objective objective(random_problem(s));
    const Problem& p = objective.problem();
    Propagator plain = p.propagator();
    const LeastSquares misfit(p);
    GradientOptions options;
    options.wavelets = wavelets;  // the adjoint is then kept unscaled: see numerics.md
    const Gradient gradient = plain.gradient(p.shots, misfit.function(), options);
    // 143 nodes, the first 47 fluid: row 4 is fluid up to column 2.
    REQUIRE(p.models.at("vs")[46] == 0);
    REQUIRE(p.models.at("vs")[47] > 0);
    for (const std::size_t node : {47u, 49u, 46u + 11, 46u, 45u, 41u, 20u}) {
      for (const auto& [name, values] : p.models) {
        const bool fluid = p.models.at("vs")[node] == 0;
        if (name == "vs" && fluid) {
          CHECK(gradient.models.at("vs")[node] == 0);  // mu goes with vs squared
          continue;
        }
        check_taylor(objective, gradient, one_node(p, name, node), fmt::format("{} at {}", name, node));
      }
    }
    for (const auto& [name, values] : p.models)
      check_taylor(objective, gradient, whole_model(p, name), "all of " + name);
  }
}

}  // namespace ondula::test
