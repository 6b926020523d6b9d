// What a host program keeps: its floating-point state, its output, its memory, its threads.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <fstream>
#include <thread>

#include "compiler/error.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/propagator/small.hpp"
#include "tests/support/resident.hpp"

namespace ondula::test {
TEST_CASE("the caller's floating-point state is left as found") {
  ONDULA_NEEDS_CLANG();
  const unsigned before = _mm_getcsr();
  constexpr unsigned exceptions = 0x3f;  // sticky flags: any arithmetic may raise them
  // As usual; denormals flushed; rounding towards zero.
  for (const unsigned control : {0x1f80U, 0x1f80U | 0x8040U, 0x1f80U | 0x6000U}) {
    for (const int threads : {1, 2}) {
      _mm_setcsr(control);
      PropagatorOptions options = small_options();
      options.threads = threads;
      Propagator propagator(equations::acoustic(), small_grid(2), options);
      small_record(propagator, 2);
      const unsigned after = _mm_getcsr();
      _mm_setcsr(before);
      CHECK((after & ~exceptions) == control);
    }
  }
}

TEST_CASE("the floating-point state is left as found after an error too") {
  ONDULA_NEEDS_CLANG();
  const unsigned before = _mm_getcsr();
  PropagatorOptions options = small_options();
  int steps = 0;
  options.cancel = [&] { return ++steps == 10; };
  Propagator propagator(equations::acoustic(), small_grid(2), options);
  CHECK_THROWS_AS(small_record(propagator, 2), Cancelled);
  CHECK((_mm_getcsr() & 0xffc0U) == (before & 0xffc0U));
  CHECK(small_record(propagator, 2).size() == 120);
}

TEST_CASE("the library prints nothing, warnings and errors included") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  const auto output = directory.path() / "output";
  const bool good = in_child(
      [&] {
        Propagator propagator(equations::acoustic(), small_grid(2), small_options(cache_in(directory)));
        small_record(propagator, 2);
        propagator.set_model("vp", 1e6);
        const Shot shot = small_shot(2);
        static_cast<void>(propagator.estimate({&shot, 1}));
        try {
          propagator.forward({&shot, 1});
        } catch (const UserError&) {
          return true;
        }
        return false;
      },
      output);
  CHECK(good);
  CHECK(read_bytes(output) == "");
}

TEST_CASE("B7: fifty forward calls leave host and device memory flat") {
  ONDULA_NEEDS_CLANG();
  PropagatorOptions options = small_options();
  Propagator propagator(equations::acoustic(), small_grid(2, 100), options);
  const std::vector<double> first = small_record(propagator, 2);
  for (int i = 0; i < 5; ++i) small_record(propagator, 2);
  const std::size_t device = propagator.device_bytes_peak(), resident = resident_bytes();
  for (int i = 0; i < 50; ++i) CHECK(small_record(propagator, 2) == first);
  CHECK(propagator.device_bytes_peak() == device);
  CHECK(resident_bytes() < resident + (std::size_t{1} << 19));
}

TEST_CASE("two Propagators in two threads give each the record it gives alone") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  std::array<PropagatorOptions, 2> options = {small_options(cache_in(directory)),
                                              small_options(cache_in(directory))};
  options[1].order = 8;
  std::array<std::vector<double>, 2> alone, together;
  for (std::size_t i = 0; i < 2; ++i) alone[i] = small_record(2, options[i]);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 2; ++i)
      threads.emplace_back([&, i] { together[i] = small_record(2, options[i]); });
    for (std::thread& thread : threads) thread.join();
    CHECK(together == alone);
  }
}

TEST_CASE("a Propagator that was moved runs on") {
  ONDULA_NEEDS_CLANG();
  Propagator first(equations::acoustic(), small_grid(2), small_options());
  const std::vector<double> expected = small_record(first, 2);
  Propagator second(std::move(first));
  CHECK(small_record(second, 2) == expected);
}

}  // namespace ondula::test
