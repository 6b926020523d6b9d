// Accumulators and saved values.
// SPDX-License-Identifier: MIT
#include "compiler/passes/accumulations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/error.hpp"
#include "compiler/passes/linear.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;
using ir::Region;
using ir::RegionKind;

const std::vector<Region> everywhere = {Region{RegionKind::live, -1}};

}  // namespace

Accumulations::Accumulations(const ir::Program& physical, const std::vector<Use>& uses,
                             const AdjointVariables& variables, std::vector<GradientTerm> terms,
                             const SavePlan& plan, Cotangents& cotangents, ir::Adjoint& adjoint)
    : physical_(physical),
      uses_(uses),
      variables_(variables),
      terms_(std::move(terms)),
      cotangents_(cotangents),
      adjoint_(adjoint),
      pool_(*physical.pool) {
  for (const std::string& field : plan.fields) {
    adjoint_.saves.push_back({field, field + ".saved", false});
    add_field(field + ".saved", physical.field(field));
    adjoint_.program.fields.back().saved = true;
    keep_apart(field);
  }
  for (const std::size_t number : plan.values) save_value(number);
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    if (!by_parts(terms_[t])) continue;
    add_accumulator(t);
    adjoint_.program.fields.back().along = true;
  }
}

/// The sum over the steps of u(n) (f(n) - f(n-1)), where f gains in the step what the coefficient multiplies,
/// is that of f(n) (u(n) - u(n+1)), less u(1) f(0): f of one step instead of two, times what the adjoint u
/// gains when it is updated. First-order adjoints updated at the end of the step back take in residuals
/// before that. Of second order likewise: the sum of u(n) (f(n+1) - 2 f(n) + f(n-1)) is that of f(n) times
/// the same difference of u, less u(-1) f(0) and plus u(0) f(-1), the step back's last values times what a
/// run began with.
bool Accumulations::by_parts(const GradientTerm& term) const {
  const bool second = physical_.field(term.of[0]).time_order == 2;
  return term.supply == Supply::gained && (second || cotangents_.early(term.of[0]));
}

std::optional<Accumulations::Along> Accumulations::along(const std::string& field) {
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    if (!by_parts(terms_[t]) || terms_[t].of[0] != field) continue;
    const Expr before = recalled(pool_.field(field, 0));
    const Expr saved = physical_.field(field).time_order == 2 ? before : recalled(pool_.field(field, 1));
    return Along{fmt::format("gradient.{}", t), saved, saved->name};
  }
  return {};
}

/// Where one plain update gives all of a first-order field's next level, the forward run need not copy what
/// it keeps.
void Accumulations::keep_apart(const std::string& name) {
  const bool whole = std::any_of(physical_.operations.begin(), physical_.operations.end(),
                                 [&](const ir::Operation& operation) {
                                   const auto* update = std::get_if<ir::Update>(&operation);
                                   return update != nullptr && update->field == name && !update->accumulate &&
                                          update->regions.at(0).kind == ir::RegionKind::live;
                                 });
  for (ir::Field& field : adjoint_.forward.fields) {
    if (field.name == name) field.apart = whole && field.time_order == 1 && field.strip_axis < 0;
  }
}

std::string Accumulations::add_field(const std::string& name, const ir::Field& like) {
  ir::Field field = like;
  field.name = field.group = name;
  field.unit = "";
  field.time_order = 1;
  field.half_step = false;
  adjoint_.program.fields.push_back(std::move(field));
  return name;
}

