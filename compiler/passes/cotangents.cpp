// Cotangents by the chain rule, from uses.
// SPDX-License-Identifier: MIT
#include "compiler/passes/cotangents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/error.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::vector<std::uint32_t> key_of(const Use& use) {
  std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(use.axis + 1)};
  for (const Expr p : use.profiles) key.push_back(p->id);
  return key;
}

}  // namespace

int reach(Expr e, int axis, int radius) {
  int widest = 0;
  for (const Expr arg : e->args) widest = std::max(widest, reach(arg, axis, radius));
  if (e->kind != Kind::derivative || e->axis != axis) return widest;
  // A staggered one spans 2 radius - 1 cells, half a cell short on each side.
  return widest + radius - (e->staggered && widest > 0 ? 1 : 0);
}

Cotangents::Cotangents(const ir::Program& physical, const std::vector<Use>& uses,
                       const AdjointVariables& variables, ir::Program& program)
    : physical_(physical), uses_(uses), variables_(variables), program_(program), pool_(*physical.pool) {
  std::set<std::string> late;
  for (const Use& use : uses) {
    if (use.self || use.atom->kind != Kind::field) continue;
    read_.insert(use.atom->name);
    (use.atom->level == 1 ? early_ : late).insert(use.atom->name);
  }
  for (const std::string& field : early_) {
    if (!late.contains(field)) continue;
    throw UserError(fmt::format(
        "equation {}: {} is read both before and after its own update in a step; no adjoint is derived for "
        "that yet",
        physical.equation, field));
  }
}

Part Cotangents::state(const std::string& field) const {
  return {-1, variables_.states.at(field).sign, pool_.field(field, early(field) ? 1 : 0)};
}

Part Cotangents::represented(const Cotangent& cotangent) {
  const auto found = variables_.cotangents.find(cotangent);
  if (found == variables_.cotangents.end()) throw InternalError("a cotangent without a field");
  const Represented& r = found->second;
  return {-1, r.sign, r.product ? product(cotangent, r) : state(r.field).value};
}

ir::Expr Cotangents::product(const Cotangent& cotangent, const Represented& represented) {
  if (!definitions_.contains(represented.field)) {
    std::vector<Expr> terms;
    ir::Location location;
    for (const auto& [target, coefficients] : cotangent) {
      const Part own = state(target);
      terms.push_back(
          pool_.product({pool_.constant(own.sign * represented.sign), pool_.sum(coefficients), own.value}));
      location = physical_.field(target).location;
    }
    const ir::Region live{ir::RegionKind::live, -1};
    definitions_[represented.field].update = {
        represented.field, 1, pool_.sum(std::move(terms)), false, {live}, location};
  }
  return pool_.field(represented.field, 1);
}

std::vector<Part> Cotangents::of(Expr atom) {
  std::vector<Part> parts;
  std::map<std::vector<std::uint32_t>, std::pair<const Use*, std::vector<Cotangent>>> grouped;
  for (const Use& use : uses_) {
    if (!(use.atom == atom) || use.self || use.parent) continue;
    if (physical_.field(use.target).strip_axis < 0) {
      auto& group = grouped[key_of(use)];
      group.first = &use;
      add_to(group.second, use.target, use.coefficient);
      continue;
    }
    const AdjointState& memory = variables_.states.at(use.target);
    Part part = state(use.target);
    part.axis = use.axis;
    std::vector<Expr> factors = {use.coefficient};
    bool taken = memory.kept != Kept::scaled;
    for (const Expr p : use.profiles) {
      if (!taken && p == memory.scale)
        taken = true;
      else
        factors.push_back(p);
    }
    factors.push_back(part.value);
    part.value = pool_.product(std::move(factors));
    parts.push_back(part);
  }
  for (const auto& [key, group] : grouped) {
    for (const Cotangent& c : group.second) {
      Part part = represented(c);
      part.axis = group.first->axis;
      std::vector<Expr> factors = group.first->profiles;
      factors.push_back(part.value);
      part.value = pool_.product(std::move(factors));
      parts.push_back(part);
    }
  }
  std::set<std::uint32_t> parents;
  for (const Use& use : uses_) {
    if (!(use.atom == atom) || !use.parent) continue;
    if (!use.profiles.empty()) throw InternalError("a profile under a derivative");
    for (const Part& part : of(use.parent)) {
      Part inner = transposed(use.parent, part);
      inner.value = pool_.product({use.coefficient, inner.value});
      parts.push_back(inner);
    }
  }
  return parts;
}

Part Cotangents::transposed(Expr derivative, Part part) {
  const Expr operand = plain(part.value, part.axis, stagger_of(part.value));
  part.value = pool_.derivative(operand, derivative->axis, derivative->order, derivative->staggered);
  if (derivative->order == 1) part.sign = -part.sign;
  return part;
}

/// Profiles do not go under derivatives: their product is stored on its strips.
Expr Cotangents::plain(Expr value, int axis, const ir::HalfCells& stagger) {
  if (!ir::contains(value, Kind::profile)) return value;
  if (axis < 0) throw InternalError("a profile outside the strips");
  const auto [known, fresh] = strips_.try_emplace(value->id, fmt::format("strip.{}", strips_.size()));
  const std::string& name = known->second;
  if (fresh) {
    ir::Field field{.name = name, .group = name, .unit = "", .stagger = stagger, .time_order = 1};
    field.everywhere = true;
    field.strip_axis = axis;
    const ir::Region strip{ir::RegionKind::strip, axis};
    definitions_[name] = {field, {name, 1, value, false, {strip}, ir::Location{}}};
  }
  return pool_.field(name, 1);
}

std::vector<ir::Operation> Cotangents::require(Expr value) {
  std::vector<ir::Operation> result;
  require(value, result);
  return result;
}

void Cotangents::require(Expr value, std::vector<ir::Operation>& into) {
  for (const Expr arg : value->args) require(arg, into);
  if (value->kind != Kind::field) return;
  const auto found = definitions_.find(value->name);
  if (found == definitions_.end() || !computed_.insert(value->name).second) return;
  const auto& [field, update] = found->second;
  require(update.value, into);
  into.emplace_back(update);
  if (field.strip_axis < 0)
    into.emplace_back(ir::Halo{update.field, 1});
  else
    program_.fields.push_back(field);
}

std::set<std::pair<std::string, int>> Cotangents::states_in(Expr value) const {
  std::set<std::pair<std::string, int>> result;
  states_in(value, result);
  return result;
}

void Cotangents::states_in(Expr value, std::set<std::pair<std::string, int>>& into) const {
  for (const Expr arg : value->args) states_in(arg, into);
  if (value->kind != Kind::field) return;
  const auto found = definitions_.find(value->name);
  if (found != definitions_.end())
    states_in(found->second.update.value, into);
  else
    into.emplace(value->name, value->level);
}

ir::HalfCells Cotangents::stagger_of(Expr value) const {
  if (value->kind == Kind::field) {
    const auto strip = definitions_.find(value->name);
    const bool own = strip != definitions_.end() && strip->second.field.strip_axis >= 0;
    return own ? strip->second.field.stagger : program_.field(value->name).stagger;
  }
  if (value->kind == Kind::derivative) {
    ir::HalfCells stagger = stagger_of(value->args[0]);
    if (value->staggered) stagger[at(value->axis)] = 1 - stagger[at(value->axis)];
    return stagger;
  }
  for (const Expr arg : value->args) {
    if (ir::contains(arg, Kind::field)) return stagger_of(arg);
  }
  throw InternalError("a cotangent without a field");
}

}  // namespace ondula::passes
