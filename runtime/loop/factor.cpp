// Source factors.
// SPDX-License-Identifier: MIT
#include "runtime/loop/factor.hpp"

#include "compiler/error.hpp"

namespace ondula::loop {
namespace {

double harmonic_mean(ir::Expr average, const ir::Symbols& symbols, const PaddedModel& model,
                     const ir::Extents& index) {
  double count = 0;
  double sum = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    ir::Extents node = index;
    bool exists = true;
    for (std::size_t a = 0; a < node.size(); ++a) {
      const bool up = ((corner >> a) & 1U) != 0;
      exists = exists && (!up || average->offset[a] != 0);
      node[a] += up ? 1 : 0;
    }
    if (!exists) continue;
    count += 1;
    sum += 1.0 / source_factor(average->args[0], symbols, model, node);
  }
  return count / sum;
}

}  // namespace

double source_factor(ir::Expr factor, const ir::Symbols& symbols, const PaddedModel& model,
                     const ir::Extents& index) {
  switch (factor->kind) {
    case ir::Kind::average:
      return harmonic_mean(factor, symbols, model, index);
    case ir::Kind::product: {
      double value = 1;
      for (const ir::Expr arg : factor->args) value *= source_factor(arg, symbols, model, index);
      return value;
    }
    case ir::Kind::sum: {
      double value = 0;
      for (const ir::Expr arg : factor->args) value += source_factor(arg, symbols, model, index);
      return value;
    }
    case ir::Kind::quotient:
      return source_factor(factor->args[0], symbols, model, index) /
             source_factor(factor->args[1], symbols, model, index);
    case ir::Kind::surface:  // the material itself: what a surface makes of it is for updates alone
      return source_factor(factor->args[0], symbols, model, index);
    case ir::Kind::parameter:
      return model.at(factor->name, index);
    default:
      return ir::scalar_value(factor, symbols);
  }
}

}  // namespace ondula::loop
