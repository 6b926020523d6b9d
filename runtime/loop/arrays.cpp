// Planning and allocating an engine's arrays.
// SPDX-License-Identifier: MIT
#include "runtime/loop/arrays.hpp"

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula::loop {

ArrayKey field_key(const std::string& name, int slot) {
  ArrayKey key;
  key.name = name;
  key.slot = slot;
  return key;
}

ArrayKey strip_key(const std::string& name, int side) {
  ArrayKey key;
  key.name = name;
  key.side = side;
  return key;
}

ArrayKey coefficient_key(const std::string& name) {
  ArrayKey key;
  key.kind = ir::ArrayKind::coefficient;
  key.name = name;
  return key;
}

ArrayKey profile_key(const std::string& name, int axis, bool half) {
  ArrayKey key;
  key.kind = ir::ArrayKind::profile;
  key.name = name;
  key.axis = axis;
  key.half = half;
  return key;
}

int common_halo(const ir::KernelSet& set) {
  int halo = 0;
  for (const ir::Kernel& kernel : set.kernels)
    halo = std::max(halo, *std::max_element(kernel.halo.begin(), kernel.halo.end()));
  return halo;
}

std::vector<ArrayPlan> plan_arrays(const ir::KernelSet& set, const ir::Domain& domain,
                                   std::size_t element_bytes, int least_halo) {
  std::vector<ArrayPlan> plans;
  const int halo = std::max(common_halo(set), least_halo);
  const bool joint = joint_strips(set);
  const Layout full = full_layout(domain, halo, element_bytes);
  for (const ir::Field& field : set.program.fields) {
    if (field.saved) continue;  // in the history
    if (field.strip_axis < 0) {
      for (int slot = 0; slot < field.slots(); ++slot)
        plans.push_back({field_key(field.name, slot), full, field.apart});
      continue;
    }
    const bool half = field.stagger[static_cast<std::size_t>(field.strip_axis)] != 0;
    for (int side = 0; side < 2; ++side) {
      ir::Range range = strip_range(domain, field.strip_axis, side, half, joint);
      if (range.size() == 0) continue;
      // Its readers may live half a cell off, where strips that meet here do not.
      for (const bool place : {half, !half}) {
        const WideStrips wide = wide_strips(domain, place, joint, set.program.apron_cells(), element_bytes);
        if (field.strip_axis != domain.dims - 1 || !wide.usable) continue;
        const ir::Range& grown = wide.sides[static_cast<std::size_t>(side)];
        range = {std::min(range.lo, grown.lo), std::max(range.hi, grown.hi)};
      }
      plans.push_back({strip_key(field.name, side),
                       strip_layout(domain, field.strip_axis, side, range, ir::strip_reach(set, field),
                                    set.program.apron_cells(), element_bytes),
                       false, field.strip_axis});
    }
  }
  for (const ir::Coefficient& c : set.program.coefficients) {
    plans.push_back({coefficient_key(c.name), full});
  }
  for (const ir::Kernel& kernel : set.kernels) {
    for (const ir::ArrayArgument& a : kernel.arrays) {
      if (a.kind != ir::ArrayKind::profile) continue;
      const ArrayKey key = profile_key(a.name, a.axis, a.half);
      const bool known =
          std::any_of(plans.begin(), plans.end(), [&](const ArrayPlan& p) { return p.key == key; });
      if (known) continue;
      Layout line;
      line.stride[static_cast<std::size_t>(a.axis)] = 1;
      // Rows go by vectors of 64 bytes and may read past the end by less than one.
      line.size = domain.total(a.axis) + 64 / static_cast<std::int64_t>(element_bytes);
      plans.push_back({key, line});
    }
  }
  return plans;
}

ShotStrides shot_strides(const std::vector<ArrayPlan>& plans, std::size_t element_bytes) {
  const std::int64_t line = 128 / static_cast<std::int64_t>(element_bytes);
  ShotStrides strides;
  for (const ArrayPlan& plan : plans) {
    if (plan.key.kind != ir::ArrayKind::field) continue;
    std::int64_t& stride =
        plan.strip_axis < 0 ? strides.full : strides.strip[static_cast<std::size_t>(plan.strip_axis)];
    stride = std::max(stride, (plan.layout.size + line - 1) / line * line);
  }
  return strides;
}

std::int64_t shots_size(std::int64_t size, std::int64_t stride, std::int64_t shots) {
  return (shots - 1) * stride + size;
}

Arrays::Arrays(const std::vector<ArrayPlan>& plans, device::Device& device, std::size_t element_bytes,
               std::int64_t shots) {
  const ShotStrides strides = shot_strides(plans, element_bytes);
  for (const ArrayPlan& plan : plans) {
    Array& array = arrays_[plan.key];
    array.layout = plan.layout;
    const bool own = plan.key.kind == ir::ArrayKind::field;
    if (own) array.shot_stride = strides.of(plan);
    if (plan.kept) continue;
    const std::int64_t size = shots_size(plan.layout.size, array.shot_stride, own ? shots : 1);
    array.buffer = device.allocate(static_cast<std::size_t>(size) * element_bytes);
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
