// The caller's floating-point state: it changes no result, and comes back as it was.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fenv.h>
#include <xmmintrin.h>

#include "compiler/error.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/propagator/small.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

/// Rounding mode of both units, control and flags of SSE, flags and masks of x87.
struct FloatState {
  unsigned sse = 0;
  int rounding = 0, flags = 0, traps = 0;
  bool operator==(const FloatState&) const = default;
};

FloatState now() { return {_mm_getcsr(), fegetround(), fetestexcept(FE_ALL_EXCEPT), fegetexcept()}; }

/// While it lives the thread has an unusual state; afterwards the usual one.
class Unusual {
 public:
  explicit Unusual(const std::function<void()>& set) {
    fesetenv(FE_DFL_ENV);
    set();
  }
  ~Unusual() {
    fesetenv(FE_DFL_ENV);
    _mm_setcsr(0x1f80);
  }
  Unusual(const Unusual&) = delete;
  Unusual& operator=(const Unusual&) = delete;
};

std::vector<std::function<void()>> unusual_states() {
  return {
      [] { fesetround(FE_UPWARD); },
      [] { fesetround(FE_TOWARDZERO); },
      [] { _mm_setcsr(_mm_getcsr() | 0x8040U); },  // denormals flushed
      [] { feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT); },
      [] { feraiseexcept(FE_OVERFLOW | FE_INVALID); },
      [] {
        fesetround(FE_DOWNWARD);
        _mm_setcsr(_mm_getcsr() | 0x8040U);
        feenableexcept(FE_INVALID | FE_INEXACT);
      },
  };
}

}  // namespace

TEST_CASE("rounding, flushing, traps and flags of the caller change no bit and are left as found") {
  ONDULA_NEEDS_CLANG();
  for (const int threads : {1, 2}) {
    PropagatorOptions options = small_options();
    options.threads = threads;
    if (threads == 1) options.cache.directory = "off";  // Clang too meets the state
    const std::vector<double> expected = small_record(2, options);
    const Shot shot = small_shot(2);
    for (const std::function<void()>& set : unusual_states()) {
      FloatState before, after, inside, at_step;
      Records records;
      {
        const Unusual unusual(set);
        before = now();
        options.cancel = [&] {
          inside = now();
          return false;
        };
        Propagator propagator(equations::acoustic(), small_grid(2), options);
        propagator.set_model("vp", 2000.0);
        propagator.on_step(10, [&](const StepView& view) {
          at_step = now();
          static_cast<void>(view.field("u"));
        });
        records = propagator.forward({&shot, 1});
        propagator.set_state(propagator.state());
        static_cast<void>(propagator.estimate({&shot, 1}));
        after = now();
      }
      CHECK(records.at(0).at("u").data == expected);
      CHECK(after == before);
      CHECK(inside == before);
      CHECK(at_step == before);
    }
  }
}

TEST_CASE("the floating-point state is left as found by calls that throw") {
  ONDULA_NEEDS_CLANG();
  PropagatorOptions options = small_options();
  Propagator propagator(equations::acoustic(), small_grid(2), options);
  for (const std::function<void()>& set : unusual_states()) {
    FloatState before, after;
    int thrown = 0;
    {
      const Unusual unusual(set);
      before = now();
      try {
        propagator.set_model("rho", 1.0);
      } catch (const UserError&) {
        ++thrown;
      }
      try {
        options.order = 7;
        Propagator(equations::acoustic(), small_grid(2), options);
      } catch (const UserError&) {
        ++thrown;
      }
      after = now();
    }
    CHECK(thrown == 2);
    CHECK(after == before);
  }
}

TEST_CASE("host: a run flushes float32 denormals wherever it is read, fed or computed") {
  ONDULA_NEEDS_CLANG();
  Shot shot = small_shot(2);
  const Receiver at_source{.field = "u", .position = shot.sources[0].position};
  shot.receivers.push_back(at_source);
  const auto largest = [&](double amplitude, std::size_t receivers) {
    Shot scaled = shot;
    scaled.sources[0].scaling = Scaling::raw;
    for (double& sample : scaled.sources[0].wavelet) sample *= amplitude;
    scaled.receivers.resize(receivers, at_source);
    Propagator propagator(equations::acoustic(), small_grid(2), small_options());
    propagator.set_model("vp", 2000.0);
    // A start below the least normal number is nothing either.
    propagator.set_initial("u", std::vector<double>(24 * 24, 0.1 * amplitude));
    return max_abs(propagator.forward({&scaled, 1})[0].at("u").data);
  };
  // Few receivers are sampled by the calling thread, many by the device's.
  for (const std::size_t receivers : {3UL, 30'000UL}) {
    CHECK(largest(1e-36, receivers) > 1e-37);
    CHECK(largest(1e-39, receivers) == 0);
  }
}

}  // namespace ondula::test
