// Errors inside a host program: each comes back as an exception of the right kind, and the next call works.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <fstream>

#include "compiler/error.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/propagator/small.hpp"

namespace ondula::test {

TEST_CASE("E19: a device whose memory limit is passed throws RuntimeError, and the program goes on") {
  ONDULA_NEEDS_CLANG();
  PropagatorOptions options = small_options();
  Propagator free(equations::acoustic(), small_grid(2), options);
  const std::vector<double> expected = small_record(free, 2);
  options.device_bytes_limit = free.device_bytes_peak();
  CHECK(small_record(2, options) == expected);
  options.device_bytes_limit -= 1;
  Propagator tight(equations::acoustic(), small_grid(2), options);
  for (int round = 0; round < 2; ++round) {
    CHECK_THROWS_WITH_AS(small_record(tight, 2), doctest::Contains("would pass its limit of"), RuntimeError);
    const Shot shot = small_shot(2);
    CHECK(tight.estimate({&shot, 1}).device_bytes == options.device_bytes_limit + 1);
    CHECK(tight.state().empty());
  }
  CHECK(small_record(free, 2) == expected);
}

TEST_CASE("E19: memory that ends in the middle of a call is a RuntimeError, and the same object runs later") {
  ONDULA_NEEDS_CLANG();
  CHECK(in_child([&] {
    PropagatorOptions options = small_options();
    options.threads = 1;
    options.order = 2;
    options.steps = 2;
    constexpr std::int64_t nodes = 3000;  // 36 MB a field
    Propagator propagator(equations::acoustic(), small_grid(2, nodes), options);
    propagator.set_model("vp", 2000);
    const Shot shot = small_shot(2);
    rlimit whole = {};
    getrlimit(RLIMIT_AS, &whole);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit little = {pages * 4096 + (std::size_t{60} << 20), whole.rlim_max};
    int refused = 0;
    for (int round = 0; round < 2; ++round) {
      setrlimit(RLIMIT_AS, &little);
      try {
        propagator.forward({&shot, 1});
      } catch (const RuntimeError&) {
        ++refused;
      }
      setrlimit(RLIMIT_AS, &whole);
      if (propagator.forward({&shot, 1}).at(0).at("u").samples != 2) return false;
      // A new Propagator has its memory still to get.
      propagator = Propagator(equations::acoustic(), small_grid(2, nodes), options);
      propagator.set_model("vp", 2000);
    }
    return refused == 2;
  }));
}

TEST_CASE("E19: records beyond any memory are a RuntimeError") {
  ONDULA_NEEDS_CLANG();
  Propagator propagator(equations::acoustic(), small_grid(2), small_options());
  const std::vector<double> expected = small_record(propagator, 2);
  const Shot shot = small_shot(2);
  CHECK_THROWS_AS(propagator.forward({&shot, 1}, std::int64_t{1} << 50), RuntimeError);
  CHECK(small_record(propagator, 2) == expected);
}

TEST_CASE("what a callback throws passes through, whatever it is, and the next call works") {
  ONDULA_NEEDS_CLANG();
  PropagatorOptions options = small_options();
  bool throws = false;
  options.progress = [&](const Progress&) {
    if (throws) throw std::bad_alloc();
  };
  Propagator propagator(equations::acoustic(), small_grid(2), options);
  const std::vector<double> expected = small_record(propagator, 2);
  throws = true;
  CHECK_THROWS_AS(small_record(propagator, 2), std::bad_alloc);
  throws = false;
  propagator.on_step(7, [](const StepView&) { throw 5; });
  CHECK_THROWS_AS(small_record(propagator, 2), int);
  propagator.on_step(7, [](const StepView& view) { view.field("no such"); });
  CHECK_THROWS_AS(small_record(propagator, 2), UserError);
  propagator.on_step(0, {});
  CHECK(small_record(propagator, 2) == expected);
}

TEST_CASE("a Propagator that was moved from throws UserError instead of crashing") {
  ONDULA_NEEDS_CLANG();
  Propagator first(equations::acoustic(), small_grid(2), small_options());
  const Propagator second(std::move(first));
  CHECK_THROWS_WITH_AS(first.set_model("vp", 2000.0), doctest::Contains("moved from"), UserError);
  CHECK_THROWS_AS(first.forward({}), UserError);
  CHECK_THROWS_AS(first.state(), UserError);
  CHECK_THROWS_AS(first.timings(), UserError);
}

}  // namespace ondula::test
