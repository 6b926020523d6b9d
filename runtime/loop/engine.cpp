// Many steps, one after the other: engines that need not be asked for more at once.
// SPDX-License-Identifier: MIT
#include "runtime/loop/engine.hpp"

#include <utility>

#include "compiler/error.hpp"

namespace ondula::loop {

void Engine::set_shots(std::vector<EnginePoints> shots) {
  if (shots.size() != 1) throw InternalError("an engine of one shot at a time");
  set_points(std::move(shots.front().sources), std::move(shots.front().receivers));
}

void Engine::steps(std::int64_t first, std::int64_t count, std::int64_t every, const Watch& watch,
                   const Kept& kept) {
  std::vector<double> samples(watch.samples ? watch.receivers : 0);
  for (std::int64_t k = 0; k < count; ++k) {
    if (kept.history != nullptr) {
      kept.history->open(kept.way, kept.before(k), kept.after(k));
      bind(*kept.history, kept.before(k), kept.after(k));
    }
    const bool sampled = watch.samples && k % every == 0;
    step(first + k, sampled ? std::span<double>(samples) : std::span<double>());
    if (kept.history != nullptr && kept.way == Kept::Way::keep) keep(*kept.history, kept.after(k));
    if (sampled) watch.samples(first + k, samples);
  }
}

void Engine::watch_magnitude(std::int64_t step, const Watch& watch) {
  if (!watch.magnitude) return;
  const double size = magnitude();
  watch.magnitude(step, std::span(&size, 1));
}

}  // namespace ondula::loop
