// Adding accumulators row by row.
// SPDX-License-Identifier: MIT
#include "runtime/gradient_sums.hpp"

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula {

GradientSums::GradientSums(const ir::Program& back, const ir::Domain& domain) {
  bool first = true;
  for (const ir::Field& field : back.fields) {
    if (!field.accumulator) continue;
    const ir::Box live = domain.live(field);
    for (std::size_t a = 0; a < box_.size(); ++a)
      box_[a] =
          first ? live[a] : ir::Range{std::min(box_[a].lo, live[a].lo), std::max(box_[a].hi, live[a].hi)};
    first = false;
  }
  const auto size = static_cast<std::size_t>(box_[0].size() * box_[1].size() * box_[2].size());
  for (const ir::Field& field : back.fields) {
    if (field.accumulator) sums_[field.name].assign(size, 0.0);
  }
}

void GradientSums::add(const loop::Engine& engine, device::Device* device) {
  for (auto& [name, sums] : sums_) {
    const auto planes = [&, &name = name, &sums = sums](std::int64_t begin, std::int64_t end) {
      ir::Box own = box_;
      for (std::int64_t plane = begin; plane < end; ++plane) {
        own[0] = {box_[0].lo + plane, box_[0].lo + plane + 1};
        const std::vector<double> values = engine.values(name, own);
        double* const into = sums.data() + plane * box_[1].size() * box_[2].size();
        for (std::size_t k = 0; k < values.size(); ++k) into[k] += values[k];
      }
    };
    if (device != nullptr)
      device->parallel(box_[0].size(), planes);
    else
      planes(0, box_[0].size());
  }
}

std::size_t GradientSums::place(const ir::Extents& index) const {
  return static_cast<std::size_t>(((index[0] - box_[0].lo) * box_[1].size() + index[1] - box_[1].lo) *
                                      box_[2].size() +
                                  index[2] - box_[2].lo);
}

std::vector<double> GradientSums::row(const std::string& accumulator, const ir::Box& row) const {
  for (std::size_t a = 0; a < box_.size(); ++a) {
    if (row[a].lo < box_[a].lo || row[a].hi > box_[a].hi)
      throw InternalError("a row of " + accumulator + " outside its sums");
  }
  const double* const from = sums_.at(accumulator).data() + place({row[0].lo, row[1].lo, row[2].lo});
  return {from, from + row[0].size() * row[1].size() * row[2].size()};
}

}  // namespace ondula
