// What a mixed piece prints so that its stores leave alone what does not live.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/kernel.hpp"

namespace ondula::emit {

/// How a mixed piece's function is called in host text.
struct LiveNames {
  std::string function;                 ///< of a block of rows
  std::vector<std::string> parameters;  ///< its own, as declared
  std::vector<std::string> arguments;   ///< its arrays, strides and scalars as passed on
  std::vector<std::string> rows;        ///< each store's row, from inside that function
  std::vector<std::string> outer;       ///< the indices of the outer axes
};

/// Before and after the loop of a row: the entries at its ends that do not live are kept.
std::string keep_edges(const ir::Piece& piece, int dims);
std::string restore_edges(const ir::Piece& piece, int dims);

/// A function of one row on which some of the stores do not live: their rows are kept, a part at a time.
std::string partial_row(const ir::Piece& piece, const LiveNames& names);

/// The condition that every store lives on a row, as far as the outer axes go.
std::string all_live(const std::vector<std::string>& outer);

}  // namespace ondula::emit
