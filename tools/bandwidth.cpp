// A short measurement of how fast this machine moves memory the way a time step does.
// SPDX-License-Identifier: MIT
#include "tools/bandwidth.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "runtime/device/device.hpp"

namespace ondula::tools {
namespace {

template <class Real>
double measure(std::size_t count, device::Device& device) {
  using Clock = std::chrono::steady_clock;
  std::vector<Real> p(count, Real(1)), u(count, Real(1)), c(count, Real(0));
  const auto sweep = [&] {
    device.parallel(static_cast<std::int64_t>(count), [&](std::int64_t begin, std::int64_t end) {
      Real* const out = p.data();
      const Real* const now = u.data();
      const Real* const add = c.data();
      for (std::int64_t i = begin; i < end; ++i) out[i] = Real(2) * now[i] - out[i] + add[i];
    });
  };
  sweep();
  const auto begin = Clock::now();
  double seconds = 0;
  int sweeps = 0;
  // The best of several rounds: another process may have had a core for a while.
  double best = 0;
  while (seconds < 0.2) {
    const auto round = Clock::now();
    const int repeats = std::max<int>(1, static_cast<int>(4'000'000 / count));
    for (int k = 0; k < repeats; ++k) sweep();
    sweeps += repeats;
    const double spent = std::chrono::duration<double>(Clock::now() - round).count();
    if (spent > 0) best = std::max(best, 4.0 * sizeof(Real) * static_cast<double>(count) * repeats / spent);
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return best;
}

}  // namespace

double step_bandwidth(std::size_t count, DType dtype, int threads) {
  const std::size_t used = std::clamp<std::size_t>(count, 1, std::size_t{8} << 20);
  const auto device = device::make_host_device(threads);
  return dtype == DType::float32 ? measure<float>(used, *device) : measure<double>(used, *device);
}

}  // namespace ondula::tools
