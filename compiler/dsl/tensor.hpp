// Tensors: the values an equation's author computes with, of rank 0, 1 or 2, one expression per component.
// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "compiler/export.hpp"
#include "compiler/ir/equation.hpp"

namespace ondula::dsl {

class Author;
class Condition;
class Stiffness;
struct Modulus;

/// "x", or "xz": the axes of a component, with the author's line.
struct AxisName {
  std::string name;
  std::source_location where;
  AxisName(const char* n, std::source_location w = std::source_location::current())  // NOLINT
      : name(n), where(w) {}
  AxisName(int) = delete;  // v[0] would be a null text
  AxisName(std::string n, std::source_location w = std::source_location::current())  // NOLINT
      : name(std::move(n)), where(w) {}
};

/// A scalar, vector or rank-2 tensor over the axes of the instantiation. Plain numbers convert to it.
class ONDULA_API Tensor {
 public:
  Tensor(double number);                                       // NOLINT(google-explicit-constructor)
  Tensor(int number) : Tensor(static_cast<double>(number)) {}  // NOLINT(google-explicit-constructor)

  int rank() const { return rank_; }
  const std::vector<ir::Expr>& components() const { return components_; }
  const std::optional<ir::Unit>& unit() const { return unit_; }
  /// The group name if this is exactly a declared field, the component's if it is one of it, else empty.
  const std::string& field() const { return field_; }
  /// A component as a scalar that lives where it does: v["x"], s["xz"]. Throws UserError for an axis that the
  /// instantiation lacks.
  Tensor operator[](const AxisName& axes) const;

 private:
  friend class Author;
  friend struct Access;
  Tensor() = default;

  Author* author_ = nullptr;  // null for plain numbers
  int rank_ = 0;
  double number_ = 0;                 // the value while author_ is null
  std::vector<ir::Expr> components_;  // rank 0: 1; rank 1: d; rank 2: d*d, row by row
  std::optional<ir::Unit> unit_;      // empty: takes the unit of what it is added to (sources, zero)
  std::string field_;
};

class TimeDerivative;

/// A tensor together with the author's line: operators take these, so that a mistake is reported where it was
/// made.
struct Located {
  Tensor tensor;
  std::source_location where;
  Located(const Tensor& t, std::source_location w = std::source_location::current())  // NOLINT
      : tensor(t), where(w) {}
  Located(double number, std::source_location w = std::source_location::current())  // NOLINT
      : tensor(number), where(w) {}
  Located(int number, std::source_location w = std::source_location::current())  // NOLINT
      : tensor(number), where(w) {}
  /// dt(u) as a term, of a right side of dtt(u).
  ONDULA_API Located(const TimeDerivative& rate,  // NOLINT
                     std::source_location w = std::source_location::current());
};

/// `group` evolves as d^order/dt^order group = right.
struct EvolutionStatement {
  Tensor left;
  int order;
  Tensor right;
  std::source_location where;
};

/// dt(u) or dtt(u): to be assigned to; dt(u) is a term, too, on the right side of dtt(u).
class TimeDerivative {
 public:
  TimeDerivative(const Tensor& field, int order, std::source_location where)
      : field_(field), order_(order), where_(where) {}
  TimeDerivative(const TimeDerivative&) = default;
  ~TimeDerivative() = default;
  EvolutionStatement operator=(const Located& right) const {  // NOLINT(misc-unconventional-assign-operator)
    return {field_, order_, right.tensor, right.where};
  }
  EvolutionStatement operator=(const TimeDerivative& right) const {  // NOLINT
    return *this = Located(right, right.where_);
  }

