// The adjoint of steps that keep less than all of a field: damping, relaxation, restoring forces.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "compiler/passes/linear.hpp"
#include "compiler/passes/linearize.hpp"
#include "tests/compiler/passes/stages.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/gradient/two_ways.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {

EQUATION(damped_acoustics, "pressure and velocity, both damped") {
  auto rho = parameter("rho", "kg/m^3", positive), c = parameter("c", "m/s", positive);
  auto q = parameter("q", "1/s", nonnegative), k = parameter("k", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto p = scalar("p", "Pa");
  evolve(dt(v) = (force(v) - grad(p)) / rho - q * v);
  evolve(dt(p) = rho * sq(c) * (source(p) - div(v)) - k * p);
}

EQUATION(conducting_medium,
         "Maxwell's equations for E along the axis that is left out, with a conductivity") {
  auto eps = parameter("eps", "s/m", positive), mu = parameter("mu", "s/m", positive);
  auto sigma = parameter("sigma", "1/m", nonnegative);
  auto h = vector("h", "Pa");
  auto e = scalar("e", "Pa");
  evolve(dt(h) = grad(e) / mu);
  evolve(dt(e) = (div(h) - sigma * e + source(e)) / eps);
}

EQUATION(damped_scalar, "u_tt + a u_t = c^2 laplacian(u), with w = u_t") {
  auto c = parameter("c", "m/s", positive);
  auto a = parameter("a", "1/s", nonnegative);
  auto u = scalar("u", "Pa"), w = scalar("w", "Pa/s");
  evolve(dt(w) = sq(c) * (laplacian(u) + source(w)) - a * w);
  evolve(dt(u) = w);
}

EQUATION(relaxing_solid, "a standard linear solid of pressure: its memory r is updated before it is read") {
  auto rho = parameter("rho", "kg/m^3", positive), bulk = parameter("bulk", "Pa", positive);
  auto tau = parameter("tau", "1", nonnegative), rate = parameter("rate", "1/s", positive);
  auto v = vector("v", "m/s");
  auto r = scalar("r", "Pa/s"), p = scalar("p", "Pa");
  evolve(dt(v) = (force(v) - grad(p)) / rho);
  evolve(dt(r) = -rate * (r + bulk * tau * div(v)));
  evolve(dt(p) = source(p) - bulk * (1 + tau) * div(v) - r);
}

EQUATION(relaxing_later, "the same, its memory read before it is updated, and the pressure damped besides") {
  auto rho = parameter("rho", "kg/m^3", positive), bulk = parameter("bulk", "Pa", positive);
  auto tau = parameter("tau", "1", nonnegative), rate = parameter("rate", "1/s", positive);
  auto k = parameter("k", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto p = scalar("p", "Pa"), r = scalar("r", "Pa/s");
  evolve(dt(v) = (force(v) - grad(p)) / rho);
  evolve(dt(p) = source(p) - bulk * (1 + tau) * div(v) - r - k * p);
  evolve(dt(r) = -rate * (r + bulk * tau * div(v)));
}

EQUATION(two_mechanisms, "two memories, all of the pressure's level stated before the velocity") {
  auto rho = parameter("rho", "kg/m^3", positive), bulk = parameter("bulk", "Pa", positive);
  auto tau = parameter("tau", "1", nonnegative), rate = parameter("rate", "1/s", positive);
  auto fade = parameter("k", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto r1 = scalar("r1", "Pa/s"), r2 = scalar("r2", "Pa/s"), p = scalar("p", "Pa");
  evolve(dt(r1) = bulk * tau * rate * div(v) - rate * r1);
  evolve(dt(r2) = bulk * tau * fade * div(v) - fade * r2);
  evolve(dt(p) = source(p) - bulk * (1 + 2 * tau) * div(v) + r1 + r2);
  evolve(dt(v) = (force(v) - grad(p)) / rho);
}

EQUATION(damped_by_rate, "the telegraph equation") {
  auto c = parameter("c", "m/s", positive), a = parameter("a", "1/s", nonnegative);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(c) * (laplacian(u) + source(u)) - a * dt(u));
}

EQUATION(conducting_axial, "Maxwell's equations in the plane, with a conductivity and a plasma's current") {
  auto eps = parameter("eps", "s/m", positive), mu = parameter("mu", "s/m", positive);
  auto sigma = parameter("sigma", "1/m", nonnegative), q = parameter("q", "1/s", nonnegative);
  auto k = parameter("k", "1/s", nonnegative);
  auto e = scalar("e", "Pa"), j = scalar("j", "Pa/m");
  auto h = axial_vector("h", "Pa");
  evolve(dt(h) = -curl(e) / mu);
  evolve(dt(e) = (curl(h) - sigma * e - j + source(e)) / eps);
  evolve(dt(j) = eps * sq(k) * e - q * j);
}

EQUATION(klein_gordon, "a wave with a restoring force") {
  auto c = parameter("c", "m/s", positive), m = parameter("m", "1/m", nonnegative);
  auto u = scalar("u", "Pa");
  evolve(dtt(u) = sq(c) * (laplacian(u) - sq(m) * u + source(u)));
}

EQUATION(damped_elastic, "elastic waves, velocities and stresses damped") {
  auto lambda = parameter("lambda", "Pa", positive), mu = parameter("mu", "Pa", positive);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto q = parameter("q", "1/s", nonnegative), k = parameter("k", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa");
  evolve(dt(v) = (div(s) + force(v)) / rho - q * v);
  evolve(dt(s) = lambda * trace(grad(v)) * identity() + 2 * mu * sym(grad(v)) - moment_rate(s) - k * s);
}

EQUATION(relaxing_elastic, "elastic waves with a relaxing stress") {
  auto lambda = parameter("lambda", "Pa", positive), mu = parameter("mu", "Pa", positive);
  auto rho = parameter("rho", "kg/m^3", positive);
  auto tau = parameter("tau", "1", nonnegative), rate = parameter("rate", "1/s", positive);
  auto v = vector("v", "m/s");
  auto s = symmetric_tensor("s", "Pa"), r = symmetric_tensor("r", "Pa/s");
  evolve(dt(v) = (div(s) + force(v)) / rho);
  evolve(dt(s) = lambda * trace(grad(v)) * identity() + 2 * mu * sym(grad(v)) - moment_rate(s) - r);
  evolve(dt(r) = -rate * (r + 2 * mu * tau * sym(grad(v))));
}

EQUATION(memory_behind_laplacian, "a second-order wave that a relaxing field of its own laplacian drives") {
  auto c = parameter("c", "m/s", positive);
  auto b = parameter("b", "1", nonnegative), rate = parameter("rate", "1/s", positive);
  auto u = scalar("u", "Pa"), r = scalar("r", "Pa/m^2");
  evolve(dtt(u) = sq(c) * (laplacian(u) - r + source(u)));
  evolve(dt(r) = rate * (b * laplacian(u) - r));
}

namespace {

const Ranges ranges = {{"rho", {1000, 2000}},  {"c", {1500, 2500}},  {"q", {5, 60}},
                       {"k", {0, 40}},         {"a", {10, 90}},      {"eps", {4e-4, 7e-4}},
                       {"mu", {3e-4, 5e-4}},   {"sigma", {0, 0.03}}, {"bulk", {2e9, 9e9}},
                       {"tau", {0.05, 0.4}},   {"rate", {20, 120}},  {"m", {0, 0.05}},
                       {"lambda", {2e9, 5e9}}, {"b", {0.05, 0.3}}};

/// Those of an elastic medium, whose mu is a modulus.
Ranges ranges_of(const EquationDefinition& equation) {
  Ranges own = ranges;
  if (equation.name().find("elastic") != std::string::npos) own["mu"] = {1e9, 3e9};
  return own;
}

std::vector<EquationDefinition> equations_that_decay() {
  return {damped_acoustics(), conducting_medium(), damped_scalar(),    relaxing_solid(),
          relaxing_later(),   two_mechanisms(),    damped_by_rate(),   conducting_axial(),
          klein_gordon(),     damped_elastic(),    relaxing_elastic(), memory_behind_laplacian()};
}

/// Walls, or periodic along one axis, and no layer.
ir::Domain bare(bool periodic) {
  ir::Domain domain = layered({6, 5}, 0);
  if (periodic) domain.faces[1] = {FaceKind::periodic, FaceKind::periodic};
  return domain;
}

/// Layers on three faces.
ir::Domain in_layers() {
  ir::Domain domain = layered({9, 8}, 4);
  domain.pad[1][1] = 0;
  domain.faces[1][1] = FaceKind::rigid;
  return domain;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Noise that counts every receiver's trace alike.
std::vector<double> residual_of(const TwoWays& run, const std::vector<double>& records) {
  Random random(9);
  std::vector<double> residual = noise(random, records.size());
  const std::size_t receivers = run.points.receivers.size();
  for (std::size_t r = 0; r < receivers; ++r) {
    double energy = 0;
    for (std::size_t i = r; i < records.size(); i += receivers) energy += records[i] * records[i];
    for (std::size_t i = r; i < records.size(); i += receivers) residual[i] /= std::sqrt(energy);
  }
  return residual;
}

/// The records of the run with one of the things alone that they are linear in, against its derivative: the
/// worst over all fields of the start and all wavelets.
double linear_error(const passes::Compilation& forward, const TwoWays& run,
                    const std::vector<double>& residual, const Derivatives& found) {
  double worst = 0;
  const auto look = [&](const TwoWays& part, double derivative) {
    const std::vector<double> records = records_of(forward, part);
    double size = 0;
    for (std::size_t i = 0; i < records.size(); ++i) size += std::pow(records[i] * residual[i], 2);
    worst = detail::worse(worst, std::fabs(derivative - dot(records, residual)) / std::sqrt(size));
  };
  TwoWays silent = run;
  silent.points.sources.clear();
  for (const auto& [place, values] : run.start) {
    silent.start = {{place, values}};
    look(silent, dot(values, found.start.at(place)));
  }
  for (std::size_t s = 0; s < run.points.sources.size(); ++s) {
    silent.start.clear();
    silent.points.sources = {run.points.sources[s]};
    look(silent, dot(run.points.sources[s].samples, found.wavelets[s]));
  }
  return worst;
}

/// Noise of `size` of each model.
Arrays change_of(const TwoWays& run, double size) {
  Random random(77);
  Arrays change;
  for (const auto& [name, values] : run.models) {
    const double scale = size * max_abs(values);
    for (const double value : noise(random, values.size(), scale)) change[name].push_back(value);
  }
  return change;
}

double difference(const passes::Compilation& forward, const TwoWays& run, const Arrays& change,
                  const std::vector<double>& residual) {
  std::array<double, 2> found{};
  for (const int side : {0, 1}) {
    TwoWays other = run;
    for (auto& [name, values] : other.models) {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] += (side == 0 ? -1e-4 : 1e-4) * change.at(name)[i];
    }
    found[static_cast<std::size_t>(side)] = dot(records_of(forward, other), residual);
  }
  return (found[1] - found[0]) / 2e-4;
}

struct Stated {
  std::string name;
  ir::Program physical;
  Ranges ranges;
};

/// u_tt + m u_t = c^2 laplacian(u) + s, the first derivative semi-implicit, not by way of the language.
Stated damped_second_order() {
  ir::Program p = passes::discretize_time(passes::check(klein_gordon().instantiate(default_axes(2))), 4);
  ir::Pool& pool = *p.pool;
  const ir::Expr dt = pool.symbol("dt"), one = pool.constant(1), u = pool.field("u", 0);
  const ir::Expr half = pool.product({pool.constant(ir::Number::ratio(1, 2)), dt, pool.parameter("m")});
  const ir::Expr speed = pool.product({dt, dt, pool.parameter("c"), pool.parameter("c")});
  const ir::Expr kept = pool.sum({pool.constant(-1), half}), divisor = pool.sum({one, half});
  const ir::Expr laplacian = pool.sum({pool.derivative(u, 0, 2, false), pool.derivative(u, 1, 2, false)});
  for (ir::Operation& operation : p.operations) {
    if (auto* update = std::get_if<ir::Update>(&operation)) {
      update->value = pool.quotient(
          pool.sum({pool.product({pool.constant(2), u}), pool.product({kept, pool.field("u", -1)}),
                    pool.product({speed, laplacian})}),
          divisor);
    }
    if (auto* injection = std::get_if<ir::Injection>(&operation))
      injection->factor = pool.quotient(speed, divisor);
  }
  Ranges own = ranges;
  own["m"] = {10, 90};
  return {"damped_second_order", passes::absorb(passes::surface(p), false), own};
}

/// Elastic waves that lose the same everywhere: no parameter says how much.
Stated evenly_damped_elastic() {
  ir::Program p = absorbed_program(damped_elastic(), 2, 4);
  const auto numbers = [&](ir::Expr e) {
    return passes::rewrite(*p.pool, e, [&](ir::Expr node) -> ir::Expr {
      if (node->kind != ir::Kind::parameter && node->kind != ir::Kind::average) return {};
      const ir::Expr nodal = node->kind == ir::Kind::average ? node->args[0] : node;
      if (nodal == p.pool->parameter("k")) return p.pool->constant(20);
      return nodal == p.pool->parameter("q") ? p.pool->constant(30) : ir::Expr{};
    });
  };
  for (ir::Operation& operation : p.operations) {
    if (auto* update = std::get_if<ir::Update>(&operation)) update->value = numbers(update->value);
    if (auto* injection = std::get_if<ir::Injection>(&operation))
      injection->factor = numbers(injection->factor);
  }
  std::erase_if(p.parameters, [](const ir::Parameter& q) { return q.name == "k" || q.name == "q"; });
  return {"evenly_damped_elastic", p, ranges_of(damped_elastic())};
}

std::vector<Stated> all_stated() {
  std::vector<Stated> result;
  for (const EquationDefinition& e : equations_that_decay())
    result.push_back({e.name(), absorbed_program(e, 2, 4), ranges_of(e)});
  result.push_back({"damped_acoustics, kappa", absorbed_program(damped_acoustics(), 2, 4, true), ranges});
  result.push_back({"relaxing_solid, kappa", absorbed_program(relaxing_solid(), 2, 4, true), ranges});
  result.push_back(damped_second_order());
  result.push_back(evenly_damped_elastic());
  return result;
}

/// Of every parameter by itself, along a change of noise: none hides behind another.
/// Returns the worst difference from the linearised step.
double check_models(const Stated& stated, const TwoWays& run, const std::vector<double>& residual,
                    const Derivatives& found) {
  double worst = 0;
  passes::Compilation forward;
  forward.physical = stated.physical;
  passes::BornCompilation born;
  born.tangent = passes::linearize(stated.physical);
  born.step.physical = born.tangent.program;
  for (const auto& [name, own] : change_of(run, 0.1)) {
    CAPTURE(name);
    Arrays change;
    for (const auto& [other, values] : run.models) change[other].assign(values.size(), 0.0);
    change[name] = own;
    const std::vector<double> tangent = tangent_of(born, run, change);
    const double ahead = dot(tangent, residual), back = dot(own, found.models.at(name));
    double size = 0;
    for (std::size_t i = 0; i < tangent.size(); ++i) size += std::pow(tangent[i] * residual[i], 2);
    size = std::sqrt(size);
    CHECK(size > 0);
    CHECK(std::fabs(ahead - back) < 1e-12 * size);
    worst = detail::worse(worst, std::fabs(ahead - back) / size);
    CHECK(std::fabs(ahead - difference(forward, run, change, residual)) < 1e-6 * size);
  }
  return worst;
}

}  // namespace

TEST_CASE("damping: the step back is the transpose of the step, entry by entry") {
  double worst = 0;
  for (const Stated& stated : all_stated()) {
    for (const bool periodic : {false, true}) {
      for (const bool unscaled : {false, true}) {
        CAPTURE(stated.name);
        CAPTURE(periodic);
        CAPTURE(unscaled);
        const TwoWays run = two_ways(stated.physical, bare(periodic), stated.ranges, 3);
        const StepMatrices m = step_matrices(adjoint_of(stated.physical, unscaled).adjoint, run);
        CHECK(max_abs(m.after) > 0);
        const double error = m.transposition_error();
        CHECK(error < 1e-13);
        worst = detail::worse(worst, error);
      }
    }
  }
  MESSAGE(fmt::format("largest difference over a block's largest entry {:.1e}", worst));
}

TEST_CASE("damping: gradients of everything, with layers, against the linearised step and differences") {
  double worst = 0;
  for (const Stated& stated : all_stated()) {
    CAPTURE(stated.name);
    const TwoWays run = two_ways(stated.physical, in_layers(), stated.ranges, 5, true);
    passes::Compilation forward;
    forward.physical = stated.physical;
    const std::vector<double> residual = residual_of(run, records_of(forward, run));
    for (const bool unscaled : {false, true}) {
      CAPTURE(unscaled);
      const Derivatives found = derivatives_of(adjoint_of(stated.physical, unscaled), run, residual);
      const double linear = linear_error(forward, run, residual, found);
      CHECK(linear < 1e-12);
      worst = detail::worse(worst, linear);
      worst = detail::worse(worst, check_models(stated, run, residual, found));
    }
  }
  MESSAGE(fmt::format("largest difference from the linearised step {:.1e}", worst));
}

TEST_CASE("damping: what sources give depends on the models too, against differences") {
  for (const Stated& stated : all_stated()) {
    CAPTURE(stated.name);
    const TwoWays run = two_ways(stated.physical, in_layers(), stated.ranges, 6);
    passes::Compilation forward;
    forward.physical = stated.physical;
    const std::vector<double> residual = residual_of(run, records_of(forward, run));
    const Derivatives found = derivatives_of(adjoint_of(stated.physical), run, residual);
    for (const auto& [name, own] : change_of(run, 0.1)) {
      CAPTURE(name);
      Arrays change;
      for (const auto& [other, values] : run.models) change[other].assign(values.size(), 0.0);
      change[name] = own;
      const double expected = difference(forward, run, change, residual);
      CHECK(std::fabs(dot(own, found.models.at(name)) - expected) < 1e-6 * std::fabs(expected));
    }
  }
}

TEST_CASE("damping: compiled kernels give the reference's gradients") {
  ONDULA_NEEDS_CLANG();
  double worst = 0;
  for (const EquationDefinition& equation :
       {damped_acoustics(), damped_scalar(), relaxing_solid(), relaxing_later(), two_mechanisms(),
        damped_by_rate(), conducting_axial(), klein_gordon(), relaxing_elastic(),
        memory_behind_laplacian()}) {
    CAPTURE(equation.name());
    const passes::AdjointCompilation both =
        passes::compile_adjoint(equation, {default_axes(2), 4, false, false});
    TwoWays run = two_ways(absorbed_program(equation, 2, 4), in_layers(), ranges_of(equation), 7);
    const std::vector<double> residual = residual_of(run, records_of(both.forward, run));
    const Derivatives expected = derivatives_of(both, run, residual);
    run.reference = false;
    const Derivatives found = derivatives_of(both, run, residual);
    for (const auto& [name, values] : expected.models)
      worst = detail::worse(worst, relative_l2(found.models.at(name), values));
    for (const auto& [place, values] : expected.start)
      worst = detail::worse(worst, relative_l2(found.start.at(place), values));
    for (std::size_t s = 0; s < expected.wavelets.size(); ++s)
      worst = detail::worse(worst, relative_l2(found.wavelets[s], expected.wavelets[s]));
  }
  CHECK(worst < 1e-12);
  MESSAGE(fmt::format("largest difference, L2 {:.1e}", worst));
}

}  // namespace ondula::test
