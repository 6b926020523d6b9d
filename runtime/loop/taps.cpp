// Interpolation weights.
// SPDX-License-Identifier: MIT
#include "runtime/loop/taps.hpp"

#include <cmath>
#include <map>
#include <numbers>

#include "compiler/ir/images.hpp"

namespace ondula::loop {
namespace {

struct AxisTap {
  std::int64_t index = 0;
  double weight = 0;
};

constexpr double kaiser_beta = 6.31;

/// Every tap once for each of those along a further axis.
void spread(std::vector<ir::Tap>& taps, std::size_t axis, const std::vector<AxisTap>& along) {
  std::vector<ir::Tap> next;
  next.reserve(taps.size() * along.size());
  for (const AxisTap& one : along) {
    for (ir::Tap tap : taps) {
      tap.index[axis] = one.index;
      tap.weight *= one.weight;
      next.push_back(tap);
    }
  }
  taps = std::move(next);
}

std::vector<AxisTap> axis_taps(double position, Interpolation interpolation, SincWeights& sinc) {
  const double nearest = std::nearbyint(position);
  if (on_node(position)) return {{static_cast<std::int64_t>(nearest), 1.0}};
  const auto below = static_cast<std::int64_t>(std::floor(position));
  const double part = position - static_cast<double>(below);
  if (interpolation == Interpolation::linear) return {{below, 1.0 - part}, {below + 1, part}};
  std::vector<AxisTap> taps;
  taps.reserve(2 * sinc_radius);
  std::int64_t index = below - sinc_radius + 1;
  for (const double weight : sinc.at(part)) taps.push_back({index++, weight});
  return taps;
}

/// Taps outside the live range dropped or folded; weights that meet on one index added.
std::vector<AxisTap> folded(const std::vector<AxisTap>& taps, const ir::Domain& domain,
                            const ir::Field& field, int axis, bool first_order) {
  const ir::Range live = domain.live(field, axis);
  std::map<std::int64_t, double> weights;
  const auto images = ir::field_images(domain, field, axis, first_order, 2 * sinc_radius);
  for (const AxisTap& tap : taps) {
    std::int64_t index = tap.index;
    double weight = tap.weight;
    for (const ir::Repeat& image : images) {
      if (image.to != index) continue;
      index = image.from;
      weight *= image.sign;
      break;
    }
    if (index >= live.lo && index < live.hi && weight != 0.0) weights[index] += weight;
  }
  std::vector<AxisTap> result;
  for (const auto& [index, weight] : weights) result.push_back({index, weight});
  return result;
}

}  // namespace

const std::array<double, 2 * sinc_radius>& SincWeights::at(double part) {
  for (const Known& known : known_) {
    if (known.part == part) return known.weights;
  }
  Known& known = known_[next_++ % known_.size()];
  known.part = part;
  double sum = 0;
  for (int k = -sinc_radius + 1; k <= sinc_radius; ++k) {
    double& weight = known.weights[static_cast<std::size_t>(k + sinc_radius - 1)];
    weight = windowed_(part - k);
    sum += weight;
  }
  for (double& weight : known.weights) weight /= sum;
  return known.weights;
}

SincWeights::SincWeights() : windowed_(sinc_radius, kaiser_beta) {}

std::vector<ir::Tap> interpolation_taps(const ir::Domain& domain, const ir::Field& field, bool first_order,
                                        const std::vector<double>& cells, Interpolation interpolation) {
  SincWeights sinc;
  std::vector<ir::Tap> taps = {{ir::Extents{}, 1.0}};
  for (int axis = 0; axis < domain.dims; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const double shift = field.stagger[a] != 0 ? 0.5 : 0.0;
    const double position = cells[a] + static_cast<double>(domain.pad[a][0]) - shift;
    spread(taps, a, folded(axis_taps(position, interpolation, sinc), domain, field, axis, first_order));
  }
  return taps;
}

std::vector<ir::Tap> unfolded_taps(const ir::Domain& domain, const ir::HalfCells& half,
                                   const std::vector<double>& cells, Interpolation interpolation,
                                   SincWeights& sinc) {
  std::vector<ir::Tap> taps = {{ir::Extents{}, 1.0}};
  for (std::size_t a = 0; a < cells.size(); ++a) {
    const double position = cells[a] + static_cast<double>(domain.pad[a][0]) - (half[a] != 0 ? 0.5 : 0.0);
    spread(taps, a, axis_taps(position, interpolation, sinc));
  }
  return taps;
}

bool on_node(double cell) { return std::fabs(cell - std::nearbyint(cell)) < 1e-9; }

}  // namespace ondula::loop
