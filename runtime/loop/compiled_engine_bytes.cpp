// What a compiled engine takes, before any is made.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "runtime/loop/arrays.hpp"
#include "runtime/loop/engine.hpp"

namespace ondula::loop {

std::size_t compiled_engine_bytes(const passes::Compilation& compilation, const ir::Domain& domain,
                                  DType dtype, int least_halo) {
  const std::size_t element = dtype == DType::float32 ? sizeof(float) : sizeof(double);
  std::size_t bytes = 0;
  for (const ArrayPlan& plan : plan_arrays(compilation.kernels, domain, element, least_halo)) {
    if (!plan.kept) bytes += static_cast<std::size_t>(plan.layout.size) * element;
  }
  return bytes;
}

std::size_t history_slot_bytes(const passes::Compilation& compilation, const ir::Domain& domain, DType dtype,
                               int least_halo, std::size_t saves) {
  const std::size_t element = dtype == DType::float32 ? sizeof(float) : sizeof(double);
  const int halo = std::max(common_halo(compilation.kernels), least_halo);
  return saves * static_cast<std::size_t>(full_layout(domain, halo, element).size) * element;
}

}  // namespace ondula::loop
