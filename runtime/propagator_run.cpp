// The loop over a shot's steps: records, callbacks, guards, timings.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/trace_recorder.hpp"

namespace ondula {
namespace {

/// No physical amplitude is near this; float32 ends at 3.4e38.
constexpr double largest_amplitude = 1e30;

}  // namespace

std::string Propagator::Impl::shots_text(std::int64_t first, std::size_t count) {
  if (count == 1) return fmt::format("shot {}", first);
  return fmt::format("shots {} to {}", first, first + static_cast<std::int64_t>(count) - 1);
}

Records Propagator::Impl::run_batch(loop::Engine& engine, std::span<const Shot> shots, std::int64_t number,
                                    Clock::time_point begin) {
  BatchRecorder recorder(shots, steps_);
  double callbacks = 0;
  const std::int64_t first = step_now_, last = first + steps_;
  const std::int64_t stride = engine.stride();
  const std::int64_t guarded = stride > 1 ? stride : guard_interval;
  const bool calls = calls_back() && &engine == engine_.get();
  const loop::Watch watch = watch_of(recorder, number, first);
  if (stride > 1 && number == 0) {
    // Steps that come by many have no first one to be timed apart.
    engine.finish(watch);
    timings_.first = since(begin);
    begin = Clock::now();
  }
  for (std::int64_t n = first; n < last;) {
    if (options_.cancel && options_.cancel())
      throw Cancelled(fmt::format("cancelled at step {} of {}", n, shots_text(number, shots.size())));
    if (calls && n % every_ == 0) callbacks += call_back(number, n);
    std::int64_t next = std::min(last, n + stride);
    if (calls) next = std::min(next, (n / every_ + 1) * every_);
    engine.steps(n * substeps_, (next - n) * substeps_, substeps_, watch);
    step_now_ = next;
    if (next / guarded > n / guarded || next == last) engine.watch_magnitude(next, watch);
    if (stride == 1 && n == first && number == 0) {
      timings_.first = since(begin) - callbacks;
      callbacks = 0;
      begin = Clock::now();
    }
    const bool always = stride > 1 || n % 10 == 0 || next == last;
    if (options_.progress && always) tell(number, shots.size(), next - first, steps_, true);
    n = next;
  }
  engine.finish(watch);
  timings_.steady += since(begin) - callbacks;
  const std::int64_t steady = steps_ - (stride == 1 && number == 0 && steps_ > 0 ? 1 : 0);
  timings_.steps += steady * substeps_ * static_cast<std::int64_t>(shots.size());
  return recorder.take();
}

loop::Watch Propagator::Impl::watch_of(BatchRecorder& recorder, std::int64_t shot, std::int64_t first) const {
  loop::Watch watch;
  watch.receivers = recorder.width();
  watch.samples = [this, &recorder, first](std::int64_t step, std::span<const double> samples) {
    recorder.put(step / substeps_ - first, samples);
  };
  watch.magnitude = [this, shot](std::int64_t step, std::span<const double> sizes) {
    for (std::size_t k = 0; k < sizes.size(); ++k)
      require_bounded(shot + static_cast<std::int64_t>(k), step, sizes[k]);
  };
  return watch;
}

double Propagator::Impl::call_back(std::int64_t shot, std::int64_t step) {
  const auto begin = Clock::now();
  callback_(
      {shot, step, options_.t0 + static_cast<double>(step) * options_.dt, [this](const std::string& name) {
         return call([&] {
           const auto [field, level] = initial_name(name);
           return cropped(engine_->field(field, level));
         });
       }});
  return since(begin);
}

void Propagator::Impl::require_bounded(std::int64_t shot, std::int64_t step, double size) const {
  if (size <= largest_amplitude) return;
  throw RuntimeError(
      fmt::format("shot {}: at step {} (t = {:.6g} s) a field {}; the run is stopped. Check the model and "
                  "the wavelet's amplitude",
                  shot, step, options_.t0 + static_cast<double>(step) * options_.dt,
                  std::isnan(size) ? "is no longer finite" : fmt::format("has grown to {:.3g}", size)));
}

void Propagator::Impl::tell(std::int64_t shot, std::size_t count, std::int64_t step, std::int64_t steps,
                            bool always) const {
  if (!options_.progress || (!always && step % 10 != 1 && step != steps)) return;
  const auto shots = static_cast<std::int64_t>(count);
  const std::int64_t done = step * shots, whole = steps > 0 ? std::min(done / steps, shots - 1) : 0;
  options_.progress({shot + whole, shots_, done - whole * steps, steps});
}

void Propagator::Impl::finish_timings() {
  double points = 1;
  for (const std::int64_t n : grid_.shape) points *= static_cast<double>(n);
  const double rate = timings_.steady > 0 ? static_cast<double>(timings_.steps) / timings_.steady : 0;
  timings_.gpoints_per_s = points * rate / 1e9;
  timings_.padded_gpoints_per_s = static_cast<double>(domain_.points()) * rate / 1e9;
}

}  // namespace ondula
