// What a Propagator holds for linearised modelling.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "runtime/propagator_impl.hpp"

namespace ondula {

/// Kernels, kept once compiled, and their engine, which gives way to those of other calls.
struct Propagator::Impl::Born {
  passes::BornCompilation compilation;
  StepKernels kernels;
  std::unique_ptr<loop::Engine> engine;
  std::int64_t shots = 1;  ///< that it runs at once, at most
  std::int64_t batch = 1;  ///< of them, in the present call
};

}  // namespace ondula
