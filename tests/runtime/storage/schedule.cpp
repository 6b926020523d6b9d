// Schedules: valid, and as cheap as can be.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/error.hpp"
#include "runtime/storage/schedule.hpp"

namespace ondula::test {
namespace {

using storage::Action;
using storage::Cost;
using Kind = Checkpoints::Kind;

/// Carries out a schedule on numbers; throws at what makes no sense.
class Simulation {
 public:
  explicit Simulation(std::int64_t steps) : steps_(steps), undone_(steps) {}

  Cost of(const storage::Schedule& schedule) {
    for (const Action& action : schedule) take(action);
    require(undone_ == 0, "steps are left");
    return cost_;
  }

 private:
  static void require(bool holds, const std::string& what) {
    if (!holds) throw InternalError(what);
  }

  void take(const Action& a) {
    require(a.from >= 0 && a.to >= a.from && a.to <= steps_, "a range outside the run");
    switch (a.kind) {
      case Action::Kind::keep:
        require(present_ == a.from, "the present is another");
        states_[a.slot] = a.from;
        cost_.states = std::max(cost_.states, static_cast<std::int64_t>(states_.size()));
        break;
      case Action::Kind::restore:
        require(states_.contains(a.slot) && states_[a.slot] == a.from, "restored what was not kept");
        present_ = a.from;
        break;
      case Action::Kind::advance:
      case Action::Kind::run:
        require(present_ == a.from, "the present is another");
        // Records are taken the first time, so no step may come the first time after a reverse.
        require(undone_ == steps_ || a.to <= undone_, "a step past those that are left");
        present_ = a.to;
        cost_.run += a.to - a.from;
        if (a.kind == Action::Kind::run) kept_ = a;
        if (a.kind == Action::Kind::run) cost_.longest = std::max(cost_.longest, a.to - a.from);
        break;
      case Action::Kind::reverse:
        require(kept_ && kept_->from == a.from && kept_->to == a.to, "the stretch was not kept");
        require(a.to == undone_, "steps are reversed out of order");
        undone_ = a.from;
        std::erase_if(states_, [&](const auto& state) { return state.second >= undone_; });
        kept_.reset();
        break;
    }
  }

  std::int64_t steps_, undone_, present_ = 0;
  std::map<int, std::int64_t> states_;
  std::optional<Action> kept_;
  Cost cost_;
};

/// The fewest steps run in all, each once kept: by trying every place for the next state.
class Optimum {
 public:
  std::int64_t of(std::int64_t steps, std::int64_t states) { return steps + advances(steps, states); }

