// The tangent of a Program: its step, and beside it that of the fields' derivative in the parameters.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "compiler/ir/program.hpp"

namespace ondula::ir {

/// `program` steps every field of the forward program, the background, and for each field f its derivative
/// along a perturbation of the parameters, f + `suffix`. Both are sampled. What perturbed source strengths
/// add is a source term of its own, named as the derivative and injected into it as it is.
struct Tangent {
  Program program;
  std::string suffix;
  std::string derivative_of(const std::string& field) const { return field + suffix; }
};

}  // namespace ondula::ir