/// The forward program gains a field that holds the sum the coefficient multiplies, computed beside it.
void Accumulations::save_value(std::size_t number) {
  const GradientTerm& term = terms_[number];
  const std::string name = fmt::format("kept.{}", number);
  ir::Field field = physical_.field(term.of[0]);
  field.name = field.group = name;
  field.unit = "";
  field.time_order = 1;
  field.half_step = false;
  adjoint_.forward.fields.push_back(field);
  adjoint_.forward.fields.back().saved = true;
  adjoint_.saves.push_back({name, name + ".saved", false});
  add_field(name + ".saved", field);
  adjoint_.program.fields.back().saved = true;

  std::vector<ir::Operation> operations;
  std::vector<std::uint32_t> done;
  for (const ir::Operation& operation : adjoint_.forward.operations) {
    operations.push_back(operation);
    const auto* update = std::get_if<ir::Update>(&operation);
    if (update == nullptr) continue;
    std::vector<Expr> terms;
    std::set<std::uint32_t> atoms;
    for (const Use& use : uses_) {
      const auto* own = std::get_if<ir::Update>(&physical_.operations[use.operation]);
      const bool here = !use.parent && use.coefficient == term.coefficient && own != nullptr &&
                        own->field == update->field && own->value == update->value;
      const bool of = std::find(term.of.begin(), term.of.end(), use.target) != term.of.end();
      if (!here || !of) continue;
      std::vector<Expr> factors = use.profiles;
      factors.push_back(use.atom);
      terms.push_back(pool_.product(std::move(factors)));
    }
    if (terms.empty()) continue;
    // Where several fields share the sum, the first one's update brings it.
    const Expr value = pool_.sum(std::move(terms));
    ir::Update kept = *update;
    kept.field = name;
    kept.value = value;
    if (update->field != term.of[0]) continue;
    // Before the update, which may write over what is read.
    operations.insert(operations.end() - 1, std::move(kept));
  }
  adjoint_.forward.operations = std::move(operations);
}

/// Level 1 of a forward field is what the step left, level 0 what it found.
Expr Accumulations::recalled(Expr forward) {
  return rewrite(pool_, forward, [&](Expr node) -> Expr {
    if (node->kind != Kind::field) return {};
    const auto save = std::find_if(adjoint_.saves.begin(), adjoint_.saves.end(),
                                   [&](const ir::Save& s) { return s.field == node->name; });
    if (save == adjoint_.saves.end()) throw InternalError(node->name + " is not saved");
    const bool before = node->level == 0;
    if (before && !save->previous) {
      save->previous = true;
      for (ir::Field& field : adjoint_.program.fields) {
        if (field.name == save->name) field.time_order = 2;
      }
    }
    return pool_.field(save->name, before ? -1 : 0);
  });
}

Expr Accumulations::adjoint_sum(const std::vector<std::string>& fields) const {
  std::vector<Expr> terms;
  const int sign = variables_.states.at(fields[0]).sign;
  for (const std::string& field : fields) {
    const Part own = cotangents_.state(field);
    terms.push_back(own.sign == sign ? own.value : pool_.negate(own.value));
  }
  return pool_.sum(std::move(terms));
}

/// The adjoint sum passed through a memory variable's recursion: the memory's own adjoint where that is
/// driven by the same sum, else a memory variable more.
Expr Accumulations::filtered(const Pairing& pair) {
  const Expr sum = adjoint_sum(pair.adjoints);
  const std::vector<Part> own = cotangents_.of(pool_.field(pair.memory, 1));
  const bool same = own.size() == 1 && own[0].value == sum;
  if (same) {
    const Part memory = cotangents_.state(pair.memory);
    return memory.sign == own[0].sign ? memory.value : pool_.negate(memory.value);
  }
  const auto [at, fresh] =
      filters_.try_emplace({sum->id, pair.memory}, fmt::format("filter.{}", filters_.size()));
  if (fresh) {
    add_field(at->second, physical_.field(pair.memory));
    Expr a, b;
    ir::Location location;
    for (const Use& use : uses_) {
      if (use.target != pair.memory || use.parent) continue;
      (use.self ? a : b) = pool_.product({use.profiles.begin(), use.profiles.end()});
      location = std::get<ir::Update>(physical_.operations[use.operation]).location;
    }
    const Expr value = pool_.sum({pool_.product({a, pool_.field(at->second, 0)}), pool_.product({b, sum})});
    filter_updates_.push_back(
        ir::Update{at->second, 1, value, false, {Region{RegionKind::strip, pair.axis}}, location});
  }
  return pool_.field(at->second, 1);
}

