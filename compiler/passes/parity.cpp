// Images of stored cotangents.
// SPDX-License-Identifier: MIT
#include "compiler/passes/parity.hpp"

#include "compiler/ir/domain.hpp"

namespace ondula::passes {
using ir::Kind;

bool dual(const ir::Program& program, const ir::Field& field, const ir::Field& other, int axis, int order) {
  ir::Domain domain;
  domain.dims = program.dims();
  for (const FaceKind kind : {FaceKind::free_surface, FaceKind::rigid, FaceKind::antisymmetric}) {
    domain.faces[static_cast<std::size_t>(axis)] = {kind, kind};
    const ir::Image a = domain.image(field, axis, 0, program.first_order());
    const ir::Image b = domain.image(other, axis, 0, program.first_order());
    if (a.kind != b.kind || a.sign != (order == 1 ? -b.sign : b.sign)) return false;
  }
  return true;
}

ir::Field product_field(const ir::Program& physical, const std::vector<Use>& uses,
                        const Cotangent& cotangent) {
  std::vector<std::string> candidates;
  for (const auto& [target, coefficients] : cotangent) candidates.push_back(target);
  if (candidates.size() == 1) return physical.field(candidates[0]);
  for (const Use& use : uses) {
    const auto term = cotangent.find(use.target);
    const bool slope = use.atom->kind == Kind::derivative && use.atom->args[0]->kind == Kind::field;
    if (use.parent || use.self || !slope || term == cotangent.end()) continue;
    // The target whose share differs from the others' is the one that is right; so is its image.
    for (const std::string& candidate : candidates) {
      const ir::Field& field = physical.field(candidate);
      const bool own = cotangent.at(candidate).size() > 1 || candidates.size() == 1;
      if (own &&
          dual(physical, physical.field(use.atom->args[0]->name), field, use.atom->axis, use.atom->order))
        return field;
    }
  }
  // None fits: right where nothing mirrors; elsewhere Adjoint::no_mirror tells.
  return physical.field(candidates[0]);
}

}  // namespace ondula::passes
