// Choosing the adjoint's variables.
// SPDX-License-Identifier: MIT
#include "compiler/passes/adjoint_variables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "compiler/error.hpp"
#include "compiler/passes/positive.hpp"
#include "compiler/passes/surface.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

bool before(Expr a, Expr b) { return a->id < b->id; }

class Chooser {
 public:
  Chooser(const ir::Program& program, const std::vector<Use>& uses, bool unscaled)
      : program_(program), pool_(*program.pool), uses_(uses), unscaled_(unscaled) {}

  AdjointVariables run() {
    collect();
    for (const ir::Field& field : program_.fields) {
      AdjointState& state = result_.states[field.name];
      state.field = field.name;
      if (field.strip_axis >= 0) memory(field, state);
    }
    std::set<std::string> done;
    for (const ir::Field& field : program_.fields) {
      if (field.strip_axis >= 0 || done.contains(field.name)) continue;
      const std::vector<std::string> group = group_of(field.name);
      done.insert(group.begin(), group.end());
      choose(group);
    }
    signs();
    represent();
    return std::move(result_);
  }

 private:
  bool live(const std::string& field) const { return program_.field(field).strip_axis < 0; }

  /// The cotangent that the live updates give each atom; in strips a memory variable's is the derivative's.
  void collect() {
    std::map<std::uint32_t, std::map<std::vector<std::uint32_t>, std::vector<Cotangent>>> of;
    for (const Use& use : uses_) {
      if (use.parent || use.self || !live(use.target)) continue;
      std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(use.axis + 1)};
      for (const Expr p : use.profiles) key.push_back(p->id);
      add_to(of[use.atom->id][key], use.target, use.coefficient);
    }
    for (const auto& [atom, parts] : of) {
      for (const auto& [key, cotangents] : parts) {
        for (const Cotangent& c : cotangents) {
          if (std::find(distinct_.begin(), distinct_.end(), c) == distinct_.end()) distinct_.push_back(c);
        }
      }
    }
  }

  /// Those tied to `field` by a cotangent they have in common, in the program's order.
  std::vector<std::string> group_of(const std::string& field) const {
    std::set<std::string> members = {field};
    for (bool grown = true; grown;) {
      grown = false;
      for (const Cotangent& c : distinct_) {
        const bool tied =
            std::any_of(c.begin(), c.end(), [&](const auto& t) { return members.contains(t.first); });
        for (const auto& [target, list] : c) {
          if (tied) grown |= members.insert(target).second;
        }
      }
    }
    std::vector<std::string> ordered;
    for (const ir::Field& f : program_.fields) {
      if (members.contains(f.name)) ordered.push_back(f.name);
    }
    return ordered;
  }

  std::vector<Cotangent> cotangents_of(const std::vector<std::string>& group) const {
    std::vector<Cotangent> result;
    for (const Cotangent& c : distinct_) {
      if (std::find(group.begin(), group.end(), c.begin()->first) != group.end()) result.push_back(c);
    }
    return result;
  }

  void choose(const std::vector<std::string>& group) {
    const std::vector<Cotangent> used = cotangents_of(group);
    if (group.size() == 1) {
      single(group[0], used);
      return;
    }
    if (const auto law = isotropic(group, used); law && stay_alike(group)) {
      const Zeros known = zeros(program_, law->second);
      if (known == Zeros::positive || (known == Zeros::flat && !unscaled_)) {
        for (const std::string& field : group) {
          AdjointState& state = result_.states[field];
          state.kept = Kept::law;
          state.lambda = law->first;
          state.twice_mu = law->second;
          state.group = group;
        }
        result_.decisions.push_back(
            fmt::format("adjoints of {}: kept times their isotropic law, so that they obey the forward step",
                        fmt::join(group, ", ")));
        return;
      }
    }
    result_.decisions.push_back(
        fmt::format("adjoints of {}: kept as they are; {} products of them are stored for their readers",
                    fmt::join(group, ", "), used.size()));
  }

  /// A step keeps the same of each, and no parameter says how much: then a law's variables obey the step.
  bool stay_alike(const std::vector<std::string>& group) const {
    return std::all_of(group.begin(), group.end(), [&](const std::string& field) {
      return !stays_by_parameter(field) && stays(field) == stays(group[0]);
    });
  }

  /// What a step keeps of a field's levels.
  std::vector<std::pair<int, Expr>> stays(const std::string& field) const {
    std::vector<std::pair<int, Expr>> result;
    for (const Use& use : uses_) {
      if (use.self && use.target == field) result.emplace_back(use.atom->level, use.coefficient);
    }
    return result;
  }

  bool stays_by_parameter(const std::string& field) const {
    const auto all = stays(field);
    return std::any_of(all.begin(), all.end(),
                       [](const auto& kept) { return ir::contains(kept.second, Kind::parameter); });
  }

  void single(const std::string& field, const std::vector<Cotangent>& used) {
    if (used.empty()) return;
    const Expr scale = pool_.sum(used[0].begin()->second);
    if (ir::is_constant(scale, 1) && used.size() == 1) return;
    const Zeros known = zeros(program_, scale);
    // Where the scale is 0, nothing but its own derivative may want the adjoint.
    const bool alone = !unscaled_ && !stays_by_parameter(field);
    const bool safe = known == Zeros::positive || (known == Zeros::flat && alone);
    if (used.size() == 1 && safe) {
      AdjointState& state = result_.states[field];
      state.kept = Kept::scaled;
      state.scale = scale;
      result_.decisions.push_back(
          fmt::format("adjoint of {}: kept times {}, which {}", field, ir::text(scale, program_.axes),
                      known == Zeros::positive ? "is positive" : "where it is 0 has no derivative either"));
      return;
    }
    result_.decisions.push_back(fmt::format("adjoint of {}: kept as it is; {} stored for its readers", field,
                                            used.size() == 1
                                                ? "its product with " + ir::text(scale, program_.axes) + " is"
                                                : fmt::format("{} products of it are", used.size())));
  }

  /// lambda and 2 mu where the cotangents are lambda * (sum of all) + 2 mu * own, one for each member.
  std::optional<std::pair<Expr, Expr>> isotropic(const std::vector<std::string>& group,
                                                 const std::vector<Cotangent>& used) {
    if (used.size() != group.size()) return {};
    std::vector<Expr> shared, own;
    std::set<std::string> owners;
    for (const Cotangent& c : used) {
      if (c.size() != group.size()) return {};
      std::string owner;
      for (const auto& [target, list] : c) {
        if (list.size() == 1 && (shared.empty() || shared == list)) {
          shared = list;
        } else if (list.size() == 2 && owner.empty()) {
          owner = target;
        } else {
          return {};
        }
      }
      if (owner.empty() || shared.empty()) return {};
      std::vector<Expr> rest = c.at(owner);
      const auto common = std::find(rest.begin(), rest.end(), shared[0]);
      if (common == rest.end()) return {};
      rest.erase(common);
      if (!own.empty() && own != rest) return {};
      own = rest;
      if (!owners.insert(owner).second) return {};
    }
    return std::pair{shared[0], own[0]};
  }

  /// A memory variable is used with its profile b: taken in, its adjoint obeys the same recursion.
  void memory(const ir::Field& field, AdjointState& state) {
    std::vector<Expr> common;
    bool first = true;
    for (const Use& use : uses_) {
      if (use.target != field.name || use.self || use.parent) continue;
      if (first) common = use.profiles;
      first = false;
      std::erase_if(common, [&](Expr p) {
        return std::find(use.profiles.begin(), use.profiles.end(), p) == use.profiles.end();
      });
    }
    if (common.empty()) return;
    state.kept = Kept::scaled;
    state.scale = common[0];
  }

  /// Opposite signs on both sides of an odd number of first derivatives, each of which turns its sign when it
  /// is transposed: then the adjoint step has the forward's signs.
  void signs() {
    std::map<std::string, std::vector<std::pair<std::string, int>>> links;
    const std::function<void(Expr, const std::string&, int)> follow =
        [&](Expr atom, const std::string& target, int sign) {
          if (atom->kind == Kind::field) {
            links[target].emplace_back(atom->name, sign);
            links[atom->name].emplace_back(target, sign);
            return;
          }
          const int turned = atom->order == 1 ? -sign : sign;
          for (const Use& use : uses_) {
            if (use.parent == atom) follow(use.atom, target, turned);
          }
        };
    for (const Use& use : uses_) {
      if (!use.parent && !use.self) follow(use.atom, use.target, 1);
    }
    std::set<std::string> seen;
    for (const ir::Field& field : program_.fields) {
      std::vector<std::string> open = {field.name};
      while (!open.empty()) {
        const std::string here = open.back();
        open.pop_back();
        if (!seen.insert(here).second) continue;
        for (const auto& [other, sign] : links[here]) {
          if (seen.contains(other)) continue;
          result_.states[other].sign = sign * result_.states[here].sign;
          open.push_back(other);
        }
      }
    }
    // One sign for all that share a law.
    for (auto& [name, state] : result_.states) {
      if (state.kept == Kept::law) state.sign = result_.states[state.group[0]].sign;
    }
  }

  /// The field that holds each cotangent.
  void represent() {
    int products = 0;
    for (const Cotangent& c : distinct_) {
      const std::string& first = c.begin()->first;
      const AdjointState& state = result_.states.at(first);
      Represented& r = result_.cotangents[c];
      if (state.kept == Kept::law) {
        const auto owner =
            std::find_if(c.begin(), c.end(), [](const auto& t) { return t.second.size() == 2; });
        r = {owner->first, state.sign, false};
      } else if (state.kept == Kept::scaled) {
        r = {first, state.sign, false};
      } else if (c.size() == 1 && c.begin()->second.size() == 1 && ir::is_constant(c.begin()->second[0], 1)) {
        r = {first, state.sign, false};
      } else {
        r = {fmt::format("product.{}", products++), state.sign, true};
      }
    }
  }

  const ir::Program& program_;
  ir::Pool& pool_;
  const std::vector<Use>& uses_;
  bool unscaled_;
  std::vector<Cotangent> distinct_;
  AdjointVariables result_;
};

}  // namespace

