// Values of expressions at one point.
// SPDX-License-Identifier: MIT
#include "tests/compiler/passes/values.hpp"

#include <cmath>

#include "compiler/error.hpp"

namespace ondula::test {
namespace {

using ir::Expr;
using ir::HalfCells;
using ir::Kind;

class Evaluator {
 public:
  explicit Evaluator(const Surroundings& around) : around_(around) {}

  /// `at`: where parameters are read.
  double value(Expr e, const HalfCells& at) const {
    switch (e->kind) {
      case Kind::constant:
        return e->number.value();
      case Kind::symbol:
        return symbol(e->name);
      case Kind::let:
        return around_.lets.at(e->name);
      case Kind::parameter:
        return around_.parameter(e->name, at);
      case Kind::field:
        return around_.field(*e);
      case Kind::profile:
        return made_up(e->name, {e->axis, e->staggered ? 1 : 0, 0});
      case Kind::coefficient:
        return coefficient(e);
      case Kind::average:
        return average(e);
      case Kind::surface:
        return value(e->args[0], at);
      case Kind::function:
        return function(e, at);
      case Kind::sum: {
        double sum = 0;
        for (const Expr term : e->args) sum += value(term, at);
        return sum;
      }
      case Kind::product: {
        double product = 1;
        for (const Expr factor : e->args) product *= value(factor, at);
        return product;
      }
      case Kind::quotient:
        return value(e->args[0], at) / value(e->args[1], at);
      default:
        throw InternalError("no value of " + ir::text(e));
    }
  }

 private:
  double symbol(const std::string& name) const {
    if (const auto found = around_.symbols.find(name); found != around_.symbols.end()) return found->second;
    for (const ir::Scalar& scalar : around_.program->scalars) {
      if (scalar.name == name) return value(scalar.definition, {});
    }
    throw InternalError("no symbol " + name);
  }

  double coefficient(Expr e) const {
    if (around_.program == nullptr) return made_up(e->name, e->offset);
    const ir::Coefficient* found = around_.program->find_coefficient(e->name);
    return found != nullptr ? value(found->definition, e->offset) : made_up(e->name, e->offset);
  }

  /// Harmonic mean over the nodes around the position.
  double average(Expr e) const {
    double sum = 0;
    int count = 0;
    HalfCells at{};
    const auto ends = [&](std::size_t axis) {
      const int half = e->offset[axis];
      return half % 2 == 0 ? std::array<int, 2>{half, half} : std::array<int, 2>{half - 1, half + 1};
    };
    for (at[0] = ends(0)[0]; at[0] <= ends(0)[1]; at[0] += 2) {
      for (at[1] = ends(1)[0]; at[1] <= ends(1)[1]; at[1] += 2) {
        for (at[2] = ends(2)[0]; at[2] <= ends(2)[1]; at[2] += 2) {
          sum += 1 / value(e->args[0], at);
          ++count;
        }
      }
    }
    return count / sum;
  }

  double function(Expr e, const HalfCells& at) const {
    const auto arg = [&](std::size_t i) { return value(e->args[i], at); };
    if (e->name == "neg") return -arg(0);
    if (e->name == "whole") return arg(0);
    if (e->name == "add") return arg(0) + arg(1);
    if (e->name == "sub") return arg(0) - arg(1);
    if (e->name == "mul") return arg(0) * arg(1);
    if (e->name == "div") return arg(0) / arg(1);
    if (e->name == "fma") return std::fma(arg(0), arg(1), arg(2));
    throw InternalError("no function " + e->name);
  }

  const Surroundings& around_;
};

}  // namespace

double made_up(const std::string& name, const HalfCells& position, int level) {
  std::uint64_t hash = 14695981039346656037u;
  const auto mix = [&hash](std::uint64_t byte) { hash = (hash ^ byte) * 1099511628211u; };
  for (const char c : name) mix(static_cast<unsigned char>(c));
  for (const int i : position) mix(static_cast<std::uint64_t>(i + 1000));
  mix(static_cast<std::uint64_t>(level + 10));
  hash ^= hash >> 29;
  hash *= 0xbf58476d1ce4e5b9u;
  return 1 + static_cast<double>(hash >> 12) * 0x1p-52;
}

double value(Expr e, const Surroundings& around) { return Evaluator(around).value(e, {}); }

}  // namespace ondula::test
