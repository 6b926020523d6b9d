// Coefficients and how they change with the models: against the reference, differences and each other.
// SPDX-License-Identifier: MIT
#include "runtime/loop/sensitivity.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "compiler/reference/statics.hpp"
#include "equations/equations.hpp"
#include "tests/compiler/reference/setup.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

using ir::Expr;
using loop::ModelGradient;
using loop::Perturbation;
using loop::Sensitivity;

std::vector<double> draws(std::size_t count, double low, double high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> values(count);
  for (double& value : values) value = draw(generator);
  return values;
}

/// A domain, models on it, and a box of entries. Speeds in km/s, so that all parameters are of one size.
struct Medium {
  ir::Domain domain;
  ir::Symbols symbols = {{"dt", 0.25}};
  Perturbation arrays;
  ir::Box box{{{0, 1}, {0, 1}, {0, 1}}};

  explicit Medium(ir::Domain d) : domain(std::move(d)) {
    arrays = {
        {"vp", draws(nodes(), 3, 6, 1)}, {"vs", draws(nodes(), 1, 2, 2)}, {"rho", draws(nodes(), 1, 3, 3)}};
    arrays["vs"][nodes() / 2] = arrays["vs"][0] = arrays["vs"][nodes() - 1] = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(domain.dims); ++a)
      box[a] = {-3, domain.total(static_cast<int>(a)) + 2};
  }
  std::size_t nodes() const {
    return static_cast<std::size_t>(domain.shape[0] * domain.shape[1] * domain.shape[2]);
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(box[0].size() * box[1].size() * box[2].size());
  }
  loop::Models models() const {
    loop::Models result;
    for (const auto& [name, values] : arrays) result[name] = loop::ModelArray(values);
    return result;
  }
  ModelGradient zeros() const {
    ModelGradient result;
    for (const auto& [name, values] : arrays) result.arrays[name].assign(values.size(), 0.0);
    return result;
  }
  std::vector<double> values(Expr e) const {
    const loop::Models all = models();
    return Sensitivity(domain, symbols, all).values(e, box);
  }
  double sum(Expr e, const std::vector<double>& weights) const {
    const std::vector<double> found = values(e);
    double result = 0;
    for (std::size_t i = 0; i < found.size(); ++i) result += weights[i] == 0 ? 0 : weights[i] * found[i];
    return result;
  }
};

using Faces = std::array<FaceKind, 2>;
constexpr auto layer = FaceKind::absorbing, surface = FaceKind::free_surface, wall = FaceKind::rigid,
               wraps = FaceKind::periodic;

ir::Domain faced(const std::vector<std::int64_t>& shape, const std::vector<Faces>& faces) {
  ir::Domain result = test::domain(shape, 1, wall);
  for (std::size_t a = 0; a < faces.size(); ++a) {
    result.faces[a] = faces[a];
    for (std::size_t side = 0; side < 2; ++side) result.pad[a][side] = faces[a][side] == layer ? 2 : 0;
  }
  return result;
}

std::vector<ir::Domain> domains() {
  return {faced({7}, {{layer, wall}}), faced({5, 6}, {{surface, layer}, {wall, surface}}),
          faced({4, 5}, {{layer, layer}, {wraps, wraps}}),
          faced({4, 3, 5}, {{surface, wall}, {surface, layer}, {layer, surface}})};
}

/// What stands in front of everything that varies in time, in the program as the reference executes it.
void collect(ir::Pool& pool, Expr e, std::vector<Expr>& found) {
  const auto add = [&](Expr c) {
    const bool known = std::find(found.begin(), found.end(), c) != found.end();
    if (!known && (contains(c, ir::Kind::parameter) || contains(c, ir::Kind::surface))) found.push_back(c);
  };
  if (!ir::time_dependent(e)) return add(e);
  if (e->kind == ir::Kind::product) {
    std::vector<Expr> steady;
    for (const Expr factor : e->args) {
      if (!ir::time_dependent(factor)) steady.push_back(factor);
    }
    add(pool.product(steady));
  }
  for (const Expr arg : e->args) {
    if (ir::time_dependent(arg)) collect(pool, arg, found);
  }
}

