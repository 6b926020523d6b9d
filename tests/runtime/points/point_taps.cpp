// How weights beside free surfaces follow the model: derivatives against differences.
// SPDX-License-Identifier: MIT
#include "runtime/point_taps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "compiler/dsl/dsl.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/domain.hpp"
#include "runtime/loop/factor.hpp"
#include "runtime/receivers.hpp"
#include "runtime/shot_points.hpp"
#include "tests/runtime/points/elastic.hpp"

using namespace ondula;
using namespace ondula::test;

EQUATION(lame, "elastic waves in Lame's own parameters") {
  auto lambda = parameter("lambda", "Pa");
  auto mu = parameter("mu", "Pa", nonnegative);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = (div(s) + force(v)) / rho);
  evolve(dt(s) = lambda * trace(grad(v)) * identity() + 2 * mu * sym(grad(v)) - moment_rate(s));
}

namespace {

using Values = std::map<std::string, std::vector<double>>;

/// A small medium of noise, its points, and how they follow from a model.
struct Setting {
  ir::Program program;
  Grid grid;
  ir::Domain domain;
  Values values;
  Shot shot;

  Setting(const EquationDefinition& equation, Grid g, int order,
          const std::vector<std::pair<std::string, double>>& middle)
      : grid(std::move(g)), domain(make_domain(grid, order)) {
    passes::PipelineOptions o;
    o.axes = grid.axes;
    o.order = order;
    program = passes::compile(equation, o).physical;
    Random random(4);
    for (const auto& named : middle)
      values[named.first] = on_nodes(grid, [&](const std::vector<std::int64_t>&) {
        return named.second * (0.9 + 0.2 * random.uniform());
      });
  }
  static loop::Models models(const Values& values) {
    loop::Models result;
    for (const auto& [name, array] : values) result.emplace(name, loop::ModelArray(array));
    return result;
  }
  ShotPoints points(const Values& of, bool slopes) const {
    return shot_points(program, domain, grid, models(of), {10, 1}, shot, 0, slopes);
  }
  /// Every kind of receiver, a force and a moment rate there.
  void place(const std::vector<double>& at) {
    std::vector<std::string> names = derived_receivers(program.fields, program.axes);
    for (const ir::Field& f : program.fields) {
      if (f.strip_axis < 0) names.push_back(f.name);
    }
    std::vector<double> oblique;
    for (std::size_t a = 0; a < at.size(); ++a) oblique.push_back(1 - 0.4 * static_cast<double>(a));
    for (const std::string& name : names) shot.receivers.push_back(elastic_receiver(name, at, oblique));
    shot.sources.push_back(elastic_source(SourceKind::force, oblique, at));
    shot.sources.push_back(
        elastic_source(SourceKind::moment_rate, std::vector<double>(at.size() * at.size(), 0.5), at));
  }
};

/// All weights of a shot's points: by "r" or "s", the number of the receiver or the shot's source, field,
/// entry.
using Weights = std::map<std::tuple<char, std::size_t, std::string, ir::Extents>, double>;

void gather(Weights& into, char kind, std::size_t number, const ir::FieldTaps& part, double factor = 1) {
  for (const ir::Tap& tap : part.taps) into[{kind, number, part.field, tap.index}] += factor * tap.weight;
}

Weights weights_of(const ShotPoints& points) {
  Weights into;
  for (const ir::PointSource& s : points.sources)
    gather(into, 's', static_cast<std::size_t>(s.origin), {s.source, s.taps});
  for (std::size_t r = 0; r < points.receivers.size(); ++r) {
    for (const ir::FieldTaps& part : points.receivers[r].parts) gather(into, 'r', r, part);
  }
  return into;
}

/// What the derivatives say that weights change by between two models.
Weights predicted(const Setting& setting, const ShotPoints& points, const loop::Models& from,
                  const loop::Models& to) {
  SurfaceRatio before(setting.program, setting.domain, from), after(setting.program, setting.domain, to);
  Weights result;
  const auto gather_all = [&](char kind, std::size_t number, const RatioTaps& r) {
    const double change =
        after.at(r.normal, r.tangential, r.node) - before.at(r.normal, r.tangential, r.node);
    for (const ir::FieldTaps& part : r.parts) gather(result, kind, number, part, change);
  };
  for (const PointSlopes& s : points.source_slopes)
    gather_all('s', static_cast<std::size_t>(points.sources.at(s.point).origin), s.ratio);
  for (const PointSlopes& s : points.receiver_slopes) gather_all('r', s.point, s.ratio);
  return result;
}

/// Moves a parameter at one node both ways and compares; gives the largest change of a weight.
double check_node(const Setting& setting, const std::string& name, std::size_t node) {
  constexpr double step = 1e-4;
  const double scale = std::max(std::fabs(setting.values.at(name)[node]), 1e9 * (name == "lambda"));
  Values less = setting.values, more = setting.values;
  less[name][node] -= step * scale;
  more[name][node] += step * scale;
  Weights found = weights_of(setting.points(more, false));
  for (const auto& [key, weight] : weights_of(setting.points(less, false))) found[key] -= weight;
  const Weights wanted =
      predicted(setting, setting.points(setting.values, true), setting.models(less), setting.models(more));
  std::map<char, double> largest, error;
  const auto difference = [&](const auto& entry, const Weights& other) {
    const auto at = other.find(entry.first);
    const char kind = std::get<0>(entry.first);
    largest[kind] = std::max(largest[kind], std::fabs(entry.second));
    error[kind] = std::max(error[kind], std::fabs(entry.second - (at == other.end() ? 0 : at->second)));
  };
  for (const auto& entry : found) difference(entry, wanted);
  for (const auto& entry : wanted) difference(entry, found);
  double most = 0;
  for (const auto& [kind, value] : largest) {
    CAPTURE(kind);
    // Central differences err by the step's square, rounding by what weights lose in the difference.
    CHECK(error[kind] <= 1e-6 * value);
    most = std::max(most, value);
  }
  return most;
}

Grid surfaces(const std::vector<std::int64_t>& shape, const std::vector<std::pair<int, int>>& free) {
  Grid g = grid(shape, 10, {FaceKind::absorbing, 3});
  for (const auto& [axis, side] : free)
    g.faces[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)] = free_surface;
  for (std::size_t a = 0; a < shape.size(); ++a) g.spacing[a] += static_cast<double>(a);
  return g;
}

