// Options and models of a Propagator: which are refused, and that those accepted have an effect.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "compiler/error.hpp"
#include "runtime/io/array.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/propagator/small.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {

TEST_CASE("A2: order 32 is refused with the supported list; order 16 with an automatic step stays finite") {
  ONDULA_NEEDS_CLANG();
  PropagatorOptions options = small_options();
  options.order = 32;
  CHECK_THROWS_WITH_AS(Propagator(equations::acoustic(), small_grid(2, 40), options),
                       doctest::Contains("supported are 2, 4, 6, 8, 10, 12, 14 and 16"), UserError);
  options.order = 16;
  options.steps = 400;
  options.substeps.reset();
  for (const double value : small_record(2, options)) CHECK(std::isfinite(value));
}

TEST_CASE("E8: every option that means something to a run changes its record") {
  ONDULA_NEEDS_CLANG();
  const std::vector<double> plain = small_record(2, small_options());
  const std::vector<std::pair<const char*, std::function<void(PropagatorOptions&)>>> changes = {
      {"dt", [](PropagatorOptions& o) { o.dt = 0.8e-3; }},
      {"steps", [](PropagatorOptions& o) { o.steps = 59; }},
      {"order", [](PropagatorOptions& o) { o.order = 6; }},
      {"dtype", [](PropagatorOptions& o) { o.dtype = DType::float64; }},
      {"absorb.frequency", [](PropagatorOptions& o) { o.absorb.frequency = 3; }},
      {"absorb.velocity", [](PropagatorOptions& o) { o.absorb.velocity = 4000; }},
      {"absorb.reflection", [](PropagatorOptions& o) { o.absorb.reflection = 0.1; }},
      {"absorb.kappa", [](PropagatorOptions& o) { o.absorb.kappa = 3; }},
  };
  for (const auto& [name, change] : changes) {
    CAPTURE(name);
    PropagatorOptions options = small_options();
    change(options);
    CHECK(small_record(2, options) != plain);
  }
  PropagatorOptions one_thread = small_options();
  one_thread.threads = 1;
  CHECK(small_record(2, one_thread) == plain);
}

TEST_CASE("E8: options outside their range are refused with what is allowed") {
  const auto refused = [](const std::function<void(PropagatorOptions&)>& change, const char* part) {
    PropagatorOptions options = small_options();
    change(options);
    CHECK_THROWS_WITH_AS(Propagator(equations::acoustic(), small_grid(2), options), doctest::Contains(part),
                         UserError);
  };
  refused([](PropagatorOptions& o) { o.substeps = 0; }, "allowed are 1 to 16");
  refused([](PropagatorOptions& o) { o.absorb.kappa = 0.5; }, "1 or more");
  refused([](PropagatorOptions& o) { o.absorb.reflection = 1; }, "between 0 and 1");
  refused([](PropagatorOptions& o) { o.absorb.velocity = 0; }, "more than 0");
  refused([](PropagatorOptions& o) { o.absorb.frequency = -1; }, "0 or more");
  refused([](PropagatorOptions& o) { o.order = 5; }, "supported are 2, 4, 6");
}

TEST_CASE("E8: a model or an initial state of an unknown name is refused with those that exist") {
  ONDULA_NEEDS_CLANG();
  Propagator propagator(equations::acoustic(), small_grid(2), small_options());
  CHECK_THROWS_WITH_AS(propagator.set_model("rho", 1.0), "equation acoustic has no parameter rho; it has: vp",
                       UserError);
  const std::vector<double> zeros(24 * 24);
  CHECK_THROWS_WITH_AS(propagator.set_initial("v", zeros), "no initial state v; there are: u, u.previous",
                       UserError);
  const Shot shot = small_shot(2);
  CHECK_THROWS_WITH_AS(propagator.forward({&shot, 1}), doctest::Contains("needs the model vp (m/s)"),
                       UserError);
}

TEST_CASE("B13: snapshots come whole, and an array one value short is refused with the count it needs") {
  ONDULA_NEEDS_CLANG();
  Propagator propagator(equations::acoustic(), small_grid(2), small_options());
  std::vector<std::int64_t> steps;
  propagator.on_step(25, [&](const StepView& view) {
    steps.push_back(view.step);
    CHECK(view.field("u").size() == 24 * 24);
    CHECK_THROWS_AS(view.field("v"), UserError);
  });
  small_record(propagator, 2);
  CHECK(steps == std::vector<std::int64_t>{0, 25, 50});
  const std::vector<double> short_by_one(24 * 24 - 1);
  CHECK_THROWS_WITH_AS(propagator.set_initial("u", short_by_one), doctest::Contains("which has 576 nodes"),
                       UserError);
  CHECK_THROWS_WITH_AS(propagator.set_model("vp", short_by_one), doctest::Contains("which has 576 nodes"),
                       UserError);
}

TEST_CASE("E11: a model in Fortran order, every second value of a larger one, or reversed gives one record") {
  ONDULA_NEEDS_CLANG();
  constexpr std::int64_t n = 24;
  std::vector<double> plain(n * n);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = 1500 + static_cast<double>((i * 7919) % 1000);
  std::vector<double> fortran(plain.size()), sparse(2 * plain.size()), reversed(plain.rbegin(), plain.rend());
  for (std::int64_t z = 0; z < n; ++z) {
    for (std::int64_t x = 0; x < n; ++x) {
      fortran[static_cast<std::size_t>(x * n + z)] = plain[static_cast<std::size_t>(z * n + x)];
      sparse[static_cast<std::size_t>(2 * (z * n + x))] = plain[static_cast<std::size_t>(z * n + x)];
    }
  }
  Propagator propagator(equations::acoustic(), small_grid(2, n), small_options());
  const Shot shot = small_shot(2);
  const auto record = [&](const std::vector<double>& model) {
    propagator.set_model("vp", model);
    return propagator.forward({&shot, 1}).at(0).at("u").data;
  };
  const std::vector<double> expected = record(plain);
  CHECK(max_abs(expected) > 0);
  using View = io::StridedView<double>;
  CHECK(record(io::contiguous(View{fortran.data(), {n, n}, {1, n}}).data) == expected);
  CHECK(record(io::contiguous(View{sparse.data(), {n, n}, {2 * n, 2}}).data) == expected);
  CHECK(record(io::contiguous(View{&reversed.back(), {n, n}, {-n, -1}}).data) == expected);
  CHECK_THROWS_WITH_AS(propagator.set_model("vp", sparse),
                       doctest::Contains("1152 values for a grid of (24, 24)"), UserError);
}

}  // namespace ondula::test
