// Depths by a fixed point over reads.
// SPDX-License-Identifier: MIT
#include "compiler/passes/rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "compiler/error.hpp"
#include "compiler/passes/expand.hpp"
#include "compiler/passes/reverse.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

/// How far an update reads each field, in half cells from its point, either way.
using Reads = std::map<std::string, ir::Depths>;

void collect(Expr e, Reads& reads) {
  if (e->kind == Kind::field) {
    ir::Depths& reach = reads[e->name];
    for (std::size_t a = 0; a < reach.size(); ++a) reach[a] = std::max(reach[a], std::abs(e->offset[a]));
  }
  for (const Expr arg : e->args) collect(arg, reads);
}

/// The outermost depth that is at least `depth` and one of the field's own.
int rounded(const ir::Field& field, int axis, int depth) {
  const int half = field.stagger[at(axis)];
  return (depth - half) % 2 == 0 ? depth : depth + 1;
}

class Rings {
 public:
  Rings(const ir::Program& physical, const ir::Program& back) : physical_(physical), back_(back) {
    const ir::Program expanded = expand(back);
    for (const ir::Field& field : physical.fields) {
      if (field.strip_axis >= 0) continue;
      names_.push_back(field.name);
      if (std::find(groups_.begin(), groups_.end(), field.group) == groups_.end())
        groups_.push_back(field.group);
    }
    for (const ir::Operation& operation : expanded.operations) {
      const auto* update = std::get_if<ir::Update>(&operation);
      if (update == nullptr) continue;
      Reads reads;
      collect(update->value, reads);
      std::erase_if(reads, [&](const auto& read) { return original(read.first).empty(); });
      const std::string own = original(update->field);
      if (!own.empty())
        undone_[own] = std::move(reads);
      else if (const ir::Field& field = back.field(update->field); field.accumulator && !reads.empty())
        pictured_.emplace_back(field.stagger, std::move(reads));
    }
  }

  std::map<std::string, RingDepths> run() const {
    std::optional<std::map<std::string, RingDepths>> best;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    const std::size_t ways = std::size_t{1} << std::min<std::size_t>(groups_.size(), 16);
    for (std::size_t way = 1; way < ways; ++way) {
      const auto found = depths(way);
      if (!found) continue;
      std::int64_t cells = 0;
      for (const auto& [name, ring] : *found) {
        for (int axis = 0; ring.kept && axis < back_.dims(); ++axis)
          cells += std::max(0, ring.inner[at(axis)] - ring.outer[at(axis)]);
      }
      if (cells < least) best = found, least = cells;
    }
    if (!best)
      throw UserError(fmt::format("equation {}: no set of fields is enough to rebuild the others from",
                                  physical_.equation));
    return *best;
  }

 private:
  /// The forward field that `name` rebuilds; empty: none.
  std::string original(const std::string& name) const {
    for (const std::string& field : names_) {
      if (rebuilt_name(field) == name) return field;
    }
    return {};
  }

  /// Where the layers' memory no longer acts on a forward field.
  int free_from(const ir::Field& field, int axis) const {
    bool strip = false, apron = false;
    for (const ir::Operation& operation : physical_.operations) {
      const auto* update = std::get_if<ir::Update>(&operation);
      if (update == nullptr || update->field != field.name) continue;
      for (const ir::Region& region : update->regions) {
        strip |= region.kind == ir::RegionKind::strip && region.axis == axis;
        apron |= region.kind == ir::RegionKind::apron && region.axis == axis;
      }
    }
    const int half = field.stagger[at(axis)];
    if (apron) return 2 * physical_.apron_cells() + half;
    return strip ? half : std::numeric_limits<int>::min() / 4;
  }

