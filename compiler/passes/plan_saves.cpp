// Trying all supplies.
// SPDX-License-Identifier: MIT
#include "compiler/passes/plan_saves.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "compiler/error.hpp"

namespace ondula::passes {
namespace {

/// Arrays, those that are copied, then how often something is computed again.
using Price = std::tuple<std::size_t, std::ptrdiff_t, std::size_t>;

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

Price price(const ir::Program& physical, const std::vector<GradientTerm>& terms) {
  const SavePlan kept = plan(terms);
  std::size_t again = 0;
  for (const GradientTerm& term : terms) again += term.supply == Supply::recomputed ? term.pairs.size() : 0;
  const auto copied = std::count_if(kept.fields.begin(), kept.fields.end(), [&](const std::string& name) {
    return physical.field(name).time_order == 2;
  });
  return {kept.fields.size() + kept.values.size(), copied, again};
}

}  // namespace

SavePlan plan_saves(const ir::Program& physical, std::vector<GradientTerm>& terms, bool fields_only) {
  std::size_t ways = 1;
  for (GradientTerm& term : terms) {
    const bool had = !term.open.empty();
    if (fields_only) std::erase(term.open, Supply::saved);
    if (had && term.open.empty()) {
      throw UserError(fmt::format("equation {}: the gradient of {} needs a sum that is not kept",
                                  physical.equation, ir::text(term.coefficient, physical.axes)));
    }
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
  Price least = price(physical, terms);
  for (std::size_t way = 1; way < ways; ++way) {
    std::size_t rest = way;
    for (GradientTerm& term : terms) {
      term.supply = term.open[rest % term.open.size()];
      rest /= term.open.size();
    }
    const Price now = price(physical, terms);
    if (now < least) {
      least = now;
      best = terms;
    }
  }
  terms = std::move(best);
  return plan(terms);
}

std::vector<std::string> decisions(const ir::Program& physical, const std::vector<GradientTerm>& terms,
                                   const SavePlan& plan) {
  static constexpr const char* words[] = {
      "from what the field gains in a step, by parts in time where its adjoint is updated in mid-step",
      "from the saved sum it multiplies", "computed from saved fields"};
  std::vector<std::string> result, kept;
  for (const GradientTerm& term : terms) {
    result.push_back(fmt::format("gradient of {}: {}", ir::text(term.coefficient, physical.axes),
                                 words[static_cast<std::size_t>(term.supply)]));
  }
  for (const std::string& field : plan.fields) kept.push_back(field);
  for (const std::size_t value : plan.values)
    kept.push_back("the sum that " + ir::text(terms[value].coefficient, physical.axes) + " multiplies");
  result.push_back(fmt::format("kept of each step: {} array{}: {}", kept.size(), kept.size() == 1 ? "" : "s",
                               fmt::join(kept, "; ")));
  return result;
}

}  // namespace ondula::passes