 private:
  friend struct Located;
  Tensor field_;
  int order_;
  std::source_location where_;
};

/// First and second time derivative; the left sides of evolution equations.
ONDULA_API TimeDerivative dt(const Located& field);
ONDULA_API TimeDerivative dtt(const Located& field);

ONDULA_API Tensor operator+(const Located& a, const Located& b);
ONDULA_API Tensor operator-(const Located& a, const Located& b);
ONDULA_API Tensor operator-(const Located& a);
/// At least one factor must be a scalar.
ONDULA_API Tensor operator*(const Located& a, const Located& b);
/// The divisor must be a scalar.
ONDULA_API Tensor operator/(const Located& a, const Located& b);

/// a*a of a scalar.
ONDULA_API Tensor sq(const Located& a);
/// Sum of second derivatives along every axis, of a scalar on the nodes.
ONDULA_API Tensor laplacian(const Located& scalar);
/// Scalar -> vector, vector -> rank 2 with component (a, b) = d_b v_a.
ONDULA_API Tensor grad(const Located& tensor);
/// Vector -> scalar, rank 2 -> vector (div s)_a = sum_b d_b s_ab.
ONDULA_API Tensor div(const Located& tensor);
/// 3-D: vector -> axial vector and back, (curl v)_x = d_y v_z - d_z v_y and so on, x, y, z right-handed. In
/// 2-D, where all depends on z and x: of a scalar, the y component of a vector, the axial vector (curl u)_z =
/// d_x u, (curl u)_x = -d_z u; of an axial vector the scalar d_z h_x - d_x h_z.
ONDULA_API Tensor curl(const Located& tensor);
/// First derivative of a scalar along a named axis, half a cell on; 0 along an axis that the instantiation
/// lacks.
ONDULA_API Tensor d(const Located& scalar, const AxisName& axis);
/// Second derivative of a scalar on the nodes along a named axis, on the nodes; 0 along an axis that the
/// instantiation lacks.
ONDULA_API Tensor d2(const Located& scalar, const AxisName& axis);
/// Sum of the diagonal of a rank-2 tensor.
ONDULA_API Tensor trace(const Located& tensor);
/// Symmetric part (t + t^T)/2 of a rank-2 tensor.
ONDULA_API Tensor sym(const Located& tensor);
/// The source terms of a field: what a shot's wavelets feed. point source, body force, moment rate.
ONDULA_API Tensor source(const Located& field);
ONDULA_API Tensor force(const Located& field);
ONDULA_API Tensor moment_rate(const Located& field);

/// The mesh of names an equation's body sees: declarations, constants of the domain, and `evolve`.
class ONDULA_API Author {
 public:
  Author(std::string name, std::string description, std::vector<std::string> axes);
  Author(const Author&) = delete;
  Author& operator=(const Author&) = delete;
  virtual ~Author() = default;
  virtual void define() = 0;

  /// Runs the body and checks that the whole is complete; throws UserError naming equation, field and line.
  ir::Equation finish();

 protected:
  static constexpr ir::Sign any = ir::Sign::any;
  static constexpr ir::Sign nonnegative = ir::Sign::nonnegative;
  static constexpr ir::Sign positive = ir::Sign::positive;

  /// A model array, one value per node, in `unit`.
  Tensor parameter(const std::string& name, const std::string& unit, ir::Sign sign = ir::Sign::any,
                   std::source_location where = std::source_location::current());
  /// A model of one number for the whole grid, in `unit`; its gradient is one number.
  Tensor uniform(const std::string& name, const std::string& unit, ir::Sign sign = ir::Sign::any,
                 std::source_location where = std::source_location::current());
  /// A scalar field on the nodes.
  Tensor scalar(const std::string& name, const std::string& unit,
                std::source_location where = std::source_location::current());
  /// A vector field; component a lives half a cell along +a.
  Tensor vector(const std::string& name, const std::string& unit,
                std::source_location where = std::source_location::current());
  /// A vector field; component a lives half a cell along every axis other than a, where curls of vectors do.
  Tensor axial_vector(const std::string& name, const std::string& unit,
                      std::source_location where = std::source_location::current());
  /// A symmetric tensor field; diagonal at nodes, component ab half a cell along a and b.
  Tensor symmetric_tensor(const std::string& name, const std::string& unit,
                          std::source_location where = std::source_location::current());
  /// The unit tensor.
  Tensor identity();
  /// A symmetric stiffness tensor: {{"xx", "xx", c11}, {"xx", "zz", c13}, ...}, see Stiffness.
  static Stiffness stiffness(std::initializer_list<Modulus> moduli);
  /// The axes of the instantiation, slowest first.
  const std::vector<std::string>& axes() const { return equation_.axes; }
  /// Those that are not the depth, "z".
  std::vector<std::string> horizontal() const;
  /// The instantiation has this axis: x, y or z.
  bool has(const AxisName& axis) const;
  /// Every model must fulfil `condition` in every cell, else runs are refused with `reason` and the cell.
  void require(const Condition& condition, const std::string& reason,
               std::source_location where = std::source_location::current());
  /// The fastest and the slowest wave's speed in m/s, expressions of parameters, where those that follow from
  /// the equation's plane waves are not meant. Layers and warnings of dispersion go by them; the limit of the
  /// time step does not.
  void speeds(const Located& fastest, const Located& slowest);
  /// Declares how a field evolves; first-order equations run in the order written, each with the latest
  /// values.
  void evolve(const EvolutionStatement& statement);

 private:
  friend struct Access;
  void declare(const std::string& name, std::source_location where);
  Tensor model(ir::Parameter parameter, std::source_location where);
  Tensor field_tensor(const std::string& group, const std::string& unit, ir::FieldKind kind,
                      std::source_location where);
  [[noreturn]] void fail(const std::source_location& where, const std::string& what) const;

  ir::Equation equation_;
};

}  // namespace ondula::dsl
