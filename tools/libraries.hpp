// Finds the shared libraries and programs of CUDA, MPI and NCCL, without using them.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace ondula::tools {

/// What was found of one thing.
struct Finding {
  std::string what;                   ///< "CUDA driver"
  std::string path;                   ///< empty: not found
  std::string detail;                 ///< a version, say
  std::vector<std::string> searched;  ///< places and names, in order
  std::string remedy;                 ///< what to do about its absence
};

/// CUDA's driver and toolkit, NCCL, MPI: looked for in jit::cuda_toolkits(), PATH and where the
/// loader looks.
std::vector<Finding> find_optional_parts();

}  // namespace ondula::tools
