// Undoing updates one by one.
// SPDX-License-Identifier: MIT
#include "compiler/passes/reverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/error.hpp"
#include "compiler/passes/linear.hpp"
#include "compiler/passes/uses.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

class Reverser {
 public:
  explicit Reverser(const ir::Program& physical)
      : physical_(physical), pool_(*physical.pool), uses_(uses(physical)) {}

  Reversal run() {
    for (const ir::Field& field : physical_.fields) {
      if (field.strip_axis < 0) add(field);
    }
    for (std::size_t i = physical_.operations.size(); i-- > 0;) {
      const auto* update = std::get_if<ir::Update>(&physical_.operations[i]);
      if (update == nullptr || update->regions.at(0).kind != ir::RegionKind::live) continue;
      if (!undone_.insert(update->field).second) refuse(*update, "it is updated twice in a step");
      undo(i, *update);
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(const ir::Update& update, const std::string& why) const {
    throw UserError(fmt::format("{}: equation {}: no step backwards in time is derived for {}: {}",
                                update.location.text(), physical_.equation, update.field, why));
  }

  void add(const ir::Field& field) {
    ir::Field rebuilt = field;
    rebuilt.name = rebuilt.group = rebuilt_name(field.name);
    rebuilt.unit = "";
    rebuilt.half_step = false;
    result_.fields.push_back(rebuilt);
    if (field.time_order == 2) {
      result_.handovers.push_back({field.name, 0, rebuilt.name, -1});
      result_.handovers.push_back({field.name, -1, rebuilt.name, 0});
    } else {
      result_.handovers.push_back({field.name, 0, rebuilt.name, 0});
    }
  }

  void undo(std::size_t number, const ir::Update& update) {
    const ir::Field& field = physical_.field(update.field);
    const bool second = field.time_order == 2;
    const std::string name = rebuilt_name(field.name);
    std::size_t kept = 0;
    for (const Use& use : uses_) {
      if (use.parent || use.operation != number || !use.self) continue;
      stays(update, use, second);
      ++kept;
    }
    if (kept != (second ? 2U : 1U)) refuse(update, "a step keeps nothing of it");
    const bool sum = update.value->kind == Kind::sum;
    std::vector<Expr> terms;
    for (const Expr term : sum ? update.value->args : std::vector<Expr>{update.value}) {
      const bool own = ir::contains(term, Kind::derivative) ? false : reads_only(term, update.field);
      const Expr there = mapped(update, term, own);
      terms.push_back(own || second ? there : pool_.negate(there));
    }
    const Expr value = pool_.sum(std::move(terms));
    if (result_.stages.empty() || needs_result(value)) result_.stages.emplace_back();
    Reversal::Stage& stage = result_.stages.back();
    const std::vector<ir::Region> live = {ir::Region{ir::RegionKind::live, -1}};
    stage.updates.push_back({name, 1, value, false, live, update.location});
    for (const ir::Operation& operation : physical_.operations) {
      const auto* injection = std::get_if<ir::Injection>(&operation);
      if (injection == nullptr || injection->field != field.name) continue;
      stage.injections.push_back({forward_source(injection->source), name, 1,
                                  second ? injection->factor : pool_.negate(injection->factor)});
    }
  }

  /// A field that the present stage writes is read as it leaves it.
  bool needs_result(Expr e) const {
    const std::vector<ir::Update>& now = result_.stages.back().updates;
    if (e->kind == Kind::field && e->level == 1)
      return std::any_of(now.begin(), now.end(), [&](const ir::Update& u) { return u.field == e->name; });
    return std::any_of(e->args.begin(), e->args.end(), [&](Expr arg) { return needs_result(arg); });
  }

  /// What a step leaves of the field itself has to be all of it.
  void stays(const ir::Update& update, const Use& use, bool second) const {
    const int whole = !second ? 1 : use.atom->level == 0 ? 2 : -1;
    if (ir::is_constant(use.coefficient, whole)) return;
    refuse(update, fmt::format("a step keeps {} times what it was, which undone would grow by as much",
                               ir::text(use.coefficient, physical_.axes)));
  }

  static bool reads_only(Expr e, const std::string& field) {
    if (e->kind == Kind::field) return e->name == field;
    return std::all_of(e->args.begin(), e->args.end(), [&](Expr arg) { return reads_only(arg, field); });
  }

  /// A term, as the rebuilt fields have it when it is undone; `own`: of the field itself.
  Expr mapped(const ir::Update& update, Expr term, bool own) const {
    return rewrite(pool_, term, [&](Expr node) -> Expr {
      if (node->kind != Kind::field) return {};
      const ir::Field& read = physical_.field(node->name);
      if (read.strip_axis >= 0) refuse(update, "it reads a memory variable, " + node->name);
      const std::string name = rebuilt_name(node->name);
      if (own) return pool_.field(name, node->level);
      if (read.time_order == 2) {
        if (node->level != 0) refuse(update, "it reads another level of " + node->name + " than the present");
        return pool_.field(name, 0);
      }
      if (node->name == update.field)
        refuse(update, "its forces read itself: " + ir::text(term, physical_.axes));
      // What it read before that field's own update is undone by now, what it read after is not.
      const bool undone = undone_.contains(node->name);
      if (undone != (node->level == 0))
        refuse(update, fmt::format("it reads {} {} its update", node->name, undone ? "after" : "before"));
      return pool_.field(name, undone ? 1 : 0);
    });
  }

  const ir::Program& physical_;
  ir::Pool& pool_;
  std::vector<Use> uses_;
  std::set<std::string> undone_;
  Reversal result_;
};

}  // namespace

std::string rebuilt_name(const std::string& field) { return field + ".rebuilt"; }
std::string forward_source(const std::string& source) { return source + ".forward"; }

Reversal reverse(const ir::Program& physical) { return Reverser(physical).run(); }

}  // namespace ondula::passes
