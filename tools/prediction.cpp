// How long a job will take.
// SPDX-License-Identifier: MIT
#include "tools/prediction.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/device/device.hpp"

namespace ondula::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double cached_points = 150e3;   ///< of the small grid, layers included
constexpr double measured_points = 60e6;  ///< updated in one measurement of the kernels
// Of the copy; on shorter arrays the start of a sweep would count more than its bytes.
constexpr std::size_t fewest_copied = std::size_t{64} << 10;
constexpr std::size_t most_copied = std::size_t{8} << 20;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Bytes per second of the copy on arrays of `count` elements.
template <class Real>
double copy_rate(std::size_t count, int threads) {
  const auto device = device::make_host_device(threads);
  std::vector<Real> p(count, Real(1)), u(count, Real(1)), c(count, Real(0));
  const auto sweep = [&] {
    device->parallel(static_cast<std::int64_t>(count), [&](std::int64_t begin, std::int64_t end) {
      Real* const out = p.data();
      const Real* const now = u.data();
      const Real* const add = c.data();
      for (std::int64_t i = begin; i < end; ++i) out[i] = Real(2) * now[i] - out[i] + add[i];
    });
  };
  sweep();
  const int repeats = std::max(1, static_cast<int>(4'000'000 / count));
  // The best of several rounds: another process may have had a core for a while.
  double best = 0;
  for (const auto begin = Clock::now(); seconds_since(begin) < 0.2;) {
    const auto round = Clock::now();
    for (int k = 0; k < repeats; ++k) sweep();
    const double bytes = 4.0 * sizeof(Real) * static_cast<double>(count) * repeats;
    best = std::max(best, bytes / std::max(seconds_since(round), 1e-9));
  }
  return best;
}

/// The job's grid, shrunk along every axis by the same factor, layers too.
Grid small_grid(const Session& session) {
  Grid grid = session.job.grid;
  const double padded = static_cast<double>(session.estimate.padded_points);
  const double factor =
      std::min(1.0, std::pow(cached_points / padded, 1.0 / static_cast<double>(grid.axes.size())));
  for (std::size_t a = 0; a < grid.axes.size(); ++a) {
    const auto shrunk = static_cast<std::int64_t>(factor * static_cast<double>(grid.shape[a]));
    grid.shape[a] = std::max<std::int64_t>(shrunk, 2 * session.job.order);
    for (Face& face : grid.faces[a]) {
      if (face.width > 0) face.width = std::max(1, static_cast<int>(std::lround(factor * face.width)));
    }
  }
  return grid;
}

double kernel_rate(const Session& session) {
  const Grid grid = small_grid(session);
  PropagatorOptions options;
  options.dt = session.estimate.dt;
  options.order = session.job.order;
  options.dtype = session.job.dtype;
  options.absorb = session.survey.absorb;
  options.threads = session.job.threads.value_or(0);
  options.steps = static_cast<std::int64_t>(measured_points / cached_points);
  Propagator propagator(find_equation(session.job.equation), grid, options);
  for (const auto& [name, value] : session.typical) propagator.set_model(name, value);
  const std::vector<Shot> silence(2);
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    propagator.forward(silence);
    best = std::max(best, propagator.timings().padded_gpoints_per_s);
  }
  return 1e9 * best;
}

}  // namespace

Prediction predict(const Session& session) {
  Prediction result;
  const Estimate& e = session.estimate;
  if (session.job.backend != Backend::host) {
    result.problem = "not predicted for the reference";
    return result;
  }
  const auto count = std::clamp(static_cast<std::size_t>(e.padded_points), fewest_copied, most_copied);
  const int threads = session.job.threads.value_or(0);
  result.copy_bytes_per_s = session.job.dtype == DType::float32 ? copy_rate<float>(count, threads)
                                                                : copy_rate<double>(count, threads);
  const double updates = static_cast<double>(e.padded_points) * static_cast<double>(session.job.steps) *
                         e.substeps * static_cast<double>(session.survey.shots.size());
  result.seconds = updates * e.work_bytes_per_point / result.copy_bytes_per_s;
  if (!e.refusal.empty()) return result;
  try {
    result.kernel_points_per_s = kernel_rate(session);
    result.seconds = std::max(result.seconds, updates / result.kernel_points_per_s);
  } catch (const Error& error) {
    result.problem = error.what();
  }
  return result;
}

}  // namespace ondula::tools
