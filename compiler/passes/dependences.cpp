// Grouping of updates into sweeps.
// SPDX-License-Identifier: MIT
#include "compiler/passes/dependences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "compiler/error.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

/// How an update touches one stored array: the furthest kind of neighbour it reads, and whether it writes.
enum class Reach { none, point, row, neighbour };

struct Touch {
  Reach read = Reach::none;
  bool written = false;
  std::array<int, ir::max_axes> half_cells{};  // the furthest it reads along each axis, either way
};

/// Second-order fields are stored in two slots: 0 now, 1 the next level over the previous one.
std::string slot_name(const ir::Program& program, const std::string& field, int level) {
  const bool two = program.field(field).time_order == 2;
  return two && level != 0 ? field + "#1" : field + "#0";
}

class Footprint {
 public:
  Footprint(const ir::Program& program, const ir::Update& update, Concurrency concurrency = Concurrency::rows)
      : program_(program), update_(update), concurrency_(concurrency) {
    walk(update.value);
    Touch& target = touches_[slot_name(program, update.field, 1)];
    if (target.read > Reach::point) refuse("reads a neighbour of what it writes in place");
    target.written = true;
    if (update.accumulate) target.read = std::max(target.read, Reach::point);
  }

  const std::map<std::string, Touch>& touches() const { return touches_; }

  /// Refuses to read a value of this step's beginning that `earlier` has overwritten: a first-order field has
  /// one level only.
  void require_not_overwritten(const ir::Update& earlier) const {
    if (earlier.field == update_.field || program_.field(earlier.field).time_order == 2) return;
    if (old_.contains(earlier.field)) {
      refuse("reads " + earlier.field +
             " as it was before its own update, which comes first and is in place");
    }
  }

 private:
  /// An author's equation may ask for what kernels cannot do; a memory variable of ours may not.
  [[noreturn]] void refuse(const std::string& what) const {
    const std::string fault =
        fmt::format("equation {}: the update of {} {}", program_.equation, update_.field, what);
    if (program_.field(update_.field).strip_axis >= 0) throw InternalError(fault);
    throw UserError(update_.location.line > 0 ? update_.location.text() + ": " + fault : fault);
  }

  void walk(Expr e) {
    if (!seen_.insert(e->id).second) return;
    if (e->kind == Kind::field) {
      const ir::Field& field = program_.field(e->name);
      const ir::Field& target = program_.field(update_.field);
      Touch& touch = touches_[slot_name(program_, e->name, e->level)];
      Reach reach = Reach::point;
      for (int axis = 0; axis < program_.dims(); ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const int away = std::abs(target.stagger[a] + e->offset[a] - field.stagger[a]);
        touch.half_cells[a] = std::max(touch.half_cells[a], away);
        const bool in_row = axis == program_.dims() - 1 && concurrency_ == Concurrency::rows;
        if (away != 0) reach = std::max(reach, in_row ? Reach::row : Reach::neighbour);
      }
      if (e->level < 1) old_.insert(e->name);
      touch.read = std::max(touch.read, reach);
    }
    for (const Expr arg : e->args) walk(arg);
  }

  const ir::Program& program_;
  const ir::Update& update_;
  Concurrency concurrency_;
  std::map<std::string, Touch> touches_;
  std::set<std::string> old_;  // fields read at a level before the step's new one
  std::set<std::uint32_t> seen_;
};

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
Relation relation(const ir::Program& program, const Footprint& earlier, const Footprint& later, Lead& lead) {
  Relation result = Relation::free;
  for (const auto& [name, first] : earlier.touches()) {
    const auto found = later.touches().find(name);
    if (found == later.touches().end()) continue;
    const Touch& second = found->second;
    if (!first.written && !second.written) continue;
    const bool flow = first.written && second.read == Reach::neighbour;
    const bool anti = second.written && first.read == Reach::neighbour;
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
        relations_(updates.size(), std::vector<Relation>(updates.size(), Relation::free)),
        leads_(updates.size()) {
    std::vector<Footprint> footprints;
    for (const int index : updates) {
      footprints.emplace_back(
          program, std::get<ir::Update>(program.operations[static_cast<std::size_t>(index)]), concurrency);
    }
    for (std::size_t j = 0; j < updates.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) relate(program, footprints, i, j, lookahead);
    }
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
  void relate(const ir::Program& program, const std::vector<Footprint>& footprints, std::size_t i,
              std::size_t j, bool lookahead) {
    Lead lead;
    Relation found = relation(program, footprints[i], footprints[j], lead);
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

  int apart(std::size_t i, std::size_t j) const { return relations_[i][j] == Relation::apart ? 1 : 0; }

  const std::vector<int>& updates_;
  std::vector<std::vector<Relation>> relations_;
  std::vector<Lead> leads_;
};

}  // namespace

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
