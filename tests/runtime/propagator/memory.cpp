// Predicted and measured bytes, and how the layers' share grows.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
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
