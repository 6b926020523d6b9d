// What a Propagator checks before it runs, and what it predicts.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/domain.hpp"
#include "runtime/io/wavelet.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/state_data.hpp"

namespace ondula {

Speeds Propagator::Impl::checked_speeds() const {
  const Speeds now = speeds(compilation_.physical, complete_models(), grid_.shape);
  const std::string refusal = step_refusal(now);
  if (!refusal.empty()) throw UserError(refusal);
  return now;
}

std::string Propagator::Impl::step_refusal(const Speeds& now) const {
  const double limit = cfl_limit(options_.order, grid_.spacing, now.fastest);
  const double share = options_.substeps ? 1.0 : automatic_share;
  const double most = limit * share;
  const int r = options_.substeps.value_or(1);
  if (options_.dt / r > most * (1 + 1e-12)) {
    const double needed = std::ceil(options_.dt / (automatic_share * limit));
    return fmt::format(
        "dt = {:.6g} s is over the stability limit: {:.6g} s for {:.6g} m/s at cell ({}), order {}{}; it "
        "would take {:.0f} "
        "substeps and {:.3g} MB of device memory; this version takes steps of dt only: lower dt to {:.6g} "
        "s",
        options_.dt / r, limit, now.fastest, cell_text(grid_, now.fastest_cell), options_.order,
        options_.substeps ? "" : " (automatic steps take 0.95 of it)", needed,
        static_cast<double>(loop::compiled_engine_bytes(compilation_, domain_, options_.dtype)) / 1e6, most);
  }
  return r == 1 ? "" : fmt::format("substeps = {}: this version takes 1", r);
}

ShotPoints Propagator::Impl::points_of(std::span<const Shot> shots, std::int64_t number) const {
  return shot_points(compilation_.physical, domain_, grid_, (start_ ? start_->step : 0) + steps_,
                     shots[static_cast<std::size_t>(number)], number);
}

Estimate Propagator::Impl::estimate(std::span<const Shot> shots) const {
  Estimate e;
  const Speeds now = speeds(compilation_.physical, complete_models(), grid_.shape);
  e.fastest = now.fastest;
  e.slowest = now.slowest;
  e.fastest_cell = now.fastest_cell;
  e.cfl_limit = cfl_limit(options_.order, grid_.spacing, now.fastest);
  e.substeps = options_.substeps.value_or(
      std::max(1, static_cast<int>(std::min(1e6, std::ceil(options_.dt / (automatic_share * e.cfl_limit))))));
  e.dt = options_.dt / e.substeps;
  e.refusal = step_refusal(now);
  double top = 0;
  std::size_t largest_points = 0;
  for (const Shot& shot : shots) {
    for (const Source& source : shot.sources) {
      if (!source.wavelet.empty()) {
        top = std::max(top, io::series_facts(source.wavelet, options_.t0, options_.dt).top_frequency);
      }
    }
    // Records of every shot stay; taps and wavelets are those of one shot at a time.
    const auto samples = static_cast<std::size_t>(options_.steps);
    e.host_bytes += shot.receivers.size() * samples * sizeof(double);
    largest_points =
        std::max(largest_points, points_bytes(compilation_.physical, grid_, options_.steps, shot));
  }
  e.host_bytes += largest_points;
  const double coarsest = *std::max_element(grid_.spacing.begin(), grid_.spacing.end());
  if (top > 0) e.points_per_wavelength = now.slowest / (top * coarsest);
  e.points = 1;
  for (const std::int64_t n : grid_.shape) e.points *= n;
  e.padded_points = domain_.points();
  if (options_.backend == Backend::host) {
    e.device_bytes = loop::compiled_engine_bytes(compilation_, domain_, options_.dtype);
  }
  for (const auto& [name, array] : models_) e.host_bytes += array.bytes();
  const double element = options_.dtype == DType::float32 ? 4 : 8;
  for (const ir::Kernel& kernel : compilation_.kernels.kernels) {
    for (std::size_t p = 0; p < kernel.pieces.size(); ++p) {
      if (kernel.pieces[p].region.kind == ir::RegionKind::live)
        e.work_bytes_per_point += element * kernel.costs[p].streams;
    }
  }
  return e;
}

}  // namespace ondula
