// Receivers as taps.
// SPDX-License-Identifier: MIT
#include "runtime/receivers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/domain.hpp"

namespace ondula {
namespace {

const ir::Field* find(const std::vector<ir::Field>& fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const ir::Field& f) { return f.name == name && f.strip_axis < 0; });
  return found == fields.end() ? nullptr : &*found;
}

/// The two axes of "e.zx".
std::optional<std::pair<int, int>> strain_axes(const std::string& name,
                                               const std::vector<std::string>& axes) {
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::size_t b = 0; b < axes.size(); ++b) {
      if (name == "e." + axes[a] + axes[b]) return std::pair{static_cast<int>(a), static_cast<int>(b)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> derived_receivers(const std::vector<ir::Field>& fields,
                                           const std::vector<std::string>& axes) {
  std::vector<std::string> names;
  if (first_of(fields, ir::FieldKind::tensor) != nullptr) names.emplace_back("pressure");
  const ir::Field* vector = first_of(fields, ir::FieldKind::vector);
  if (vector != nullptr && !vector->electric) {
    for (std::size_t a = 0; a < axes.size(); ++a) {
      for (std::size_t b = a; b < axes.size(); ++b) names.push_back("e." + axes[a] + axes[b]);
    }
    names.emplace_back("fibre");
  }
  std::erase_if(names, [&](const std::string& name) { return find(fields, name) != nullptr; });
  return names;
}

const ir::Field& timed_field(const ir::Program& program, const std::string& receiver) {
  if (const ir::Field* own = find(program.fields, receiver)) return *own;
  const ir::Field* combined =
      first_of(program.fields, receiver == "pressure" ? ir::FieldKind::tensor : ir::FieldKind::vector);
  if (combined == nullptr) throw InternalError("no receiver " + receiver);
  return *combined;
}

ir::PointReceiver ReceiverTaps::of(const Receiver& receiver, const std::string& what) {
  const std::vector<double> cells = cells_of(grid_, receiver.position, what);
  const auto dims = static_cast<int>(program_.axes.size());
  const auto derived = derived_receivers(program_.fields, program_.axes);
  if (const ir::Field* own = find(program_.fields, receiver.field)) {
    points_.sample(*own, cells, receiver.interpolation, 1);
  } else if (std::find(derived.begin(), derived.end(), receiver.field) == derived.end()) {
    std::vector<std::string> names;
    for (const ir::Field& f : program_.fields) {
      if (f.strip_axis < 0) names.push_back(f.name);
    }
    names.insert(names.end(), derived.begin(), derived.end());
    throw UserError(fmt::format("{}: equation {} has no field {}; it has: {}", what, program_.equation,
                                receiver.field, fmt::join(names, ", ")));
  } else if (receiver.field == "pressure") {
    for (int a = 0; a < dims; ++a)
      points_.sample(points_.component(ir::FieldKind::tensor, {a, a}), cells, receiver.interpolation,
                     -1.0 / dims);
  } else if (receiver.field == "fibre") {
    double length = 0;
    for (const double d : receiver.direction) length += d * d;
    if (receiver.direction.size() != program_.axes.size() || !(length > 0) || !std::isfinite(length)) {
      throw UserError(
          fmt::format("{}: a fibre needs a direction, one number for each of the axes {}, not all 0", what,
                      fmt::join(program_.axes, ", ")));
    }
    const auto direction = [&](int axis) { return receiver.direction[static_cast<std::size_t>(axis)]; };
    for (int a = 0; a < dims; ++a) {
      for (int b = 0; b < dims; ++b) {
        const double share = direction(a) * direction(b) / length;
        if (share != 0) points_.strain(a, b, cells, receiver.interpolation, share);
      }
    }
  } else {
    const auto [a, b] = *strain_axes(receiver.field, program_.axes);
    points_.strain(a, b, cells, receiver.interpolation, 1);
  }
  return ir::PointReceiver(points_.take());
}

}  // namespace ondula
