// What a State holds.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/equation.hpp"
#include "runtime/loop/snapshot.hpp"
#include "runtime/state.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// A snapshot with what tells whose it is and how to read it.
class State::Data {
 public:
  std::string equation;
  std::vector<std::string> axes;
  ir::Domain domain;
  int order = 0;
  double dt = 0;     ///< s, between two samples
  int substeps = 1;  ///< half-step fields lie half a step before their time
  DType dtype = DType::float32;
  Backend backend = Backend::host;
  bool kappa = false;             ///< the layers stretch too: other kernels
  std::vector<ir::Field> fields;  ///< without memory variables
  std::int64_t step = 0;
  loop::Snapshot arrays;
};

}  // namespace ondula
