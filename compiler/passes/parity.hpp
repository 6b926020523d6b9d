// Which field's images a stored cotangent has beyond the faces.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/passes/adjoint_variables.hpp"

namespace ondula::passes {

/// A derivative of `order` along `axis` turns the images of `field` into those of `other`, whatever the faces
/// of that axis: then its transpose is the derivative of `other` by images alone.
bool dual(const ir::Program& program, const ir::Field& field, const ir::Field& other, int axis, int order);

/// One of the cotangent's targets: whose images are right for the derivatives that will be taken of it, if
/// there is one.
ir::Field product_field(const ir::Program& physical, const std::vector<Use>& uses,
                        const Cotangent& cotangent);

}  // namespace ondula::passes
