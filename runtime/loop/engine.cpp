// Many steps, one after the other: engines that need not be asked for more at once.
// SPDX-License-Identifier: MIT
#include "runtime/loop/engine.hpp"

namespace ondula::loop {

void Engine::steps(std::int64_t first, std::int64_t count, std::int64_t every, const Watch& watch,
                   const Kept& kept) {
  std::vector<double> samples(watch.samples ? watch.receivers : 0);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t slot = kept.slot + k * kept.towards;
    if (kept.history != nullptr) bind(*kept.history, slot);
    const bool sampled = watch.samples && k % every == 0;
    step(first + k, sampled ? std::span<double>(samples) : std::span<double>());
    if (kept.history != nullptr && kept.keep) keep(*kept.history, slot);
    if (sampled) watch.samples(first + k, samples);
  }
}

void Engine::watch_magnitude(std::int64_t step, const Watch& watch) {
  if (watch.magnitude) watch.magnitude(step, magnitude());
}

}  // namespace ondula::loop