std::vector<Expr> coefficients(const ir::Program& program) {
  std::vector<Expr> found;
  for (const ir::Operation& operation : program.operations) {
    if (const auto* update = std::get_if<ir::Update>(&operation))
      collect(*program.pool, update->value, found);
    if (const auto* injection = std::get_if<ir::Injection>(&operation))
      collect(*program.pool, injection->factor, found);
  }
  return found;
}

ir::Program physical(const EquationDefinition& definition, int dims) {
  return passes::compile(definition, {.axes = default_axes(dims), .order = 4}).physical;
}

/// The largest difference of a transpose from central differences, relative to the largest derivative.
double against_differences(Medium medium, Expr e, const std::vector<double>& weights) {
  ModelGradient gradient = medium.zeros();
  const loop::Models models = medium.models();
  Sensitivity(medium.domain, medium.symbols, models).transpose(e, medium.box, weights, gradient);
  double worst = 0, largest = 0;
  for (auto& [name, values] : medium.arrays) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double kept = values[i], h = 1e-5;
      values[i] = kept + h;
      const double above = medium.sum(e, weights);
      values[i] = kept - h;
      const double below = medium.sum(e, weights);
      values[i] = kept;
      const double difference = (above - below) / (2 * h);
      largest = std::max(largest, std::fabs(difference));
      worst = detail::worse(worst, std::fabs(gradient.arrays[name][i] - difference));
    }
  }
  return largest == 0 ? worst : worst / largest;
}

/// |<tangent, c> - <perturbation, transpose c>| over the sum of the absolute terms.
double asymmetry(const Medium& medium, Expr e) {
  const std::vector<double> c = draws(medium.entries(), -1, 1, 5);
  Perturbation perturbation;
  for (const auto& [name, values] : medium.arrays) perturbation[name] = draws(values.size(), -1, 1, 6);
  ModelGradient gradient = medium.zeros();
  const loop::Models models = medium.models();
  const Sensitivity sensitivity(medium.domain, medium.symbols, models);
  const std::vector<double> tangents = sensitivity.tangents(e, medium.box, perturbation);
  sensitivity.transpose(e, medium.box, c, gradient);
  double left = 0, right = 0, size = 1e-300;
  for (std::size_t i = 0; i < c.size(); ++i) {
    left += c[i] * tangents[i];
    size += std::fabs(c[i] * tangents[i]);
  }
  for (const auto& [name, values] : gradient.arrays) {
    for (std::size_t i = 0; i < values.size(); ++i) right += values[i] * perturbation[name][i];
  }
  return std::fabs(left - right) / size;
}

/// One expression of each kind, at nodes and off them, and shifted ones.
std::vector<Expr> kinds(ir::Pool& pool) {
  const Expr vp = pool.parameter("vp"), vs = pool.parameter("vs"), rho = pool.parameter("rho");
  const Expr one = pool.constant(1), dt = pool.symbol("dt"), mu = pool.product({rho, vs, vs});
  const auto f = [&](const char* name, std::vector<Expr> args) { return pool.function(name, args); };
  const Expr soft = pool.quotient(one, pool.sum({pool.quotient(one, vp), pool.quotient(dt, rho)}));
  const Expr softer =
      pool.quotient(dt, pool.sum({pool.product({dt, pool.quotient(one, vp)}), pool.quotient(one, rho), dt}));
  return {vp,
          pool.product({dt, vp, vp, pool.sum({rho, vs, one})}),
          pool.quotient(vs, pool.sum({rho, vp})),
          pool.average(rho, {1, 0, 0}),
          pool.average(pool.quotient(one, rho), {-1, 0, 0}),
          pool.average(vp, {2, -3, 0}),
          pool.average(mu, {1, 1, 1}),
          pool.average(vp, {-2, 0, 0}),
          pool.product({dt, pool.surface({vp, soft, softer})}),
          pool.average(pool.surface({vp, rho}), {1, 1, 0}),
          f("sqrt", {vp}),
          f("exp", {vs}),
          f("log", {rho}),
          pool.sum({f("sin", {vp}), f("cos", {pool.product({vp, rho})})}),
          f("abs", {pool.sum({vp, pool.constant(-4)})}),
          f("pow", {vp, rho}),
          f("min", {pool.product({dt, vp}), vs}),
          f("max", {vs, rho}),
          f("inverse_or_zero", {rho})};
}

}  // namespace

