// What a Propagator checks before it runs, and what it predicts.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "compiler/error.hpp"
#include "runtime/domain.hpp"
#include "runtime/io/wavelet.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/model_checks.hpp"
#include "runtime/point_bytes.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/state_data.hpp"

namespace ondula {

const Limits& Propagator::Impl::present_limits() const {
  const loop::Models& models = complete_models();
  if (!limits_) {
    require_models(compilation_.physical, models, grid_.shape);
    limits_ = limits(compilation_.physical, domain_, models, options_.threads);
  }
  return *limits_;
}

int Propagator::Impl::substeps(const Limits& now) const {
  if (options_.substeps) return *options_.substeps;
  if (substeps_ > 0) return substeps_;
  const double least = options_.dt / (automatic_share * now.step) * (1 - 1e-12);
  return std::max(1, static_cast<int>(std::min(1e6, std::ceil(least))));
}

std::string Propagator::Impl::step_refusal(const Limits& now) const {
  const int r = substeps(now);
  const bool open = !options_.substeps && substeps_ == 0;
  const bool too_many = open && r > most_substeps;
  const double dt = too_many ? options_.dt : options_.dt / r;
  if (!too_many && dt <= now.step * (1 + 1e-12)) return {};
  std::string where =
      fmt::format("for {:.6g} m/s at cell ({})", now.speeds.fastest, cell_text(grid_, now.cell));
  if (now.cell != now.speeds.fastest_cell) {
    where = fmt::format("set at cell ({}); the fastest speed is {:.6g} m/s at cell ({})",
                        cell_text(grid_, now.cell), now.speeds.fastest,
                        cell_text(grid_, now.speeds.fastest_cell));
  }
  const double needed = std::ceil(options_.dt / (automatic_share * now.step) * (1 - 1e-12));
  const double megabytes =
      static_cast<double>(loop::compiled_engine_bytes(compilation_, domain_, options_.dtype)) / 1e6;
  const int most = options_.substeps ? *options_.substeps : open ? most_substeps : substeps_;
  return fmt::format(
      "{} = {:.6g} s is over the stability limit: {:.6g} s {}, order {}; it would take {:.0f} substeps, with "
      "which "
      "automatic steps keep 0.95 of the limit, of at most {}, and {:.3g} MB of device memory; lower dt to "
      "{:.6g} s",
      r == 1 || too_many ? "dt" : fmt::format("dt/{}", r), dt, now.step, where, compilation_.physical.order,
      needed, most_substeps, megabytes, now.step * most * (open ? automatic_share : 1.0));
}

ShotPoints Propagator::Impl::points_of(std::span<const Shot> shots, std::int64_t number, bool slopes) const {
  const Sampling sampling{(start_ ? start_->step : 0) + steps_, substeps(present_limits())};
  return shot_points(compilation_.physical, domain_, grid_, models_, sampling,
                     shots[static_cast<std::size_t>(number)], number, slopes);
}

std::size_t Propagator::Impl::limit_bytes() const {
  return limits_bytes(compilation_.physical, domain_, complete_models());
}

std::vector<PointBytes> Propagator::Impl::points_bytes(std::span<const Shot> shots, int substeps) const {
  std::vector<PointBytes> points;
  PointCounter counter(compilation_.physical, domain_, grid_, models_, {options_.steps, substeps});
  for (std::size_t i = 0; i < shots.size(); ++i)
    points.push_back(counter.of(shots[i], static_cast<std::int64_t>(i)));
  return points;
}

std::size_t Propagator::Impl::shots_bytes(std::span<const Shot> shots, std::span<const PointBytes> points,
                                          std::int64_t batch) const {
  // Records of every shot stay; taps and wavelets are those of one batch at a time.
  std::size_t records = 0, held = 0, peak = 0;
  for (std::size_t first = 0; first < shots.size(); first += static_cast<std::size_t>(batch)) {
    std::size_t made = 0, bound = 0;
    const std::size_t end = std::min(shots.size(), first + static_cast<std::size_t>(batch));
    for (std::size_t i = first; i < end; ++i) {
      made += points[i].made;
      bound += points[i].bound;
    }
    peak = std::max(peak, records + held + made);
    for (std::size_t i = first; i < end; ++i)
      records += shots[i].receivers.size() * static_cast<std::size_t>(options_.steps) * sizeof(double);
    held = bound;  // until the next batch's have been made
    peak = std::max(peak, records + held);
  }
  return peak;
}

void Propagator::Impl::estimate_gradient(Estimate& e, std::span<const PointBytes> points) const {
  if (options_.storage.keep == Storage::none) {
    e.gradient_refusal = "its storage is off";
    return;
  }
  try {
    const passes::AdjointCompilation both =
        passes::compile_adjoint(equation_, pipeline(), false, options_.storage.keep == Storage::boundary);
    std::vector<loop::PointCounts> ahead, back;
    for (const PointBytes& own : points) {
      const auto both_of_shot = both_ways(both.adjoint, own.counts);
      ahead.push_back(both_of_shot.first);
      back.push_back(both_of_shot.second);
    }
    const auto bytes = [&](std::int64_t batch) {
      return gradient_bytes(both, batch, options_.steps, e.substeps, ahead, back);
    };
    e.gradient_shots_at_once =
        choose_batch(points.size(), [&](std::int64_t batch) { return bytes(batch).device; });
    const GradientBytes found = bytes(e.gradient_shots_at_once);
    e.gradient_device_bytes = found.device;
    e.history_bytes = found.history;
    e.checkpoint_bytes = found.states;
    e.gradient_host_bytes = found.host;
    e.gradient_disk_bytes = found.disk;
    e.step_bytes = found.slot;
    e.state_bytes = found.state;
    const storage::Cost cost = storage_cost(options_.steps, e.substeps);
    e.steps_again = (cost.run - options_.steps) * e.substeps;
  } catch (const UserError& error) {
    e.gradient_refusal = error.what();
  }
}

Estimate Propagator::Impl::estimate(std::span<const Shot> shots) const {
  Estimate e;
  const Limits& now = present_limits();
  e.fastest = now.speeds.fastest;
  e.slowest = now.speeds.slowest;
  e.fastest_cell = now.speeds.fastest_cell;
  e.cfl_limit = now.step;
  e.limit_cell = now.cell;
  e.substeps = substeps(now);
  e.dt = options_.dt / e.substeps;
  e.refusal = step_refusal(now);
  double top = 0;
  for (const Shot& shot : shots) {
    for (const Source& source : shot.sources) {
      if (!source.wavelet.empty()) {
        top = std::max(top, io::series_facts(source.wavelet, options_.t0, options_.dt).top_frequency);
      }
    }
  }
  const double coarsest = *std::max_element(grid_.spacing.begin(), grid_.spacing.end());
  if (top > 0) e.points_per_wavelength = e.slowest / (top * coarsest);
  e.points = 1;
  for (const std::int64_t n : grid_.shape) e.points *= n;
  e.padded_points = domain_.points();
  const std::vector<PointBytes> points = points_bytes(shots, e.substeps);
  std::vector<loop::PointCounts> counts;
  for (const PointBytes& own : points) counts.push_back(own.counts.points);
  if (!machine_.reference()) {
    const auto bytes = [&](std::int64_t batch) {
      return engine_bytes(compilation_, 0, batch, e.substeps, counts);
    };
    if (!calls_back()) e.shots_at_once = choose_batch(shots.size(), bytes);
    e.device_bytes = bytes(e.shots_at_once);
    estimate_gradient(e, points);
  }
  const std::size_t before = limit_bytes(), during = shots_bytes(shots, points, e.shots_at_once);
  std::size_t models = 0;
  for (const auto& [name, array] : models_) models += array.bytes();
  e.host_bytes = models + std::max(before, during);
  // Only the host's device is in the same memory.
  e.peak_bytes = models + std::max(before, (machine_.cuda() ? 0 : e.device_bytes) + during);
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