void Accumulations::put(const std::string& accumulator, Expr value, const std::vector<Region>& regions) {
  const bool strips = regions[0].kind != RegionKind::live;
  for (const Region& region : regions) {
    updates_.push_back(ir::Update{accumulator,
                                  1,
                                  strips ? value : pool_.sum({pool_.field(accumulator, 0), value}),
                                  strips,
                                  {region},
                                  adjoint_.program.field(accumulator).location});
  }
}

std::string Accumulations::add_accumulator(std::size_t number) {
  const GradientTerm& term = terms_[number];
  ir::Field like = physical_.field(term.of[0]);
  like.stagger = term.stagger;
  if (term.of.size() > 1 || term.flux_axis >= 0) like.everywhere = true;
  if (term.flux_axis >= 0) {
    like.kind = ir::FieldKind::scalar;
    like.component.clear();
    like.beyond_axis = term.flux_axis;
    like.beyond = physical_.radius();
  }
  const std::string name = add_field(fmt::format("gradient.{}", number), like);
  adjoint_.program.fields.back().accumulator = true;
  return name;
}

void Accumulations::accumulate(std::size_t number) {
  const GradientTerm& term = terms_[number];
  if (by_parts(term)) {
    gradient(number, fmt::format("gradient.{}", number));
    return;
  }
  const std::string name = add_accumulator(number);
  if (term.flux_axis >= 0) {
    pair_nested(term, name);
  } else if (term.supply == Supply::gained) {
    const Part own = cotangents_.state(term.of[0]);
    const Expr now = recalled(pool_.field(term.of[0], 1)), then = recalled(pool_.field(term.of[0], 0));
    put(name, pool_.product({own.value, pool_.sum({now, pool_.negate(then)})}), everywhere);
  } else if (term.supply == Supply::saved) {
    const Expr kept = recalled(pool_.field(fmt::format("kept.{}", number), 1));
    put(name, pool_.product({adjoint_sum(term.pairs[0].adjoints), kept}), everywhere);
  } else {
    pair_live_and_strips(term, name);
  }
  gradient(number, name);
}

void Accumulations::pair_live_and_strips(const GradientTerm& term, const std::string& accumulator) {
  std::vector<std::pair<Expr, std::vector<Expr>>> live;  // adjoint factor, forward factors
  std::map<int, std::vector<Expr>> strips;
  const int sign = variables_.states.at(term.of[0]).sign;
  for (const Pairing& pair : term.pairs) {
    const bool turned = variables_.states.at(pair.adjoints[0]).sign != sign;
    Expr forward = recalled(pair.forward);
    if (turned) forward = pool_.negate(forward);
    if (pair.axis < 0) {
      const Expr adjoint = adjoint_sum(pair.adjoints);
      const auto found =
          std::find_if(live.begin(), live.end(), [&](const auto& l) { return l.first == adjoint; });
      if (found != live.end())
        found->second.push_back(forward);
      else
        live.push_back({adjoint, {forward}});
      continue;
    }
    const Expr adjoint = pair.memory.empty() ? adjoint_sum(pair.adjoints) : filtered(pair);
    std::vector<Expr> factors = {adjoint, forward};
    if (pair.profiles) factors.insert(factors.begin(), pair.profiles);
    strips[pair.axis].push_back(pool_.product(std::move(factors)));
  }
  std::vector<Expr> terms;
  for (auto& [adjoint, forward] : live)
    terms.push_back(pool_.product({adjoint, pool_.sum(std::move(forward))}));
  if (!terms.empty()) put(accumulator, pool_.sum(std::move(terms)), everywhere);
  for (auto& [axis, list] : strips)
    put(accumulator, pool_.sum(std::move(list)), {Region{RegionKind::strip, axis}});
}

