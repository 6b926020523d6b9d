// Taps of every shot's points, each in its own copy.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_shots.hpp"

#include <variant>

#include "runtime/loop/factor.hpp"

namespace ondula::loop {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<CudaPoints::Deposit> cuda_deposits(const ir::Program& program, const EngineSetup& setup,
                                               const Arrays& arrays, const PaddedModel& models,
                                               const std::vector<EnginePoints>& shots) {
  const ir::Domain& domain = setup.domain;
  const int inner = domain.dims - 1;
  const auto entries = [&](const ir::Injection& injection, const ir::PointSource& source, std::int64_t shot) {
    const ir::Field& target = program.field(injection.field);
    const Arrays::Array& array = arrays.at(field_key(target.name, 0));
    const ir::Box live = domain.live(target);
    std::vector<device::Weighted> result;
    for (const ir::Tap& tap : source.taps) {
      // An adjoint's injection may feed another component than the one whose taps these are.
      bool lives = true;
      for (int axis = 0; axis <= inner; ++axis)
        lives = lives && tap.index[at(axis)] >= live[at(axis)].lo && tap.index[at(axis)] < live[at(axis)].hi;
      const std::int64_t along = tap.index[at(inner)];
      if (!lives || along < 0 || along >= domain.total(inner)) continue;
      const double factor =
          source.raw ? 1.0 : source_factor(injection.factor, setup.symbols, models, tap.index, &domain);
      result.push_back({shot * array.shot_stride + array.layout.at(tap.index), factor * tap.weight});
    }
    return result;
  };
  std::vector<CudaPoints::Deposit> deposits;
  for (std::size_t o = 0; o < program.operations.size(); ++o) {
    const auto* injection = std::get_if<ir::Injection>(&program.operations[o]);
    if (injection == nullptr) continue;
    int number = 0;
    for (std::size_t shot = 0; shot < shots.size(); ++shot) {
      for (const ir::PointSource& source : shots[shot].sources) {
        if (source.source == injection->source)
          deposits.push_back(
              {static_cast<int>(o), number, entries(*injection, source, static_cast<std::int64_t>(shot))});
        ++number;
      }
    }
  }
  return deposits;
}

std::vector<CudaPoints::Pickup> cuda_pickups(const ir::KernelSet& set, const Arrays& arrays,
                                             const std::vector<EnginePoints>& shots, CudaSeries& series) {
  std::vector<CudaPoints::Pickup> pickups;
  for (const EnginePoints& own : shots) series.count += own.receivers.size();
  for (const ir::Stage& stage : set.stages) {
    if (stage.operation < 0) continue;
    const auto* sample = std::get_if<ir::Sample>(&set.program.operations[at(stage.operation)]);
    if (sample == nullptr) continue;
    const Arrays::Array& array = arrays.at(field_key(sample->field, 0));
    std::size_t receiver = 0;
    std::int64_t first = 0;  // element of the shot's copy
    for (const EnginePoints& own : shots) {
      for (const ir::PointReceiver& point : own.receivers) {
        for (const ir::FieldTaps& part : point.parts) {
          if (part.field != sample->field) continue;
          pickups.push_back({part.field, static_cast<std::int64_t>(pickups.size()), {}});
          for (const ir::Tap& tap : part.taps)
            pickups.back().from.push_back({first + array.layout.at(tap.index), tap.weight});
          series.receivers.push_back(receiver);
        }
        ++receiver;
      }
      first += array.shot_stride;
    }
  }
  return pickups;
}

}  // namespace ondula::loop
