// Grouping of updates into sweeps.
// SPDX-License-Identifier: MIT
#include "compiler/passes/dependences.hpp"

#include <algorithm>

#include "compiler/passes/footprint.hpp"

namespace ondula::passes {
namespace {

/// Every update of the step against those before it, across injections and halos too.
void refuse_overwritten(const ir::Program& program) {
  std::vector<const ir::Update*> earlier;
  for (const ir::Operation& operation : program.operations) {
    const auto* update = std::get_if<ir::Update>(&operation);
    if (update == nullptr) continue;
    const Footprint footprint(program, *update);
    for (const ir::Update* before : earlier) footprint.require_not_overwritten(*before);
    earlier.push_back(update);
  }
}

/// Sweeps of consecutive updates, as late as possible.
std::vector<Sweep> grouped(const ir::Program& program, const std::vector<int>& updates) {
  const std::size_t count = updates.size();
  std::vector<Footprint> footprints;
  for (const int index : updates) {
    footprints.emplace_back(program,
                            std::get<ir::Update>(program.operations[static_cast<std::size_t>(index)]));
  }
  std::vector<std::vector<Relation>> relations(count, std::vector<Relation>(count, Relation::free));
  std::vector<int> earliest(count, 0);
  int last = 0;
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      relations[i][j] = relation(footprints[i], footprints[j]);
      if (relations[i][j] == Relation::free) continue;
      earliest[j] = std::max(earliest[j], earliest[i] + (relations[i][j] == Relation::apart ? 1 : 0));
    }
    last = std::max(last, earliest[j]);
  }
  std::vector<int> sweep(count, last);
  for (std::size_t i = count; i-- > 0;) {
    for (std::size_t j = i + 1; j < count; ++j) {
      if (relations[i][j] == Relation::free) continue;
      sweep[i] = std::min(sweep[i], sweep[j] - (relations[i][j] == Relation::apart ? 1 : 0));
    }
  }
  std::vector<Sweep> result(static_cast<std::size_t>(last) + 1);
  for (std::size_t i = 0; i < count; ++i)
    result[static_cast<std::size_t>(sweep[i])].updates.push_back(updates[i]);
  return result;
}

}  // namespace

std::vector<SweepOrOperation> dependences(const ir::Program& expanded) {
  refuse_overwritten(expanded);
  std::vector<SweepOrOperation> result;
  std::vector<int> pending;
  const auto flush = [&] {
    if (pending.empty()) return;
    for (Sweep& sweep : grouped(expanded, pending)) {
      if (!sweep.updates.empty()) result.push_back({std::move(sweep), -1});
    }
    pending.clear();
  };
  for (std::size_t i = 0; i < expanded.operations.size(); ++i) {
    if (std::holds_alternative<ir::Update>(expanded.operations[i])) {
      pending.push_back(static_cast<int>(i));
      continue;
    }
    flush();
    result.push_back({{}, static_cast<int>(i)});
  }
  flush();
  return result;
}

}  // namespace ondula::passes
