// Gradients in the cases that went wrong for people: surfaces, seas, nested derivatives, memory, few steps.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "compiler/error.hpp"
#include "tests/runtime/gradient/objective.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/resident.hpp"

namespace ondula::test {
namespace {

/// The largest difference from central differences at these nodes, over each parameter's largest entry.
double worst_at(Objective& objective, const Gradient& gradient, const std::vector<std::size_t>& nodes) {
  double worst = 0;
  for (const auto& [name, values] : gradient.models) {
    for (const std::size_t node : nodes) {
      if (objective.problem().models.at(name)[node] == 0) continue;  // vs in a fluid has no other side
      worst = detail::worse(
          worst, std::fabs(values[node] - objective.difference(name, node, 5e-5)) / max_abs(values));
    }
  }
  return worst;
}

std::vector<double> at_node(const Problem& p, const std::vector<double>& node) {
  std::vector<double> x;
  for (std::size_t a = 0; a < node.size(); ++a) x.push_back(p.grid.origin[a] + p.grid.spacing[a] * node[a]);
  return x;
}

}  // namespace

TEST_CASE("A10: the elastic gradient on and under a flat free surface is the finite difference") {
  ONDULA_NEEDS_CLANG();
  for (const std::string faces : {"flll", "lfll", "llfl", "ffff"}) {
    CAPTURE(faces);
    Setting s;
    s.equation = "elastic";
    s.faces = faces;
    Objective objective(random_problem(s));
    const Problem& p = objective.problem();
    const Gradient gradient = objective.gradient();
    std::vector<std::size_t> nodes;
    for (std::int64_t k = 0; k < 3; ++k) {
      const std::int64_t z = p.grid.shape[0] - 1 - k;
      for (const auto& node : {std::vector<std::int64_t>{k, 5}, {z, 5}, {6, k}, {k, 0}, {k, 1}, {z, 10}})
        nodes.push_back(p.at(node));
    }
    const double worst = worst_at(objective, gradient, nodes);
    CHECK(worst < 1e-6);
    MESSAGE(fmt::format("faces {}: largest difference {:.1e}", faces, worst));
  }
}

TEST_CASE("A24: with a sea above rock the gradient is finite, and the finite difference on both sides") {
  ONDULA_NEEDS_CLANG();
  for (const bool wavelets : {false, true}) {  // the second keeps its adjoint unscaled
    CAPTURE(wavelets);
    Setting s;
    s.equation = "elastic";
    s.faces = "flll";
    s.steps = 70;
    Problem p = random_medium(s);
    const auto columns = static_cast<std::size_t>(p.grid.shape[1]);
    std::fill_n(p.models["vs"].begin(), 6 * columns, 0.0);
    Source source;
    source.kind = SourceKind::moment_rate;
    source.components = {1, 0, 0, 1};
    source.position = at_node(p, {2, 3});
    source.wavelet = ricker_wavelet(60, 0.02, p.options.dt, s.steps);
    Shot shot{{source}, {}};
    for (const std::string field : {"pressure", "v.z", "v.x"})
      shot.receivers.push_back({field, at_node(p, {5, 7.3})});  // one cell above the contact
    p.shots = {shot};
    Objective objective(p);
    Propagator propagator = p.propagator();
    const LeastSquares misfit(p);
    GradientOptions options;
    options.wavelets = wavelets;
    const Gradient gradient = propagator.gradient(p.shots, misfit.function(), options);
    for (const auto& [name, values] : gradient.models) CHECK(std::isfinite(max_abs(values)));
    for (std::size_t i = 0; i < 6 * columns; ++i) CHECK(gradient.models.at("vs")[i] == 0);
    std::vector<std::size_t> nodes;
    for (std::int64_t z = 3; z < 9; ++z) nodes.insert(nodes.end(), {p.at({z, 3}), p.at({z, 6})});
    const double worst = worst_at(objective, gradient, nodes);
    CHECK(worst < 1e-6);
    MESSAGE(fmt::format("largest difference {:.1e}", worst));
  }
}

TEST_CASE("F4: the gradient of div(b grad p), orders 2 to 16, is the finite difference") {
  ONDULA_NEEDS_CLANG();
  double worst = 0;
  for (int order = 2; order <= 16; order += 2) {
    CAPTURE(order);
    Setting s;
    s.equation = "acoustic_density";
    s.order = order;
    s.faces = "l";
    s.backend = order == 2 || order == 8 || order == 16 ? Backend::host : Backend::reference;
    s.steps = 25;
    Objective objective(random_problem(s));
    const Problem& p = objective.problem();
    const Gradient gradient = objective.gradient();
    const double found =
        worst_at(objective, gradient, {p.at({0, 4}), p.at({1, 10}), p.at({6, 5}), p.at({7, 2})});
    CHECK(found < 1e-6);
    worst = detail::worse(worst, found);
  }
  MESSAGE(fmt::format("largest difference {:.1e}", worst));
}

TEST_CASE("B7: 200 forward and gradient calls leave host and device memory flat") {
  ONDULA_NEEDS_CLANG();
  for (const std::string equation : {"acoustic", "elastic"}) {
    CAPTURE(equation);
    Setting s;
    s.equation = equation;
    s.dtype = DType::float32;
    s.dims = equation == "elastic" ? 1 : 2;
    s.steps = 12;
    s.initial = true;
    Problem p = random_problem(s);
    p.options.threads = 1;
    const LeastSquares misfit(p);
    Propagator propagator = p.propagator();
    GradientOptions options;
    options.wavelets = options.initial = options.records = true;
    Gradient first;
    const auto both = [&] {
      propagator.forward(p.shots);
      return propagator.gradient(p.shots, misfit.function(), options);
    };
    for (int i = 0; i < 20; ++i) first = both();
    const std::size_t device = propagator.device_bytes_peak(), resident = resident_bytes();
    for (int i = 0; i < 200; ++i) CHECK(both().models == first.models);
    CHECK(propagator.device_bytes_peak() == device);
    CHECK(resident_bytes() < resident + (std::size_t{1} << 20));
    MESSAGE(fmt::format("{}: {} bytes more after 200 calls", equation,
                        static_cast<std::int64_t>(resident_bytes()) - static_cast<std::int64_t>(resident)));
  }
}

TEST_CASE("B20: a gradient where nothing is stored is refused") {
  Setting s;
  s.backend = Backend::reference;
  Problem p = random_problem(s);
  p.options.storage.keep = Storage::none;
  const LeastSquares misfit(p);
  Propagator propagator = p.propagator();
  CHECK_THROWS_WITH_AS(propagator.gradient(p.shots, misfit.function()),
                       "a gradient needs what the forward run kept, and its storage is off (memory mode "
                       "none): take full",
                       UserError);
  CHECK(propagator.forward(p.shots).size() == 1);
}

TEST_CASE("E13: gradients of 0, 1 and 2 steps have the shapes of the model and the wavelets") {
  ONDULA_NEEDS_CLANG();
  for (const EquationDefinition& equation : equations::all()) {
    for (const Backend backend : {Backend::host, Backend::reference}) {
      for (const int substeps : {1, 3}) {
        std::map<std::string, double> of_one_step;
        for (const std::int64_t steps : {0, 1, 2}) {
          CAPTURE(equation.name());
          CAPTURE(steps);
          CAPTURE(substeps);
          Setting s;
          s.equation = equation.name();
          s.backend = backend;
          s.substeps = substeps;
          s.initial = true;
          Problem p = random_problem(s);
          p.options.steps = steps;
          Propagator propagator = p.propagator();
          GradientOptions options;
          options.wavelets = options.initial = options.records = options.illumination = true;
          double norm = 0;
          const Gradient gradient = propagator.gradient(
              p.shots,
              [&](std::int64_t, const std::map<std::string, Traces>& records) {
                for (const auto& [field, traces] : records) norm += energy(traces.data);
                return Misfit{norm, records};
              },
              options);
          const Records alone = propagator.forward(p.shots);
          for (const auto& [field, traces] : alone.at(0)) {
            CHECK(gradient.records.at(0).at(field).samples == steps);
            CHECK(gradient.records[0].at(field).data == traces.data);
          }
          CHECK((norm > 0) == (steps > 0));
          CHECK(gradient.shot_misfits == std::vector<double>{norm});
          CHECK(gradient.illumination.size() == p.nodes());
          for (const auto& [name, values] : p.models) {
            CHECK(gradient.models.at(name).size() == values.size());
            // The first sample is the initial state: no model has acted. Sums by parts cancel to a rounding.
            const double size = max_abs(gradient.models.at(name));
            if (steps == 0) CHECK(size == 0);
            if (steps == 1) of_one_step[name] = size;
            if (steps == 2) CHECK(of_one_step.at(name) <= 1e-12 * size);
            if (steps == 2) CHECK(size > 0);
          }
          for (const auto& [name, values] : p.initial)
            CHECK(gradient.initial.at(name).size() == values.size());
          REQUIRE(gradient.wavelets.size() == 1);
          for (std::size_t i = 0; i < p.shots[0].sources.size(); ++i)
            CHECK(gradient.wavelets[0][i].size() == p.shots[0].sources[i].wavelet.size());
        }
      }
    }
  }
}

TEST_CASE("E5: wavelets shorter and longer than the run have gradients of their own length") {
  ONDULA_NEEDS_CLANG();
  Problem p = random_problem({});
  p.shots[0].sources[0].wavelet.resize(5);
  p.shots[0].sources[1].wavelet.resize(90, 1.0);
  p.shots[0].sources[2].wavelet.clear();
  const LeastSquares misfit(p);
  GradientOptions options;
  options.wavelets = true;
  Propagator propagator = p.propagator();
  const Gradient gradient = propagator.gradient(p.shots, misfit.function(), options);
  const auto& wavelets = gradient.wavelets.at(0);
  CHECK(wavelets[0].size() == 5);
  CHECK(wavelets[2].empty());
  REQUIRE(wavelets[1].size() == 90);
  CHECK(max_abs(wavelets[0]) > 0);
  // The sample of the last step reaches no record.
  for (std::size_t k = 39; k < 90; ++k) CHECK(wavelets[1][k] == 0);
  CHECK(wavelets[1][37] != 0);
}

}  // namespace ondula::test
