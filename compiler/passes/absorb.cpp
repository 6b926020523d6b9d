// CPML memory variables and corrections.
// SPDX-License-Identifier: MIT
#include "compiler/passes/absorb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/error.hpp"
#include "compiler/passes/linear.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::HalfCells;
using ir::Kind;
using ir::Region;
using ir::RegionKind;

/// What one axis's layer adds to an expression: `spread` on its strip and the strip's apron, `own` on its
/// strip alone (null where nothing). Added one after the other, so that a point of the apron may be treated
/// as one of the strip, whose memory is 0 there, without a change of rounding.
struct Correction {
  Expr spread;
  Expr own;
};

using Corrections = std::map<int, Correction>;  // by axis

class Absorber {
 public:
  Absorber(const ir::Program& program, bool stretched) : program_(program), pool_(*program.pool) {
    program_.stretched = stretched;
  }

  ir::Program run() {
    std::vector<ir::Operation> operations;
    std::vector<ir::Operation> statement;
    for (const ir::Operation& operation : program_.operations) {
      if (std::holds_alternative<ir::Update>(operation)) {
        statement.push_back(operation);
        continue;
      }
      flush(statement, operations);
      operations.push_back(operation);
    }
    flush(statement, operations);
    program_.operations = std::move(operations);
    return std::move(program_);
  }

 private:
  void flush(std::vector<ir::Operation>& statement, std::vector<ir::Operation>& out) {
    if (statement.empty()) return;
    std::map<int, std::vector<ir::Operation>> by_axis;
    for (const ir::Operation& operation : statement) {
      const auto& update = std::get<ir::Update>(operation);
      target_ = &update;
      for (const auto& [axis, added] :
           corrections(update.value, HalfCells(program_.field(update.field).stagger))) {
        auto& list = by_axis[axis];
        for (const auto& [value, kind] : {std::pair{added.spread, RegionKind::strip},
                                          {added.own, RegionKind::strip},
                                          {added.spread, RegionKind::apron}}) {
          if (value)
            list.push_back(
                ir::Update{update.field, update.level, value, true, {Region{kind, axis}}, update.location});
        }
      }
    }
    out.insert(out.end(), first_memory_.begin(), first_memory_.end());
    out.insert(out.end(), statement.begin(), statement.end());
    for (auto& [axis, list] : by_axis) {
      const auto memory = second_memory_.find(axis);
      if (memory != second_memory_.end()) out.insert(out.end(), memory->second.begin(), memory->second.end());
      out.insert(out.end(), list.begin(), list.end());
    }
    statement.clear();
    first_memory_.clear();
    second_memory_.clear();
    known_.clear();
  }

  Corrections corrections(Expr e, const HalfCells& at) {
    Corrections result;
    if (!ir::contains(e, Kind::derivative)) return result;
    if (e->kind == Kind::sum) {
      for (const Expr term : e->args) {
        for (const auto& [axis, added] : corrections(term, at)) merge(result[axis], added);
      }
      return result;
    }
    if (e->kind == Kind::derivative) return of_derivative(e, at);
    const Factored split = factored(pool_, e);
    for (const auto& [axis, added] : corrections(split.dependent, at)) {
      result[axis] = {scaled_by(split.coefficient, added.spread), scaled_by(split.coefficient, added.own)};
    }
    return result;
  }

  void merge(Correction& into, const Correction& added) {
    if (added.spread) into.spread = into.spread ? pool_.sum({into.spread, added.spread}) : added.spread;
    if (added.own) into.own = into.own ? pool_.sum({into.own, added.own}) : added.own;
  }

  [[noreturn]] void refuse(const char* what) const {
    throw UserError(fmt::format("{}: equation {}: {}", target_->location.text(), program_.equation, what));
  }

  Expr scaled_by(Expr coefficient, Expr e) { return e ? pool_.product({coefficient, e}) : e; }

  Corrections of_derivative(Expr e, const HalfCells& at) {
    const auto found = known_.find(e->id);
    if (found != known_.end()) return found->second;
    Corrections result = e->order == 2 ? second(e, at) : first(e, at);
    known_[e->id] = result;
    return result;
  }

