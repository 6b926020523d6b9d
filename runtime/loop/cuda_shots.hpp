// The points of the shots that run at once, as tables over all their copies of the fields.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "compiler/ir/kernel.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/loop/cuda_points.hpp"
#include "runtime/loop/cuda_stepper.hpp"
#include "runtime/loop/engine.hpp"
#include "runtime/loop/model.hpp"

namespace ondula::loop {

/// What the sources of `shots` add to, with the injections' factors; sources are numbered through all shots.
std::vector<CudaPoints::Deposit> cuda_deposits(const ir::Program& program, const EngineSetup& setup,
                                               const Arrays& arrays, const PaddedModel& models,
                                               const std::vector<EnginePoints>& shots);

/// What the receivers of `shots` read, in the order in which a step samples the fields: a receiver's parts
/// add up in it. `series` is told whose the places are, and how many receivers there are in all.
std::vector<CudaPoints::Pickup> cuda_pickups(const ir::KernelSet& set, const Arrays& arrays,
                                             const std::vector<EnginePoints>& shots, CudaSeries& series);

}  // namespace ondula::loop
