// Rows of coefficients.
// SPDX-License-Identifier: MIT
#include "runtime/loop/coefficient_array.hpp"

#include <map>
#include <string>
#include <vector>

namespace ondula::loop {

void coefficient_rows(
    const ir::Coefficient& coefficient, const ir::Domain& domain, const ir::Symbols& symbols,
    const PaddedModel& model, int halo,
    const std::function<void(std::int64_t, const std::function<void(std::int64_t, std::int64_t)>&)>& each,
    const std::function<void(const ir::Extents&, std::span<const double>)>& put) {
  const int inner = domain.dims - 1;
  const auto range = [&](int axis) {
    return axis < inner ? ir::Range{-halo, domain.total(axis) + halo} : ir::Range{0, 1};
  };
  const auto plane = [&](std::int64_t first) {
    std::map<std::string, std::vector<double>> rows;
    std::vector<double> values;
    ir::Extents index{};
    index[0] = first;
    for (index[1] = range(1).lo; index[1] < range(1).hi; ++index[1]) {
      rows.clear();
      const auto parameter = [&](const std::string& name) {
        auto& row = rows[name];
        if (row.empty()) model.row(name, index, row);
        return static_cast<const double*>(row.data());
      };
      const auto surfaces = [&](std::size_t i) {
        int met = domain.surfaces(inner, static_cast<std::int64_t>(i) - halo);
        for (int axis = 0; axis < inner; ++axis)
          met += domain.surfaces(axis, index[static_cast<std::size_t>(axis)]);
        return met;
      };
      ir::nodal_values(coefficient.definition, symbols, parameter, static_cast<std::size_t>(model.row_size()),
                       values, surfaces);
      ir::Extents start = index;
      start[static_cast<std::size_t>(inner)] = -halo;
      put(start, values);
    }
  };
  each(range(0).size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) plane(range(0).lo + i);
  });
}

}  // namespace ondula::loop
