// Plans of storage to compare, and what a gradient by one of them gives.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>

#include "runtime/storage/storage_plan.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"

namespace ondula::test {

constexpr Checkpoints segments(int count) { return {Checkpoints::Kind::segments, count}; }
constexpr Checkpoints revolve(int count) { return {Checkpoints::Kind::revolve, count}; }

inline constexpr std::array<Checkpoints, 6> checkpoint_plans = {segments(2), segments(3), segments(7),
                                                                revolve(3),  revolve(6),  revolve(12)};

std::string text(const Checkpoints& plan);

/// Every derivative of the problem, by a new Propagator.
Everything gradient_alone(const Problem& problem);

/// What differs in a single bit, in words; empty where nothing does.
std::string different(const Everything& found, const Everything& expected);

}  // namespace ondula::test
