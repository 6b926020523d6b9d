// The sums over time that gradients are made of, added up over shots.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/device/device.hpp"
#include "runtime/loop/engine.hpp"

namespace ondula {

/// The accumulators of a step back. Each shot's begin at zero; over the shots they are added in double, in
/// the order of the shots: so neither the number of shots that run at once nor anything else decides a bit.
class GradientSums {
 public:
  GradientSums(const ir::Program& back, const ir::Domain& domain);

  /// Adds those of the shot that `engine` looks at, on `device`'s threads; null: on the caller's.
  void add(const loop::Engine& engine, device::Device* device);
  /// The sums of `accumulator` on a row, which lies where some accumulator lives.
  std::vector<double> row(const std::string& accumulator, const ir::Box& row) const;

 private:
  std::size_t place(const ir::Extents& index) const;

  ir::Box box_;
  std::map<std::string, std::vector<double>> sums_;
};

}  // namespace ondula
