// Source factors.
// SPDX-License-Identifier: MIT
#include "runtime/loop/factor.hpp"

#include <algorithm>

#include "compiler/error.hpp"
#include "compiler/ir/real_functions.hpp"

namespace ondula::loop {
namespace {

double harmonic_mean(ir::Expr average, const ir::Symbols& symbols, const PaddedModel& model,
                     const ir::Extents& index, const ir::Domain* surfaces) {
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
    sum += 1.0 / source_factor(average->args[0], symbols, model, node, surfaces);
  }
  return count / sum;
}

}  // namespace

double source_factor(ir::Expr factor, const ir::Symbols& symbols, const PaddedModel& model,
                     const ir::Extents& index, const ir::Domain* surfaces) {
  switch (factor->kind) {
    case ir::Kind::average:
      return harmonic_mean(factor, symbols, model, index, surfaces);
    case ir::Kind::product: {
      double value = 1;
      for (const ir::Expr arg : factor->args) value *= source_factor(arg, symbols, model, index, surfaces);
      return value;
    }
    case ir::Kind::sum: {
      double value = 0;
      for (const ir::Expr arg : factor->args) value += source_factor(arg, symbols, model, index, surfaces);
      return value;
    }
    case ir::Kind::quotient:
      return source_factor(factor->args[0], symbols, model, index, surfaces) /
             source_factor(factor->args[1], symbols, model, index, surfaces);
    case ir::Kind::surface: {
      int met = 0;
      for (int axis = 0; surfaces != nullptr && axis < surfaces->dims; ++axis)
        met += surfaces->surfaces(axis, index[static_cast<std::size_t>(axis)]);
      const auto last = factor->args.size() - 1;
      const std::size_t which = std::min(static_cast<std::size_t>(met), last);
      return source_factor(factor->args[which], symbols, model, index, surfaces);
    }
    case ir::Kind::parameter:
      return model.at(factor->name, index);
    case ir::Kind::function: {
      const auto argument = [&](std::size_t j) {
        return source_factor(factor->args[j], symbols, model, index, surfaces);
      };
      if (factor->name == "where") return argument(argument(0) != 0 ? 1 : 2);
      const std::size_t count = factor->args.size();
      return ir::real_function(factor->name, count).value(argument(0), count > 1 ? argument(1) : 0);
    }
    default:
      return ir::scalar_value(factor, symbols);
  }
}

}  // namespace ondula::loop
