// What a gradient with boundary saving takes at the baseline's full sizes: allocated, and not run to its end.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>
#include <string>

#include "bench/baseline_cases.hpp"

namespace ondula {
namespace {

/// GiB of two codes, eager / hand-written, as published for boundary saving on one V100.
constexpr std::array<const char*, 9> published = {".12/.12",   ".42/.46",   "1.31/1.47",
                                                  ".37/.31",   "1.24/1.16", "3.74/3.34",
                                                  "2.09/1.96", "5.62/4.35", "11.60/10.00"};

std::size_t peak_of(const bench::Case& c) {
  bench::Setup setup = bench::set_up(c);
  setup.options.storage.keep = Storage::boundary;
  int polls = 0;
  setup.options.cancel = [&] { return ++polls > 2; };  // everything is allocated before the first step
  Propagator propagator = setup.propagator();
  try {
    propagator.gradient(setup.shots, [](std::int64_t, const auto& r) { return bench::sum_of_squares(r); });
  } catch (const Cancelled&) {
  }
  return propagator.device_bytes_peak();
}

}  // namespace
}  // namespace ondula

int main() {
  using namespace ondula;
  constexpr double gib = 1 << 30;
  fmt::print("{:<14}{:>8}{:>10}{:>16}\n", "case", "steps", "GiB", "published GiB");
  try {
    const auto cases = bench::baseline_cases();
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const double peak = static_cast<double>(peak_of(cases[k])) / gib;
      fmt::print("{:<14}{:>8}{:>10.3f}{:>16}\n", cases[k].label, cases[k].steps, peak, published[k]);
      std::fflush(stdout);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "boundary-memory: {}\n", error.what());
    return 4;
  }
  return 0;
}
