// Planning and allocating an engine's arrays.
// SPDX-License-Identifier: MIT
#include "runtime/loop/arrays.hpp"

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula::loop {

int common_halo(const ir::KernelSet& set) {
  int halo = 0;
  for (const ir::Kernel& kernel : set.kernels)
    halo = std::max(halo, *std::max_element(kernel.halo.begin(), kernel.halo.end()));
  return halo;
}

std::vector<ArrayPlan> plan_arrays(const ir::KernelSet& set, const ir::Domain& domain,
                                   std::size_t element_bytes) {
  std::vector<ArrayPlan> plans;
  const int halo = common_halo(set);
  const Layout full = full_layout(domain, halo, element_bytes);
  for (const ir::Field& field : set.program.fields) {
    if (field.strip_axis < 0) {
      for (int slot = 0; slot < field.time_order; ++slot)
        plans.push_back({{.name = field.name, .slot = slot}, full});
      continue;
    }
    const bool half = field.stagger[static_cast<std::size_t>(field.strip_axis)] != 0;
    for (int side = 0; side < 2; ++side) {
      const ir::Range range = domain.strip(field.strip_axis, side, half);
      if (range.size() == 0) continue;
      plans.push_back(
          {{.name = field.name, .side = side},
           strip_layout(domain, field.strip_axis, side, range, set.program.radius(), element_bytes)});
    }
  }
  for (const ir::Coefficient& c : set.program.coefficients) {
    plans.push_back({{.kind = ir::ArrayKind::coefficient, .name = c.name}, full});
  }
  for (const ir::Kernel& kernel : set.kernels) {
    for (const ir::ArrayArgument& a : kernel.arrays) {
      if (a.kind != ir::ArrayKind::profile) continue;
      const ArrayKey key{.kind = a.kind, .name = a.name, .axis = a.axis, .half = a.half};
      const bool known =
          std::any_of(plans.begin(), plans.end(), [&](const ArrayPlan& p) { return p.key == key; });
      if (known) continue;
      Layout line;
      line.stride[static_cast<std::size_t>(a.axis)] = 1;
      line.size = domain.total(a.axis);
      plans.push_back({key, line});
    }
  }
  return plans;
}

Arrays::Arrays(const std::vector<ArrayPlan>& plans, device::Device& device, std::size_t element_bytes) {
  for (const ArrayPlan& plan : plans) {
    arrays_[plan.key] = {plan.layout,
                         device.allocate(static_cast<std::size_t>(plan.layout.size) * element_bytes)};
  }
}

Arrays::Array& Arrays::at(const ArrayKey& key) {
  const auto found = arrays_.find(key);
  if (found == arrays_.end()) throw InternalError("no array " + key.name);
  return found->second;
}

const Arrays::Array& Arrays::at(const ArrayKey& key) const {
  const auto found = arrays_.find(key);
  if (found == arrays_.end()) throw InternalError("no array " + key.name);
  return found->second;
}

}  // namespace ondula::loop
