// Expressions: an immutable, hash-consed DAG of what an equation's author can say and what the passes make of
// it. SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/number.hpp"

namespace ondula::ir {

inline constexpr int max_axes = 3;

/// A position in half cells along each axis (slowest axis first).
using HalfCells = std::array<int, max_axes>;

/// What a node is. `symbol` is a run-time scalar ("dt", "h_z"); `profile` a 1-D array along one axis (CPML's
/// a and b); `average` the harmonic mean of a pointwise expression at an off-node position; `surface` a nodal
/// value that differs where free surfaces are; `let` a value named in a Kernel.
enum class Kind {
  constant,
  symbol,
  parameter,
  coefficient,
  field,
  profile,
  source,
  let,
  derivative,
  average,
  surface,
  sum,
  product,
  quotient,
  function
};

struct Node;

/// A handle on a node of a Pool; equal handles are equal expressions. Valid as long as its Pool lives.
class Expr {
 public:
  Expr() = default;
  explicit Expr(const Node* node) : node_(node) {}
  const Node* operator->() const { return node_; }
  const Node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(Expr a, Expr b) { return a.node_ == b.node_; }

 private:
  const Node* node_ = nullptr;
};

/// One node. Which members mean something depends on `kind`; the others keep their defaults.
struct Node {
  Kind kind = Kind::constant;
  std::uint32_t id = 0;  ///< order of creation: deterministic, fit for ordering
  Number number;         ///< constant
  std::string name;      ///< symbol, parameter, coefficient, field, profile, source, let, function
  int level = 0;         ///< field: time level, 0 now, +1 next, -1 previous
  HalfCells offset{};    ///< field, coefficient: position read, in half cells from the point of the update;
                         ///< average: the stagger it is taken at; derivative, profile: unused
  int axis = 0;          ///< derivative, profile
  int order = 0;         ///< derivative: 1 or 2
  bool staggered =
      false;  ///< derivative: toggles the half cell along its axis; profile: sampled at half cells
  std::vector<Expr> args;  ///< operands
};

/// Owns nodes and makes equal ones identical. One Pool belongs to one compilation, so no lock is needed; the
/// order of construction, hence every id, is the same in every process.
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Expr constant(const Number& value);
  Expr symbol(const std::string& name);
  Expr parameter(const std::string& name);
  Expr coefficient(const std::string& name, const HalfCells& offset = {});
  Expr field(const std::string& name, int level, const HalfCells& offset = {});
  Expr profile(const std::string& name, int axis, bool staggered);
  Expr source(const std::string& field);
  Expr let(const std::string& name);
  /// d^order/dx_axis^order of `operand`; staggered first derivatives toggle the half cell along the axis.
  Expr derivative(Expr operand, int axis, int order, bool staggered);
  /// Harmonic mean of a nodal expression at `stagger` (numerics.md, Space): 2^k / sum(1/e), 0 where any e is
  /// 0.
  Expr average(Expr nodal, const HalfCells& stagger);
  /// by_count[k] on the nodes where the rows of k free surfaces meet, the last entry where more do. Which
  /// nodes those are is known to the Domain of a run only.
  Expr surface(std::vector<Expr> by_count);
  /// Sums are flattened, constants folded, zeros dropped; the order of terms is kept.
  Expr sum(std::vector<Expr> terms);
  /// Products are flattened, constants folded into one leading factor, ones dropped; a zero makes it zero.
  Expr product(std::vector<Expr> factors);
  Expr quotient(Expr numerator, Expr denominator);
  Expr function(const std::string& name, std::vector<Expr> args);
  /// How `coefficient`, which depends on parameters and does not vary in time, changes along the run's
  /// perturbation of them: a value at one point that is never opened, since its own formula may divide by 0
  /// where it has a value (harmonic means beside a fluid).
  Expr tangent(Expr coefficient) { return function("tangent", {coefficient}); }
  /// The first time derivative of a second-order field, on the right side of its own evolution.
  Expr rate(Expr field) { return function("dt", {field}); }
  Expr negate(Expr e) { return product({constant(-1), e}); }

  std::size_t size() const { return nodes_.size(); }

 private:
  Expr intern(Node node);

  std::deque<Node> nodes_;
  std::unordered_map<std::uint64_t, std::vector<const Node*>> by_hash_;
};

bool is_constant(Expr e, std::int64_t value);
/// Made by Pool::tangent.
inline bool is_tangent(Expr e) { return e->kind == Kind::function && e->name == "tangent"; }
/// Made by Pool::rate.
inline bool is_rate(Expr e) { return e->kind == Kind::function && e->name == "dt"; }
/// True if any node below (or `e` itself) is of `kind`.
bool contains(Expr e, Kind kind);
/// True if `e` depends on fields, sources or profiles, hence varies in time or by strip.
bool time_dependent(Expr e);
/// One-line mathematical text, e.g. "dt*dt*vp*vp*D2z(u)": for dumps and messages. `axes` names the axes,
/// slowest first; a prime marks the next time level, a back-tick the previous one, [0,1/2] an offset in
/// cells.
std::string text(Expr e, const std::vector<std::string>& axes = {});
/// The same for expressions of Kernels, whose offsets count cells and whose profiles are named by their
/// argument.
std::string lowered_text(Expr e, const std::vector<std::string>& axes);

}  // namespace ondula::ir
