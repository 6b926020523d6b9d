// The step backwards, operation by operation.
// SPDX-License-Identifier: MIT
#include "compiler/passes/differentiate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/error.hpp"
#include "compiler/passes/accumulations.hpp"
#include "compiler/passes/adjoint_order.hpp"
#include "compiler/passes/cotangents.hpp"
#include "compiler/passes/linear.hpp"
#include "compiler/passes/parity.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;
using ir::Region;
using ir::RegionKind;

/// What a field's adjoint gains: everywhere, and on the strips of each axis with what lies beside them.
struct Gains {
  std::vector<Expr> live;
  std::map<int, std::vector<Expr>> strips;
};

class Differentiator {
 public:
  Differentiator(const ir::Program& physical, bool unscaled)
      : physical_(physical),
        pool_(*physical.pool),
        uses_(uses(physical)),
        variables_(choose_variables(physical, uses_, unscaled)) {
    adjoint_.forward = physical;
    ir::Program& program = adjoint_.program;
    program.equation = physical.equation;
    program.description = physical.description;
    program.direction = "adjoint";
    program.axes = physical.axes;
    program.pool = physical.pool;
    program.order = physical.order;
    program.stretched = physical.stretched;
    program.no_surface = physical.no_surface;
    program.parameters = physical.parameters;
    program.fields = physical.fields;
    for (ir::Field& field : program.fields) field.half_step = false;
    products();
    mirrors();
    cotangents_ = std::make_unique<Cotangents>(physical_, uses_, variables_, program);
    order_ = std::make_unique<AdjointOrder>(physical_, uses_, variables_, *cotangents_);
  }

  ir::Adjoint run(bool fields_only) {
    std::vector<GradientTerm> terms = gradient_terms(physical_, uses_, variables_);
    const SavePlan plan = plan_saves(physical_, terms, fields_only);
    Accumulations accumulations(physical_, uses_, variables_, terms, plan, *cotangents_, adjoint_);
    accumulations_ = &accumulations;
    for (std::size_t i = physical_.operations.size(); i-- > 0;) reverse(i);
    settle();
    inject(When::first);
    std::vector<std::string> late;
    for (const ir::Field& field : physical_.fields) {
      if (!cotangents_->early(field.name) && !advanced_.contains(field.name)) late.push_back(field.name);
    }
    for (const std::string& field : order_->at_the_end(late)) advance(field);
    inject(When::updated);
    advance_postponed();
    decay();
    inject(When::last);
    finish();
    widen_aprons();
    adjoint_.decisions = variables_.decisions;
    for (std::string& decision : decisions(physical_, terms, plan))
      adjoint_.decisions.push_back(std::move(decision));
    adjoint_.divisors.erase(std::unique(adjoint_.divisors.begin(), adjoint_.divisors.end()),
                            adjoint_.divisors.end());
    return std::move(adjoint_);
  }

 private:
  void reverse(std::size_t i) {
    const ir::Operation& operation = physical_.operations[i];
    if (std::holds_alternative<ir::Halo>(operation)) {
      statement(i);
    } else if (const auto* injection = std::get_if<ir::Injection>(&operation)) {
      if (cotangents_->early(injection->field)) advance(injection->field);
      sample(injection->field);
    } else if (const auto* update = std::get_if<ir::Update>(&operation)) {
      if (cotangents_->early(update->field) && !postponed(update->field)) advance(update->field);
    }
  }

  /// A statement's fields are complete: their adjoints are updated in its order, then given their images.
  void statement(std::size_t last) {
    std::vector<std::string> fields;
    for (std::size_t i = last + 1; i-- > 0;) {
      const auto* halo = std::get_if<ir::Halo>(&physical_.operations[i]);
      if (halo == nullptr) break;
      if (cotangents_->early(halo->field) && !advanced_.contains(halo->field))
        fields.insert(fields.begin(), halo->field);
    }
    for (const std::string& field : fields) advance(field);
    // Memory driven by them at the same points is computed in their sweep, before anything comes between.
    for (const ir::Field& field : physical_.fields) {
      if (field.strip_axis >= 0 && !advanced_.contains(field.name) && driven_by(field.name, fields))
        advance(field.name);
    }
    for (const std::string& field : fields) out().push_back(ir::Halo{field, 1});
  }

