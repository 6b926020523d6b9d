// Gradients with and without what lies under the absorbing layers.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/runtime/gradient/problem.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

constexpr std::int64_t rows_ = 9, columns = 8, width = 14;

/// Layers that do not absorb are grid: their damping is 1e-30 of what it should be. Waves do not come back
/// from their far side within the steps, so what stands there does not matter.
Problem in_still_layers(const std::string& equation) {
  Setting s;
  s.equation = equation;
  s.order = 2;
  s.faces = "l";
  s.steps = 24;  // one cell a step: 12 out and 12 back
  Problem p = random_problem(s);
  p.grid.shape = {rows_, columns};
  for (auto& pair : p.grid.faces) pair = {Face{FaceKind::absorbing, width}, Face{FaceKind::absorbing, width}};
  for (auto& [name, values] : p.models) values.resize(static_cast<std::size_t>(rows_ * columns));
  p.options.absorb.velocity = 1e-30;
  p.options.absorb.frequency = 0;
  Random random(4);
  const auto inside = [&] {
    return std::vector<double>{10 * (rows_ - 1) * random.uniform(),
                               -20 + 11 * (columns - 1) * random.uniform()};
  };
  for (Source& source : p.shots[0].sources) source.position = inside();
  for (Receiver& receiver : p.shots[0].receivers) receiver.position = inside();
  return p;
}

/// The grid that those layers make, between walls, with the models' edge values under them.
Problem as_one_grid(const Problem& p) {
  Problem wide = p;
  wide.grid.shape = {rows_ + 2 * width, columns + 2 * width};
  for (std::size_t a = 0; a < 2; ++a) {
    wide.grid.origin[a] -= width * p.grid.spacing[a];
    wide.grid.faces[a] = {rigid, rigid};
  }
  for (auto& [name, values] : wide.models) {
    values = on_nodes(wide.grid, [&, own = p.models.at(name)](const std::vector<std::int64_t>& node) {
      const std::int64_t z = std::clamp<std::int64_t>(node[0] - width, 0, rows_ - 1);
      const std::int64_t x = std::clamp<std::int64_t>(node[1] - width, 0, columns - 1);
      return own[static_cast<std::size_t>(z * columns + x)];
    });
  }
  return wide;
}

Arrays gradient_of(const Problem& p, const LeastSquares& misfit, Extent extent, Traces* record = nullptr) {
  GradientOptions options;
  options.extent = extent;
  options.records = true;
  Propagator propagator = p.propagator();
  Gradient gradient = propagator.gradient(p.shots, misfit.function(), options);
  if (record != nullptr) *record = gradient.records[0].begin()->second;
  return gradient.models;
}

/// What stands on the model's own nodes, and what folds onto them.
struct Split {
  Arrays own, folded;
};

Split split(const Arrays& wide) {
  Split result;
  for (const auto& [name, values] : wide) {
    std::vector<double>& own = result.own[name];
    std::vector<double>& folded = result.folded[name];
    own.assign(static_cast<std::size_t>(rows_ * columns), 0.0);
    folded = own;
    for (std::int64_t i = 0; i < rows_ + 2 * width; ++i) {
      for (std::int64_t j = 0; j < columns + 2 * width; ++j) {
        const double value = values[static_cast<std::size_t>(i * (columns + 2 * width) + j)];
        const std::int64_t z = std::clamp<std::int64_t>(i - width, 0, rows_ - 1);
        const std::int64_t x = std::clamp<std::int64_t>(j - width, 0, columns - 1);
        const auto node = static_cast<std::size_t>(z * columns + x);
        if (z == i - width && x == j - width) own[node] = value;
        folded[node] += value;
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE(
    "extent: `model` is the whole grid's derivative folded by axes, `interior` that at the model's nodes") {
  ONDULA_NEEDS_CLANG();
  for (const EquationDefinition& equation : equations::all()) {
    CAPTURE(equation.name());
    const Problem layered = in_still_layers(equation.name());
    const Problem wide = as_one_grid(layered);
    const LeastSquares misfit(layered);
    Traces in_layers, in_one;
    const Arrays model = gradient_of(layered, misfit, Extent::model, &in_layers);
    const Arrays interior = gradient_of(layered, misfit, Extent::interior);
    const Split expected = split(gradient_of(wide, misfit, Extent::model, &in_one));
    CHECK(max_abs_diff(in_layers.data, in_one.data) < 1e-12 * max_abs(in_one.data));
    const double own = worst_difference(interior, expected.own),
                 folded = worst_difference(model, expected.folded);
    CHECK(own < 1e-12);
    CHECK(folded < 1e-12);
    for (const auto& [name, values] : model) {
      // The layers hold a part that shows.
      CHECK(max_abs_diff(values, interior.at(name)) > 1e-3 * max_abs(values));
    }
    MESSAGE(fmt::format("{}: interior {:.1e}, model {:.1e}", equation.name(), own, folded));
  }
}

TEST_CASE("extent: both agree off the edges, and everywhere where no layer is") {
  ONDULA_NEEDS_CLANG();
  for (const EquationDefinition& equation : equations::all()) {
    for (const std::string faces : {"l", "flll", "frrf", "frpp"}) {
      CAPTURE(equation.name());
      CAPTURE(faces);
      Setting s;
      s.equation = equation.name();
      s.faces = faces;
      const Problem p = random_problem(s);
      const LeastSquares misfit(p);
      const Arrays model = gradient_of(p, misfit, Extent::model),
                   interior = gradient_of(p, misfit, Extent::interior);
      const bool layers = faces.find('l') != std::string::npos;
      for (const auto& [name, values] : model) {
        CAPTURE(name);
        CHECK((values == interior.at(name)) == !layers);
        for (std::int64_t z = 1; z + 1 < p.grid.shape[0]; ++z) {
          for (std::int64_t x = 1; x + 1 < p.grid.shape[1]; ++x) {
            const std::size_t node = p.at({z, x});
            CHECK(values[node] == doctest::Approx(interior.at(name)[node]).epsilon(1e-12));
          }
        }
      }
    }
  }
}

}  // namespace ondula::test