TEST_CASE("sensitivity: values of the equations' own coefficients are the reference's") {
  double worst = 0;
  int compared = 0;
  for (const ir::Domain& domain : domains()) {
    for (const EquationDefinition& definition :
         {equations::elastic(), equations::acoustic_density(), equations::acoustic()}) {
      const ir::Program program = physical(definition, domain.dims);
      Medium medium(domain);
      const loop::Models models = medium.models();
      const loop::PaddedModel padded(domain, models, 0);
      const reference::Layout layout(program, domain);
      reference::Statics statics(program, domain, layout, medium.symbols, {});
      for (const ir::Parameter& p : program.parameters)
        statics.set_parameter(p.name,
                              sampled(domain, [&](const ir::Extents& i) { return padded.at(p.name, i); }));
      for (const Expr e : coefficients(program)) {
        // The reference has surfaces on the grid alone, and no neighbours of its very last entries.
        medium.box = contains(e, ir::Kind::surface) ? layout.grid() : layout.everything();
        for (std::size_t a = 0; a < 3 && !contains(e, ir::Kind::surface); ++a)
          medium.box[a].hi -= layout.halo[a] > 0 ? 1 : 0;
        const std::vector<double> found = medium.values(e);
        const reference::Static expected = statics.evaluate(e);
        auto next = found.begin();
        reference::for_rows(
            layout, medium.box, [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
              for (std::int64_t i = first; i < first + count; ++i, ++next)
                worst =
                    detail::worse(worst, std::fabs(*next - expected[i]) / std::max(1.0, std::fabs(*next)));
            });
        ++compared;
      }
    }
  }
  CHECK(compared >= 30);
  CHECK(worst < 1e-14);
  MESSAGE(compared, " coefficients, largest difference ", worst);
}

TEST_CASE("sensitivity: transposes of every kind of expression are central differences of the values") {
  ir::Pool pool;
  double worst = 0;
  for (const ir::Domain& domain : domains()) {
    const Medium medium(domain);
    for (const Expr e : kinds(pool)) {
      CAPTURE(ir::text(e));
      CAPTURE(domain.dims);
      const double found = against_differences(medium, e, draws(medium.entries(), -1, 1, 4));
      CHECK(found < 1e-7);
      worst = detail::worse(worst, found);
    }
  }
  MESSAGE("largest difference ", worst);
}

TEST_CASE("sensitivity: transposes of the equations' own coefficients, fluid cells among them") {
  double worst = 0;
  for (const ir::Domain& domain : domains()) {
    const Medium medium(domain);
    for (const EquationDefinition& definition :
         {equations::elastic(), equations::acoustic_density(), equations::acoustic()}) {
      const ir::Program program = physical(definition, domain.dims);
      for (const Expr e : coefficients(program)) {
        CAPTURE(ir::text(e, program.axes));
        const double found = against_differences(medium, e, draws(medium.entries(), -1, 1, 4));
        CHECK(found < 1e-7);
        worst = detail::worse(worst, found);
      }
    }
  }
  MESSAGE("largest difference ", worst);
}

TEST_CASE("sensitivity: tangents and transposes are each other's, over boxes and at single entries") {
  ir::Pool pool;
  double worst = 0;
  for (const ir::Domain& domain : domains()) {
    Medium medium(domain);
    std::vector<Expr> all = kinds(pool);
    const ir::Program elastic = physical(equations::elastic(), domain.dims);
    const std::vector<Expr> own = coefficients(elastic);
    all.insert(all.end(), own.begin(), own.end());
    const loop::Models models = medium.models();
    const Sensitivity sensitivity(medium.domain, medium.symbols, models);
    const Perturbation along = {{"rho", draws(medium.nodes(), -1, 1, 7)}};
    for (const Expr e : all) {
      worst = detail::worse(worst, asymmetry(medium, e));
      const ir::Extents first{medium.box[0].lo, medium.box[1].lo, medium.box[2].lo};
      CHECK(sensitivity.value(e, first) == sensitivity.values(e, medium.box)[0]);
      CHECK(sensitivity.tangent(e, first, along) == sensitivity.tangents(e, medium.box, along)[0]);
      ModelGradient one = medium.zeros(), box = medium.zeros();
      std::vector<double> cotangents(medium.entries(), 0.0);
      cotangents[0] = 3;
      sensitivity.transpose(e, first, 3, one);
      sensitivity.transpose(e, medium.box, cotangents, box);
      CHECK(one.arrays == box.arrays);
    }
  }
  CHECK(worst < 1e-13);
  MESSAGE("largest asymmetry ", worst);
}

