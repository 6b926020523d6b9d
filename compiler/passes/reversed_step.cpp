// The stages of a reversal in order, with rings and images.
// SPDX-License-Identifier: MIT
#include "compiler/passes/reversed_step.hpp"

#include <map>

#include "compiler/error.hpp"
#include "compiler/passes/linear.hpp"
#include "compiler/passes/reverse.hpp"
#include "compiler/passes/rings.hpp"

namespace ondula::passes {
namespace {

/// With the rebuilt fields' own names, without rings.
ir::Program undoing(const ir::Program& physical, const Reversal& reversal) {
  ir::Program back = physical;
  back.direction = "reverse";
  back.fields = reversal.fields;
  back.operations.clear();
  for (const Reversal::Stage& stage : reversal.stages) {
    back.operations.insert(back.operations.end(), stage.updates.begin(), stage.updates.end());
    back.operations.insert(back.operations.end(), stage.injections.begin(), stage.injections.end());
    for (const ir::Update& update : stage.updates) back.operations.emplace_back(ir::Halo{update.field, 1});
  }
  return back;
}

}  // namespace

ir::Program reversed_step(const ir::Program& physical) {
  const Reversal reversal = reverse(physical);
  ir::Program back = undoing(physical, reversal);
  const std::map<std::string, RingDepths> depths = rings(physical, back);
  std::map<std::string, std::string> forward;  // by the rebuilt field's name, and by the source's
  back.fields.clear();
  for (const ir::Field& field : physical.fields) {
    if (field.strip_axis >= 0) continue;
    forward[rebuilt_name(field.name)] = field.name;
    back.fields.push_back(field);
    back.fields.back().inset = depths.at(field.name).inner;
  }
  for (const ir::Operation& operation : physical.operations) {
    if (const auto* injection = std::get_if<ir::Injection>(&operation))
      forward[forward_source(injection->source)] = injection->source;
  }
  std::vector<ir::Operation> operations, images;
  int number = 0;
  for (ir::Operation& operation : back.operations) {
    if (auto* halo = std::get_if<ir::Halo>(&operation)) {
      // Fields are whole before their images are filled.
      halo->field = forward.at(halo->field);
      const RingDepths& ring = depths.at(halo->field);
      if (ring.kept) operations.emplace_back(ir::Ring{halo->field, false, number++, ring.outer, ring.inner});
      images.push_back(std::move(operation));
      continue;
    }
    operations.insert(operations.end(), images.begin(), images.end());
    images.clear();
    if (auto* update = std::get_if<ir::Update>(&operation)) {
      update->field = forward.at(update->field);
      update->value = rewrite(*back.pool, update->value, [&](ir::Expr node) -> ir::Expr {
        return node->kind == ir::Kind::field ? back.pool->field(forward.at(node->name), node->level)
                                             : ir::Expr{};
      });
    } else if (auto* injection = std::get_if<ir::Injection>(&operation)) {
      injection->field = forward.at(injection->field);
      injection->source = forward.at(injection->source);
    }
    operations.push_back(std::move(operation));
  }
  operations.insert(operations.end(), images.begin(), images.end());
  back.operations = std::move(operations);
  return back;
}

}  // namespace ondula::passes
