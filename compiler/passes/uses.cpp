// Flattening updates into terms.
// SPDX-License-Identifier: MIT
#include "compiler/passes/uses.hpp"

#include <fmt/format.h>

#include <set>

#include "compiler/error.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

class Collector {
 public:
  explicit Collector(const ir::Program& program) : program_(program), pool_(*program.pool) {}

  std::vector<Use> run() {
    for (std::size_t i = 0; i < program_.operations.size(); ++i) {
      const auto* update = std::get_if<ir::Update>(&program_.operations[i]);
      if (update == nullptr) continue;
      const ir::Region& region = update->regions.at(0);
      if (region.kind == ir::RegionKind::apron) continue;
      Use use;
      use.operation = i;
      use.target = update->field;
      use.axis = region.kind == ir::RegionKind::strip ? region.axis : -1;
      use.coefficient = pool_.constant(1);
      const std::size_t first = found_.size();
      flatten(update->value, use);
      for (std::size_t u = first; u < found_.size(); ++u) {
        Use& term = found_[u];
        term.self = !term.parent && !update->accumulate && term.atom->kind == Kind::field &&
                    term.atom->name == update->field && term.atom->level < 1;
      }
    }
    return std::move(found_);
  }

 private:
  void flatten(Expr e, Use use) {
    switch (e->kind) {
      case Kind::sum:
        for (const Expr term : e->args) flatten(term, use);
        return;
      case Kind::quotient:
        if (ir::contains(e->args[1], Kind::field)) fail(e);
        use.coefficient = pool_.quotient(use.coefficient, e->args[1]);
        flatten(e->args[0], use);
        return;
      case Kind::product:
        product(e, use);
        return;
      case Kind::field:
        use.atom = e;
        found_.push_back(use);
        return;
      case Kind::derivative:
        use.atom = e;
        found_.push_back(use);
        operand(e);
        return;
      default:
        fail(e);
    }
  }

  void product(Expr e, Use use) {
    Expr varying;
    std::vector<Expr> steady = {use.coefficient};
    for (const Expr factor : e->args) {
      if (ir::contains(factor, Kind::field)) {
        if (varying) fail(e);
        varying = factor;
      } else if (factor->kind == Kind::profile) {
        use.profiles.push_back(factor);
      } else {
        steady.push_back(factor);
      }
    }
    if (!varying) fail(e);
    use.coefficient = pool_.product(std::move(steady));
    flatten(varying, use);
  }

  /// The terms under a derivative, once for each derivative.
  void operand(Expr derivative) {
    if (!opened_.insert(derivative->id).second) return;
    Use use;
    use.parent = derivative;
    use.coefficient = pool_.constant(1);
    flatten(derivative->args[0], use);
  }

  [[noreturn]] void fail(Expr e) const {
    throw UserError(fmt::format("equation {}: {} is not linear in the fields: it has no adjoint",
                                program_.equation, ir::text(e, program_.axes)));
  }

  const ir::Program& program_;
  ir::Pool& pool_;
  std::vector<Use> found_;
  std::set<std::uint32_t> opened_;
};

}  // namespace

std::vector<Use> uses(const ir::Program& physical) { return Collector(physical).run(); }

}  // namespace ondula::passes