const std::vector<std::pair<std::string, double>> speeds = {{"vp", 3000}, {"vs", 1700}, {"rho", 2200}};

/// Whether a point depends on ratios of more than one normal.
bool both_normals(const std::vector<PointSlopes>& slopes) {
  std::map<std::size_t, int> first;
  return std::any_of(slopes.begin(), slopes.end(), [&](const PointSlopes& s) {
    return first.try_emplace(s.point, s.ratio.normal).first->second != s.ratio.normal;
  });
}

}  // namespace

TEST_CASE("Weights beside a free surface change with the model there as their derivatives say") {
  for (const int side : {0, 1}) {
    Setting setting(equations::elastic(), surfaces({14, 15}, {{0, side}}), 4, speeds);
    const double end = side == 0 ? 0 : 130, in = side == 0 ? 1 : -1;
    for (const double depth : {0.0, 3.0, 14.0}) setting.place({end + in * depth, 61});
    setting.place({end, 0});
    const std::size_t row = side == 0 ? 0 : 13 * 15;
    for (const std::size_t x : {0, 5, 6, 9})  // the first one stands for the layer beside it too
      CHECK(check_node(setting, x == 6 ? "vs" : "vp", row + x) > 0);
    CHECK(check_node(setting, "vp", 5 * 15 + 5) == 0);  // inside, no weight depends on the model
  }
}

TEST_CASE("Where surfaces meet, weights are products of ratios: derivatives hold there too") {
  Setting plane(equations::elastic(), surfaces({14, 15}, {{0, 0}, {1, 1}}), 4, speeds);
  const double right = 14 * 11;
  for (const std::vector<double>& at :
       {std::vector<double>{0, right}, {3, right - 4}, {0, right - 13}, {14, right}})
    plane.place(at);
  const ShotPoints points = plane.points(plane.values, true);
  CHECK(both_normals(points.receiver_slopes));
  for (const std::size_t node : {14, 12, 2 * 15 + 14}) CHECK(check_node(plane, "vp", node) > 0);

  Setting solid(equations::elastic(), surfaces({11, 11, 12}, {{0, 0}, {1, 0}, {2, 0}}), 2, speeds);
  solid.shot.receivers = {elastic_receiver("v.z", {3, 2, 0}), elastic_receiver("fibre", {5, 0, 6}, {1, 2, 3}),
                          elastic_receiver("v.x", {0, 0, 0})};
  solid.shot.sources = {elastic_source(SourceKind::force, {1, -0.5, 2}, {4, 5, 6})};
  const auto slopes = solid.points(solid.values, true).receiver_slopes;
  // The rule of another face enters a component's weights through a product only.
  CHECK(std::any_of(slopes.begin(), slopes.end(),
                    [](const PointSlopes& s) { return s.point == 0 && s.ratio.normal != 0; }));
  for (const std::size_t node : {0, 1, 12, 132}) CHECK(check_node(solid, "vs", node) > 0);
}

