// Collecting the terms of gradients.
// SPDX-License-Identifier: MIT
#include "compiler/passes/gradient_terms.hpp"

#include <algorithm>
#include <set>

#include "compiler/error.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

class TermCollector {
 public:
  TermCollector(const ir::Program& program, const std::vector<Use>& uses, const AdjointVariables& variables)
      : program_(program), pool_(*program.pool), uses_(uses), variables_(variables) {}

  std::vector<GradientTerm> run() {
    std::set<std::string> laws;
    for (const Use& use : uses_) {
      if (use.parent || program_.field(use.target).strip_axis >= 0) continue;
      const AdjointState& state = variables_.states.at(use.target);
      if (state.kept == Kept::law && !use.self) {
        if (laws.insert(state.group[0]).second) law(state);
        continue;
      }
      if (ir::contains(use.coefficient, Kind::parameter)) plain(use);
    }
    nested();
    for (GradientTerm& term : terms_) supplies(term);
    return std::move(terms_);
  }

 private:
  /// lambda pairs the sum of all adjoints with each slope; 2 mu each adjoint with its own.
  void law(const AdjointState& state) {
    GradientTerm trace, own;
    trace.coefficient = state.lambda;
    own.coefficient = state.twice_mu;
    trace.of = own.of = state.group;
    std::set<std::uint32_t> seen;
    for (const Use& use : uses_) {
      const bool member = std::find(state.group.begin(), state.group.end(), use.target) != state.group.end();
      if (use.parent || use.self || !member) continue;
      Pairing pair = pairing(use);
      if (use.coefficient == state.lambda && use.profiles.empty()) {
        pair.adjoints = state.group;
        if (seen.insert(use.atom->id).second) trace.pairs.push_back(pair);
      } else if (use.coefficient == state.lambda) {
        pair.adjoints = {use.target};  // each target's share of a stretched slope
        trace.pairs.push_back(pair);
      } else {
        own.pairs.push_back(pair);
      }
    }
    terms_.push_back(trace);
    terms_.push_back(own);
  }

  /// Fields on the same points that share a coefficient share its term, if their adjoints are kept as they
  /// are.
  void plain(const Use& use) {
    const bool kept = variables_.states.at(use.target).kept == Kept::plain;
    const auto found = std::find_if(terms_.begin(), terms_.end(), [&](const GradientTerm& t) {
      const bool same = std::find(t.of.begin(), t.of.end(), use.target) != t.of.end();
      const bool joins = kept && variables_.states.at(t.of[0]).kept == Kept::plain;
      return t.coefficient == use.coefficient && t.flux_axis < 0 && (same || joins) &&
             t.stagger == program_.field(use.target).stagger;
    });
    GradientTerm& term = found != terms_.end() ? *found : terms_.emplace_back();
    term.coefficient = use.coefficient;
    term.stagger = program_.field(use.target).stagger;
    if (std::find(term.of.begin(), term.of.end(), use.target) == term.of.end()) term.of.push_back(use.target);
    term.pairs.push_back(pairing(use));
  }

  /// Coefficients under a derivative.
  void nested() {
    for (const Use& use : uses_) {
      if (!use.parent || !ir::contains(use.coefficient, Kind::parameter)) continue;
      const auto [targets, stagger] = users(use.parent);
      if (!use.parent->staggered || targets.empty()) {
        throw UserError("equation " + program_.equation +
                        ": a coefficient under a second or centred derivative has no gradient yet");
      }
      const auto axis = static_cast<std::size_t>(use.parent->axis);
      if (stagger[axis] != 0) {
        throw UserError("equation " + program_.equation +
                        ": a coefficient on nodes under a derivative to half cells has no gradient yet");
      }
      const auto found = std::find_if(terms_.begin(), terms_.end(), [&](const GradientTerm& t) {
        return t.flux_axis == use.parent->axis && t.coefficient == use.coefficient;
      });
      GradientTerm& term = found != terms_.end() ? *found : terms_.emplace_back();
      term.coefficient = use.coefficient;
      term.stagger = stagger;
      term.stagger[axis] = 1;
      term.flux_axis = use.parent->axis;
      term.of = targets;
      // The same flux stands under one derivative without the layer's memory and under another with it: what
      // both hold is paired once, with the sum of their cotangents.
      Pairing pair = pairing(use);
      pair.adjoints.clear();
      pair.nested = use.parent;
      term.pairs.push_back(pair);
    }
  }

