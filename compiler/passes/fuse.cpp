// Gathering the updates of a sweep.
// SPDX-License-Identifier: MIT
#include "compiler/passes/fuse.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "compiler/passes/footprint.hpp"

namespace ondula::passes {
namespace {

class Fuser {
 public:
  Fuser(const ir::Program& program, const Sweep& sweep, Fusion fusion) : program_(program), fusion_(fusion) {
    for (const int index : sweep.updates)
      members_.push_back({index, &update(index), sweep.lead(index), Footprint(program, update(index))});
    label();
  }

  /// From the last update to the first, each joins the nearest later group it may join, else heads a new one:
  /// as late as possible, so that a memory variable is computed where its axis corrects.
  std::vector<std::vector<int>> run() {
    std::vector<std::vector<std::size_t>> groups;  // the last group first; members last first
    for (std::size_t m = members_.size(); m-- > 0;) {
      std::size_t target = groups.size();
      for (std::size_t g = groups.size(); g-- > 0;) {
        if (joins(m, groups[g])) {
          target = g;
          break;
        }
        if (fusion_ == Fusion::points || !passes(m, groups[g])) break;
      }
      if (target == groups.size()) groups.emplace_back();
      groups[target].push_back(m);
    }
    std::reverse(groups.begin(), groups.end());
    for (auto& group : groups) std::reverse(group.begin(), group.end());
    if (fusion_ != Fusion::points) take_up(groups);
    std::vector<std::vector<int>> result;
    for (const auto& group : groups) {
      std::vector<int>& indices = result.emplace_back();
      for (const std::size_t m : group) indices.push_back(members_[m].index);
    }
    return result;
  }

 private:
  struct Member {
    int index;
    const ir::Update* update;
    Lead lead;
    Footprint footprint;
    int label = -1;  // the plain group it is part of, or corrects; -1: none
  };

  const ir::Update& update(int index) const {
    return std::get<ir::Update>(program_.operations[static_cast<std::size_t>(index)]);
  }

  /// Plain updates are labelled by the component of their statement they join; corrections as what they
  /// correct; memory variables as the corrections that use them, if those agree.
  void label() {
    std::map<std::string, int> labels;  // by field
    int count = 0;
    for (Member& member : members_) {
      if (member.update->accumulate || member.update->regions.at(0).kind != ir::RegionKind::live) continue;
      for (const Member& other : members_) {
        if (&other == &member) break;
        if (other.label < 0 || !same_statement(*other.update, *member.update)) continue;
        if (worthwhile(other.footprint, member.footprint)) member.label = other.label;
      }
      if (member.label < 0) member.label = count++;
      labels[member.update->field] = member.label;
    }
    for (Member& member : members_) {
      const auto found = labels.find(member.update->field);
      if (member.update->accumulate && found != labels.end()) member.label = found->second;
    }
    for (std::size_t m = members_.size(); m-- > 0;) {
      Member& member = members_[m];
      if (member.label >= 0 || program_.field(member.update->field).strip_axis < 0) continue;
      std::vector<int> users;
      for (const Member& other : members_) {
        if (&other > &member && coupling(member.footprint, other.footprint) != Coupling::free)
          users.push_back(other.label);
      }
      const bool agree = !users.empty() &&
                         std::all_of(users.begin(), users.end(), [&](int user) { return user == users[0]; });
      if (agree) member.label = users[0];
    }
  }

