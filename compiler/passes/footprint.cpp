// Walking an update's reads.
// SPDX-License-Identifier: MIT
#include "compiler/passes/footprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "compiler/error.hpp"

namespace ondula::passes {
namespace {

/// Fields of two slots: 0 now, 1 the next level, of second-order fields over the previous one.
std::string slot_name(const ir::Program& program, const std::string& field, int level) {
  return program.field(field).slots() == 2 && level != 0 ? field + "#1" : field + "#0";
}

}  // namespace

Footprint::Footprint(const ir::Program& program, const ir::Update& update)
    : program_(program), update_(update) {
  walk(update.value);
  Touch& target = touches_[slot_name(program, update.field, 1)];
  if (target.read > Reach::point) refuse("reads a neighbour of what it writes in place");
  target.written = true;
  if (update.accumulate) target.read = std::max(target.read, Reach::point);
}

void Footprint::require_not_overwritten(const ir::Update& earlier) const {
  if (earlier.field == update_.field || program_.field(earlier.field).slots() == 2) return;
  if (old_.contains(earlier.field)) {
    refuse("reads " + earlier.field + " as it was before its own update, which comes first and is in place");
  }
}

/// An author's equation may ask for what kernels cannot do; a memory variable of ours may not.
void Footprint::refuse(const std::string& what) const {
  const std::string fault =
      fmt::format("equation {}: the update of {} {}", program_.equation, update_.field, what);
  if (program_.field(update_.field).strip_axis >= 0) throw InternalError(fault);
  throw UserError(update_.location.line > 0 ? update_.location.text() + ": " + fault : fault);
}

void Footprint::walk(ir::Expr e) {
  if (!seen_.insert(e->id).second) return;
  const ir::Field& target = program_.field(update_.field);
  if (e->kind == ir::Kind::coefficient) loads_.insert({e->name, e->offset});
  if (e->kind == ir::Kind::field) {
    const ir::Field& field = program_.field(e->name);
    Touch& touch = touches_[slot_name(program_, e->name, e->level)];
    Reach reach = Reach::point;
    for (int axis = 0; axis < program_.dims(); ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      const int away = std::abs(target.stagger[a] + e->offset[a] - field.stagger[a]);
      touch.half_cells[a] = std::max(touch.half_cells[a], away);
      if (away != 0) reach = std::max(reach, axis == program_.dims() - 1 ? Reach::row : Reach::neighbour);
    }
    ir::HalfCells position = e->offset;
    for (std::size_t a = 0; a < position.size(); ++a) position[a] += target.stagger[a];
    loads_.insert({slot_name(program_, e->name, e->level), position});
    if (e->level < 1) old_.insert(e->name);
    touch.read = std::max(touch.read, reach);
  }
  for (const ir::Expr arg : e->args) walk(arg);
}

Coupling coupling(const Footprint& earlier, const Footprint& later) {
  Coupling result = Coupling::free;
  for (const auto& [name, first] : earlier.touches()) {
    const auto found = later.touches().find(name);
    if (found == later.touches().end()) continue;
    const Touch& second = found->second;
    if (!first.written && !second.written) continue;
    const Reach flow = first.written ? second.read : Reach::none;
    const Reach anti = second.written ? first.read : Reach::none;
    const Reach reach = std::max(flow, anti);
    result = std::max(result, reach == Reach::neighbour ? Coupling::apart
                              : reach == Reach::row     ? Coupling::row
                                                        : Coupling::pointwise);
  }
  return result;
}

}  // namespace ondula::passes
