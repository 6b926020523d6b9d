// Sources as taps: points, forces, moment rates.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/points.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/point_taps.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// How a run steps: samples of the record, and steps per sample.
struct Sampling {
  std::int64_t samples = 0;
  int substeps = 1;
  std::int64_t steps() const { return samples * substeps; }
};

/// Turns sources into what each step adds to the fields' own points.
class SourceTaps {
 public:
  SourceTaps(const ir::Program& program, const ir::Domain& domain, const Grid& grid, const Sampling& sampling,
             PointTaps& points);
  /// Adds a point source for each field that is fed, in the order of the fields. Throws UserError, `what` in
  /// front, for a field the equation does not feed, a position outside, a direction or tensor that does not
  /// fit the axes, a wavelet that is not finite. `slopes` gains how the weights follow the model, if the
  /// points keep that: `point` is the number in `into` of a part whose samples the derivative's parts share;
  /// each part's field is the one whose source term it feeds.
  void add(const Source& source, const std::string& what, std::vector<ir::PointSource>& into,
           std::vector<PointSlopes>* slopes = nullptr);

 private:
  bool fed(const std::string& field) const;
  std::vector<double> direction(const Source& source, const std::string& what) const;
  std::vector<double> tensor(const Source& source, const std::string& what) const;
  void component(const Source& source, const ir::Field& field, double share, const std::string& what,
                 std::vector<ir::PointSource>& into, std::vector<PointSlopes>* slopes);
  void weigh_inside(ir::FieldTaps& part) const;
  double inside_share(const ir::Field& field, const ir::Tap& tap) const;

  const ir::Program& program_;
  const ir::Domain& domain_;
  const Grid& grid_;
  Sampling sampling_;
  PointTaps& points_;
  bool first_order_ = false;
  bool staggered_time_ = false;
  double volume_ = 1;
};

}  // namespace ondula
