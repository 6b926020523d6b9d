// From updates to pieces of kernels.
// SPDX-License-Identifier: MIT
#include "compiler/passes/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/error.hpp"
#include "compiler/passes/factor.hpp"
#include "compiler/passes/fuse.hpp"
#include "compiler/passes/lets.hpp"
#include "compiler/passes/linear.hpp"
#include "compiler/passes/names.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::HalfCells;
using ir::Kind;
using ir::RegionKind;

class KernelBuilder {
 public:
  KernelBuilder(const ir::Program& program, std::string name) : program_(program), pool_(*program.pool) {
    kernel_.name = std::move(name);
  }

  ir::Kernel build(const Sweep& sweep) {
    std::vector<Group> groups;
    for (const std::vector<int>& updates : sweep.groups)
      groups.push_back({updates, update(updates.at(0)).regions.at(0), sweep.lead(updates[0])});
    std::map<std::size_t, int> bases;  // group of a correction -> piece it corrects
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto corrected = bases.find(g);
      if (corrected != bases.end()) {
        piece(groups[g].updates, groups[g].region, ir::Role::correction, corrected->second);
        continue;
      }
      const std::vector<std::size_t> corrections = corrections_of(groups, g);
      const int base = static_cast<int>(kernel_.pieces.size() + corrections.size());
      for (const std::size_t c : corrections) {
        std::vector<int> both = groups[g].updates;
        both.insert(both.end(), groups[c].updates.begin(), groups[c].updates.end());
        piece(both, groups[c].region, ir::Role::fused, base);
        bases[c] = base;
      }
      piece(groups[g].updates, groups[g].region, corrections.empty() ? ir::Role::alone : ir::Role::base, -1);
      kernel_.pieces.back().lead_axis = groups[g].lead.axis;
      kernel_.pieces.back().lead = groups[g].lead.cells;
    }
    std::set<std::string> scalars;
    for (const ir::Piece& p : kernel_.pieces) scalars.insert(p.scalars.begin(), p.scalars.end());
    for (const ir::Scalar& s : program_.scalars) {
      if (scalars.contains(s.name)) kernel_.scalars.push_back(s.name);
    }
    if (!twice_.empty()) throw InternalError("two corrections of one axis: " + twice_);
    return std::move(kernel_);
  }

 private:
  const ir::Update& update(int index) const {
    return std::get<ir::Update>(program_.operations[static_cast<std::size_t>(index)]);
  }

  struct Group {
    std::vector<int> updates;
    ir::Region region;
    Lead lead;
  };

  /// The later strip groups that correct what live group `g` computes. Rows of 1-D have no outer axis to tell
  /// them apart.
  std::vector<std::size_t> corrections_of(const std::vector<Group>& groups, std::size_t g) {
    std::vector<std::size_t> result;
    if (groups[g].region.kind != RegionKind::live || program_.dims() == 1) return result;
    // What lives beyond faces has rows outside every strip and core: its pieces run alone.
    if (program_.field(update(groups[g].updates[0]).field).beyond_axis >= 0) return result;
    for (std::size_t c = g + 1; c < groups.size(); ++c) {
      if (groups[c].region.kind != RegionKind::strip) continue;
      const bool corrects = std::all_of(groups[c].updates.begin(), groups[c].updates.end(), [&](int index) {
        const ir::Update& u = update(index);
        if (!u.accumulate) return program_.field(u.field).strip_axis >= 0;
        return std::any_of(groups[g].updates.begin(), groups[g].updates.end(),
                           [&](int base) { return update(base).field == u.field; });
      });
      const bool any = std::any_of(groups[c].updates.begin(), groups[c].updates.end(),
                                   [&](int index) { return update(index).accumulate; });
      if (!corrects || !any) continue;
      for (const std::size_t other : result) {
        if (groups[other].region.axis != groups[c].region.axis) continue;
        twice_ = update(groups[c].updates.back()).field;
      }
      result.push_back(c);
    }
    return result;
  }

  void piece(const std::vector<int>& group, const ir::Region& region, ir::Role role, int base) {
    piece_ = {};
    piece_.role = role;
    piece_.base = base;
    piece_.region = region;
    piece_.live_field = update(group[0]).field;
    for (const int index : group)
      piece_.mixed |= !same_points(program_, update(group[0]).field, update(index).field);
    piece_.location = update(group[0]).location;
    stored_.clear();
    std::vector<ir::Store> values;
    std::vector<std::string> names;
    for (const int index : group) {
      const ir::Update& u = update(index);
      const ir::Field& target = program_.field(u.field);
      Expr value = access(u.value, target);
      const std::string array = field_array(target, 1, true);
      if (u.accumulate) {
        const auto before = stored_.find(array);
        value = pool_.sum({before != stored_.end() ? before->second : pool_.field(array, 0), value});
      }
      value = factor(pool_, value);
      stored_[array] = value;
      const auto known =
          std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.array == array; });
      if (known != values.end())
        known->value = value;
      else
        values.push_back({array, value, u.field});
      names.push_back(u.field);
    }
    piece_.comment = fmt::format("{}{}", fmt::join(names, ", "), where(region));
    if (role == ir::Role::fused) piece_.comment += ", with the plain update";
    emit_lets(values);
    kernel_.pieces.push_back(std::move(piece_));
    kernel_.costs.push_back(cost(kernel_.pieces.back()));
  }

  std::string where(const ir::Region& region) const {
    if (region.kind == RegionKind::live) return "";
    return fmt::format(" in the {} of {}", region.kind == RegionKind::strip ? "layer" : "apron",
                       program_.axes[static_cast<std::size_t>(region.axis)]);
  }

  /// Field, coefficient and profile nodes become accesses of this kernel's arrays.
  Expr access(Expr e, const ir::Field& target) {
    return rewrite(pool_, e, [&](Expr node) -> Expr {
      switch (node->kind) {
        case Kind::field:
          return field_access(node, target);
        case Kind::coefficient: {
          const std::string name =
              array({.identifier = node->name, .name = node->name, .kind = ir::ArrayKind::coefficient});
          return pool_.coefficient(name, cells(node->offset));
        }
        case Kind::profile: {
          const std::string name =
              fmt::format("{}_{}{}", node->name, program_.axes[static_cast<std::size_t>(node->axis)],
                          node->staggered ? "_half" : "");
          array({.identifier = name,
                 .name = node->name,
                 .kind = ir::ArrayKind::profile,
                 .axis = node->axis,
                 .half = node->staggered});
          return pool_.profile(name, node->axis, node->staggered);
        }
        default:
          return {};
      }
    });
  }

  Expr field_access(Expr node, const ir::Field& target) {
    const ir::Field& field = program_.field(node->name);
    HalfCells offset = node->offset;
    for (std::size_t a = 0; a < offset.size(); ++a) {
      offset[a] += target.stagger[a] - field.stagger[a];
      if (offset[a] % 2 != 0) {
        throw InternalError(
            fmt::format("{} is read between its points in the update of {}", field.name, target.name));
      }
    }
    const std::string name = field_array(field, node->level, false);
    const auto stored = stored_.find(name);
    const bool new_value = node->level == 1;
    if (stored != stored_.end() && offset == HalfCells{} && new_value) return stored->second;
    return pool_.field(name, 0, cells(offset));
  }

  HalfCells cells(const HalfCells& half) {
    HalfCells result{};
    for (std::size_t a = 0; a < half.size(); ++a) {
      result[a] = half[a] / 2;
      kernel_.halo[a] = std::max(kernel_.halo[a], std::abs(result[a]));
    }
    return result;
  }

  std::string field_array(const ir::Field& field, int level, bool written) {
    ir::ArrayArgument argument{.identifier = identifier(field.name), .name = field.name, .written = written};
    if (field.slots() == 2 && level != 0) {
      argument.slot = 1;
      argument.identifier += field.saved ? "_before" : "_next";
    }
    if (field.strip_axis >= 0) {
      if (piece_.region.kind == RegionKind::live || piece_.region.axis != field.strip_axis) {
        throw UserError(fmt::format(
            "{}: equation {}: derivatives along two axes are nested, as in grad(div(v)); kernels have no "
            "absorbing layer for those yet ({} would be read outside its layer)",
            piece_.location.text(), program_.equation, field.name));
      }
      argument.axis = field.strip_axis;
      argument.local = argument.identifier;
      for (int side = 0; side < 2; ++side) {
        argument.side = side;
        argument.identifier = argument.local + (side == 0 ? "_lo" : "_hi");
        array(argument);
      }
      return argument.local;
    }
    return array(argument);
  }

  std::string array(ir::ArrayArgument argument) {
    if (argument.local.empty()) argument.local = argument.identifier;
    const auto known =
        std::find_if(kernel_.arrays.begin(), kernel_.arrays.end(),
                     [&](const ir::ArrayArgument& a) { return a.identifier == argument.identifier; });
    if (known == kernel_.arrays.end())
      kernel_.arrays.push_back(argument);
    else
      known->written = known->written || argument.written;
    return argument.identifier;
  }

  /// Shared subtrees and long ones become lets, operands before their users.
  void emit_lets(const std::vector<ir::Store>& values) {
    Uses uses;
    for (const ir::Store& store : values) count_uses(store.value, uses);
    Lets names(pool_);
    Lets::Named named;
    std::set<std::string> arrays, scalars;
    for (const ir::Store& store : values) {
      piece_.stores.push_back({store.array, names.name(store.value, uses, named, piece_.lets), store.field});
      arrays.insert(store.array);
    }
    for (const ir::Let& let : piece_.lets) used(let.value, arrays, scalars);
    for (const ir::Store& store : piece_.stores) used(store.value, arrays, scalars);
    piece_.scalars.assign(scalars.begin(), scalars.end());
    for (const ir::ArrayArgument& a : kernel_.arrays) {
      if (arrays.contains(a.local) && a.side <= 0) piece_.arrays.push_back(a.local);
    }
  }

  static void used(Expr e, std::set<std::string>& arrays, std::set<std::string>& scalars) {
    if (e->kind == Kind::field || e->kind == Kind::coefficient || e->kind == Kind::profile)
      arrays.insert(e->name);
    if (e->kind == Kind::symbol) scalars.insert(e->name);
    for (const Expr arg : e->args) used(arg, arrays, scalars);
  }

  static ir::Cost cost(const ir::Piece& piece) {
    ir::Cost result;
    std::set<std::uint32_t> loads;
    std::set<std::string> streams;
    const auto walk = [&](auto&& self, Expr e) -> void {
      if (e->kind == Kind::field || e->kind == Kind::coefficient) {
        loads.insert(e->id);
        streams.insert(e->name);
      }
      if (e->kind == Kind::function && e->name != "neg") result.flops += e->name == "fma" ? 2 : 1;
      for (const Expr arg : e->args) self(self, arg);
    };
    for (const ir::Let& let : piece.lets) walk(walk, let.value);
    for (const ir::Store& store : piece.stores) walk(walk, store.value);
    result.loads = static_cast<int>(loads.size());
    result.stores = static_cast<int>(piece.stores.size());
    result.streams = static_cast<int>(streams.size()) + result.stores;
    return result;
  }

  const ir::Program& program_;
  ir::Pool& pool_;
  ir::Kernel kernel_;
  ir::Piece piece_;
  std::string twice_;  // a field whose layer of one axis two groups correct, which no row would run
  std::map<std::string, Expr> stored_;  // arrays this piece has written, and the value
};

}  // namespace

ir::KernelSet lower(const ir::Program& hoisted, const std::vector<SweepOrOperation>& step) {
  ir::KernelSet set;
  set.program = hoisted;
  for (const SweepOrOperation& entry : step) {
    if (entry.operation >= 0) {
      set.stages.push_back({-1, entry.operation});
      continue;
    }
    const std::string name = fmt::format("{}_{}d_o{}_{}_sweep{}", hoisted.equation, hoisted.dims(),
                                         hoisted.order, hoisted.direction, set.kernels.size());
    set.stages.push_back({static_cast<int>(set.kernels.size()), -1});
    set.kernels.push_back(KernelBuilder(hoisted, name).build(entry.sweep));
  }
  return set;
}

}  // namespace ondula::passes