  /// A memory variable's adjoint gains nothing but some of these fields, at its own points.
  bool driven_by(const std::string& memory, const std::vector<std::string>& fields) {
    const std::vector<Part> parts = cotangents_->of(pool_.field(memory, 1));
    return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
      return part.value->kind == Kind::field &&
             std::find(fields.begin(), fields.end(), part.value->name) != fields.end();
    });
  }

  /// Memory driven by late fields is updated at the step's end, for the next step back, while the row of the
  /// fields is in cache; in that order of the loop it is the same recursion.
  bool postponed(const std::string& name) {
    if (physical_.field(name).strip_axis < 0 || !driven_by(name, order_->ending_fields())) return false;
    if (advanced_.insert(name).second) postponed_.push_back(name);
    return true;
  }

  void advance_postponed() {
    for (const std::string& name : postponed_) {
      const ir::Field& field = physical_.field(name);
      const AdjointState& state = variables_.states.at(name);
      Gains gains = gains_of(name, state.sign);
      for (Expr& term : gains.live) term = renewed(term);
      for (auto& [axis, list] : gains.strips) {
        for (Expr& term : list) term = renewed(term);
      }
      memory(field, state, carried(name, 0), gains);
    }
  }

  /// Early fields hold between two steps what the step keeps of them, taken at its end: whatever enters them
  /// there is not the step's to diminish.
  void decay() {
    for (const ir::Field& field : physical_.fields) {
      const bool early = field.strip_axis < 0 && cotangents_->early(field.name);
      if (early && !order_->whole(field.name))
        update(field.name, pool_.sum(carried(field.name, 1)), false, everywhere());
    }
  }

  /// With fields as the step's end leaves them.
  Expr renewed(Expr e) {
    return rewrite(pool_, e, [&](Expr node) -> Expr {
      if (node->kind != Kind::field) return {};
      return pool_.field(node->name, 1);
    });
  }

  /// The adjoint's variables behind a field's adjoint are read here, for the gradients of sources.
  void sample(const std::string& field) {
    for (const auto& [factor, state] : recovered(pool_, variables_, field).terms) {
      const int level = cotangents_->early(field) ? 1 : 0;
      const bool known =
          std::any_of(sampled_.begin(), sampled_.end(), [&](const std::string& s) { return s == state; });
      if (known) continue;
      sampled_.push_back(state);
      out().push_back(ir::Sample{state, level});
    }
  }

  std::vector<ir::Operation>& out() { return adjoint_.program.operations; }

  /// The update of a field's adjoint.
  void advance(const std::string& name) {
    if (!advanced_.insert(name).second) return;
    const AdjointState& state = variables_.states.at(name);
    const bool late = !cotangents_->early(name);
    if (state.kept == Kept::law) {
      for (const std::string& member : state.group) advanced_.insert(member);
      law(state);
      return;
    }
    const ir::Field& field = physical_.field(name);
    std::vector<Expr> own = stays(name);
    Gains gains = gains_of(name, state.sign);
    if (field.strip_axis >= 0) {
      memory(field, state, own, gains);
      return;
    }
    const Expr scale = state.kept == Kept::scaled ? state.scale : pool_.constant(1);
    const auto sum = accumulations_->along(name);
    if (!gains.live.empty()) own.push_back(pool_.product({scale, pool_.sum(gains.live)}));
    update(name, pool_.sum(std::move(own)), false, everywhere());
    if (sum && !gains.live.empty()) {
      const Expr grown = pool_.product({sum->saved, pool_.sum(gains.live)});
      put(sum->accumulator, pool_.sum({pool_.field(sum->accumulator, 0), grown}), false, everywhere(),
          location(name));
    }
    for (const auto& [axis, list] : gains.strips) {
      std::vector<std::pair<std::string, Expr>> gaining = {{name, pool_.product({scale, pool_.sum(list)})}};
      if (sum) gaining.emplace_back(sum->accumulator, pool_.product({sum->saved, pool_.sum(list)}));
      spread(gaining, axis);
    }
    if (late) late_.push_back(name);
  }

  /// lambda * (sum of all gains) + 2 mu * own, as the forward law has it.
  void law(const AdjointState& state) {
    std::map<std::string, Gains> gains;
    Gains all;
    for (const std::string& member : state.group) {
      const Gains& own = gains[member] = gains_of(member, state.sign);
      all.live.insert(all.live.end(), own.live.begin(), own.live.end());
      for (const auto& [axis, list] : own.strips)
        all.strips[axis].insert(all.strips[axis].end(), list.begin(), list.end());
    }
    const auto both = [&](const std::vector<Expr>& sum, const std::vector<Expr>& own) {
      std::vector<Expr> terms = {pool_.product({state.lambda, pool_.sum(sum)})};
      if (!own.empty()) terms.push_back(pool_.product({state.twice_mu, pool_.sum(own)}));
      return terms;
    };
    for (const std::string& member : state.group) {
      std::vector<Expr> value = stays(member);
      for (const Expr term : both(all.live, gains[member].live)) value.push_back(term);
      update(member, pool_.sum(std::move(value)), false, everywhere());
    }
    for (const auto& [axis, list] : all.strips) {
      for (const std::string& member : state.group)
        spread({{member, pool_.sum(both(list, gains[member].strips[axis]))}}, axis);
    }
    for (const std::string& member : state.group) late_.push_back(member);
  }

  void memory(const ir::Field& field, const AdjointState& state, std::vector<Expr> own, const Gains& gains) {
    std::vector<Expr> terms = gains.live;
    for (const auto& [axis, list] : gains.strips) {
      if (axis != field.strip_axis) {
        throw UserError(
            fmt::format("equation {}: derivatives along two axes are nested, as in grad(div(v)): no adjoint "
                        "is derived for "
                        "their absorbing layer yet",
                        physical_.equation));
      }
      terms.insert(terms.end(), list.begin(), list.end());
    }
    if (!terms.empty()) {
      const Expr scale = state.kept == Kept::scaled ? state.scale : pool_.constant(1);
      own.push_back(pool_.product({scale, pool_.sum(std::move(terms))}));
    }
    update(field.name, pool_.sum(std::move(own)), false, {Region{RegionKind::strip, field.strip_axis}});
  }

  /// What an update leaves of the adjoint: of an early one everything, see `decay`.
  std::vector<Expr> stays(const std::string& name) {
    const bool early = physical_.field(name).strip_axis < 0 && cotangents_->early(name);
    return early ? std::vector<Expr>{pool_.field(name, 0)} : carried(name, 0);
  }

  /// What of the adjoint itself, as it is at level `now`, stays: the transposes of the field's own older
  /// levels.
  std::vector<Expr> carried(const std::string& name, int now) {
    std::vector<Expr> terms;
    for (const Use& use : uses_) {
      if (!use.self || use.target != name) continue;
      std::vector<Expr> factors = use.profiles;
      factors.push_back(use.coefficient);
      factors.push_back(pool_.field(name, now + use.atom->level));
      terms.push_back(pool_.product(std::move(factors)));
    }
    return terms;
  }

  Gains gains_of(const std::string& name, int sign) {
    Gains gains;
    const ir::Field& field = physical_.field(name);
    for (const int level : {1, 0}) {
      for (const Part& part : cotangents_->of(pool_.field(name, level))) {
        require(part.value);
        const Expr term = pool_.product({pool_.constant(sign * part.sign), part.value});
        const bool strip = part.axis >= 0;
        if (strip && field.strip_axis < 0 && !vanishes(part.value)) {
          throw InternalError("a cotangent of " + name + " that does not vanish off its strips");
        }
        (strip ? gains.strips[part.axis] : gains.live).push_back(term);
      }
    }
    return gains;
  }

  /// What a value reads of products and strips. The first time, all that drives memory and is made of late
  /// states alone: these stay as they are until the step's end, and one sweep brings all.
  void require(Expr value) {
    const auto put = [&](Expr needed) {
      for (ir::Operation& operation : cotangents_->require(needed)) out().push_back(std::move(operation));
    };
    const auto unchanged = [&](Expr needed) {
      const auto states = cotangents_->states_in(needed);
      return std::all_of(states.begin(), states.end(), [&](const auto& state) {
        return physical_.field(state.first).strip_axis < 0 && !cotangents_->early(state.first);
      });
    };
    for (const ir::Field& field : physical_.fields) {
      if (prepared_ || field.strip_axis < 0) continue;
      for (const Part& part : cotangents_->of(pool_.field(field.name, 1))) {
        if (unchanged(part.value)) put(part.value);
      }
    }
    prepared_ = true;
    put(value);
  }

  /// Beyond its strips: it holds a memory variable, or something else that lives on them.
  bool vanishes(Expr e) const {
    if (e->kind == Kind::field) return adjoint_.program.field(e->name).strip_axis >= 0;
    if (e->kind == Kind::profile) return true;
    return std::any_of(e->args.begin(), e->args.end(), [&](Expr arg) { return vanishes(arg); });
  }

  void update(const std::string& field, Expr value, bool accumulate, std::vector<Region> regions) {
    // An adjoint that only stays as it is needs no update.
    const bool idle = !accumulate && value == pool_.field(field, 0);
    if (idle) return;
    put(field, value, accumulate, std::move(regions), location(field));
  }

  void put(const std::string& field, Expr value, bool accumulate, std::vector<Region> regions,
           ir::Location place) {
    out().push_back(ir::Update{field, 1, value, accumulate, std::move(regions), std::move(place)});
  }

  /// What the first of some fields gains by its strips' memory, and sums that grow with it.
  void spread(const std::vector<std::pair<std::string, Expr>>& gaining, int axis) {
    // The strip last: what memory then takes up there is final, also where both sides' aprons and strips
    // meet.
    const ir::Location place = location(gaining.front().first);
    const bool beside = reach(gaining.front().second, axis, physical_.radius()) > 0;
    for (const RegionKind kind : {RegionKind::apron, RegionKind::strip}) {
      for (const auto& [field, value] : gaining) {
        if (kind == RegionKind::strip || beside) put(field, value, true, {Region{kind, axis}}, place);
      }
    }
  }

  ir::Location location(const std::string& field) const {
    for (const ir::Operation& operation : physical_.operations) {
      const auto* update = std::get_if<ir::Update>(&operation);
      if (update != nullptr && update->field == field) return update->location;
    }
    return physical_.field(field).location;
  }

  static std::vector<Region> everywhere() { return {Region{RegionKind::live, -1}}; }

  /// Accumulators read adjoints that the updates at the step's end overwrite.
  void settle() {
    if (settled_) return;
    settled_ = true;
    std::vector<ir::Operation> sums = accumulations_->updates();
    // Before the images of what they read at its own points only, while its rows are in cache.
    auto place = out().end();
    for (; place != out().begin(); --place) {
      const auto* halo = std::get_if<ir::Halo>(&*std::prev(place));
      const bool sample = std::holds_alternative<ir::Sample>(*std::prev(place));
      if (!sample && (halo == nullptr || differentiated(halo->field, sums))) break;
    }
    out().insert(place, std::make_move_iterator(sums.begin()), std::make_move_iterator(sums.end()));
  }

  static bool differentiated(const std::string& field, const std::vector<ir::Operation>& operations) {
    const auto reads = [&](auto&& self, Expr e, bool inside) -> bool {
      if (e->kind == Kind::field) return inside && e->name == field;
      const bool within = inside || e->kind == Kind::derivative;
      return std::any_of(e->args.begin(), e->args.end(), [&](Expr arg) { return self(self, arg, within); });
    };
    return std::any_of(operations.begin(), operations.end(), [&](const ir::Operation& operation) {
      return reads(reads, std::get<ir::Update>(operation).value, false);
    });
  }

  /// Residuals enter what was sampled before the forward step began, hence at the end of the step back.
  /// Fields that only gain there, all of which the step keeps, take theirs before that (`first`), so that
  /// nothing comes between them and their memory, if nobody else reads them before they gain. Other late
  /// fields take theirs once they are `updated`, which their memory waits for.
  enum class When { first, updated, last };

  void inject(When when) {
    for (const ir::Operation& operation : physical_.operations) {
      const auto* sample = std::get_if<ir::Sample>(&operation);
      if (sample == nullptr) continue;
      const When own = !order_->ending(sample->field)  ? When::last
                       : order_->unread(sample->field) ? When::first
                                                       : When::updated;
      if (own != when) continue;
      const int level = when == When::first ? 0 : 1;
      const AdjointState& state = variables_.states.at(sample->field);
      const Expr sign = pool_.constant(state.sign);
      if (state.kept == Kept::law) {
        for (const std::string& member : state.group) {
          std::vector<Expr> factor = {state.lambda};
          if (member == sample->field) factor.push_back(state.twice_mu);
          out().push_back(
              ir::Injection{sample->field, member, level, pool_.product({sign, pool_.sum(factor)})});
        }
        continue;
      }
      const Expr scale = state.kept == Kept::scaled ? state.scale : pool_.constant(1);
      out().push_back(ir::Injection{sample->field, sample->field, level, pool_.product({sign, scale})});
      if (const auto sum = accumulations_->along(sample->field))
        out().push_back(ir::Injection{sample->field, sum->accumulator, 1, sign, sum->name});
    }
  }

  void finish() {
    for (const std::string& name : late_) out().push_back(ir::Halo{name, 1});
    for (const ir::Field& field : physical_.fields) {
      if (field.strip_axis >= 0) continue;
      ir::AdjointVariable variable;
      variable.field = field.name;
      variable.value = recovered(pool_, variables_, field.name);
      for (const Use& use : uses_) {
        if (use.self && use.target == field.name && use.atom->level == -1)
          variable.previous = use.coefficient;
      }
      adjoint_.variables.push_back(std::move(variable));
    }
  }

  /// Beside mirroring faces a transpose by images is right only where the cotangent's field has the images
  /// that the derivative makes of its operand's.
  void mirrors() {
    std::map<std::uint32_t, std::pair<Expr, std::vector<Cotangent>>> of;  // by slope
    for (const Use& use : uses_) {
      const bool slope = use.atom->kind == Kind::derivative && use.atom->args[0]->kind == Kind::field;
      if (!slope || use.parent || use.axis >= 0) continue;
      of[use.atom->id].first = use.atom;
      add_to(of[use.atom->id].second, use.target, use.coefficient);
    }
    for (const auto& [id, entry] : of) {
      const Expr slope = entry.first;
      for (const Cotangent& c : entry.second) {
        const ir::Field& held = adjoint_.program.field(variables_.cotangents.at(c).field);
        if (dual(physical_, physical_.field(slope->args[0]->name), held, slope->axis, slope->order)) continue;
        adjoint_.no_mirror = fmt::format("{} drives {}, whose images are of another kind",
                                         ir::text(slope, physical_.axes), c.begin()->first);
      }
    }
  }

  void products() {
    for (const auto& [cotangent, represented] : variables_.cotangents) {
      if (!represented.product) continue;
      ir::Field field = product_field(physical_, uses_, cotangent);
      field.name = field.group = represented.field;
      field.unit = "";
      field.time_order = 1;
      field.half_step = false;
      adjoint_.program.fields.push_back(std::move(field));
    }
  }

  void widen_aprons() {
    int widest = physical_.radius();
    for (const ir::Operation& operation : out()) {
      const auto* update = std::get_if<ir::Update>(&operation);
      if (update == nullptr || update->regions.at(0).kind != RegionKind::apron) continue;
      widest = std::max(widest, reach(update->value, update->regions[0].axis, physical_.radius()));
    }
    adjoint_.program.apron = widest;
  }

  const ir::Program& physical_;
  ir::Pool& pool_;
  std::vector<Use> uses_;
  AdjointVariables variables_;
  ir::Adjoint adjoint_;
  std::unique_ptr<Cotangents> cotangents_;
  std::unique_ptr<AdjointOrder> order_;
  Accumulations* accumulations_ = nullptr;
  std::set<std::string> advanced_;
  std::vector<std::string> late_, sampled_, postponed_;
  bool settled_ = false, prepared_ = false;
};

}  // namespace

ir::Adjoint differentiate(const ir::Program& physical, bool unscaled, bool fields_only) {
  return Differentiator(physical, unscaled).run(fields_only);
}

}  // namespace ondula::passes
