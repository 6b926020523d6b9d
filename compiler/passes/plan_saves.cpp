// Trying all supplies.
// SPDX-License-Identifier: MIT
#include "compiler/passes/plan_saves.hpp"

#include <fmt/format.h>

#include "compiler/error.hpp"

namespace ondula::passes {
namespace {

/// Arrays, then how often something is computed again.
using Price = std::pair<std::size_t, std::size_t>;

SavePlan plan(const std::vector<GradientTerm>& terms) {
  SavePlan result;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const GradientTerm& term = terms[t];
    if (term.supply == Supply::saved) result.values.push_back(t);
    if (term.supply == Supply::gained) result.fields.insert(term.of.begin(), term.of.end());
    if (term.supply == Supply::recomputed) result.fields.insert(term.fields.begin(), term.fields.end());
  }
  return result;
}

Price price(const std::vector<GradientTerm>& terms) {
  const SavePlan kept = plan(terms);
  std::size_t again = 0;
  for (const GradientTerm& term : terms) again += term.supply == Supply::recomputed ? term.pairs.size() : 0;
  return {kept.fields.size() + kept.values.size(), again};
}

}  // namespace

SavePlan plan_saves(const ir::Program& physical, std::vector<GradientTerm>& terms) {
  std::size_t ways = 1;
  for (GradientTerm& term : terms) {
    if (term.open.empty()) {
      throw UserError(
          fmt::format("equation {}: no way is known to accumulate the gradient of {}: a derivative of a "
                      "derivative inside "
                      "an absorbing layer",
                      physical.equation, ir::text(term.coefficient, physical.axes)));
    }
    term.supply = term.open[0];
    // With very many terms the first way of those that come last is taken.
    if (ways < 100'000) ways *= term.open.size();
  }
  std::vector<GradientTerm> best = terms;
  Price least = price(terms);
  for (std::size_t way = 1; way < ways; ++way) {
    std::size_t rest = way;
    for (GradientTerm& term : terms) {
      term.supply = term.open[rest % term.open.size()];
      rest /= term.open.size();
    }
    const Price now = price(terms);
    if (now < least) {
      least = now;
      best = terms;
    }
  }
  terms = std::move(best);
  return plan(terms);
}

}  // namespace ondula::passes
