// The oracle: executes a Program whole-array, operation by operation, without generating code.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/points.hpp"
#include "compiler/ir/program.hpp"

namespace ondula::reference {

/// Runs one time step at a time of a Program as it is after `absorb`, before `expand`. `Real` (float or
/// double) is the type of all fields and of all arithmetic with them; time-independent expressions are
/// evaluated in double and rounded once. Every array, memory variables too, covers the whole padded grid.
template <class Real>
class Executor {
 public:
  /// `symbols` gives the run-time scalars of the program ("dt", ...); `options` the layer's profiles. Throws
  /// InternalError if the program breaks an invariant or does not fit the domain; UserError if an axis with
  /// mirroring or periodic faces has fewer than two nodes.
  Executor(const ir::Program& program, const ir::Domain& domain, std::map<std::string, double> symbols,
           const ir::LayerOptions& options);
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  /// Nodal values on the padded grid, C order (Domain::total entries per axis).
  void set_parameter(const std::string& name, std::span<const double> values);
  /// The same: what the tangents in the program are taken along; parameters without one do not change.
  void set_perturbation(const std::string& name, std::span<const double> values);
  /// Sets all fields and memory variables to 0 at all levels.
  void clear();
  /// Values at `level` 0 ("now") or, for second-order fields, -1, on the padded grid, C order. Entries where
  /// the field does not live become 0; the halo is filled as its faces prescribe.
  void set_field(const std::string& name, int level, std::span<const double> values);
  /// The values of a field or memory variable at `level` (0 or -1), laid out as in set_field.
  std::vector<double> field(const std::string& name, int level = 0) const;
  /// The same on `box`, C order, in the padded grid's indices; entries beyond the grid as far as the halo
  /// goes.
  std::vector<double> values(const std::string& name, const ir::Box& box) const;
  /// The entries on the program's rings that are kept between two steps, one ring after the other by number,
  /// boxes in C order.
  std::vector<double> rings() const;
  /// What rebuilt fields take on their rings in the steps that follow, as `rings` gave it; it must stay.
  /// Null: nothing.
  void take_rings(const std::vector<double>* kept);
  /// Sets the fields that are no accumulators, memory variables too, to 0.
  void clear_state();
  /// Executes the operations of step `n` in order. samples[r] becomes receiver r's sample (0 if no operation
  /// samples its field). Afterwards level +1 has become level 0. Taps where the field does not live count as
  /// 0.
  void step(std::int64_t n, std::span<const ir::PointSource> sources,
            std::span<const ir::PointReceiver> receivers, std::span<double> samples);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class Executor<float>;
extern template class Executor<double>;

}  // namespace ondula::reference
