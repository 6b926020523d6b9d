// Points of the step backwards.
// SPDX-License-Identifier: MIT
#include "runtime/adjoint_points.hpp"

#include <algorithm>

#include "compiler/error.hpp"
#include "compiler/passes/reverse.hpp"
#include "runtime/domain.hpp"
#include "runtime/substeps.hpp"
#include "runtime/surface_ratio.hpp"

namespace ondula {

void transpose_ratio(const ir::Program& program, const loop::Sensitivity& sensitivity, const RatioTaps& ratio,
                     double cotangent, loop::ModelGradient& gradient) {
  if (cotangent == 0) return;
  const auto [above, below] = ratio_expressions(program, ratio.normal, ratio.tangential);
  const double divisor = sensitivity.value(below, ratio.node);
  if (divisor == 0) return;  // the ratio is 0 there, whatever the model
  const double value = sensitivity.value(above, ratio.node) / divisor;
  sensitivity.transpose(above, ratio.node, cotangent / divisor, gradient);
  sensitivity.transpose(below, ratio.node, -cotangent * value / divisor, gradient);
}

AdjointPoints::AdjointPoints(const ir::Adjoint& adjoint, const ir::Domain& domain,
                             const loop::Sensitivity& sensitivity, const Shot& shot, const ShotPoints& points,
                             int substeps)
    : adjoint_(adjoint),
      domain_(domain),
      sensitivity_(sensitivity),
      shot_(shot),
      points_(points),
      substeps_(substeps) {
  first_order_ = adjoint.forward.first_order();
  for (std::size_t s = 0; s < points.sources.size(); ++s)
    add_taps(s, points.sources[s].source, points.sources[s].taps, points.sources[s].raw, 0);
  for (std::size_t k = 0; k < points.source_slopes.size(); ++k) {
    const PointSlopes& slope = points.source_slopes[k];
    for (const ir::FieldTaps& part : slope.ratio.parts)
      add_taps(slope.point, part.field, part.taps, false, 1 + k);
  }
  samples_.resize(points.sources.size());
  for (std::size_t s = 0; s < points.sources.size(); ++s)
    samples_[s].assign(points.sources[s].samples.size(), 0.0);
}

void AdjointPoints::add_taps(std::size_t source, const std::string& field, const std::vector<ir::Tap>& taps,
                             bool raw, std::size_t slope) {
  for (const ir::Operation& operation : adjoint_.forward.operations) {
    const auto* injection = std::get_if<ir::Injection>(&operation);
    if (injection == nullptr || injection->source != field) continue;
    for (const ir::Tap& tap : taps) {
      SourceTap mine{source, tap, 1, {}, slope, 0};
      if (!raw) {
        mine.expression = injection->factor;
        mine.factor = sensitivity_.value(injection->factor, tap.index);
      }
      taps_.push_back(mine);
      fields_.push_back(injection->field);
    }
  }
}

std::vector<ir::PointSource> AdjointPoints::residuals(const AdjointSources& adjoint,
                                                      std::int64_t samples) const {
  const std::vector<TracePlace> places = trace_places(shot_);
  std::vector<ir::PointSource> sources;
  for (std::size_t r = 0; r < points_.receivers.size(); ++r) {
    const auto traces = adjoint.find(places[r].field);
    if (traces == adjoint.end()) continue;
    const double* const trace =
        traces->second.data.data() + static_cast<std::size_t>(places[r].row * traces->second.samples);
    if (std::all_of(trace, trace + samples, [](double v) { return v == 0; })) continue;
    std::vector<double> reversed(static_cast<std::size_t>(samples * substeps_), 0.0);
    for (std::int64_t k = 0; k < samples; ++k)
      reversed[static_cast<std::size_t>(samples * substeps_ - 1 - k * substeps_)] = trace[k];
    for (const ir::FieldTaps& part : points_.receivers[r].parts) {
      ir::PointSource source;
      source.source = part.field;
      source.samples = reversed;
      const ir::Field& field = adjoint_.forward.field(part.field);
      for (ir::Tap tap : part.taps) {
        tap.weight /= node_weight(domain_, {&field}, field.stagger, first_order_, tap.index);
        source.taps.push_back(tap);
      }
      sources.push_back(std::move(source));
    }
  }
  return sources;
}

void AdjointPoints::undo(std::int64_t first, std::int64_t steps,
                         std::vector<ir::PointSource>& sources) const {
  for (const ir::PointSource& own : points_.sources) {
    ir::PointSource source = own;
    source.source = passes::forward_source(own.source);
    source.samples.resize(static_cast<std::size_t>(first + steps), 0.0);
    std::reverse(source.samples.begin(), source.samples.end());
    source.samples.resize(static_cast<std::size_t>(steps));
    sources.push_back(std::move(source));
  }
}

ir::PointReceiver AdjointPoints::recovered(const std::string& field, const ir::Extents& index) const {
  const auto variable = std::find_if(adjoint_.variables.begin(), adjoint_.variables.end(),
                                     [&](const ir::AdjointVariable& v) { return v.field == field; });
  if (variable == adjoint_.variables.end()) throw InternalError("no adjoint of " + field);
  const ir::Field& own = adjoint_.forward.field(field);
  const double weight = node_weight(domain_, {&own}, own.stagger, first_order_, index);
  ir::PointReceiver receiver;
  for (const auto& [factor, state] : variable->value.terms)
    receiver.parts.push_back({state, {{index, weight * sensitivity_.value(factor, index)}}});
  return receiver;
}

std::vector<ir::PointReceiver> AdjointPoints::taps() const {
  std::vector<ir::PointReceiver> receivers;
  for (std::size_t t = 0; t < taps_.size(); ++t)
    receivers.push_back(recovered(fields_[t], taps_[t].tap.index));
  return receivers;
}

void AdjointPoints::collect(std::int64_t n, std::span<const double> found) {
  for (std::size_t t = 0; t < taps_.size(); ++t) {
    SourceTap& tap = taps_[t];
    const std::vector<double>& fed = points_.sources[tap.source].samples;
    if (static_cast<std::size_t>(n) >= fed.size()) continue;
    tap.fed += fed[static_cast<std::size_t>(n)] * found[t];
    if (tap.slope == 0)
      samples_[tap.source][static_cast<std::size_t>(n)] += tap.factor * tap.tap.weight * found[t];
  }
}

std::vector<std::vector<double>> AdjointPoints::wavelets() const {
  std::vector<std::vector<double>> result;
  for (const Source& source : shot_.sources) result.emplace_back(source.wavelet.size(), 0.0);
  for (std::size_t s = 0; s < points_.sources.size(); ++s) {
    const ir::PointSource& source = points_.sources[s];
    std::vector<double>& into = result.at(static_cast<std::size_t>(source.origin));
    const std::vector<double> coarse =
        fine_wavelet_transposed(samples_[s], substeps_, source.shift, static_cast<std::int64_t>(into.size()));
    for (std::size_t k = 0; k < into.size(); ++k) into[k] += coarse[k];
  }
  return result;
}

void AdjointPoints::strengths(loop::ModelGradient& gradient) const {
  std::vector<double> by_slope(points_.source_slopes.size(), 0.0);
  for (const SourceTap& tap : taps_) {
    if (tap.slope > 0)
      by_slope[tap.slope - 1] += tap.factor * tap.tap.weight * tap.fed;
    else if (tap.expression)
      sensitivity_.transpose(tap.expression, tap.tap.index, tap.tap.weight * tap.fed, gradient);
  }
  for (std::size_t k = 0; k < by_slope.size(); ++k)
    transpose_ratio(adjoint_.forward, sensitivity_, points_.source_slopes[k].ratio, by_slope[k], gradient);
}

std::map<ir::Extents, double> AdjointPoints::injected(const std::string& field) const {
  std::map<ir::Extents, double> result;
  for (std::size_t t = 0; t < taps_.size(); ++t) {
    if (fields_[t] != field || taps_[t].slope > 0) continue;
    result[taps_[t].tap.index] += taps_[t].factor * taps_[t].tap.weight * taps_[t].fed;
  }
  return result;
}

}  // namespace ondula
