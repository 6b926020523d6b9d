// What storage an equation allows, found by deriving its steps back.
// SPDX-License-Identifier: MIT
#include "runtime/storage_facts.hpp"

#include <algorithm>

#include "compiler/error.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/loop/present.hpp"
#include "runtime/loop/ring_layout.hpp"

namespace ondula {
namespace {

/// Empty where there is a step back.
std::string refusal(const EquationDefinition& equation, const std::vector<std::string>& axes, bool rebuilt) {
  try {
    static_cast<void>(passes::compile_adjoint(equation, {axes, 2, false, false}, false, rebuilt));
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

}  // namespace

StorageFacts storage_facts(const EquationDefinition& equation, const std::vector<std::string>& axes) {
  StorageFacts facts;
  facts.full = refusal(equation, axes, false);
  facts.checkpoints = facts.full;  // they keep states, and those are any equation's
  facts.boundary = facts.full.empty() ? refusal(equation, axes, true) : facts.full;
  return facts;
}

KeptBytes kept_bytes(const passes::AdjointCompilation& both, const ir::Domain& domain, DType dtype) {
  const int halo =
      std::max(loop::common_halo(both.forward.kernels), loop::common_halo(both.backward.kernels));
  const std::size_t element = dtype == DType::float32 ? sizeof(float) : sizeof(double);
  const loop::RingLayout rings = loop::ring_layout(both.forward.physical, domain);
  KeptBytes bytes;
  bytes.step = rings.size > 0
                   ? static_cast<std::size_t>(rings.size) * element
                   : loop::history_slot_bytes(both.forward, domain, dtype, halo, both.adjoint.saves.size());
  bytes.checkpoint = loop::present_bytes(both.forward, domain, dtype, halo, 1);
  return bytes;
}

}  // namespace ondula
