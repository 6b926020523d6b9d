// Stiffness tensors of media whose planes of symmetry are normal to the axes.
// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <vector>

#include "compiler/dsl/tensor.hpp"

namespace ondula::dsl {

/// c_ijkl of two pairs of axes, such as "xx" and "zz".
struct Modulus {
  AxisName stress, strain;
  Located value;
};

/// A symmetric stiffness: each pair of components once, what is not given is 0. Entries of axes that the
/// instantiation lacks are left out. On the standard staggered grid normal stresses are on nodes and shear
/// stresses at cell corners, hence a shear component goes with itself alone: orthorhombic symmetry along the
/// axes is the most there is.
class ONDULA_API Stiffness {
 public:
  Stiffness() = default;
  Stiffness(std::initializer_list<Modulus> moduli);  // NOLINT(google-explicit-constructor)
  /// Adds one modulus. Throws UserError for a pair given twice, for other units than the first one's, and for
  /// what couples a shear component to another one.
  void set(const AxisName& stress, const AxisName& strain, const Located& value);
  const std::vector<Modulus>& moduli() const { return moduli_; }

 private:
  std::vector<Modulus> moduli_;
};

/// c_ijkl e_kl, for a symmetric rank-2 tensor e: sym(grad(v)).
ONDULA_API Tensor contract(const Stiffness& stiffness, const Located& strain);

}  // namespace ondula::dsl
