// Merging the reversed step with the adjoint's.
// SPDX-License-Identifier: MIT
#include "compiler/passes/rebuild.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "compiler/error.hpp"
#include "compiler/passes/confine.hpp"
#include "compiler/passes/linear.hpp"
#include "compiler/passes/reverse.hpp"
#include "compiler/passes/rings.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;
using Operations = std::vector<ir::Operation>;

/// Updates, then what follows before the next update.
struct Stretch {
  Operations updates, rest;
};

class Rebuilder {
 public:
  Rebuilder(const ir::Program& physical, ir::Adjoint adjoint)
      : physical_(physical),
        pool_(*physical.pool),
        reversal_(reverse(physical)),
        adjoint_(std::move(adjoint)),
        back_(adjoint_.program) {}

  ir::Adjoint run() {
    for (ir::Operation& operation : back_.operations) recall(operation);
    std::erase_if(back_.fields, [](const ir::Field& field) { return field.saved; });
    back_.fields.insert(back_.fields.end(), reversal_.fields.begin(), reversal_.fields.end());
    for (ir::Field& field : adjoint_.forward.fields) field.apart = false;
    merge();
    const std::map<std::string, RingDepths> depths = rings(physical_, back_);
    std::set<std::string> rebuilt, partners;
    for (const auto& [name, ring] : depths) {
      settle(name, ring);
      rebuilt.insert(rebuilt_name(name));
      if (!ring.kept && physical_.field(name).time_order == 1) partners.insert(rebuilt_name(name));
    }
    confine(back_, physical_, rebuilt, partners);
    adjoint_.handovers = reversal_.handovers;
    describe(depths);
    adjoint_.saves.clear();
    return std::move(adjoint_);
  }

 private:
  /// Level 0 of what was saved is a field as the step left it, -1 as the step found it.
  std::pair<std::string, int> rebuilt(const std::string& saved, int level) const {
    const auto save = std::find_if(adjoint_.saves.begin(), adjoint_.saves.end(),
                                   [&](const ir::Save& s) { return s.name == saved; });
    if (save == adjoint_.saves.end()) throw InternalError(saved + " is not saved");
    const bool second = physical_.field(save->field).time_order == 2;
    const int now = second ? -1 : 0, before = second ? 0 : 1;
    return {rebuilt_name(save->field), level == 0 ? now : before};
  }

  void recall(ir::Operation& operation) {
    if (auto* update = std::get_if<ir::Update>(&operation)) {
      update->value = rewrite(pool_, update->value, [&](Expr node) -> Expr {
        if (node->kind != Kind::field || !back_.field(node->name).saved) return {};
        const auto [name, level] = rebuilt(node->name, node->level);
        return pool_.field(name, level);
      });
    }
    auto* injection = std::get_if<ir::Injection>(&operation);
    if (injection == nullptr || injection->times.empty()) return;
    std::tie(injection->times, injection->times_level) = rebuilt(injection->times, -1);
  }

  static bool is_update(const ir::Operation& operation) {
    return std::holds_alternative<ir::Update>(operation);
  }

  /// Of the adjoint; the first has no updates.
  std::vector<Stretch> own_stretches() const {
    std::vector<Stretch> result(1);
    for (const ir::Operation& operation : back_.operations) {
      if (!is_update(operation)) {
        result.back().rest.push_back(operation);
        continue;
      }
      if (result.size() == 1 || !result.back().rest.empty()) result.emplace_back();
      result.back().updates.push_back(operation);
    }
    return result;
  }

  std::vector<Stretch> undoing() const {
    std::vector<Stretch> result(1);
    for (const Reversal::Stage& stage : reversal_.stages) {
      Stretch& stretch = result.emplace_back();
      for (const ir::Update& update : stage.updates) stretch.updates.emplace_back(update);
      for (const ir::Injection& injection : stage.injections) stretch.rest.emplace_back(injection);
      for (const ir::Update& update : stage.updates) stretch.rest.emplace_back(ir::Halo{update.field, 1});
    }
    return result;
  }