bool CotangentOrder::operator()(const Cotangent& a, const Cotangent& b) const {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        if (x.first != y.first) return x.first < y.first;
        return std::lexicographical_compare(x.second.begin(), x.second.end(), y.second.begin(),
                                            y.second.end(), before);
      });
}

void add_to(std::vector<Cotangent>& list, const std::string& target, Expr coefficient) {
  for (std::size_t i = 0;; ++i) {
    if (i == list.size()) list.emplace_back();
    std::vector<Expr>& own = list[i][target];
    if (std::find(own.begin(), own.end(), coefficient) != own.end()) continue;
    own.insert(std::upper_bound(own.begin(), own.end(), coefficient, before), coefficient);
    return;
  }
}

LawInverse inverse_of(ir::Pool& pool, const AdjointState& law) {
  const auto reciprocal = [&](Expr e) { return pool.function("inverse_or_zero", {e}); };
  LawInverse result;
  result.deviator = reciprocal(law.twice_mu);
  std::vector<Expr> bulk, trace;
  for (int k = static_cast<int>(law.group.size()); k > 0; --k) {
    const Expr sum = pool.sum({pool.product({pool.constant(k), law.lambda}), law.twice_mu});
    if (bulk.empty()) result.divisor = medium(pool, sum);
    bulk.push_back(reciprocal(sum));
    trace.push_back(pool.product(
        {pool.constant(ir::Number::ratio(1, k)), pool.sum({bulk.back(), pool.negate(result.deviator)})}));
  }
  result.bulk = pool.surface(std::move(bulk));
  result.trace = pool.surface(std::move(trace));
  return result;
}

ir::Combination recovered(ir::Pool& pool, const AdjointVariables& variables, const std::string& field) {
  const AdjointState& state = variables.states.at(field);
  const Expr sign = pool.constant(state.sign);
  if (state.kept == Kept::plain) return {{{sign, field}}};
  if (state.kept == Kept::scaled)
    return {{{pool.product({sign, pool.function("inverse_or_zero", {state.scale})}), field}}};
  const LawInverse inverse = inverse_of(pool, state);
  ir::Combination result;
  for (const std::string& member : state.group) {
    const Expr factor = member == field ? pool.sum({inverse.deviator, inverse.trace}) : inverse.trace;
    result.terms.emplace_back(pool.product({sign, factor}), member);
  }
  return result;
}

AdjointVariables choose_variables(const ir::Program& physical, const std::vector<Use>& uses, bool unscaled) {
  return Chooser(physical, uses, unscaled).run();
}

}  // namespace ondula::passes
