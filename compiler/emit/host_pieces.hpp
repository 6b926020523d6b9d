// host_pieces: a kernel's pieces as C++ functions of one row and of a block of rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/expression.hpp"
#include "compiler/ir/kernel.hpp"

namespace ondula::emit {

/// How host text calls arrays and strides.
class HostNames {
 public:
  explicit HostNames(const ir::Program& program) : program_(program) {}

  const ir::Program& program() const { return program_; }
  std::string axis(int a) const { return program_.axes[static_cast<std::size_t>(a)]; }
  int inner() const { return program_.dims() - 1; }
  /// The axis whose rows a block runs through: the last outer one; -1 in 1-D.
  int row_axis() const { return inner() - 1; }
  static bool is_strip(const ir::ArrayArgument& a) { return a.kind == ir::ArrayKind::field && a.side >= 0; }
  /// The argument a piece calls `local`; of a strip array, the one of `side`.
  static const ir::ArrayArgument& argument(const ir::Kernel& kernel, const std::string& local, int side = 0);
  /// Stride of an array along an outer axis, as a piece (`local`) or the kernel (`identifier`) calls it.
  std::string stride(const ir::ArrayArgument& a, int outer, const std::string& name) const {
    return is_strip(a) ? "s_" + name + "_" + axis(outer) : "s_" + axis(outer);
  }
  /// The arrays, strides and scalars of a piece's function, passed on from inside it.
  std::vector<std::string> passed_on(const ir::Kernel& kernel, const ir::Piece& piece) const;
  /// The arrays, strides and scalars of a base piece and its innermost fused variant, each once: as the
  /// kernel passes them (at the plane's origin), or declared as parameters.
  std::vector<std::string> core_arguments(const ir::Kernel& kernel, std::size_t base, std::size_t fused,
                                          bool declared) const;

 private:
  const ir::Program& program_;
};

/// The functions of all pieces of `kernel`, KERNEL_pieceN (a block of rows) and KERNEL_pieceN_row, and of
/// KERNEL_coreN, the blocks whose rows' ends lie in the innermost layer.
std::string host_pieces(const ir::Program& program, const ir::Kernel& kernel, Real real);

}  // namespace ondula::emit
