// In which order a gradient runs its steps forwards and backwards, given the states it may hold.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/storage/storage_plan.hpp"

namespace ondula::storage {

/// One thing a gradient does. Steps are counted in samples of the record, each with all its substeps: a
/// stretch never ends inside one, so that records and sources keep their cadence.
struct Action {
  enum class Kind {
    keep,     ///< the present, before step `from`, becomes the state in `slot`
    restore,  ///< the state in `slot`, that before step `from`, becomes the present
    advance,  ///< runs steps from .. to - 1, keeping nothing of them
    run,      ///< runs steps from .. to - 1, keeping what the way back needs of each: a stretch
    reverse   ///< undoes the stretch, steps to - 1 down to from, which `run` has just kept
  };
  Kind kind = Kind::run;
  std::int64_t from = 0, to = 0;
  int slot = -1;
  bool operator==(const Action&) const = default;
};

/// Steps 0 .. steps - 1 forwards, then backwards, each reversed once, in order. Before the first reverse
/// every step has been run once; what comes after is run again.
using Schedule = std::vector<Action>;

/// What a schedule takes.
struct Cost {
  std::int64_t run = 0;      ///< steps run forwards in all, the first time included
  std::int64_t states = 0;   ///< held at once at most
  std::int64_t longest = 0;  ///< steps of the longest stretch
  bool operator==(const Cost&) const = default;
};

/// The schedule of `checkpoints` for so many steps. Equal segments: their number as asked, or one for each
/// step where that is less; the last is never run again. Revolve: the fewest steps in all that `count` states
/// allow, the one the run starts from among them, where stretches are `stretch` steps, the last one what is
/// left; what is kept of one has a history of its own beside the states. With as many states as steps or
/// more, all steps are one stretch: nothing is run again and no state is held. Throws UserError for a count
/// below 1.
Schedule make_schedule(const Checkpoints& checkpoints, std::int64_t steps, std::int64_t stretch = 1);

/// What it takes, without making it.
Cost predict(const Checkpoints& checkpoints, std::int64_t steps, std::int64_t stretch = 1);

/// Samples of Revolve's stretches: four times as many steps as there are states, from 12 to 24. To keep a
/// state and to put it back each cost as much as one or two steps, which is then little beside the stretch;
/// and what a stretch keeps is about as much as what the states are.
std::int64_t revolve_stretch(int states, int substeps);

}  // namespace ondula::storage