  /// A memory variable that takes up at its points what a correction of its strips leaves there, as an
  /// adjoint's do, joins that correction: its rows are short, and its input is in registers.
  void take_up(std::vector<std::vector<std::size_t>>& groups) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].size() != 1) continue;
      Member& member = members_[groups[g][0]];
      if (member.label >= 0 || program_.field(member.update->field).strip_axis < 0) continue;
      for (std::size_t earlier = g; earlier-- > 0;) {
        std::vector<std::size_t>& group = groups[earlier];
        const bool free = std::all_of(group.begin(), group.end(), [&](std::size_t other) {
          return coupling(members_[other].footprint, member.footprint) == Coupling::free;
        });
        if (free) continue;
        member.label = members_[group.front()].label;
        if (member.label < 0 || !members_[group.front()].update->accumulate || !takes(group, groups[g][0])) {
          member.label = -1;
          break;
        }
        group.push_back(groups[g][0]);
        groups[g].clear();
        break;
      }
    }
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
  }

  /// The group may end with member `m`.
  bool takes(const std::vector<std::size_t>& group, std::size_t m) const {
    const Member& member = members_[m];
    return std::all_of(group.begin(), group.end(), [&](std::size_t other) {
      const Member& before = members_[other];
      return before.update->regions == member.update->regions && before.lead == member.lead &&
             program_.field(before.update->field).stagger == program_.field(member.update->field).stagger &&
             coupling(before.footprint, member.footprint) <= Coupling::pointwise;
    });
  }

  /// At least half of the loads of one are the other's as well.
  bool worthwhile(const Footprint& a, const Footprint& b) const {
    if (fusion_ == Fusion::statement) return true;
    const auto common = std::count_if(a.loads().begin(), a.loads().end(),
                                      [&](const auto& load) { return b.loads().contains(load); });
    return 2 * static_cast<std::size_t>(common) >= std::min(a.loads().size(), b.loads().size());
  }

  bool same_statement(const ir::Update& a, const ir::Update& b) const {
    const bool line = a.location.line == b.location.line && a.location.file == b.location.file;
    return line && program_.field(a.field).inset.has_value() == program_.field(b.field).inset.has_value();
  }

  bool joins(std::size_t m, const std::vector<std::size_t>& group) const {
    const Member& member = members_[m];
    const Member& last = members_[group.front()];
    if (member.update->regions != last.update->regions || member.lead != last.lead) return false;
    const bool same = same_points(program_, member.update->field, last.update->field);
    if (!same && !insets_agree(program_.field(member.update->field), program_.field(last.update->field)))
      return false;
    if (program_.field(member.update->field).beyond_axis != program_.field(last.update->field).beyond_axis)
      return false;
    if (fusion_ == Fusion::points) return same;
    if (member.label != last.label || (!same && member.label < 0)) return false;
    return std::all_of(group.begin(), group.end(), [&](std::size_t other) {
      return coupling(member.footprint, members_[other].footprint) <= Coupling::pointwise;
    });
  }

  /// Rows of a piece end alike, but for the half cell that components differ by.
  static bool insets_agree(const ir::Field& a, const ir::Field& b) {
    if (a.inset.has_value() != b.inset.has_value()) return false;
    for (std::size_t axis = 0; a.inset && axis < a.inset->size(); ++axis) {
      if (std::abs((*a.inset)[axis] - (*b.inset)[axis]) > 1) return false;
    }
    return true;
  }

  /// It may be done after the whole group instead of before.
  bool passes(std::size_t m, const std::vector<std::size_t>& group) const {
    return std::all_of(group.begin(), group.end(), [&](std::size_t other) {
      return coupling(members_[m].footprint, members_[other].footprint) == Coupling::free;
    });
  }

  const ir::Program& program_;
  Fusion fusion_;
  std::vector<Member> members_;
};

}  // namespace

bool same_points(const ir::Program& program, const std::string& a, const std::string& b) {
  const ir::Field& f = program.field(a);
  const ir::Field& g = program.field(b);
  const bool same_rules =
      f.everywhere == g.everywhere && (f.everywhere || (f.kind == g.kind && f.component == g.component));
  return f.stagger == g.stagger && same_rules && f.beyond_axis == g.beyond_axis && f.inset == g.inset;
}

std::vector<SweepOrOperation> fuse(const ir::Program& program, std::vector<SweepOrOperation> step,
                                   Fusion fusion) {
  for (SweepOrOperation& entry : step) {
    if (entry.operation < 0) entry.sweep.groups = Fuser(program, entry.sweep, fusion).run();
  }
  return step;
}

}  // namespace ondula::passes
