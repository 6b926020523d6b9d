// Running CUDA text on the CPU: every block and thread in a loop, behind the host's entry points.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "compiler/emit/cuda_text.hpp"
#include "compiler/ir/domain.hpp"

namespace ondula::test {

/// How blocks and threads are run; none of it may change a bit.
struct Execution {
  bool backwards = false;    ///< last block and thread first
  unsigned most_blocks = 0;  ///< > 0: along grid y and z, to make the kernels' own loops run
  int multiprocessors = 1;   ///< of the device that is planned for
};

/// What stands before CUDA text so that a C++ compiler accepts it: the built-in names it uses.
extern const char* const cuda_stand_in;

/// C++ with the entry points of emit::host_text for the sweeps of `program`, each of which runs the CUDA
/// kernels of that sweep on `domain`. Tiles are ignored: the first one runs everything.
std::string cuda_on_host(const ir::CudaProgram& program, emit::Real real, const ir::Domain& domain,
                         const Execution& execution);

}  // namespace ondula::test
