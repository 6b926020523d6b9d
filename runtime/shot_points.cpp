// Sources and receivers of a shot.
// SPDX-License-Identifier: MIT
#include "runtime/shot_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/device/device.hpp"
#include "runtime/domain.hpp"
#include "runtime/loop/taps.hpp"
#include "runtime/substeps.hpp"

namespace ondula {
namespace {

class Preparer {
 public:
  Preparer(const ir::Program& program, const ir::Domain& domain, const Grid& grid)
      : program_(program), domain_(domain), grid_(grid) {
    for (const ir::Field& field : program.fields) first_order_ |= field.kind != ir::FieldKind::scalar;
    for (const double h : grid.spacing) volume_ *= h;
  }

  ir::PointSource source(const Source& source, const Sampling& sampling, const std::string& what) const {
    const bool fed =
        std::any_of(program_.operations.begin(), program_.operations.end(), [&](const ir::Operation& o) {
          const auto* injection = std::get_if<ir::Injection>(&o);
          return injection != nullptr && injection->source == source.field;
        });
    if (!fed) {
      throw UserError(
          fmt::format("{}: equation {} has no source on field {}", what, program_.equation, source.field));
    }
    ir::PointSource point;
    point.source = source.field;
    point.taps = taps(program_.field(source.field), source.position, source.interpolation, what);
    point.raw = source.scaling == Scaling::raw;
    for (ir::Tap& tap : point.taps) tap.weight *= source.strength / (point.raw ? 1.0 : volume_);
    for (const double sample : source.wavelet) {
      if (!std::isfinite(sample)) throw UserError(what + ": its wavelet has a value that is not finite");
    }
    point.samples = fine_wavelet(source.wavelet, sampling.substeps, 0, sampling.steps());
    return point;
  }

  ir::PointReceiver receiver(const Receiver& receiver, const std::string& what) const {
    const auto known = std::find_if(program_.fields.begin(), program_.fields.end(), [&](const ir::Field& f) {
      return f.name == receiver.field && f.strip_axis < 0;
    });
    if (known == program_.fields.end()) {
      throw UserError(
          fmt::format("{}: equation {} has no field {}", what, program_.equation, receiver.field));
    }
    return {receiver.field, taps(*known, receiver.position, receiver.interpolation, what)};
  }

 private:
  std::vector<ir::Tap> taps(const ir::Field& field, const std::vector<double>& position,
                            Interpolation interpolation, const std::string& what) const {
    return loop::interpolation_taps(domain_, field, first_order_, cells_of(grid_, position, what),
                                    interpolation);
  }

  const ir::Program& program_;
  const ir::Domain& domain_;
  const Grid& grid_;
  bool first_order_ = false;
  double volume_ = 1;
};

}  // namespace

ShotPoints shot_points(const ir::Program& program, const ir::Domain& domain, const Grid& grid,
                       const Sampling& sampling, const Shot& shot, std::int64_t number) {
  const Preparer preparer(program, domain, grid);
  ShotPoints result;
  for (std::size_t i = 0; i < shot.sources.size(); ++i) {
    result.sources.push_back(
        preparer.source(shot.sources[i], sampling, fmt::format("source {} of shot {}", i, number)));
  }
  for (std::size_t i = 0; i < shot.receivers.size(); ++i) {
    result.receivers.push_back(
        preparer.receiver(shot.receivers[i], fmt::format("receiver {} of shot {}", i, number)));
  }
  return result;
}

namespace {

/// How many samples fine_wavelet gives.
std::size_t fine_samples(std::size_t wavelet, const Sampling& sampling) {
  const auto most = static_cast<std::size_t>(sampling.steps());
  return std::min(
      most, sampling.substeps == 1 ? wavelet : (wavelet + 16) * static_cast<std::size_t>(sampling.substeps));
}

}  // namespace

std::size_t points_bytes(const ir::Program& program, const Grid& grid, const Sampling& sampling,
                         const Shot& shot) {
  constexpr std::size_t bytes_per_tap = sizeof(ir::Tap) + sizeof(device::Weighted);
  const auto taps = [&](const std::string& field, const std::vector<double>& position,
                        Interpolation interpolation) {
    const ir::Field& f = program.field(field);
    std::size_t count = 1;
    for (std::size_t a = 0; a < position.size(); ++a) {
      const double cell = (position[a] - grid.origin[a]) / grid.spacing[a] - (f.stagger[a] != 0 ? 0.5 : 0.0);
      const bool on_node = std::fabs(cell - std::nearbyint(cell)) < 1e-6;
      count *= on_node ? 1 : interpolation == Interpolation::linear ? 2 : 8;
    }
    return count * bytes_per_tap;
  };
  std::size_t bytes = 0;
  for (const Source& source : shot.sources) {
    const auto samples = fine_samples(source.wavelet.size(), sampling);
    bytes += taps(source.field, source.position, source.interpolation) + 2 * samples * sizeof(double);
  }
  for (const Receiver& receiver : shot.receivers) {
    bytes += taps(receiver.field, receiver.position, receiver.interpolation);
  }
  return bytes;
}

}  // namespace ondula