 private:
  std::int64_t advances(std::int64_t steps, std::int64_t states) {
    if (steps <= 1) return 0;
    if (states == 1) return steps * (steps - 1) / 2;
    const auto [found, fresh] = known_.try_emplace({steps, states}, 0);
    if (!fresh) return found->second;
    std::int64_t least = steps * steps;
    for (std::int64_t m = 1; m < steps; ++m)
      least = std::min(least, m + advances(steps - m, states - 1) + advances(m, states));
    return known_[{steps, states}] = least;
  }

  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known_;
};

}  // namespace

TEST_CASE("Revolve's schedules are valid and run no step more than the optimum") {
  Optimum optimum;
  for (int states = 1; states <= 8; ++states) {
    for (std::int64_t steps = 1; steps <= 40; ++steps) {
      CAPTURE(states);
      CAPTURE(steps);
      const Checkpoints checkpoints{Kind::revolve, states};
      const Cost found = Simulation(steps).of(storage::make_schedule(checkpoints, steps));
      CHECK(found == storage::predict(checkpoints, steps));
      const bool whole = states >= steps;
      CHECK(found.run == (whole ? steps : optimum.of(steps, states)));
      CHECK(found.states == (whole ? 0 : states));
      CHECK(found.longest == (whole ? steps : 1));
    }
  }
}

TEST_CASE(
    "Revolve with stretches of several steps: as many advances over stretches, the last one never again") {
  for (const std::int64_t stretch : {2, 3, 8}) {
    for (int states = 1; states <= 6; ++states) {
      for (std::int64_t steps = 1; steps <= 60; ++steps) {
        CAPTURE(stretch);
        CAPTURE(states);
        CAPTURE(steps);
        const Checkpoints checkpoints{Kind::revolve, states};
        const Cost found = Simulation(steps).of(storage::make_schedule(checkpoints, steps, stretch));
        CHECK(found == storage::predict(checkpoints, steps, stretch));
        CHECK(found.run <= storage::predict(checkpoints, steps).run);
        CHECK(found.states <= states);
      }
    }
  }
  CHECK(storage::revolve_stretch(3, 1) == 12);
  CHECK(storage::revolve_stretch(6, 3) == 8);
  CHECK(storage::revolve_stretch(4, 1) == 16);
  CHECK(storage::revolve_stretch(12, 1) == 24);
  CHECK(storage::revolve_stretch(1000, 1) == 24);
  CHECK(storage::revolve_stretch(3, 24) == 1);
}

TEST_CASE("B11: as many states as steps, and nothing is run again") {
  for (const int states : {4, 5, 100}) {
    const storage::Schedule schedule = storage::make_schedule({Kind::revolve, states}, 4);
    CHECK(schedule.size() == 2);
    CHECK(storage::predict({Kind::revolve, states}, 4) == Cost{4, 0, 4});
  }
  // One fewer: the step in excess of the states is kept beside them.
  CHECK(storage::predict({Kind::revolve, 3}, 4) == Cost{7, 3, 1});
}

TEST_CASE("equal segments: each step but the last segment's is run twice") {
  for (int count = 1; count <= 9; ++count) {
    for (std::int64_t steps = 0; steps <= 30; ++steps) {
      CAPTURE(count);
      CAPTURE(steps);
      const Checkpoints checkpoints{Kind::segments, count};
      const storage::Schedule schedule = storage::make_schedule(checkpoints, steps);
      const Cost found = Simulation(steps).of(schedule);
      CHECK(found == storage::predict(checkpoints, steps));
      const std::int64_t segments = std::max<std::int64_t>(1, std::min<std::int64_t>(count, steps));
      CHECK(found.states == segments - 1);
      CHECK(found.longest == (steps + segments - 1) / segments);
      CHECK(found.run == 2 * steps - found.longest);
      for (const Action& action : schedule) {
        if (action.kind == Action::Kind::reverse) CHECK(action.to - action.from >= steps / segments);
      }
    }
  }
}

TEST_CASE("B12: steps 1 to 12 with 1 to 6 states: every schedule is whole, and a count below 1 is refused") {
  for (const Kind kind : {Kind::segments, Kind::revolve}) {
    for (std::int64_t steps = 1; steps <= 12; ++steps) {
      for (int count = 1; count <= 6; ++count) {
        const Cost found = Simulation(steps).of(storage::make_schedule({kind, count}, steps));
        CHECK(found.states <= count);
        CHECK(found.run >= steps);
      }
    }
    for (const int count : {0, -3}) {
      CHECK_THROWS_WITH_AS(storage::make_schedule({kind, count}, 10),
                           fmt::format("checkpoints: {} {}; at least 1 is needed", count,
                                       kind == Kind::segments ? "segments" : "states for Revolve")
                               .c_str(),
                           UserError);
      CHECK_THROWS_AS(storage::predict({kind, count}, 10), UserError);
    }
  }
  CHECK(storage::make_schedule({}, 10).size() == 2);
}

TEST_CASE("what a schedule of very many steps takes is known without making it") {
  // Griewank & Walther's own figure: 10 states, 286 steps = (13 over 3): three repetitions each at most.
  CHECK(storage::predict({Kind::revolve, 10}, 286).run == 286 + 3 * 286 - 78);
  const std::int64_t steps = 1'000'000'000'000;
  CHECK(storage::predict({Kind::segments, 4}, steps) == Cost{steps / 4 * 7, 3, steps / 4});
  CHECK(storage::predict({Kind::revolve, 1}, 1'000'000).run == std::int64_t{1'000'001} * 500'000);
  const Cost many = storage::predict({Kind::revolve, 30}, steps);
  CHECK(many.run > 2 * steps);
  CHECK(many.run < 30 * steps);
  // More than can be counted.
  CHECK(storage::predict({Kind::revolve, 1}, steps).run == std::numeric_limits<std::int64_t>::max());
}

}  // namespace ondula::test
