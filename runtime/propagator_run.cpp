// The loop over a shot's steps: records, callbacks, guards, timings.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>

#include "compiler/error.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/trace_recorder.hpp"

namespace ondula {
namespace {

/// No physical amplitude is near this; float32 ends at 3.4e38.
constexpr double largest_amplitude = 1e30;

}  // namespace

std::map<std::string, Traces> Propagator::Impl::run_shot(loop::Engine& engine, const Shot& shot,
                                                         std::int64_t number, std::int64_t shots,
                                                         Clock::time_point begin) {
  TraceRecorder recorder(shot, steps_);
  std::vector<double> samples(shot.receivers.size());
  double callbacks = 0;
  const std::int64_t first = step_now_, last = first + steps_;
  for (std::int64_t n = first; n < last; ++n) {
    if (options_.cancel && options_.cancel()) {
      throw Cancelled(fmt::format("cancelled at step {} of shot {}", n, number));
    }
    if (callback_ && &engine == engine_.get() && every_ > 0 && n % every_ == 0)
      callbacks += call_back(number, n);
    engine.step(n * substeps_, samples);
    for (int k = 1; k < substeps_; ++k) engine.step(n * substeps_ + k, {});
    recorder.put(n - first, samples);
    step_now_ = n + 1;
    if ((n + 1) % guard_interval == 0 || n + 1 == last) guard(engine, number, n);
    if (n == first && number == 0) {
      timings_.first = since(begin) - callbacks;
      callbacks = 0;
      begin = Clock::now();
    }
    if (options_.progress && (n % 10 == 0 || n + 1 == last)) {
      options_.progress({number, shots, n + 1 - first, steps_});
    }
  }
  timings_.steady += since(begin) - callbacks;
  timings_.steps += (steps_ - (number == 0 && steps_ > 0 ? 1 : 0)) * substeps_;
  return recorder.take();
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

void Propagator::Impl::guard(const loop::Engine& engine, std::int64_t shot, std::int64_t step) const {
  const double size = engine.magnitude();
  if (size <= largest_amplitude) return;
  throw RuntimeError(
      fmt::format("shot {}: at step {} (t = {:.6g} s) a field {}; the run is stopped. Check the model and "
                  "the wavelet's amplitude",
                  shot, step + 1, options_.t0 + static_cast<double>(step + 1) * options_.dt,
                  std::isnan(size) ? "is no longer finite" : fmt::format("has grown to {:.3g}", size)));
}

void Propagator::Impl::tell(std::int64_t shot, std::int64_t step, std::int64_t steps) const {
  if (options_.progress && (step % 10 == 1 || step == steps)) options_.progress({shot, shots_, step, steps});
}

void Propagator::Impl::finish_timings() {
  double points = 1;
  for (const std::int64_t n : grid_.shape) points *= static_cast<double>(n);
  const double rate = timings_.steady > 0 ? static_cast<double>(timings_.steps) / timings_.steady : 0;
  timings_.gpoints_per_s = points * rate / 1e9;
  timings_.padded_gpoints_per_s = static_cast<double>(domain_.points()) * rate / 1e9;
}

}  // namespace ondula
