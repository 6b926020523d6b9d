// Comparing gradients.
// SPDX-License-Identifier: MIT
#include "tests/runtime/storage/plans.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ondula::test {

std::string text(const Checkpoints& plan) {
  if (plan.kind == Checkpoints::Kind::none) return "no checkpoints";
  return fmt::format("{} {}", plan.kind == Checkpoints::Kind::segments ? "segments" : "revolve", plan.count);
}

Everything gradient_alone(const Problem& problem) {
  Propagator propagator = problem.propagator();
  Everything result;
  result.gradient = every_derivative(propagator, problem);
  return result;
}

std::string different(const Everything& found, const Everything& expected) {
  std::string words = fmt::format("{}", fmt::join(differences(found, expected), "; "));
  if (found.gradient.shot_misfits != expected.gradient.shot_misfits) words += "; misfits";
  return words;
}

}  // namespace ondula::test
