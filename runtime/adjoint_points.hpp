// Sources and receivers of the step backwards: residuals in, adjoints at the sources out.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/adjoint.hpp"
#include "runtime/gradient.hpp"
#include "runtime/loop/sensitivity.hpp"
#include "runtime/shot_points.hpp"
#include "runtime/trace_recorder.hpp"

namespace ondula {

/// gradient += cotangent * d(C_nt/C_nn)/dmodel at the ratio's node.
void transpose_ratio(const ir::Program& program, const loop::Sensitivity& sensitivity, const RatioTaps& ratio,
                     double cotangent, loop::ModelGradient& gradient);

/// One shot's points for the step back, and what they collect.
class AdjointPoints {
 public:
  AdjointPoints(const ir::Adjoint& adjoint, const ir::Domain& domain, const loop::Sensitivity& sensitivity,
                const Shot& shot, const ShotPoints& points, int substeps);

  /// The receivers' taps as sources fed with dJ/drecords, the last step first: `samples` of the record.
  std::vector<ir::PointSource> residuals(const AdjointSources& adjoint, std::int64_t samples) const;
  /// Adds the shot's own sources, for fields that are rebuilt: the last of `steps` steps from `first` on
  /// comes first.
  void undo(std::int64_t first, std::int64_t steps, std::vector<ir::PointSource>& sources) const;
  /// One receiver for each tap of each source: dJ/dfield there.
  std::vector<ir::PointReceiver> taps() const;
  /// What those receivers found on the way back through step n.
  void collect(std::int64_t n, std::span<const double> found);

  /// dJ/dwavelet of each source of the shot.
  std::vector<std::vector<double>> wavelets() const;
  /// Adds what the models do to the sources' strengths.
  void strengths(loop::ModelGradient& gradient) const;
  /// What step by step was injected into `field`, times the adjoint, at each entry: sum over steps and taps.
  std::map<ir::Extents, double> injected(const std::string& field) const;

 private:
  /// A tap of a source: factor * weight * sample enters the field at `index`.
  struct SourceTap {
    std::size_t source;  // of points_.sources
    ir::Tap tap;
    double factor = 1;      // of the injection, 1 for raw sources
    ir::Expr expression;    // of that factor; null for raw sources
    std::size_t slope = 0;  // 1 + number of a derivative of the weights; 0: the weights themselves
    double fed = 0;         // sum over steps of sample * adjoint
  };

  void add_taps(std::size_t source, const std::string& field, const std::vector<ir::Tap>& taps, bool raw,
                std::size_t slope);
  ir::PointReceiver recovered(const std::string& field, const ir::Extents& index) const;

  const ir::Adjoint& adjoint_;
  const ir::Domain& domain_;
  const loop::Sensitivity& sensitivity_;
  const Shot& shot_;
  const ShotPoints& points_;
  int substeps_;
  bool first_order_ = false;
  std::vector<SourceTap> taps_;
  std::vector<std::string> fields_;           // of each tap
  std::vector<std::vector<double>> samples_;  // dJ/dsample of each source, by step
};

}  // namespace ondula
