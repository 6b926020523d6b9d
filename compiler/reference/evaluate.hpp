// Evaluation of an expression over a box, one whole-array operation per node.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "compiler/reference/layout.hpp"
#include "compiler/reference/statics.hpp"

namespace ondula::reference {

/// The value of a node: an array over Layout::everything(), valid on the box asked for, or one number.
template <class Real>
struct Value {
  const Real* array = nullptr;  ///< null where uniform
  Real number = 0;
};

/// Time-independent values rounded once to the working type, kept until a parameter changes.
template <class Real>
class Coefficients {
 public:
  explicit Coefficients(const Statics& statics) : statics_(statics) {}
  void forget() { kept_.clear(); }
  /// `e` itself if it does not vary, else, for a product, its factors that do not.
  Value<Real> of(ir::Expr e);

 private:
  struct Kept {
    Real number = 0;
    std::vector<Real> array;
  };
  const Statics& statics_;
  std::map<std::uint32_t, Kept> kept_;  // by id of the expression
};

/// Evaluates expressions in `Real`. A node evaluated on the same box twice is evaluated once, until clear().
template <class Real>
class Evaluator {
 public:
  /// Finds the array of a field at a time level.
  using Fields = std::function<const std::vector<Real>&(const std::string& name, int level)>;

  Evaluator(const ir::Program& program, const ir::Domain& domain, const Layout& layout,
            Coefficients<Real>& coefficients, Fields fields);

  /// `e` at points staggered by `stagger`, on `box`. Derivatives evaluate their operand on a box wider by
  /// their radius. The result is valid until clear(). Throws InternalError where an operand lives elsewhere.
  Value<Real> evaluate(ir::Expr e, const ir::HalfCells& stagger, const ir::Box& box);
  /// Forgets all results; called whenever a field changes.
  void clear();

 private:
  using Key = std::tuple<std::uint32_t, std::array<std::int64_t, 6>>;

  Value<Real> field(const ir::Node& node, const ir::HalfCells& stagger) const;
  void sum(const ir::Node& node, const ir::HalfCells& stagger, const ir::Box& box, Real* out);
  void product(ir::Expr e, const ir::HalfCells& stagger, const ir::Box& box, Real* out);
  void quotient(const ir::Node& node, const ir::HalfCells& stagger, const ir::Box& box, Real* out);
  void derivative(const ir::Node& node, const ir::HalfCells& stagger, const ir::Box& box, Real* out);
  Real* scratch();

  const ir::Program& program_;
  const Layout& layout_;
  std::array<double, ir::max_axes> spacing_;
  Coefficients<Real>& coefficients_;
  Fields fields_;
  std::vector<double> second_, centred_, staggered_;
  std::map<Key, Value<Real>> known_;
  std::vector<std::unique_ptr<std::vector<Real>>> arrays_;  // scratch; the first used_ are in use
  std::size_t used_ = 0;
};

extern template class Coefficients<float>;
extern template class Coefficients<double>;
extern template class Evaluator<float>;
extern template class Evaluator<double>;

}  // namespace ondula::reference
