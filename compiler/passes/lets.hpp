// Names for the shared and the long subexpressions of a kernel's text.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "compiler/ir/kernel.hpp"

namespace ondula::passes {

/// How many nodes use a node, by its id.
using Uses = std::map<std::uint32_t, int>;

/// Adds the uses of `e` and of everything below it; what was counted before adds one.
void count_uses(ir::Expr e, Uses& uses);

/// Gives names t0, t1, ... to what several nodes use and to the long arguments of a line. Operands come
/// before their users; no operation and no order of operations changes.
class Lets {
 public:
  /// What an expression became, by its id: where a text has it once more, the same name serves.
  using Named = std::map<std::uint32_t, ir::Expr>;
  /// False where an expression's value changes between its places in the text, so that no name may serve
  /// twice.
  using Fixed = std::function<bool(ir::Expr)>;

  explicit Lets(
      ir::Pool& pool, Fixed fixed = [](ir::Expr) { return true; })
      : pool_(pool), fixed_(std::move(fixed)) {}

  /// `e` in terms of names, their lets appended to `lets`; `uses` counts every function below `e`.
  ir::Expr name(ir::Expr e, const Uses& uses, Named& named, std::vector<ir::Let>& lets);

 private:
  ir::Expr let(ir::Expr value, std::vector<ir::Let>& lets);

  ir::Pool& pool_;
  Fixed fixed_;
  int count_ = 0;
};

}  // namespace ondula::passes
