// Born modelling: the tangent of the step.
// SPDX-License-Identifier: MIT
#include "compiler/error.hpp"
#include "runtime/propagator_impl.hpp"

namespace ondula {

Records Propagator::Impl::born(std::span<const Shot>, const std::map<std::string, std::vector<double>>&) {
  throw UserError("linearised modelling is not available yet");
}

}  // namespace ondula