TEST_CASE(
    "sensitivity: what stands in layers and beyond faces folds back; interior drops what stands in layers") {
  ir::Pool pool;
  Medium medium(faced({4, 5}, {{layer, surface}, {wall, wraps}}));
  medium.domain.faces[1] = {wall, wall};
  medium.box[0] = {0, medium.domain.total(0) + 2};
  medium.box[1] = {-3, 5};
  const loop::Models models = medium.models();
  const Sensitivity sensitivity(medium.domain, medium.symbols, models);
  const std::vector<double> ones(medium.entries(), 1.0);
  // Along z two cells of layer, and the images of two nodes before the last; along x nodes -1, -2, -3 are 0,
  // 0, 1.
  const std::array<double, 4> z = {3, 2, 2, 1};
  const std::array<double, 5> x = {3, 2, 1, 1, 1};
  ModelGradient gradient, interior;
  gradient.arrays["vp"].assign(20, 0.0);
  interior.arrays["vp"].assign(20, 0.0);
  interior.interior = true;
  const Expr e = pool.product({pool.constant(2), pool.parameter("vp"), pool.parameter("rho")});
  sensitivity.transpose(e, medium.box, ones, gradient);
  sensitivity.transpose(e, medium.box, ones, interior);
  CHECK(gradient.arrays.size() == 1);
  for (std::size_t i = 0; i < 20; ++i) {
    const double rho = medium.arrays["rho"][i];
    CHECK(gradient.arrays["vp"][i] == doctest::Approx(2 * rho * z[i / 5] * x[i % 5]));
    const double in_grid = i / 5 == 0 ? 1 : z[i / 5];
    CHECK(interior.arrays["vp"][i] == doctest::Approx(2 * rho * in_grid * x[i % 5]));
  }
}

TEST_CASE("sensitivity: beside mu = 0 derivatives are those from the right, and 0 where two moduli vanish") {
  ir::Pool pool;
  const Expr l = pool.parameter("l"), m = pool.parameter("m"), one = pool.constant(1);
  const Expr soft = pool.quotient(one, pool.sum({pool.quotient(one, l), pool.quotient(pool.constant(2), m)}));
  const ir::Domain domain = faced({3, 3}, {{surface, wall}, {surface, wall}});
  const auto slopes = [&](double at_l, double at_m, const ir::Extents& index, Expr e) {
    const loop::Models models = {{"l", loop::ModelArray(at_l)}, {"m", loop::ModelArray(at_m)}};
    ModelGradient gradient;
    gradient.arrays = {{"l", std::vector<double>(9)}, {"m", std::vector<double>(9)}};
    Sensitivity(domain, {}, models).transpose(e, index, 1, gradient);
    const auto node = static_cast<std::size_t>(3 * index[0] + index[1]);
    return std::array{gradient.arrays["l"][node], gradient.arrays["m"][node]};
  };
  const auto from_right = [&](double at_l) {
    const loop::Models models = {{"l", loop::ModelArray(at_l)}, {"m", loop::ModelArray(1e-7)}};
    return Sensitivity(domain, {}, models).value(soft, {1, 1, 0}) / 1e-7;
  };
  CHECK(slopes(3, 0, {1, 1, 0}, soft) == std::array{0.0, 0.5});
  CHECK(from_right(3) == doctest::Approx(0.5).epsilon(1e-6));
  CHECK(slopes(0, 3, {1, 1, 0}, soft) == std::array{1.0, 0.0});
  CHECK(slopes(0, 0, {1, 1, 0}, soft) == std::array{0.0, 0.0});
  const Expr by_count = pool.surface({pool.product({l, m}), soft, m});
  CHECK(slopes(3, 0, {1, 1, 0}, by_count) == std::array{0.0, 3.0});
  CHECK(slopes(3, 0, {0, 1, 0}, by_count) == std::array{0.0, 0.5});
  CHECK(slopes(3, 0, {0, 0, 0}, by_count) == std::array{0.0, 1.0});
  CHECK(slopes(3, 0, {0, 1, 0}, pool.average(m, {1, 1, 0})) == std::array{0.0, 0.0});
  CHECK(slopes(3, 0, {1, 1, 0}, pool.function("inverse_or_zero", {m})) == std::array{0.0, 0.0});
}

