// Schedules: one stretch, equal segments, Revolve.
// SPDX-License-Identifier: MIT
#include "runtime/storage/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/error.hpp"

namespace ondula::storage {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// Binomial (s + r over s): the steps that s states reverse with no step run forwards more than r times
/// before its stretch; at least `enough` where it is larger than that.
std::int64_t reach(std::int64_t s, std::int64_t r, std::int64_t enough) {
  if (r < 0) return 0;
  std::int64_t value = 1;
  for (std::int64_t k = 1; k <= std::min(s, r); ++k) {
    const std::int64_t factor = std::max(s, r) + k;
    if (value >= enough || value > most / factor) return enough;
    value = value * factor / k;
  }
  return value;
}

/// The least r with reach(s, r) >= steps.
std::int64_t repetitions(std::int64_t s, std::int64_t steps) {
  std::int64_t least = 0, enough = 1;
  while (reach(s, enough, steps) < steps) enough *= 2;
  while (least < enough) {
    const std::int64_t middle = least + (enough - least) / 2;
    if (reach(s, middle, steps) >= steps)
      enough = middle;
    else
      least = middle + 1;
  }
  return enough;
}

/// Of so many steps from a state that stays in its place, with `s` states counting that one: how far to go
/// before the next is kept. Going on costs a step each way until what lies behind needs r - 1 repetitions
/// with s states, and what lies ahead r with s - 1: anything between is optimal, and the farthest keeps
/// least.
std::int64_t split(std::int64_t s, std::int64_t steps) {
  const std::int64_t r = repetitions(s, steps);
  return std::min(reach(s, r - 1, steps), steps - reach(s - 1, r - 1, steps));
}

class Revolve {
 public:
  Revolve(std::int64_t states, std::int64_t steps, std::int64_t stretch, Schedule& schedule)
      : states_(states), steps_(steps), stretch_(stretch), schedule_(schedule) {}

  void make() { range(0, (steps_ + stretch_ - 1) / stretch_, 0); }

 private:
  using Kind = Action::Kind;

  /// Reverses stretches from .. to - 1 beginning with the present before `from`; states below `slot` are
  /// taken.
  void range(std::int64_t from, std::int64_t to, std::int64_t slot) {
    if (to - from > 1) add(Kind::keep, from, from, slot);
    while (to - from > 1) {
      const std::int64_t middle = from + split(states_ - slot, to - from);
      add(Kind::advance, from, middle, -1);
      range(middle, to, slot + 1);
      add(Kind::restore, from, from, slot);
      to = middle;
    }
    add(Kind::run, from, to, -1);
    add(Kind::reverse, from, to, -1);
  }

  void add(Kind kind, std::int64_t from, std::int64_t to, std::int64_t slot) {
    const auto step = [&](std::int64_t k) { return std::min(k * stretch_, steps_); };
    schedule_.push_back({kind, step(from), step(to), static_cast<int>(slot)});
  }

  std::int64_t states_, steps_, stretch_;
  Schedule& schedule_;
};

/// Number of segments; the first `shorter` of them have one step less than the others' `length`.
struct Segments {
  std::int64_t count = 1, length = 0, shorter = 0;
  Segments(std::int64_t asked, std::int64_t steps) {
    count = std::max<std::int64_t>(1, std::min(asked, steps));
    length = (steps + count - 1) / count;
    shorter = count * length - steps;
  }
  std::int64_t begin(std::int64_t k) const { return k * length - std::min(k, shorter); }
};

void add_segments(const Segments& segments, Schedule& schedule) {
  using Kind = Action::Kind;
  for (std::int64_t k = 0; k + 1 < segments.count; ++k) {
    schedule.push_back({Kind::keep, segments.begin(k), segments.begin(k), static_cast<int>(k)});
    schedule.push_back({Kind::advance, segments.begin(k), segments.begin(k + 1), -1});
  }
  for (std::int64_t k = segments.count - 1; k >= 0; --k) {
    const std::int64_t from = segments.begin(k), to = segments.begin(k + 1);
    if (k + 1 < segments.count) schedule.push_back({Kind::restore, from, from, static_cast<int>(k)});
    schedule.push_back({Kind::run, from, to, -1});
    schedule.push_back({Kind::reverse, from, to, -1});
  }
}

/// Whether all steps are one stretch.
bool whole(const Checkpoints& checkpoints, std::int64_t steps) {
  if (checkpoints.kind == Checkpoints::Kind::none) return true;
  if (checkpoints.count < 1) {
    const bool segments = checkpoints.kind == Checkpoints::Kind::segments;
    throw UserError(fmt::format("checkpoints: {} {}; at least 1 is needed", checkpoints.count,
                                segments ? "segments" : "states for Revolve"));
  }
  if (checkpoints.kind == Checkpoints::Kind::segments) return checkpoints.count == 1 || steps <= 1;
  return checkpoints.count >= steps;
}

}  // namespace

Schedule make_schedule(const Checkpoints& checkpoints, std::int64_t steps, std::int64_t stretch) {
  using Kind = Action::Kind;
  if (whole(checkpoints, steps)) return {{Kind::run, 0, steps, -1}, {Kind::reverse, 0, steps, -1}};
  Schedule schedule;
  if (checkpoints.kind == Checkpoints::Kind::segments)
    add_segments(Segments(checkpoints.count, steps), schedule);
  else
    Revolve(checkpoints.count, steps, stretch, schedule).make();
  return schedule;
}

Cost predict(const Checkpoints& checkpoints, std::int64_t steps, std::int64_t stretch) {
  if (whole(checkpoints, steps)) return {steps, 0, steps};
  if (checkpoints.kind == Checkpoints::Kind::segments) {
    const Segments segments(checkpoints.count, steps);
    return {steps + segments.begin(segments.count - 1), segments.count - 1, segments.length};
  }
  const std::int64_t stretches = (steps + stretch - 1) / stretch;
  // Griewank & Walther 2000: of n stretches, n r - reach(s + 1, r - 1) are advanced over, never the last one,
  // which alone may be shorter; and each is run once, kept.
  const std::int64_t s = checkpoints.count, r = repetitions(s, stretches);
  const bool countless = r > 0 && stretches > (most / stretch - stretches) / r;
  const std::int64_t advanced = countless ? 0 : stretches * r - reach(s + 1, r - 1, most);
  return {countless ? most : steps + advanced * stretch, std::min(s, stretches - 1),
          std::min(stretch, steps)};
}

std::int64_t revolve_stretch(int states, int substeps) {
  return std::max(1, std::clamp(4 * states, 12, 24) / std::max(1, substeps));
}

}  // namespace ondula::storage
