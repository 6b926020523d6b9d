// How long a job will take.
// SPDX-License-Identifier: MIT
#include "tools/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/device/device.hpp"
#include "tools/words.hpp"

namespace ondula::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double cached_points = 150e3;               ///< of the small grid, layers included
constexpr double measured_points = 60e6;              ///< updated in one measurement of the kernels
constexpr std::int64_t measured_samples = 2'000'000;  ///< of all receivers in one measurement
constexpr std::int64_t source_steps = 100;
constexpr std::size_t most_points = 50'000;  ///< receivers or sources measured
constexpr std::size_t probed_points = 100;   ///< to find how many can be
constexpr double set_up_seconds = 0.3;       ///< that one measurement's points may take to set up
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

/// What a sampled step and a step that is fed cost on the small grid, besides its kernels.
struct Rates {
  double points = 0;    ///< per s, by the kernels
  double receiver = 0;  ///< s per receiver and sample
  double source = 0;    ///< s per source and step while its wavelet lasts
  double set_up = 0;    ///< s per receiver or source and shot
};

/// Where a point of the job lies on the small grid: as far down its axes, and as far off the nodes.
std::vector<double> moved(const std::vector<double>& position, const Grid& from, const Grid& to) {
  std::vector<double> result;
  for (std::size_t a = 0; a < position.size(); ++a) {
    const double cell = (position[a] - from.origin[a]) / from.spacing[a], whole = std::floor(cell);
    const double share = static_cast<double>(to.shape[a] - 1) / static_cast<double>(from.shape[a]);
    const double there = std::floor(whole * std::min(share, 1.0)) + (cell - whole);
    result.push_back(to.origin[a] + to.spacing[a] * there);
  }
  return result;
}

/// Measures on a propagator with few steps.
class SmallRuns {
 public:
  explicit SmallRuns(const Session& session) : session_(session), grid_(small_grid(session)) {
    PropagatorOptions options;
    options.dt = session.estimate.dt;
    options.order = session.job.order;
    options.dtype = session.job.dtype;
    options.absorb = session.survey.absorb;
    options.threads = session.job.threads.value_or(0);
    propagator_ = std::make_unique<Propagator>(equation_of(session.job.equation), grid_, options);
    for (const auto& [name, value] : session.typical) propagator_->set_model(name, value);
  }

  Rates rates() {
    Rates result;
    const double points = padded_points();
    const Run silent = best({}, static_cast<std::int64_t>(measured_points / points));
    result.points = points / silent.step;
    const Shot receivers = measurable(true, silent.set_up), sources = measurable(false, silent.set_up);
    if (!receivers.receivers.empty()) {
      const auto count = static_cast<double>(receivers.receivers.size());
      const Run run =
          best(receivers, std::clamp<std::int64_t>(measured_samples / std::llround(count), 20, 300));
      result.receiver = std::max(0.0, run.step - silent.step) / count;
      result.set_up = std::max(0.0, run.set_up - silent.set_up) / count;
    }
    if (!sources.sources.empty()) {
      const auto count = static_cast<double>(sources.sources.size());
      const Run run = best(sources, source_steps);
      result.source = std::max(0.0, run.step - silent.step) / count;
      if (result.set_up == 0) result.set_up = std::max(0.0, run.set_up - silent.set_up) / count;
    }
    return result;
  }

 private:
  /// Seconds of a step, and of all before the first.
  struct Run {
    double step = std::numeric_limits<double>::infinity(), set_up = step;
  };

  double padded_points() const { return static_cast<double>(propagator_->estimate({}).padded_points); }

  Run best(const Shot& shot, std::int64_t steps) {
    Run result;
    // The set-up of many points is long enough to be measured once.
    const int rounds = shot.receivers.size() + shot.sources.size() > 5000 ? 1 : 3;
    for (int round = 0; round < rounds; ++round) {
      const auto begin = Clock::now();
      propagator_->forward({&shot, 1}, std::max<std::int64_t>(steps, 2));
      const double all = seconds_since(begin);
      const Timings& timings = propagator_->timings();
      result.step = std::min(result.step, timings.steady / static_cast<double>(timings.steps));
      result.set_up = std::min(result.set_up, all - timings.steady);
    }
    return result;
  }

  /// As many of the job's points as their set-up, of which `silent` seconds are none of theirs, allows:
  /// receivers off the nodes that combine fields take a hundred times as long as others.
  Shot measurable(bool receivers, double silent) {
    Shot probe = part(receivers, probed_points);
    const std::size_t probed = probe.receivers.size() + probe.sources.size();
    if (probed < probed_points) return probe;
    const double each = std::max(best(probe, 2).set_up - silent, 0.0) / static_cast<double>(probed);
    const double most = std::min(static_cast<double>(most_points), set_up_seconds / std::max(each, 1e-9));
    return part(receivers, std::max(probed_points, static_cast<std::size_t>(most)));
  }

  /// Up to `most` of the receivers or sources of the shot that has most of them, evenly chosen, on the small
  /// grid.
  Shot part(bool receivers, std::size_t most) const {
    const auto size = [&](const Shot& s) { return receivers ? s.receivers.size() : s.sources.size(); };
    const auto& shots = session_.survey.shots;
    const auto largest = std::max_element(shots.begin(), shots.end(),
                                          [&](const Shot& a, const Shot& b) { return size(a) < size(b); });
    Shot result;
    if (largest == shots.end()) return result;
    const std::size_t all = size(*largest), count = std::min(all, most);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t index = k * all / count;
      if (receivers) {
        result.receivers.push_back(largest->receivers[index]);
        Receiver& r = result.receivers.back();
        r.position = moved(r.position, session_.job.grid, grid_);
      } else {
        result.sources.push_back(largest->sources[index]);
        Source& s = result.sources.back();
        s.position = moved(s.position, session_.job.grid, grid_);
        s.wavelet.assign(static_cast<std::size_t>(source_steps), 0.0);
      }
    }
    return result;
  }

  const Session& session_;
  Grid grid_;
  std::unique_ptr<Propagator> propagator_;
};

/// Seconds of all shots' receivers and sources.
double points_time(const Session& session, const Rates& rates) {
  const auto samples = static_cast<double>(session.job.steps);
  double result = 0;
  for (const Shot& shot : session.survey.shots) {
    const auto receivers = static_cast<double>(shot.receivers.size());
    result += receivers * samples * rates.receiver;
    result += (receivers + static_cast<double>(shot.sources.size())) * rates.set_up;
    for (const Source& source : shot.sources)
      result += std::min(static_cast<double>(source.wavelet.size()), samples) * session.estimate.substeps *
                rates.source;
  }
  return result;
}

}  // namespace

Prediction predict(const Session& session) {
  Prediction result;
  const Estimate& e = session.estimate;
  if (session.job.backend != Backend::host) {
    result.problem = fmt::format("not predicted for {}", backend_text(session.job.backend));
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
    const Rates rates = SmallRuns(session).rates();
    result.kernel_points_per_s = rates.points;
    result.points_seconds = points_time(session, rates);
    result.seconds = std::max(result.seconds, updates / rates.points) + result.points_seconds;
  } catch (const Error& error) {
    result.problem = error.what();
  }
  return result;
}

}  // namespace ondula::tools
