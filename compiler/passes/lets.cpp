// Naming subexpressions.
// SPDX-License-Identifier: MIT
#include "compiler/passes/lets.hpp"

#include <fmt/format.h>

namespace ondula::passes {

using ir::Expr;
using ir::Kind;

void count_uses(Expr e, Uses& uses) {
  if (++uses[e->id] > 1) return;
  for (const Expr arg : e->args) count_uses(arg, uses);
}

Expr Lets::name(Expr e, const Uses& uses, Named& named, std::vector<ir::Let>& lets) {
  if (e->kind != Kind::function) return e;
  const auto found = named.find(e->id);
  if (found != named.end()) return found->second;
  std::vector<Expr> args;
  std::size_t length = 0;
  for (const Expr arg : e->args) {
    args.push_back(name(arg, uses, named, lets));
    length += ir::text(args.back()).size();
  }
  constexpr std::size_t line = 64;
  if (length > line) {
    for (Expr& arg : args) {
      if (arg->kind == Kind::function && ir::text(arg).size() > line / 2) arg = let(arg, lets);
    }
  }
  Expr result = pool_.function(e->name, std::move(args));
  if (!fixed_(e)) return result;
  if (uses.at(e->id) > 1 && e->name != "neg") result = let(result, lets);
  named[e->id] = result;
  return result;
}

Expr Lets::let(Expr value, std::vector<ir::Let>& lets) {
  lets.push_back({fmt::format("t{}", count_++), value});
  return pool_.let(lets.back().name);
}

}  // namespace ondula::passes
