// A Program: what one time step does, in order. Forward, adjoint and reversed steps are all Programs.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/equation.hpp"

namespace ondula::ir {

/// Where an update acts. `live`: every point that evolves. `strip`: the cells of an axis's absorbing layers,
/// where d > 0. `apron`: the first cells beside a strip, inwards (Program::apron_cells). Strips and aprons
/// have a minus and a plus side.
enum class RegionKind { live, strip, apron };

struct Region {
  RegionKind kind = RegionKind::live;
  int axis = -1;
  friend bool operator==(const Region&, const Region&) = default;
};

/// field(level) = value, or += value where `accumulate`.
struct Update {
  std::string field;
  int level = 1;
  Expr value;
  bool accumulate = false;
  std::vector<Region> regions;  ///< the union of these; never overlapping
  Location location;            ///< the evolution it comes from
};

/// field(level) += factor * (sum of wavelet sample * weight / cell volume), at the taps of each source of
/// `source`.
struct Injection {
  std::string source;
  std::string field;
  int level = 1;
  Expr factor;
  std::string times{};   ///< and times this field; empty: not
  int times_level = -1;  ///< -1 of a saved field: as it was before the step
};

/// Receivers of `field` read it here: as the step found it, or (level 1) as its update left it.
struct Sample {
  std::string field;
  int level = 0;
};

/// The halo of field(level) is filled by the images its faces prescribe.
struct Halo {
  std::string field;
  int level = 1;
};

/// What the interior of a field cannot be rebuilt without: its entries on the ring between two depths beside
/// the absorbing faces. Between two steps the forward run keeps those of `field`, of second order at level
/// -1; the step back that undoes what came after fills with them the rebuilt field's, at its new level.
struct Ring {
  std::string field;
  bool keep = false;
  int number = 0;  ///< among the rings of a step, in the order they are kept in
  Depths outer{}, inner{};
};

using Operation = std::variant<Sample, Update, Injection, Halo, Ring>;

/// An array computed from the parameters once per model.
struct Coefficient {
  std::string name;
  Expr definition;  ///< nodal: pointwise in parameters and symbols; or a tangent, at its own stagger
};

/// A run-time scalar computed from symbols (dt, h_z, ...) once per run, in double, rounded once.
struct Scalar {
  std::string name;
  Expr definition;
};

/// One time step. Value type: passes take one and return another; the pool is shared by all of one
/// compilation.
struct Program {
  std::string equation;
  std::string description;
  std::string direction = "forward";
  std::vector<std::string> axes;
  std::shared_ptr<Pool> pool;
  int order = 0;           ///< accuracy of the spatial stencils, 2..16 even
  int apron = 0;           ///< cells of an apron; 0: order/2
  bool stretched = false;  ///< CPML with kappa != 1
  std::string no_surface;  ///< why a free surface is refused, in words; empty where it is not
  std::vector<Parameter> parameters;
  std::vector<Requirement> requirements;
  DeclaredSpeeds speeds;
  std::vector<Field> fields;
  /// What the author stated, every term placed (pass check): what stability and speeds follow from.
  std::vector<Evolution> stated;
  std::vector<Coefficient> coefficients;
  std::vector<Scalar> scalars;
  std::vector<Operation> operations;

  int dims() const { return static_cast<int>(axes.size()); }
  int radius() const { return order / 2; }
  int apron_cells() const { return apron > 0 ? apron : radius(); }
  /// Velocities and stresses are fields: not an equation of scalars alone (their images differ, see Domain).
  bool first_order() const;
  const Field& field(const std::string& name) const;  ///< throws InternalError if there is none
  const Parameter* find_parameter(const std::string& name) const;
  const Coefficient* find_coefficient(const std::string& name) const;
};

/// A readable listing: parameters, fields, coefficients, scalars, operations, one a line.
std::string dump(const Program& program);

/// Checks the invariants every pass must keep; throws InternalError naming `pass` and what is wrong.
void verify(const Program& program, const std::string& pass);

}  // namespace ondula::ir
