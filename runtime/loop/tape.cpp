// From expressions to tapes; equal subexpressions at equal places are computed once.
// SPDX-License-Identifier: MIT
#include "runtime/loop/tape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/error.hpp"
#include "compiler/ir/ratios.hpp"

namespace ondula::loop {
namespace {

using ir::Expr;
using ir::Extents;
using ir::Kind;

class Writer {
 public:
  Writer(const ir::Symbols& symbols, Surfaces surfaces) : symbols_(symbols), surfaces_(surfaces) {}

  Tape tape(Expr e) {
    tape_.value = write(e, {});
    return std::move(tape_);
  }

 private:
  std::size_t push(TapeStep step) {
    const bool leaf = step.op == TapeOp::parameter || step.op == TapeOp::select;
    step.uniform = !leaf && std::all_of(step.args.begin(), step.args.end(),
                                        [&](std::size_t i) { return tape_.steps[i].uniform; });
    tape_.steps.push_back(std::move(step));
    return tape_.steps.size() - 1;
  }

  std::size_t constant(double value) { return push({.op = TapeOp::constant, .number = value}); }

  std::size_t write(Expr e, const Extents& at) {
    const std::pair key{e->id, at};
    const auto found = written_.find(key);
    if (found != written_.end()) return found->second;
    const std::size_t step = fresh(e, at);
    written_[key] = step;
    return step;
  }

  std::size_t fresh(Expr e, const Extents& at) {
    switch (e->kind) {
      case Kind::constant:
        return constant(e->number.value());
      case Kind::symbol: {
        const auto found = symbols_.find(e->name);
        if (found == symbols_.end()) throw InternalError("no value for " + e->name);
        return constant(found->second);
      }
      case Kind::parameter:
        return parameter(e->name, at);
      case Kind::sum:
        return chain(TapeOp::add, e->args, at);
      case Kind::product:
        return chain(TapeOp::multiply, e->args, at);
      case Kind::quotient:
        return quotient(e, at);
      case Kind::average:
        return average(e, at);
      case Kind::surface:
        return surface(e, at);
      case Kind::function:
        if (e->name == "where") return push({.op = TapeOp::choose, .args = written(e->args, at)});
        return push({.op = TapeOp::function,
                     .args = written(e->args, at),
                     .function = &ir::real_function(e->name, e->args.size())});
      default:
        throw InternalError("cannot evaluate or differentiate " + ir::text(e));
    }
  }

  std::vector<std::size_t> written(const std::vector<Expr>& args, const Extents& at) {
    std::vector<std::size_t> result;
    for (const Expr arg : args) result.push_back(write(arg, at));
    return result;
  }

  std::size_t chain(TapeOp op, const std::vector<Expr>& args, const Extents& at) {
    std::size_t result = write(args.at(0), at);
    for (std::size_t i = 1; i < args.size(); ++i) {
      const std::size_t next = write(args[i], at);
      result = push({.op = op, .args = {result, next}});
    }
    return result;
  }

  std::size_t parameter(const std::string& name, const Extents& at) {
    auto& names = tape_.parameters;
    const auto found = std::find(names.begin(), names.end(), name);
    const auto which = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    for (std::size_t a = 0; a < at.size(); ++a) {
      tape_.below[a] = std::max(tape_.below[a], -at[a]);
      tape_.above[a] = std::max(tape_.above[a], at[a]);
    }
    return push({.op = TapeOp::parameter, .parameter = which, .shift = at});
  }

  std::size_t quotient(Expr e, const Extents& at) {
    const std::vector<ir::Ratio> ratios = ir::ratios_of(e->args[1]);
    if (ratios.empty()) return push({.op = TapeOp::divide, .args = written(e->args, at)});
    std::vector<std::size_t> args;
    for (const ir::Ratio& ratio : ratios) {
      args.push_back(chain(TapeOp::multiply, ratio.above, at));
      args.push_back(ratio.below ? write(ratio.below, at) : constant(1));
    }
    const std::size_t unit = push({.op = TapeOp::parallel, .args = std::move(args)});
    if (ir::is_constant(e->args[0], 1)) return unit;
    const std::size_t numerator = write(e->args[0], at);
    return push({.op = TapeOp::multiply, .args = {numerator, unit}});
  }

  /// The harmonic mean over both nodes beside the point along each axis where it is off its node.
  std::size_t average(Expr e, const Extents& at) {
    std::vector<Extents> around = {at};
    for (std::size_t a = 0; a < at.size(); ++a) {
      const int half = e->offset[a];
      const int floor = (half - (half & 1)) / 2;
      for (Extents& node : around) node[a] += floor;
      if ((half & 1) == 0) continue;
      const std::vector<Extents> before = around;
      for (Extents node : before) {
        node[a] += 1;
        around.push_back(node);
      }
    }
    std::vector<std::size_t> args;
    for (const Extents& node : around) args.push_back(write(e->args[0], node));
    return args.size() == 1 ? args[0] : push({.op = TapeOp::mean, .args = std::move(args)});
  }

  std::size_t surface(Expr e, const Extents& at) {
    if (surfaces_ == Surfaces::ignored) return write(e->args[0], at);
    return push({.op = TapeOp::select, .args = written(e->args, at), .shift = at});
  }

  const ir::Symbols& symbols_;
  Surfaces surfaces_;
  Tape tape_;
  std::map<std::pair<std::uint32_t, Extents>, std::size_t> written_;
};

}  // namespace

Tape make_tape(ir::Expr e, const ir::Symbols& symbols, Surfaces surfaces) {
  return Writer(symbols, surfaces).tape(e);
}

}  // namespace ondula::loop
