// Grouping of updates into sweeps.
// SPDX-License-Identifier: MIT
#include "compiler/passes/dependences.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "compiler/error.hpp"
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

enum class Relation { free, ordered, ahead, apart };

/// How far ahead `strip`, a memory variable, must be complete for one who touches it so; axis -1 where that
/// is not along its own outer axis alone.
Lead lead_of(const ir::Program& program, const std::string& strip, const Touch& touch) {
  const int axis = program.field(strip).strip_axis;
  if (axis < 0 || axis >= program.dims() - 1) return {};
  for (int other = 0; other < program.dims(); ++other) {
    if (other != axis && touch.half_cells[static_cast<std::size_t>(other)] != 0) return {};
  }
  return {axis, (touch.half_cells[static_cast<std::size_t>(axis)] + 1) / 2};
}

/// What `later` demands of `earlier`: nothing, order within a row, that `earlier` runs ahead by `lead`, or a
/// sweep of its own.
Relation relation(const ir::Program& program, const Footprint& earlier, const Footprint& later,
                  Concurrency concurrency, Lead& lead) {
  const Reach far = concurrency == Concurrency::rows ? Reach::neighbour : Reach::row;
  Relation result = Relation::free;
  for (const auto& [name, first] : earlier.touches()) {
    const auto found = later.touches().find(name);
    if (found == later.touches().end()) continue;
    const Touch& second = found->second;
    if (!first.written && !second.written) continue;
    const bool flow = first.written && second.read >= far;
    const bool anti = second.written && first.read >= far;
    Relation one = flow || anti ? Relation::apart : Relation::ordered;
    if (flow && !anti) {
      lead = lead_of(program, name.substr(0, name.find('#')), second);
      if (lead.axis >= 0) one = Relation::ahead;
    }
    result = std::max(result, one);
  }
  return result;
}

/// Sweeps of consecutive updates, as late as possible.
class Grouping {
 public:
  Grouping(const ir::Program& program, const std::vector<int>& updates, bool lookahead,
           Concurrency concurrency)
      : updates_(updates),
        concurrency_(concurrency),
        relations_(updates.size(), std::vector<Relation>(updates.size(), Relation::free)),
        leads_(updates.size()) {
    std::vector<Footprint> footprints;
    for (const int index : updates) {
      footprints.emplace_back(program,
                              std::get<ir::Update>(program.operations[static_cast<std::size_t>(index)]));
    }
    for (std::size_t j = 0; j < updates.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) relate(program, footprints, i, j, lookahead);
    }
    set_apart(program, footprints);
  }

  std::vector<Sweep> sweeps() const {
    const std::size_t count = updates_.size();
    std::vector<int> earliest(count, 0);
    int last = 0;
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        if (relations_[i][j] != Relation::free)
          earliest[j] = std::max(earliest[j], earliest[i] + apart(i, j));
      }
      last = std::max(last, earliest[j]);
    }
    std::vector<int> sweep(count, last);
    for (std::size_t i = count; i-- > 0;) {
      for (std::size_t j = i + 1; j < count; ++j) {
        if (relations_[i][j] != Relation::free) sweep[i] = std::min(sweep[i], sweep[j] - apart(i, j));
      }
    }
    std::vector<Sweep> result(static_cast<std::size_t>(last) + 1);
    for (std::size_t i = 0; i < count; ++i) {
      Sweep& own = result[static_cast<std::size_t>(sweep[i])];
      own.updates.push_back(updates_[i]);
      own.leads.push_back(leads_[i]);
    }
    return result;
  }

 private:
  /// Accumulators with stencils of their own double the rows that a sweep has in cache at once: they do not
  /// go with the updates that follow (elastic 2-D, order 8, on a host: x1.15), and a kernel of threads, which
  /// holds all of it in registers, they have to themselves.
  void set_apart(const ir::Program& program, const std::vector<Footprint>& footprints) {
    const auto sums = [&](std::size_t i) {
      const auto& update = std::get<ir::Update>(program.operations[static_cast<std::size_t>(updates_[i])]);
      const ir::Field& field = program.field(update.field);
      return field.accumulator && !field.along;
    };
    bool stencils = false, interior = false;
    for (std::size_t i = 0; i < updates_.size(); ++i) {
      if (!sums(i)) continue;
      interior |= inset(program, i);
      for (const auto& [name, touch] : footprints[i].touches()) stencils |= touch.read == Reach::neighbour;
    }
    for (std::size_t j = 0; stencils && j < updates_.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        // Those of the interior alone share what they read with the fields that are rebuilt there.
        const bool one = sums(i) || (interior && inset(program, i));
        const bool other = sums(j) || (interior && inset(program, j));
        const bool parted = concurrency_ == Concurrency::rows ? one != other : sums(i) != sums(j);
        if (parted) relations_[i][j] = Relation::apart;
      }
    }
  }

  void relate(const ir::Program& program, const std::vector<Footprint>& footprints, std::size_t i,
              std::size_t j, bool lookahead) {
    Lead lead;
    Relation found = relation(program, footprints[i], footprints[j], concurrency_, lead);
    if (found == Relation::ahead) {
      // Who runs ahead may depend on nobody who keeps step, and has one axis to do so.
      const bool follows =
          std::any_of(relations_.begin(), relations_.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const auto& row) { return row[i] != Relation::free; });
      const bool other = leads_[i].axis >= 0 && leads_[i].axis != lead.axis;
      if (!lookahead || follows || other) {
        found = Relation::apart;
      } else {
        leads_[i] = {lead.axis, std::max(leads_[i].cells, lead.cells)};
      }
    }
    relations_[i][j] = found;
  }

  bool inset(const ir::Program& program, std::size_t i) const {
    const auto& update = std::get<ir::Update>(program.operations[static_cast<std::size_t>(updates_[i])]);
    return program.field(update.field).inset.has_value();
  }

  int apart(std::size_t i, std::size_t j) const { return relations_[i][j] == Relation::apart ? 1 : 0; }

  const std::vector<int>& updates_;
  Concurrency concurrency_;
  std::vector<std::vector<Relation>> relations_;
  std::vector<Lead> leads_;
};

}  // namespace

const Lead& Sweep::lead(int index) const {
  const auto found = std::find(updates.begin(), updates.end(), index);
  if (found == updates.end()) throw InternalError("an update that is not in its sweep");
  return leads.at(static_cast<std::size_t>(found - updates.begin()));
}

std::vector<SweepOrOperation> dependences(const ir::Program& expanded, bool lookahead,
                                          Concurrency concurrency) {
  refuse_overwritten(expanded);
  std::vector<SweepOrOperation> result;
  std::vector<int> pending;
  const auto flush = [&] {
    if (pending.empty()) return;
    for (Sweep& sweep : Grouping(expanded, pending, lookahead, concurrency).sweeps()) {
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
