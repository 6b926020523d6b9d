// Predicted and measured bytes, and how the layers' share grows.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "compiler/passes/pipeline.hpp"
#include "runtime/domain.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/engine.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/propagator/small.hpp"
#include "tests/support/allocations.hpp"

namespace ondula::test {
namespace {

/// Elements of the layers' memory variables and of everything, for n nodes along each axis.
struct Share {
  double strips = 0;
  double all = 0;
};

Share share(const EquationDefinition& equation, int dims, std::int64_t nodes) {
  const auto compilation = passes::compile(equation, {default_axes(dims), 8, false, false});
  const ir::Domain domain = make_domain(small_grid(dims, nodes, {FaceKind::absorbing, 20}), 8);
  Share result;
  for (const loop::ArrayPlan& plan : loop::plan_arrays(compilation.kernels, domain, 4)) {
    result.all += static_cast<double>(plan.layout.size);
    if (plan.key.side >= 0) result.strips += static_cast<double>(plan.layout.size);
  }
  return result;
}

}  // namespace

TEST_CASE(
    "B15: estimate's device bytes are the allocator's peak, for every dimension, type, order and face") {
  ONDULA_NEEDS_CLANG();
  for (int dims = 1; dims <= 3; ++dims) {
    for (const DType dtype : {DType::float32, DType::float64}) {
      for (const int order : {2, 8}) {
        for (const Face& face :
             {Face{FaceKind::absorbing, 7}, Face{FaceKind::absorbing, 0}, Face{FaceKind::free_surface, 0},
              Face{FaceKind::periodic, 0}, Face{FaceKind::antisymmetric, 0}}) {
          PropagatorOptions options = small_options();
          options.dtype = dtype;
          options.order = order;
          options.steps = 2;
          Propagator propagator(equations::acoustic(), small_grid(dims, 25, face), options);
          propagator.set_model("vp", 2000.0);
          const Shot shot = small_shot(dims);
          const std::size_t predicted = propagator.estimate({&shot, 1}).device_bytes;
          CHECK(propagator.device_bytes_peak() == 0);
          propagator.forward({&shot, 1});
          CAPTURE(dims);
          CAPTURE(static_cast<int>(face.kind));
          CHECK(propagator.device_bytes_peak() == predicted);
          CHECK(predicted > 0);
        }
      }
    }
  }
}

namespace {

/// A run whose host memory is measured.
struct HostCase {
  std::string what;
  EquationDefinition equation;
  int dims;
  std::int64_t nodes;
  std::int64_t steps;
  int receivers;
  std::size_t shots;
};

/// Receivers along a diagonal, off every node.
Shot diagonal_shot(const HostCase& c, const std::string& field) {
  Shot shot;
  for (int r = 0; r < c.receivers; ++r) {
    Receiver receiver;
    receiver.field = field;
    const double along = 10.0 * static_cast<double>(c.nodes - 2) * (r + 0.31) / c.receivers;
    receiver.position.assign(static_cast<std::size_t>(c.dims), along);
    shot.receivers.push_back(receiver);
  }
  return shot;
}

}  // namespace

TEST_CASE(
    "B15: estimate's host bytes are within 5 % of what a run holds: taps, records, the limit's search") {
  ONDULA_NEEDS_CLANG();
  for (const HostCase& c : {HostCase{"records", equations::acoustic(), 2, 60, 900, 1500, 2},
                            HostCase{"taps", equations::acoustic(), 3, 20, 2, 1000, 2},
                            HostCase{"one-field limit", equations::acoustic_density(), 2, 400, 2, 5, 1},
                            HostCase{"plane limit", equations::elastic(), 2, 300, 2, 5, 1},
                            HostCase{"cube limit", equations::elastic(), 3, 40, 2, 5, 1}}) {
    CAPTURE(c.what);
    PropagatorOptions options = small_options();
    options.order = 8;
    options.steps = c.steps;
    Propagator propagator(c.equation, small_grid(c.dims, c.nodes), options);
    const std::vector<Shot> shots(c.shots, diagonal_shot(c, c.equation.name() == "elastic" ? "v.z" : "u"));
    const auto points = static_cast<std::size_t>(std::pow(c.nodes, c.dims));
    const std::size_t before = allocated_now();
    for (const std::string& name : facts(c.equation, default_axes(c.dims)).parameters) {
      std::vector<double> values(points, name == "rho" ? 2000 : name == "vs" ? 1000 : 2000);
      for (std::size_t i = 0; i < points; ++i) values[i] += static_cast<double>(i % 7);
      propagator.set_model(name, values);
    }
    forget_allocated_peak();
    propagator.forward(shots);
    const auto measured = static_cast<double>(allocated_peak() - before);
    const auto predicted = static_cast<double>(propagator.estimate(shots).host_bytes);
    MESSAGE(c.what, ": measured ", measured, ", predicted / measured ", predicted / measured);
    CHECK(predicted / measured == doctest::Approx(1).epsilon(0.05));
  }
}

namespace {

/// A shot of many points of one kind: on nodes or off them, inside or beside the free surface at z-.
struct PointsCase {
  std::string what;
  EquationDefinition equation;
  std::string receiver;                 // empty: sources
  SourceKind kind = SourceKind::point;  // of them
  bool on_nodes = false, surface = false;
};

Shot points_shot(const PointsCase& c, int count, std::int64_t nodes) {
  Shot shot;
  for (int i = 0; i < count; ++i) {
    std::vector<double> position(3,
                                 10.0 * static_cast<double>(10 + i % (nodes - 20)) + (c.on_nodes ? 0 : 3.1));
    // The pressure on the surface is 0.
    if (c.surface) position[0] = !c.on_nodes ? 3.1 : c.equation.name() == "elastic" ? 0 : 10;
    if (!c.receiver.empty()) {
      Receiver receiver;
      receiver.field = c.receiver;
      receiver.position = position;
      if (c.receiver == "fibre") receiver.direction = {1, 0.5, 0.3};
      shot.receivers.push_back(receiver);
      continue;
    }
    Source source;
    source.kind = c.kind;
    if (c.kind == SourceKind::point) source.field = "u";
    if (c.kind == SourceKind::force) source.components = {1, 1, 1};
    if (c.kind == SourceKind::moment_rate) source.components = {0, 1, 1, 1, 0, 1, 1, 1, 0};
    source.position = position;
    source.wavelet = {1, 2, 1};
    shot.sources.push_back(source);
  }
  return shot;
}

}  // namespace

TEST_CASE("B15: estimate's host bytes are within 5 % of a run's: every kind of point, a free surface too") {
  ONDULA_NEEDS_CLANG();
  const std::vector<PointsCase> cases = {{"v.z", equations::elastic(), "v.z"},
                                         {"e.zx", equations::elastic(), "e.zx"},
                                         {"fibre", equations::elastic(), "fibre"},
                                         {"pressure", equations::elastic(), "pressure"},
                                         {"force", equations::elastic(), "", SourceKind::force},
                                         {"moment", equations::elastic(), "", SourceKind::moment_rate},
                                         {"u", equations::acoustic(), "", SourceKind::point}};
  constexpr std::int64_t nodes = 30;
  for (const bool surface : {false, true}) {
    Grid grid = small_grid(3, nodes);
    if (surface) grid.faces[0][0] = {FaceKind::free_surface, 0};
    PropagatorOptions options = small_options();
    options.order = 8;
    options.steps = 3;
    std::map<std::string, std::unique_ptr<Propagator>> propagators;
    for (PointsCase now : cases) {
      auto& propagator = propagators[now.equation.name()];
      if (!propagator) {
        propagator = std::make_unique<Propagator>(now.equation, grid, options);
        for (const std::string& name : facts(now.equation, default_axes(3)).parameters)
          propagator->set_model(name, name == "vs" ? 1000 : 2000);
      }
      for (const bool on_nodes : {false, true}) {
        now.on_nodes = on_nodes;
        now.surface = surface;
        CAPTURE(now.what);
        CAPTURE(on_nodes);
        CAPTURE(surface);
        const Shot few = points_shot(now, 1, nodes), many = points_shot(now, on_nodes ? 1000 : 200, nodes);
        const auto peak = [&](const Shot& shot) {
          forget_allocated_peak();
          const std::size_t before = allocated_now();
          propagator->forward({&shot, 1});
          return static_cast<double>(allocated_peak() - before);
        };
        peak(few);
        const double measured = peak(many) - peak(few);
        const auto predicted = static_cast<double>(propagator->estimate({&many, 1}).host_bytes) -
                               static_cast<double>(propagator->estimate({&few, 1}).host_bytes);
        MESSAGE(fmt::format("{}{}{}: measured {}, predicted / measured {:.3f}", now.what,
                            on_nodes ? ", on nodes" : "", surface ? ", surface" : "", measured,
                            predicted / measured));
        // Besides 5 %, what the lists' own growth holds: some words for each point.
        CHECK(std::fabs(predicted - measured) < 0.05 * measured + 400.0 * (on_nodes ? 1000 : 200));
      }
    }
  }
}

TEST_CASE("B15: the layers' memory grows with the surface, not the volume") {
  for (const EquationDefinition& equation :
       {equations::acoustic(), equations::acoustic_density(), equations::elastic()}) {
    CAPTURE(equation.name());
    const Share volume = share(equation, 3, 480), half = share(equation, 3, 240);
    CHECK(volume.strips / half.strips > 3.2);
    CHECK(volume.strips / half.strips < 4.2);
    CHECK((volume.all - volume.strips) / (half.all - half.strips) > 6);
    const Share square = share(equation, 2, 4000), smaller = share(equation, 2, 2000);
    CHECK(square.strips / smaller.strips > 1.8);
    CHECK(square.strips / smaller.strips < 2.1);
    // The same memory on the full grid would be several fields more.
    CHECK(square.strips < 0.2 * square.all);
  }
}

TEST_CASE("B15: without layers there are no memory variables at all") {
  for (const FaceKind kind : {FaceKind::rigid, FaceKind::free_surface, FaceKind::periodic}) {
    const auto compilation = passes::compile(equations::acoustic(), {default_axes(3), 8, false, false});
    const ir::Domain domain = make_domain(small_grid(3, 40, {kind, 0}), 8);
    for (const loop::ArrayPlan& plan : loop::plan_arrays(compilation.kernels, domain, 4))
      CHECK(plan.key.side == -1);
  }
}

TEST_CASE("B3: bytes of 1295^3 and beyond are exact, with nothing allocated") {
  const auto compilation = passes::compile(equations::acoustic(), {default_axes(3), 8, false, false});
  for (const std::int64_t n : {std::int64_t{1295}, std::int64_t{20000}}) {
    const ir::Domain domain = make_domain(small_grid(3, n, {FaceKind::rigid, 0}), 8);
    const double cells = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    double elements = 0;
    for (const loop::ArrayPlan& plan : loop::plan_arrays(compilation.kernels, domain, 4)) {
      elements += static_cast<double>(plan.layout.size);
      if (plan.key.kind == ir::ArrayKind::profile) continue;
      CHECK(static_cast<double>(plan.layout.size) > cells);
      CHECK(static_cast<double>(plan.layout.size) < 1.06 * cells);
      const ir::Extents last = {n - 1, n - 1, n - 1};
      CHECK(plan.layout.at(last) < plan.layout.size);
      CHECK(plan.layout.at(last) > static_cast<std::int64_t>(0.9 * cells));
    }
    const auto bytes = static_cast<double>(loop::compiled_engine_bytes(compilation, domain, DType::float32));
    CHECK(bytes == 4 * elements);
  }
}

}  // namespace ondula::test
