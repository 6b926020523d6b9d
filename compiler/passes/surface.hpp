// surface: the law of stresses on free surfaces; what an equation's free surface is, or why it has none.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/ir/domain.hpp"
#include "compiler/ir/program.hpp"

namespace ondula::passes {

/// Parity mirrors (Domain::image) make a free surface of scalars and of velocity-stress systems; in the
/// latter the tangential normal stresses also need the law for sigma_nn = 0 (numerics.md, Free surface). The
/// mirror makes D_n v_n exactly 0 on the row, so it is enough to change the modulus there:
///   s.xx' = s.xx + dt*lambda*(Dz v.z + Dx v.x) + ...  ->  the same with dt*surface(lambda | 1/(1/lambda +
///   1/(2*mu)) | ...),
/// that is lambda -> 2 lambda mu/(lambda + 2 mu), and lambda mu/(lambda + mu) where two surfaces meet; 0 in
/// fluids. The value stays one nodal expression, hence one coefficient array, whatever the faces are. An
/// equation for which no rule is known gets Program::no_surface.
ir::Program surface(const ir::Program& program);

/// Throws UserError with the program's reason where `domain` has a free surface and the program refuses one.
void require_surface(const ir::Program& program, const ir::Domain& domain);

/// `e` with the medium itself in place of what surfaces make of it.
ir::Expr medium(ir::Pool& pool, ir::Expr e);

}  // namespace ondula::passes
