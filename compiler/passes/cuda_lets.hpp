// cuda_lets: names for shared and long subexpressions of a CUDA kernel, across its pieces.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/ir/cuda.hpp"

namespace ondula::passes {

/// The variable that holds the new value of an array at the thread's point.
std::string cuda_new_value(const std::string& array);

/// Fills the lets of a kernel's pieces. What the live pieces name serves the layers too; what a layer names
/// ends with its block. No operation and no order of operations changes.
class CudaLets {
 public:
  explicit CudaLets(ir::Pool& pool) : pool_(pool) {}
  void run(ir::CudaKernel& kernel);

 private:
  bool fixed(ir::Expr e);

  ir::Pool& pool_;
  std::map<std::uint32_t, bool> fixed_;
  std::set<std::string> direct_;  ///< arrays stored at once, so that an access before is not one after
};

}  // namespace ondula::passes
