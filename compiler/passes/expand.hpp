// expand: derivatives become weighted offsets.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// Every derivative becomes a sum of weight * operand at an offset, weights exact rationals over powers of
/// the spacing (symbols h_AXIS); terms that read the same point are collected:
///   D2x(u)  ->  (-5/2/h_x^2) u + (4/3/h_x^2) u[0,1] + ...
/// A staggered derivative becomes the function whole(...) of its sum: factor keeps it apart from the sum it
/// stands in, so that the divergence and a single strain share its value. Nested derivatives stay nested.
/// Coefficients under a derivative move with it; a tangent read elsewhere becomes its mean at whole cells.
ir::Program expand(const ir::Program& program);

}  // namespace ondula::passes
