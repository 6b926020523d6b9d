// host_rows: what a piece does along one row, as C++ by vectors.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/emit/host_pieces.hpp"

namespace ondula::emit {

/// Prints the rows of one kernel's pieces.
class RowPrinter : HostNames {
 public:
  RowPrinter(const ir::Program& program, const ir::Kernel& kernel, Real real);

  /// The function KERNEL_pieceN_row, of the given parameters; of a piece that runs within others' rows (see
  /// ir::Piece::within) instead KERNEL_pieceN_at, which computes one vector.
  std::string row(std::size_t number, const std::vector<std::string>& parameters);

 private:
  using Foremost = std::map<std::string, int>;  // cells ahead along the slowest axis, by array

  std::string lanes() const { return real_ == Real::float32 ? "16" : "8"; }
  std::string access(const ir::Node& node) const;
  std::string value(ir::Expr e) const;
  std::string lets(const ir::Piece& piece, const std::string& indent) const;
  std::string body(const ir::Piece& piece) const;
  std::string at_function(std::size_t number, const std::vector<std::string>& parameters);
  std::string ask_ahead(std::size_t number);
  std::string within(std::size_t number, const std::string& first, const std::string& count) const;
  static Foremost foremost_of(const ir::Piece& piece);
  void choose_askers();

  const ir::Kernel& kernel_;
  Real real_;
  std::map<std::string, std::size_t> askers_;
  bool shifted_ = false;              // of the row being printed: neighbours along it come by near and tap
  std::vector<std::string> windows_;  // arrays of which it holds a vector and its neighbours
};

}  // namespace ondula::emit
