// standalone: an equation's forward kernels, and those of its step back, as sources that need nothing of ours
// to compile or run. SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/manifest.hpp"
#include "compiler/emit/standalone_case.hpp"
#include "compiler/ir/adjoint.hpp"
#include "compiler/ir/cuda.hpp"
#include "compiler/ir/kernel.hpp"

namespace ondula::emit {

/// How a set of sources is called, and what its head says.
struct StandaloneNames {
  std::string prefix;                  ///< before every external name; may be empty
  std::string version;                 ///< of the program that writes the sources
  std::vector<std::string> equations;  ///< what a step computes, a line each, for people
  std::vector<std::string> reversed;   ///< what a step back computes
  std::string no_reverse;              ///< why there is none, where there is none
  std::vector<std::string> adjoint{};  ///< what a step of the adjoint computes
  std::string no_gradient{};           ///< why there is none, where there is none
};

/// What a gradient needs: passes::StandaloneCompilation::gradient, scheduled where kernels are CUDA's.
struct StandaloneGradient {
  const ir::Adjoint& adjoint;
  const ir::KernelSet& keeping;
  const ir::KernelSet& back;
  const ir::CudaProgram* cuda_keeping = nullptr;
  const ir::CudaProgram* cuda_back = nullptr;
};

/// One file of the set.
struct StandaloneFile {
  std::string name;
  std::string text;
};

/// Header, kernels, set-up, example, CMakeLists.txt, README.md and manifest.json of a forward program for the
/// host, in C++17 behind a C header; with kernels and ring of its step back, where `reverse` is not null:
/// and with those of a gradient, where `gradient` is not null: all as passes::compile_standalone gives them.
/// Throws UserError where the equation needs what these sources cannot express.
std::vector<StandaloneFile> standalone_host(const ir::KernelSet& forward, const ir::KernelSet* reverse,
                                            Real real, const StandaloneNames& names,
                                            const StandaloneCase& example,
                                            const StandaloneGradient* gradient = nullptr);

/// The same in CUDA C++: kernels for both widths of indices, of which the launchers choose by the grid.
std::vector<StandaloneFile> standalone_cuda(const ir::CudaProgram& forward, const ir::CudaProgram* reverse,
                                            Real real, const StandaloneNames& names,
                                            const StandaloneCase& example,
                                            const StandaloneGradient* gradient = nullptr);

}  // namespace ondula::emit
