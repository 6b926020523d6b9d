// Finds the kernels in CUDA text, before anything compiles it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ondula::sim {

/// A kernel's definition in a text.
struct ScannedKernel {
  std::string name;
  std::string bounds;                        ///< the arguments of __launch_bounds__, as written; empty: none
  std::vector<std::string> parameters;       ///< their names; "" where one has none
  std::size_t body_begin = 0, body_end = 0;  ///< where its braces stand in the text
  bool opaque = false;                       ///< macros in its body hide what it does
  bool shared = false;                       ///< it has shared memory of its own
  bool barriers = false;  ///< it, or a function of the text outside kernels, calls __syncthreads
};

/// What scan() finds.
struct Scanned {
  bool lanes_elsewhere = false;        ///< threadIdx is named outside kernels: in a macro or a function
  std::vector<ScannedKernel> kernels;  ///< in the text's order
  std::string text;  ///< as given, extern "C" blanked out, every other character in its place
};

/// Reads `text` as far as kernels need: comments, strings, and the text's own macros. Never
/// throws: a text that is not C++ is the compiler's to refuse.
Scanned scan(const std::string& text);

}  // namespace ondula::sim