TEST_CASE("sensitivity: an entry without a cotangent contributes nothing, whatever stands there") {
  ir::Pool pool;
  const ir::Domain domain = faced({3}, {{wall, wall}});
  const loop::Models models = {{"m", loop::ModelArray(std::vector<double>{0, 2, 0})}};
  const Sensitivity sensitivity(domain, {}, models);
  const Expr m = pool.parameter("m");
  ModelGradient gradient;
  gradient.arrays["m"].assign(3, 0.0);
  const std::vector<double> middle = {0, 1, 0};
  const ir::Box box{{{0, 3}, {0, 1}, {0, 1}}};
  CHECK(std::isnan(sensitivity.values(pool.quotient(m, m), box)[0]));
  sensitivity.transpose(pool.quotient(m, m), box, middle, gradient);
  CHECK(gradient.arrays["m"] == std::vector<double>{0, 0, 0});
  sensitivity.transpose(pool.quotient(pool.constant(1), m), box, middle, gradient);
  CHECK(gradient.arrays["m"] == std::vector<double>{0, -0.25, 0});
}

TEST_CASE("sensitivity: at a source's point surfaces can be left out") {
  ir::Pool pool;
  const ir::Domain domain = faced({3}, {{surface, wall}});
  const loop::Models models = {{"m", loop::ModelArray(5)}};
  const Sensitivity sensitivity(domain, {}, models);
  const Expr e = pool.surface({pool.parameter("m"), pool.constant(0)});
  CHECK(sensitivity.value(e, {0, 0, 0}) == 0);
  CHECK(sensitivity.value(e, {0, 0, 0}, loop::Surfaces::ignored) == 5);
  CHECK(sensitivity.value(e, {1, 0, 0}) == 5);
  const Perturbation along = {{"m", {1, 1, 1}}};
  CHECK(sensitivity.tangent(e, {0, 0, 0}, along) == 0);
  CHECK(sensitivity.tangent(e, {0, 0, 0}, along, loop::Surfaces::ignored) == 1);
}

TEST_CASE("sensitivity: what it cannot do is named") {
  ir::Pool pool;
  const ir::Domain domain = faced({3}, {{wall, wall}});
  const loop::Models models = {{"m", loop::ModelArray(5)}};
  const Sensitivity sensitivity(domain, {}, models);
  const ir::Box box{{{0, 3}, {0, 1}, {0, 1}}};
  const Expr m = pool.parameter("m");
  CHECK_THROWS_WITH_AS(sensitivity.values(pool.field("u", 0), box), doctest::Contains("cannot evaluate"),
                       InternalError);
  CHECK_THROWS_WITH_AS(sensitivity.values(pool.symbol("dt"), box), "no value for dt", InternalError);
  CHECK_THROWS_WITH_AS(sensitivity.values(pool.parameter("q"), box), "no model q", InternalError);
  CHECK_THROWS_AS(sensitivity.values(pool.function("gamma", {m}), box), InternalError);
  CHECK_THROWS_AS(sensitivity.values(pool.function("sqrt", {m, m}), box), InternalError);
  CHECK_THROWS_WITH_AS(sensitivity.tangents(m, box, {{"m", {1, 2}}}), "derivative in m: 2 values for 3 nodes",
                       InternalError);
  ModelGradient gradient;
  const std::vector<double> two(2);
  CHECK_THROWS_WITH_AS(sensitivity.transpose(m, box, two, gradient), "2 cotangents for 3 entries",
                       InternalError);
}

}  // namespace ondula::test
