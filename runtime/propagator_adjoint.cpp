// Parts of a gradient that look at one shot or one model.
// SPDX-License-Identifier: MIT
#include "runtime/propagator_adjoint.hpp"
#include "runtime/propagator_tangent.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/error.hpp"
#include "runtime/loop/arrays.hpp"

namespace ondula {

Propagator::Impl::~Impl() = default;

int Propagator::Impl::Adjoint::least_halo() const {
  return std::max(loop::common_halo(compilation.forward.kernels),
                  loop::common_halo(compilation.backward.kernels));
}

void Propagator::Impl::Adjoint::release() {
  states.reset();
  history.reset();
  keep.reset();
  back.reset();
  injected.clear();
  sums.reset();
  started.clear();
  start_sums.clear();
  models = -1;  // the next engines have none yet
}

void Propagator::Impl::Adjoint::keep_points(const std::vector<ShotPoints>& points) {
  std::vector<loop::EnginePoints> all;
  for (const ShotPoints& own : points) {
    all.push_back({own.sources, own.receivers});
    for (const PointSlopes& slope : own.receiver_slopes) all.back().receivers.emplace_back(slope.ratio.parts);
  }
  keep->set_shots(std::move(all));
}

void Propagator::Impl::Adjoint::take_injected(const AdjointPoints& points) {
  for (const ir::CoefficientGradient& gradient : compilation.adjoint.gradients) {
    if (!gradient.injected) continue;
    auto& into = injected[gradient.of.front()];
    for (const auto& [index, sum] : points.injected(gradient.of.front())) into[index] += sum;
  }
}

void Propagator::Impl::Adjoint::keep_start() {
  for (const ir::CoefficientGradient& gradient : compilation.adjoint.gradients) {
    for (const ir::StartTerm& start : gradient.starts)
      started[{start.field, start.level}] = keep->field(start.field, start.level);
  }
}

void Propagator::Impl::Adjoint::take_start() {
  for (const ir::CoefficientGradient& gradient : compilation.adjoint.gradients) {
    for (const ir::StartTerm& start : gradient.starts) {
      const auto found = started.find({start.field, start.level});
      if (found == started.end()) continue;
      const std::vector<double> last = back->field(start.state, start.level);
      std::vector<double>& into = start_sums[found->first];
      into.resize(last.size(), 0.0);
      for (std::size_t i = 0; i < last.size(); ++i) into[i] += last[i] * found->second[i];
    }
  }
}

void Propagator::Impl::Adjoint::require_room(const ir::Domain& domain) const {
  const ir::Program& program = compilation.adjoint.program;
  const auto mirrors = [&](int axis, int side) {
    const FaceKind face = domain.faces[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)];
    return face != FaceKind::absorbing && face != FaceKind::periodic;
  };
  for (int axis = 0; axis < domain.dims && !compilation.adjoint.no_mirror.empty(); ++axis) {
    if (!mirrors(axis, 0) && !mirrors(axis, 1)) continue;
    throw UserError(fmt::format("equation {}: no adjoint is derived beside free surfaces and walls: {}",
                                program.equation, compilation.adjoint.no_mirror));
  }
  for (int axis = 0; axis < domain.dims; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const bool layer = domain.pad[a][0] + domain.pad[a][1] > 0;
    const bool mirror = domain.pad[a][0] == 0 || domain.pad[a][1] == 0;
    if (!layer || !mirror || domain.shape[a] >= program.apron_cells()) continue;
    throw UserError(fmt::format(
        "axis {}: {} nodes between a layer and a face without one; the gradient of {} at order {} needs {}",
        program.axes[a], domain.shape[a], program.equation, program.order, program.apron_cells()));
  }
}

void Propagator::Impl::Adjoint::require_divisors(const ir::Domain& domain,
                                                 const loop::Sensitivity& sensitivity) const {
  for (const ir::Expr divisor : compilation.adjoint.divisors) {
    ir::Box box;
    for (int axis = 0; axis < ir::max_axes; ++axis)
      box[static_cast<std::size_t>(axis)] = {0, domain.total(axis)};
    const std::vector<double> values = sensitivity.values(divisor, box);
    const auto zero = std::find(values.begin(), values.end(), 0.0);
    if (zero == values.end()) continue;
    std::int64_t flat = zero - values.begin();
    std::vector<std::int64_t> node;
    for (int axis = domain.dims - 1; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      const std::int64_t inside = flat % domain.total(axis) - domain.pad[a][0];
      node.insert(node.begin(), std::clamp<std::int64_t>(inside, 0, domain.shape[a] - 1));
      flat /= domain.total(axis);
    }
    throw UserError(fmt::format("the model has no gradient: {} is 0 at node ({})",
                                ir::text(divisor, compilation.adjoint.program.axes), fmt::join(node, ", ")));
  }
}

void Propagator::Impl::Adjoint::add_illumination(const ir::Domain& domain, std::vector<double>& nodes,
                                                 std::int64_t shot, std::int64_t count) const {
  std::vector<ir::Box> lives;
  for (const ir::Save& save : compilation.adjoint.saves) {
    const ir::Field& field = compilation.adjoint.forward.field(save.field);
    lives.push_back(domain.live(field));
  }
  for (std::int64_t slot = count; slot > 0; --slot) history->add_squares(domain, slot, lives, nodes, shot);
}

}  // namespace ondula