TEST_CASE("A ratio that is 0 feeds no weight and still has its derivative") {
  Setting setting(lame(), surfaces({14, 15}, {{0, 0}, {1, 0}}), 4,
                  {{"lambda", 0}, {"mu", 6e9}, {"rho", 2200}});
  setting.shot.receivers = {elastic_receiver("v.z", {0, 61})};
  setting.shot.sources = {elastic_source(SourceKind::force, {1, 0}, {0, 61})};
  const ShotPoints points = setting.points(setting.values, true);
  REQUIRE(points.receivers[0].parts.size() == 1);
  CHECK(points.receivers[0].parts[0].field == "v.z");
  CHECK(points.sources.size() == 1);
  CHECK(points.receiver_slopes.size() == points.source_slopes.size());
  REQUIRE(!points.receiver_slopes.empty());
  CHECK(points.receiver_slopes[0].ratio.parts[0].field == "v.x");
  setting.place({3, 4});
  setting.place({0, 0});
  for (const std::size_t node : {0, 4, 5}) CHECK(check_node(setting, "lambda", node) > 0);
  CHECK(check_node(setting, "mu", 5) == 0);
}

TEST_CASE("Asking for derivatives changes no weight; each part of a source tells which source it is of") {
  Setting setting(equations::elastic(), surfaces({14, 15}, {{0, 0}, {1, 1}}), 4, speeds);
  for (const std::vector<double>& at : {std::vector<double>{0, 61}, {3, 150}, {70, 70}}) setting.place(at);
  const ShotPoints plain = setting.points(setting.values, false);
  const ShotPoints sloped = setting.points(setting.values, true);
  CHECK(plain.source_slopes.empty());
  CHECK(plain.receiver_slopes.empty());
  CHECK(!sloped.receiver_slopes.empty());
  CHECK(weights_of(plain) == weights_of(sloped));
  REQUIRE(plain.sources.size() == sloped.sources.size());
  std::vector<bool> seen(setting.shot.sources.size(), false);
  for (const ir::PointSource& part : plain.sources) {
    REQUIRE(part.origin >= 0);
    seen.at(static_cast<std::size_t>(part.origin)) = true;
    CHECK((part.source[0] == 'v') == (part.origin % 2 == 0));  // forces and moment rates take turns
  }
  CHECK(std::count(seen.begin(), seen.end(), true) == 6);
}

TEST_CASE("Derivatives are those of the sum last taken, each ratio once, in order, and handed out once") {
  const Setting setting(equations::elastic(), surfaces({14, 15}, {{0, 0}, {1, 1}}), 4, speeds);
  const loop::Models models = setting.models(setting.values);
  PointTaps points(setting.program, setting.domain, models, true);
  const ir::Field& across = points.component(ir::FieldKind::vector, {0});
  points.sample(across, {0.2, 13.3}, Interpolation::sinc, 1);
  points.take();
  points.sample(across, {0, 3}, Interpolation::sinc, 1);
  points.take();
  const auto slopes = points.take_slopes();
  REQUIRE(slopes.size() == 1);  // on a node of the row: its own ratio alone
  CHECK(slopes[0].node == ir::Extents{0, 6, 0});
  CHECK(slopes[0].normal == 0);
  CHECK(slopes[0].tangential == 1);
  CHECK(points.take_slopes().empty());
  points.sample(across, {0.2, 13.3}, Interpolation::sinc, 1);
  points.take();
  const auto many = points.take_slopes();
  const auto key = [](const RatioTaps& r) { return std::tuple(r.node, r.normal, r.tangential); };
  for (std::size_t i = 1; i < many.size(); ++i) CHECK(key(many[i - 1]) < key(many[i]));
  CHECK(many.size() == 5);  // columns of the row, the last one for those beyond too
  PointTaps without(setting.program, setting.domain, models);
  without.sample(across, {0, 3}, Interpolation::sinc, 1);
  without.take();
  CHECK(without.take_slopes().empty());
}

TEST_CASE("A ratio's expressions have its value at every node, of parameters alone") {
  const Setting settings[] = {
      {equations::elastic(), surfaces({11, 11, 12}, {{0, 0}}), 4, speeds},
      {lame(), surfaces({14, 15}, {{0, 0}}), 8, {{"lambda", 8e9}, {"mu", 6e9}, {"rho", 2200}}}};
  for (const Setting& setting : settings) {
    const loop::Models models = setting.models(setting.values);
    const loop::PaddedModel padded(setting.domain, models, 1);
    SurfaceRatio ratio(setting.program, setting.domain, models);
    for (int n = 0; n < setting.domain.dims; ++n) {
      for (int t = 0; t < setting.domain.dims; ++t) {
        const auto [above, below] = ratio_expressions(setting.program, n, t);
        for (const ir::Expr e : {above, below}) {
          CHECK(!ir::contains(e, ir::Kind::surface));
          CHECK(!ir::contains(e, ir::Kind::symbol));
          CHECK(!ir::time_dependent(e));
        }
        for (const ir::Extents& node : {ir::Extents{0, 0, 0}, {0, 7, 0}, {3, 5, 0}}) {
          const double value =
              loop::source_factor(above, {}, padded, node) / loop::source_factor(below, {}, padded, node);
          CHECK(value == doctest::Approx(ratio.at(n, t, node)).epsilon(1e-14));
          CHECK((value == 1) == (n == t));
        }
      }
    }
  }
}
