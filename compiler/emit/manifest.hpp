// manifest: what a kernel's arguments are and where each stands, for the runtime and for people.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/kernel.hpp"

namespace ondula::emit {

/// The working type of generated text.
enum class Real { float32, float64 };

/// Where a kernel's integer arguments stand in `n`:
///   [0, outer)                        strides of fields and coefficients along the outer axes, in elements
///   strip(i) + {0, 1 .. outer}        of the i-th array, if a strip array: origin, then its strides along
///   the outer axes box(p) + {2a, 2a+1}               lo and hi of the p-th piece along axis a
///   core(p) + {2a, 2a+1}              of a base piece: rows (outer axes) outside strips and aprons, and the
///   span of the
///                                     innermost axis that its fused variants leave
///   lives(p) + {2a, 2a+1}             of a mixed piece: where all its stores' fields live; then, 2*dims
///   further for
///                                     each store, where that one's field lives
/// and in `tile`: {2a, 2a+1} lo and hi along outer axis a, then the rows of one block. The innermost axis has
/// stride 1.
class ArgumentLayout {
 public:
  ArgumentLayout(const ir::Kernel& kernel, int dims);
  int outer() const { return dims_ - 1; }
  int strip(std::size_t array) const { return strips_[array]; }  ///< -1 if not a strip array
  int box(std::size_t piece, int side) const { return boxes_[piece] + side * 2 * dims_; }
  int core(std::size_t piece) const { return cores_[piece]; }   ///< -1 if the piece is no base
  int lives(std::size_t piece) const { return lives_[piece]; }  ///< -1 if the piece is not mixed
  int size() const { return size_; }

 private:
  int dims_;
  std::vector<int> strips_;
  std::vector<int> boxes_;
  std::vector<int> cores_;
  std::vector<int> lives_;
  int size_ = 0;
};

/// JSON: the program's coefficients and scalars, each kernel's arrays, scalars, pieces and costs.
std::string manifest(const ir::KernelSet& set, Real real);

}  // namespace ondula::emit
