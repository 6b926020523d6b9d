// Which kinds of storage an equation's gradients can have, and what they keep of a step on a grid.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/dsl/definition.hpp"
#include "compiler/ir/domain.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// Why an equation's gradients cannot have a kind of storage; empty where they can.
struct StorageFacts {
  std::string full, checkpoints, boundary;
};
StorageFacts storage_facts(const EquationDefinition& equation, const std::vector<std::string>& axes);

/// Bytes that the host's backend keeps of one shot.
struct KeptBytes {
  std::size_t step = 0;        ///< of a step: the save set's or, where the interior is rebuilt, the rings'
  std::size_t checkpoint = 0;  ///< of a state
};
KeptBytes kept_bytes(const passes::AdjointCompilation& both, const ir::Domain& domain, DType dtype);

}  // namespace ondula
