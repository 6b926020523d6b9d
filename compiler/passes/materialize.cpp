// Coefficients computed from others instead of read.
// SPDX-License-Identifier: MIT
#include "compiler/passes/materialize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/passes/linear.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

/// Where a coefficient is read.
struct Reads {
  std::set<int> sweeps;
  std::set<ir::HalfCells> places;
};

class Materializer {
 public:
  Materializer(const ir::Program& hoisted, const std::vector<SweepOrOperation>& step)
      : program_(hoisted), pool_(*hoisted.pool) {
    for (std::size_t s = 0; s < step.size(); ++s) {
      for (const int index : step[s].sweep.updates) {
        collect(std::get<ir::Update>(program_.operations[static_cast<std::size_t>(index)]).value,
                static_cast<int>(s));
      }
    }
  }

  ir::Program run() {
    for (std::size_t j = program_.coefficients.size(); j-- > 0;) {
      for (std::size_t i = 0; i < program_.coefficients.size(); ++i) {
        if (i != j && replaces(i, j)) {
          replaced_[program_.coefficients[j].name] = formula(i, j);
          break;
        }
      }
    }
    if (replaced_.empty()) return std::move(program_);
    for (ir::Operation& operation : program_.operations) {
      if (auto* update = std::get_if<ir::Update>(&operation)) update->value = without(update->value);
    }
    std::erase_if(program_.coefficients,
                  [&](const ir::Coefficient& c) { return replaced_.contains(c.name); });
    return std::move(program_);
  }

 private:
  /// A scalar times, or over, another coefficient.
  struct Formula {
    Expr scalar;
    std::string of;
    bool over = false;
  };

  void collect(Expr e, int sweep) {
    if (e->kind == Kind::coefficient) {
      reads_[e->name].sweeps.insert(sweep);
      reads_[e->name].places.insert(e->offset);
    }
    for (const Expr arg : e->args) collect(arg, sweep);
  }

  ScaledCoefficient parts(std::size_t index) {
    return scaled(pool_, program_.coefficients[index].definition);
  }

  /// Coefficient j can be computed from i, and that saves bytes.
  bool replaces(std::size_t i, std::size_t j) {
    const std::string& kept = program_.coefficients[i].name;
    const std::string& gone = program_.coefficients[j].name;
    if (replaced_.contains(kept) || serves(gone)) return false;
    const Expr a = parts(i).nodal, b = parts(j).nodal;
    if (!a || !b || (a != b && !reciprocal(a, b))) return false;
    const std::size_t kept_places = reads_[kept].places.size(), gone_places = reads_[gone].places.size();
    if (kept_places < gone_places || (kept_places == gone_places && i > j)) return false;
    return std::any_of(reads_[gone].sweeps.begin(), reads_[gone].sweeps.end(),
                       [&](int sweep) { return reads_[kept].sweeps.contains(sweep); });
  }

  /// Another coefficient is already computed from it.
  bool serves(const std::string& name) const {
    return std::any_of(replaced_.begin(), replaced_.end(),
                       [&](const auto& r) { return r.second.of == name; });
  }

  bool reciprocal(Expr a, Expr b) {
    const Expr one = pool_.constant(1);
    return a == pool_.quotient(one, b) || b == pool_.quotient(one, a);
  }

  /// c_j = s_j n or s_j/n, c_i = s_i n: hence s_j/s_i c_i; or, of reciprocal nodal parts, s_j s_i/c_i.
  Formula formula(std::size_t i, std::size_t j) {
    const ScaledCoefficient a = parts(i), b = parts(j);
    const bool over = a.nodal != b.nodal;
    const Expr scalar = over ? pool_.product({b.scalar, a.scalar}) : pool_.quotient(b.scalar, a.scalar);
    return {named(scalar), program_.coefficients[i].name, over};
  }

  /// The run-time scalar of that value, a new one if there is none; constants stay.
  Expr named(Expr scalar) {
    if (!ir::contains(scalar, Kind::symbol)) return scalar;
    for (const ir::Scalar& s : program_.scalars) {
      if (s.definition == scalar) return pool_.symbol(s.name);
    }
    const std::string name = fmt::format("w{}", program_.scalars.size());
    program_.scalars.push_back({name, scalar});
    return pool_.symbol(name);
  }

  Expr without(Expr e) {
    return rewrite(pool_, e, [&](Expr node) -> Expr {
      if (node->kind != Kind::coefficient) return {};
      const auto found = replaced_.find(node->name);
      if (found == replaced_.end()) return {};
      const Formula& f = found->second;
      const Expr read = pool_.coefficient(f.of, node->offset);
      return f.over ? pool_.quotient(f.scalar, read) : pool_.product({f.scalar, read});
    });
  }

  ir::Program program_;
  ir::Pool& pool_;
  std::map<std::string, Reads> reads_;
  std::map<std::string, Formula> replaced_;
};

}  // namespace

ir::Program materialize(const ir::Program& hoisted, const std::vector<SweepOrOperation>& step) {
  return Materializer(hoisted, step).run();
}

}  // namespace ondula::passes