  /// With rings of the groups whose bits `way` has; nothing where a field would be needed further out than it
  /// can be rebuilt, or where depths never settle.
  std::optional<std::map<std::string, RingDepths>> depths(std::size_t way) const {
    std::map<std::string, RingDepths> result;
    for (const std::string& name : names_) {
      const ir::Field& field = physical_.field(name);
      const auto group =
          static_cast<std::size_t>(std::find(groups_.begin(), groups_.end(), field.group) - groups_.begin());
      RingDepths& ring = result[name];
      ring.kept = (way >> group & 1) != 0;
      for (int axis = 0; axis < back_.dims(); ++axis) {
        ring.outer[at(axis)] = pictured_.empty() ? field.stagger[at(axis)] : needed(field, axis);
      }
    }
    if (pictured_.empty() && !widen(result)) return {};
    for (auto& [name, ring] : result) {
      const ir::Field& field = physical_.field(name);
      for (int axis = 0; axis < back_.dims(); ++axis)
        ring.inner[at(axis)] = std::max(ring.outer[at(axis)], rounded(field, axis, free_from(field, axis)));
    }
    for (int round = 0; round < 64; ++round) {
      if (!deepen(result)) return serves(result) ? std::optional(result) : std::nullopt;
    }
    return {};
  }

  /// Without sums every field is wanted in the whole interior, where those that keep no ring are undone:
  /// hence what they read as far out as they do. Whether that ends.
  bool widen(std::map<std::string, RingDepths>& result) const {
    for (int round = 0; round < 64; ++round) {
      bool changed = false;
      for (const auto& [name, reads] : undone_) {
        const RingDepths own = result.at(name);
        if (own.kept) continue;
        for (const auto& [other, reach] : reads) {
          RingDepths& read = result.at(original(other));
          for (int axis = 0; original(other) != name && axis < back_.dims(); ++axis) {
            const int depth = own.outer[at(axis)] - reach[at(axis)];
            if (depth < read.outer[at(axis)]) read.outer[at(axis)] = depth, changed = true;
          }
        }
      }
      if (!changed) return true;
    }
    return false;
  }

  /// The outermost depth at which sums read it, at least the outermost of the interior.
  int needed(const ir::Field& field, int axis) const {
    int depth = -field.stagger[at(axis)];
    for (const auto& [stagger, reads] : pictured_) {
      const auto read = reads.find(rebuilt_name(field.name));
      // A coefficient of half cells is right only if those just outside the interior are.
      if (read != reads.end()) depth = std::min(depth, -stagger[at(axis)] - read->second[at(axis)]);
    }
    return depth;
  }

  bool deepen(std::map<std::string, RingDepths>& result) const {
    bool changed = false;
    for (const auto& [name, reads] : undone_) {
      const ir::Field& field = physical_.field(name);
      RingDepths& own = result.at(name);
      for (const auto& [other, reach] : reads) {
        if (original(other) == name && reach == ir::Depths{}) continue;
        const RingDepths& read = result.at(original(other));
        for (int axis = 0; axis < back_.dims(); ++axis) {
          const std::size_t a = at(axis);
          const int at_hand = read.kept ? read.outer[a] : read.inner[a];
          const int from = rounded(field, axis, at_hand + reach[a]);
          if (from > own.inner[a]) own.inner[a] = from, changed = true;
        }
      }
      if (own.inner[0] > 1000) return false;
    }
    return changed;
  }

  bool serves(const std::map<std::string, RingDepths>& result) const {
    for (const auto& [name, ring] : result) {
      for (int axis = 0; axis < back_.dims(); ++axis) {
        if (ring.inner[at(axis)] > 1000) return false;
        if (!ring.kept && pictured(name) && ring.inner[at(axis)] > ring.outer[at(axis)]) return false;
      }
    }
    return true;
  }

  bool pictured(const std::string& name) const {
    if (pictured_.empty()) return true;
    return std::any_of(pictured_.begin(), pictured_.end(),
                       [&](const auto& p) { return p.second.contains(rebuilt_name(name)); });
  }

  const ir::Program& physical_;
  const ir::Program& back_;
  std::vector<std::string> names_, groups_;
  std::map<std::string, Reads> undone_;                    // by forward field
  std::vector<std::pair<ir::HalfCells, Reads>> pictured_;  // what sums at these points read
};

}  // namespace

std::map<std::string, RingDepths> rings(const ir::Program& physical, const ir::Program& back) {
  return Rings(physical, back).run();
}

}  // namespace ondula::passes