  Corrections first(Expr e, const HalfCells& at) {
    HalfCells inner_at = at;
    if (e->staggered) inner_at[axis_of(e)] = 1 - inner_at[axis_of(e)];
    Corrections result;
    Expr operand = e->args[0];
    // The operand's own layers: their memory enters under this derivative, and reaches order/2 cells further.
    for (const auto& [axis, added] : corrections(operand, inner_at)) {
      if (added.spread) refuse("a derivative of a second derivative inside a layer is not supported");
      const Expr slope = pool_.derivative(added.own, e->axis, 1, e->staggered);
      merge(result[axis], e->axis == axis ? Correction{slope, {}} : Correction{{}, slope});
      operand = pool_.sum({operand, added.own});
    }
    const Expr whole = pool_.derivative(operand, e->axis, 1, e->staggered);
    const std::string memory = memory_field("memory", e->axis, at, e->args[0]);
    first_memory_.push_back(memory_update(memory, e->axis, e->staggered && at[axis_of(e)] != 0, whole));
    std::vector<Expr> added = {pool_.field(memory, 1)};
    if (program_.stretched) {
      added.push_back(pool_.product({pool_.profile("k", e->axis, at[axis_of(e)] != 0), whole}));
    }
    merge(result[e->axis], {{}, pool_.sum(std::move(added))});
    return result;
  }

  Corrections second(Expr e, const HalfCells& at) {
    const Expr operand = e->args[0];
    if (ir::contains(operand, Kind::derivative)) {
      refuse("a second derivative of a derivative inside a layer is not supported");
    }
    const Expr slope = pool_.derivative(operand, e->axis, 1, false);
    const std::string psi = memory_field("psi", e->axis, at, operand);
    const std::string zeta = memory_field("zeta", e->axis, at, operand);
    first_memory_.push_back(memory_update(psi, e->axis, false, slope));
    const Expr psi_slope = pool_.derivative(pool_.field(psi, 1), e->axis, 1, false);
    // p is the derivative of the stretched first derivative; without stretching D2 u + D1 psi.
    Expr p = pool_.sum({e, psi_slope});
    Expr own = pool_.field(zeta, 1);
    if (program_.stretched) {
      const Expr k = pool_.profile("k", e->axis, false);
      const Expr stretch =
          pool_.sum({pool_.product({k, e}), pool_.product({pool_.profile("dk", e->axis, false), slope})});
      p = pool_.sum({p, stretch});
      own = pool_.sum({own, stretch, pool_.product({k, p})});
    }
    second_memory_[e->axis].push_back(memory_update(zeta, e->axis, false, p));
    return {{e->axis, {psi_slope, own}}};
  }

  ir::Operation memory_update(const std::string& name, int axis, bool half, Expr driven_by) {
    const Expr value = pool_.sum({pool_.product({pool_.profile("a", axis, half), pool_.field(name, 0)}),
                                  pool_.product({pool_.profile("b", axis, half), driven_by})});
    return ir::Update{name, 1, value, false, {Region{RegionKind::strip, axis}}, target_->location};
  }

  std::string memory_field(const std::string& kind, int axis, const HalfCells& at, Expr operand) {
    std::string base = operand->kind == Kind::field ? operand->name : target_->field + ".flux";
    std::replace(base.begin(), base.end(), '.', '_');
    const std::string name = base + "_" + kind + "_" + program_.axes[static_cast<std::size_t>(axis)];
    std::string unique = name;
    // Compared as generated text would print them: v.z is v_z there.
    const auto taken = [&] {
      return std::any_of(program_.fields.begin(), program_.fields.end(), [&](const ir::Field& f) {
        std::string other = f.name;
        std::replace(other.begin(), other.end(), '.', '_');
        return other == unique;
      });
    };
    for (int i = 2; taken(); ++i) unique = name + std::to_string(i);
    // A scalar's memory evolves where the scalar does; memory shared by components evolves on surface rows as
    // well.
    const bool shared = program_.field(target_->field).kind != ir::FieldKind::scalar;
    ir::Field field{
        .name = unique, .group = unique, .unit = "", .stagger = at, .time_order = 1, .everywhere = shared};
    field.strip_axis = axis;
    field.electric = program_.field(target_->field).electric;
    field.location = program_.field(target_->field).location;
    program_.fields.push_back(std::move(field));
    return unique;
  }

  static std::size_t axis_of(Expr e) { return static_cast<std::size_t>(e->axis); }

  ir::Program program_;
  ir::Pool& pool_;
  const ir::Update* target_ = nullptr;
  std::vector<ir::Operation> first_memory_;  // of first derivatives and psi: before the plain updates
  std::map<int, std::vector<ir::Operation>>
      second_memory_;                           // zeta: after psi is complete, before its axis's use
  std::map<std::uint32_t, Corrections> known_;  // one memory variable per derivative of a statement
};

}  // namespace

ir::Program absorb(const ir::Program& program, bool stretched) { return Absorber(program, stretched).run(); }

}  // namespace ondula::passes
