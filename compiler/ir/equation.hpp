// An equation as its author stated it, for given axes: parameters, fields, evolution equations.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/expr.hpp"
#include "compiler/ir/unit.hpp"

namespace ondula::ir {

/// The author's own file and line.
struct Location {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;  ///< from 1; 0: not known
  /// "file:line:column", as compilers write it.
  std::string text() const {
    return file + ":" + std::to_string(line) + (column > 0 ? ":" + std::to_string(column) : "");
  }
  /// Without the folders: for generated text, which must not depend on where anything lies.
  std::string short_text() const {
    return file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(line);
  }
};

/// The values a parameter may take.
enum class Sign { any, nonnegative, positive };

/// A model array given by the user, one value per node; `uniform`: one value for the whole model.
struct Parameter {
  std::string name;
  std::string unit;
  Sign sign = Sign::any;
  Location location;
  bool uniform = false;
};

/// What an author demands of the models: `condition`, an expression of parameters, is other than 0 in every
/// cell.
struct Requirement {
  Expr condition;
  std::string reason;
  Location location;
};

/// Speeds in m/s, expressions of parameters, that an author states in place of the plane waves' own; null
/// where none are.
struct DeclaredSpeeds {
  Expr fastest, slowest;
};

/// What a field is; decides its grid (stagger) and its images at faces.
/// `axial`: a vector whose components lie half a cell along every axis but their own, as curls of vectors do.
enum class FieldKind { scalar, vector, tensor, axial };

/// A depth along each axis below the outermost interior nodes of its absorbing faces, in half cells;
/// negative: in the layer. Fields on nodes have even depths, fields on half cells odd ones.
using Depths = std::array<int, max_axes>;

/// One component of a field. `stagger` counts half cells (0 or 1) along each axis.
struct Field {
  std::string name;   ///< "u", "v.z", "s.xz"
  std::string group;  ///< the author's name: "u", "v", "s"
  std::string unit;
  FieldKind kind = FieldKind::scalar;
  std::vector<int> component;  ///< axes of the component: {} , {a}, {a, b}
  HalfCells stagger{};
  int time_order = 0;      ///< 2: levels n and n-1 are kept; 1: one level, updated in place
  bool half_step = false;  ///< lives at t_n - dt/2 when a record is taken
  /// Of an equation with axial vectors: a rigid wall is a perfect electric conductor, about whose row nodes
  /// are odd and half cells even.
  bool electric = false;
  bool everywhere = false;  ///< evolves on the rows of surfaces too, whatever its kind
  int strip_axis = -1;      ///< CPML memory variable: lives on the strips of this axis only
  bool saved = false;       ///< kept of every step: its array is one of the history's, another in each step
  /// First order, and kept of every step: the next level is written where that step's is kept, not in place.
  bool apart = false;
  bool accumulator = false;  ///< a sum over time, and over shots
  bool along = false;        ///< an accumulator that grows in the statement of another field
  int slots() const { return time_order == 2 || apart ? 2 : 1; }  ///< arrays that its levels take turns in
  /// An accumulator of a flux along this axis lives so many cells beyond absorbing faces, and one beyond a
  /// rigid face, as far as the stencils of nodes read the flux; -1: as other fields do.
  int beyond_axis = -1;
  int beyond = 0;
  std::optional<Depths> inset;  ///< at absorbing faces it evolves from that depth on; unset: in the layer too
  Location location;
};

/// d^order/dt^order of one component equals `rhs`.
struct Evolution {
  std::string field;
  int order = 1;
  Expr rhs;
  Location location;
};

/// What the DSL hands to the passes. Owns the pool every later Program of this compilation shares.
struct Equation {
  std::string name;
  std::string description;
  std::vector<std::string> axes;
  std::shared_ptr<Pool> pool;  // shared by all Programs made from this equation
  std::vector<Parameter> parameters;
  std::vector<Field> fields;
  std::vector<std::string> sources;  ///< fields that have a source term
  std::vector<Evolution> evolutions;
  std::vector<Requirement> requirements;
  DeclaredSpeeds speeds;
};

}  // namespace ondula::ir