  /// The live fields that a derivative drives, directly or through memory variables, and where they live.
  std::pair<std::vector<std::string>, ir::HalfCells> users(Expr derivative) const {
    std::vector<std::string> targets;
    ir::HalfCells stagger{};
    for (const Use& use : uses_) {
      if (!(use.atom == derivative) || use.parent) continue;
      const ir::Field& field = program_.field(use.target);
      stagger = field.stagger;
      if (field.strip_axis < 0) targets.push_back(use.target);
    }
    if (targets.empty()) {
      for (const Use& use : uses_) {
        if (!(use.atom == derivative) || use.parent) continue;
        for (const Use& reader : uses_) {
          const bool reads =
              !reader.parent && reader.atom->kind == Kind::field && reader.atom->name == use.target;
          if (reads && program_.field(reader.target).strip_axis < 0) targets.push_back(reader.target);
        }
      }
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    return {targets, stagger};
  }

  Pairing pairing(const Use& use) const {
    Pairing pair;
    pair.adjoints = {use.target};
    pair.forward = use.atom;
    pair.axis = use.axis;
    if (!use.profiles.empty()) pair.profiles = pool_.product({use.profiles.begin(), use.profiles.end()});
    if (use.atom->kind != Kind::field) return pair;
    const ir::Field& field = program_.field(use.atom->name);
    if (field.strip_axis < 0) return pair;
    pair.memory = use.atom->name;
    pair.axis = field.strip_axis;
    std::vector<Expr> drivers;
    for (const Use& other : uses_) {
      if (other.target == field.name && !other.self && !other.parent) drivers.push_back(other.atom);
    }
    const bool simple = drivers.size() == 1 && drivers[0]->kind == Kind::derivative &&
                        drivers[0]->args[0]->kind == Kind::field &&
                        program_.field(drivers[0]->args[0]->name).strip_axis < 0;
    pair.opaque = !simple;
    if (simple) pair.forward = drivers[0];
    return pair;
  }

  void supplies(GradientTerm& term) const {
    if (term.flux_axis < 0 && term.of.size() > 0) term.stagger = program_.field(term.of[0]).stagger;
    if (gains(term)) term.open.push_back(Supply::gained);
    supplies_sums(term);
  }

  void supplies_sums(GradientTerm& term) const {
    const bool one = std::all_of(term.pairs.begin(), term.pairs.end(), [&](const Pairing& p) {
      return p.adjoints == term.pairs[0].adjoints && !p.nested;
    });
    bool again = true, copies = true;
    for (const Pairing& pair : term.pairs) {
      again &= !pair.opaque;
      const Expr read = pair.forward->kind == Kind::derivative ? pair.forward->args[0] : pair.forward;
      if (read->kind != Kind::field) {
        again = false;
        continue;
      }
      const ir::Field& field = program_.field(read->name);
      const bool itself = read == pair.forward;
      copies &= itself;
      again &=
          field.strip_axis < 0 && (read->level == 1 || field.time_order == 2 || itself) && read->level >= 0;
      if (std::find(term.fields.begin(), term.fields.end(), read->name) == term.fields.end())
        term.fields.push_back(read->name);
    }
    // Of a sum of fields, as a step found them, nothing is saved that those fields are not.
    if (one && !(again && copies)) term.open.push_back(Supply::saved);
    if (again) term.open.push_back(Supply::recomputed);
  }

  /// A field gains nothing else in a step but this coefficient times its forward values: besides what it was,
  /// or of second order, besides what it would be without forces.
  bool gains(const GradientTerm& term) const {
    if (term.of.size() != 1 || term.flux_axis >= 0) return false;
    const std::string& target = term.of[0];
    const AdjointState& state = variables_.states.at(target);
    if (state.kept != Kept::scaled || state.scale != term.coefficient) return false;
    const bool second = program_.field(target).time_order == 2;
    return std::all_of(uses_.begin(), uses_.end(), [&](const Use& use) {
      if (use.parent || use.target != target) return true;
      if (!use.self) return use.coefficient == term.coefficient;
      const int stays = !second ? 1 : use.atom->level == 0 ? 2 : -1;
      return ir::is_constant(use.coefficient, stays);
    });
  }

  const ir::Program& program_;
  ir::Pool& pool_;
  const std::vector<Use>& uses_;
  const AdjointVariables& variables_;
  std::vector<GradientTerm> terms_;
};

}  // namespace

std::vector<GradientTerm> gradient_terms(const ir::Program& physical, const std::vector<Use>& uses,
                                         const AdjointVariables& variables) {
  return TermCollector(physical, uses, variables).run();
}

}  // namespace ondula::passes
