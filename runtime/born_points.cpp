// Points of the tangent's step.
// SPDX-License-Identifier: MIT
#include "runtime/born_points.hpp"

#include <algorithm>

#include "runtime/surface_ratio.hpp"

namespace ondula {
namespace {

/// visit(injection) for each that takes the source term of `source`.
template <class F>
void each_injection(const ir::Program& program, const std::string& source, const F& visit) {
  for (const ir::Operation& operation : program.operations) {
    const auto* injection = std::get_if<ir::Injection>(&operation);
    if (injection != nullptr && injection->source == source) visit(*injection);
  }
}

/// Adds `source` with weights weight(tap) as they are, unless all are 0.
template <class F>
void feed(const ir::PointSource& source, const std::string& field, const std::vector<ir::Tap>& taps,
          const F& weight, std::vector<ir::PointSource>& into) {
  ir::PointSource own;
  own.source = field;
  own.raw = true;
  own.shift = source.shift;
  own.origin = source.origin;
  for (const ir::Tap& tap : taps) {
    const double value = weight(tap);
    if (value != 0) own.taps.push_back({tap.index, value});
  }
  if (own.taps.empty()) return;
  own.samples = source.samples;
  into.push_back(std::move(own));
}

}  // namespace

double ratio_tangent(const ir::Program& program, const loop::Sensitivity& sensitivity, const RatioTaps& ratio,
                     const loop::Perturbation& perturbation) {
  const auto [above, below] = ratio_expressions(program, ratio.normal, ratio.tangential);
  const double divisor = sensitivity.value(below, ratio.node);
  if (divisor == 0) return 0;
  const double value = sensitivity.value(above, ratio.node) / divisor;
  return (sensitivity.tangent(above, ratio.node, perturbation) -
          value * sensitivity.tangent(below, ratio.node, perturbation)) /
         divisor;
}

ShotPoints born_points(const ir::Program& forward, const ir::Tangent& tangent,
                       const loop::Sensitivity& sensitivity, const ShotPoints& points,
                       const loop::Perturbation& perturbation) {
  ShotPoints result;
  result.sources = points.sources;
  for (const ir::PointSource& source : points.sources) {
    if (source.raw) continue;
    each_injection(forward, source.source, [&](const ir::Injection& injection) {
      const auto weight = [&](const ir::Tap& tap) {
        return tap.weight * sensitivity.tangent(injection.factor, tap.index, perturbation);
      };
      feed(source, tangent.derivative_of(injection.field), source.taps, weight, result.sources);
    });
  }
  for (const PointSlopes& slopes : points.source_slopes) {
    const double change = ratio_tangent(forward, sensitivity, slopes.ratio, perturbation);
    if (change == 0) continue;
    for (const ir::FieldTaps& part : slopes.ratio.parts) {
      each_injection(forward, part.field, [&](const ir::Injection& injection) {
        const auto weight = [&](const ir::Tap& tap) {
          return change * tap.weight * sensitivity.value(injection.factor, tap.index);
        };
        feed(points.sources[slopes.point], tangent.derivative_of(injection.field), part.taps, weight,
             result.sources);
      });
    }
  }
  result.receivers = points.receivers;
  for (ir::PointReceiver& receiver : result.receivers) {
    for (ir::FieldTaps& part : receiver.parts) part.field = tangent.derivative_of(part.field);
  }
  for (const PointSlopes& slopes : points.receiver_slopes) {
    const double change = ratio_tangent(forward, sensitivity, slopes.ratio, perturbation);
    if (change == 0) continue;
    for (ir::FieldTaps part : slopes.ratio.parts) {
      for (ir::Tap& tap : part.taps) tap.weight *= change;
      result.receivers[slopes.point].parts.push_back(std::move(part));
    }
  }
  return result;
}

}  // namespace ondula