/// The adjoint factor is the flux's cotangent: transposed derivatives of adjoints, on the strips of memory
/// variables' adjoints too, which reach beside them; and of the memory on the flux's own slope, the memory's
/// adjoint without the coefficient it carries.
void Accumulations::pair_nested(const GradientTerm& term, const std::string& accumulator) {
  std::vector<Expr> live;
  std::map<int, std::vector<Expr>> spread, own;
  std::set<std::string> memories;
  for (const Pairing& pair : term.pairs) {
    const Expr forward = recalled(pair.forward);
    if (!pair.memory.empty()) {
      if (!memories.insert(pair.memory).second) continue;
      const Part memory = cotangents_.state(pair.memory);
      own[pair.axis].push_back(pool_.product(
          {pool_.quotient(pool_.constant(memory.sign), term.coefficient), memory.value, forward}));
      continue;
    }
    for (const Part& part : cotangents_.of(pair.nested)) {
      const Part flux = cotangents_.transposed(pair.nested, part);
      for (ir::Operation& operation : cotangents_.require(flux.value))
        needed_.push_back(std::move(operation));
      const Expr product = pool_.product({pool_.constant(flux.sign), flux.value, forward});
      if (part.axis < 0)
        live.push_back(product);
      else
        spread[part.axis].push_back(product);
    }
  }
  if (!live.empty()) put(accumulator, pool_.sum(std::move(live)), everywhere);
  // One after the other on the strip, then beside it: a piece corrects each axis once.
  for (int axis = 0; axis < physical_.dims(); ++axis) {
    const Region strip{RegionKind::strip, axis};
    if (spread.contains(axis)) put(accumulator, pool_.sum(spread[axis]), {strip});
    if (own.contains(axis)) put(accumulator, pool_.sum(own[axis]), {strip});
    if (spread.contains(axis)) put(accumulator, pool_.sum(spread[axis]), {Region{RegionKind::apron, axis}});
  }
}

/// How dJ/dcoefficient follows from the accumulator (numerics.md, Gradient).
void Accumulations::gradient(std::size_t number, const std::string& accumulator) {
  const GradientTerm& term = terms_[number];
  const AdjointState& state = variables_.states.at(term.of[0]);
  ir::CoefficientGradient result;
  result.coefficient = term.coefficient;
  result.stagger = term.stagger;
  result.of = term.of;
  const Expr sign = pool_.constant(state.sign);
  if (term.flux_axis >= 0) {
    result.value.terms.emplace_back(pool_.constant(1), accumulator);
  } else if (state.kept == Kept::scaled) {
    const Expr inverse = pool_.function("inverse_or_zero", {state.scale});
    const bool gained = term.supply == Supply::gained, parts = by_parts(term);
    const Expr squared = pool_.product({sign, inverse, inverse});
    result.value.terms.emplace_back(gained && !parts ? squared : pool_.product({sign, inverse}), accumulator);
    result.injected = gained;
    if (parts) result.starts.push_back({pool_.negate(squared), term.of[0], term.of[0], 0});
    if (parts && physical_.field(term.of[0]).time_order == 2)
      result.starts.push_back({squared, term.of[0], term.of[0], -1});
  } else if (state.kept == Kept::law) {
    const LawInverse inverse = inverse_of(pool_, state);
    const auto add = [&](Expr factor, const std::string& from) {
      result.value.terms.emplace_back(pool_.product({sign, factor}), from);
    };
    if (term.coefficient == state.lambda) {
      add(inverse.bulk, accumulator);
      adjoint_.divisors.push_back(inverse.divisor);
    } else {
      add(inverse.deviator, accumulator);
      add(inverse.trace, fmt::format("gradient.{}", number - 1));  // the sum that lambda's term made
    }
  } else {
    result.value.terms.emplace_back(sign, accumulator);
  }
  adjoint_.gradients.push_back(std::move(result));
}

std::vector<ir::Operation> Accumulations::updates() {
  for (std::size_t t = 0; t < terms_.size(); ++t) accumulate(t);
  std::vector<ir::Operation> result = std::move(needed_);
  result.insert(result.end(), filter_updates_.begin(), filter_updates_.end());
  result.insert(result.end(), updates_.begin(), updates_.end());
  return result;
}

}  // namespace ondula::passes