  static void append(Operations& to, const Operations& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  /// Side by side, so that what both read is read once; else one after the other.
  void merge() {
    const std::vector<Stretch> own = own_stretches(), undone = undoing();
    Operations beside, after, before;
    for (std::size_t k = 0; k < std::max(own.size(), undone.size()); ++k) {
      if (k < own.size()) append(beside, own[k].updates);
      if (k < undone.size()) append(beside, undone[k].updates);
      if (k < undone.size()) append(beside, undone[k].rest);
      if (k < own.size()) append(beside, own[k].rest);
    }
    for (const Stretch& stretch : undone) {
      append(before, stretch.updates);
      append(before, stretch.rest);
    }
    after = back_.operations;
    append(after, before);
    append(before, back_.operations);
    for (Operations* const order : {&beside, &after, &before}) {
      if (take(*order)) return;
    }
    // Sums read fields both as a step left and as it found them: these alternate between two arrays.
    for (ir::Field& field : back_.fields) {
      if (is_rebuilt(field.name)) field.time_order = 2;
    }
    if (!take(before)) throw InternalError("a rebuilt field is read before there is any");
  }

  bool take(Operations& order) {
    if (!right(order)) return false;
    back_.operations = std::move(order);
    return true;
  }

  /// Each rebuilt field is read before it is undone as the step left it, and after that as the step found it.
  bool right(const Operations& order) const {
    std::set<std::string> undone;
    const auto fits = [&](auto&& self, Expr e) -> bool {
      if (e->kind == Kind::field && is_rebuilt(e->name)) {
        const bool two = back_.field(e->name).time_order == 2;
        if (undone.contains(e->name) ? e->level == (two ? -1 : 0) : e->level == 1) return false;
      }
      return std::all_of(e->args.begin(), e->args.end(), [&](Expr arg) { return self(self, arg); });
    };
    for (const ir::Operation& operation : order) {
      if (const auto* update = std::get_if<ir::Update>(&operation)) {
        if (!fits(fits, update->value)) return false;
        if (is_rebuilt(update->field)) undone.insert(update->field);
      }
      const auto* injection = std::get_if<ir::Injection>(&operation);
      if (injection == nullptr || injection->times.empty()) continue;
      if (!fits(fits, pool_.field(injection->times, injection->times_level))) return false;
    }
    return true;
  }

  bool is_rebuilt(const std::string& name) const {
    return std::any_of(reversal_.fields.begin(), reversal_.fields.end(),
                       [&](const ir::Field& field) { return field.name == name; });
  }

  /// A field's inset, and its ring: filled before its images are.
  void settle(const std::string& name, const RingDepths& depths) {
    const std::string rebuilt = rebuilt_name(name);
    for (ir::Field& field : back_.fields) {
      if (field.name == rebuilt) field.inset = depths.inner;
    }
    if (!depths.kept) return;
    const int number = static_cast<int>(adjoint_.rings.size());
    adjoint_.rings.push_back({name, true, number, depths.outer, depths.inner});
    adjoint_.forward.operations.emplace_back(adjoint_.rings.back());
    const auto halo =
        std::find_if(back_.operations.begin(), back_.operations.end(), [&](const auto& operation) {
          const auto* found = std::get_if<ir::Halo>(&operation);
          return found != nullptr && found->field == rebuilt;
        });
    if (halo == back_.operations.end()) throw InternalError(rebuilt + " has no images");
    back_.operations.insert(halo, ir::Ring{rebuilt, false, number, depths.outer, depths.inner});
  }

  void describe(const std::map<std::string, RingDepths>& depths) {
    std::erase_if(adjoint_.decisions,
                  [](const std::string& d) { return d.starts_with("kept of each step"); });
    std::vector<std::string> kept;
    for (const auto& [name, ring] : depths) {
      if (!ring.kept) continue;
      std::vector<std::string> along;
      for (int axis = 0; axis < back_.dims(); ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        along.push_back(fmt::format("{} along {}", (ring.inner[a] - ring.outer[a]) / 2, back_.axes[a]));
      }
      kept.push_back(fmt::format("{} ({} cells)", name, fmt::join(along, ", ")));
    }
    adjoint_.decisions.push_back("rebuilt backwards in time: the interior of every field");
    adjoint_.decisions.push_back(
        fmt::format("kept of each step, beside absorbing faces: a ring of {}", fmt::join(kept, "; ")));
  }

  const ir::Program& physical_;
  ir::Pool& pool_;
  Reversal reversal_;
  ir::Adjoint adjoint_;
  ir::Program& back_;
};

}  // namespace

ir::Adjoint rebuild(const ir::Program& physical, ir::Adjoint adjoint) {
  return Rebuilder(physical, std::move(adjoint)).run();
}

}  // namespace ondula::passes
