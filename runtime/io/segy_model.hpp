// A model from a SEG-Y or SU file: traces are columns, samples run down.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/io/array.hpp"
#include "runtime/types.hpp"

namespace ondula::io {

/// What the job says of such a file.
struct SegyModelLayout {
  std::string path;
  std::optional<bool> big_endian;  ///< unset: as the content says
  std::vector<std::string> axes;   ///< of the file, slowest first, z last; empty: the grid's, z moved there
  std::vector<double> spacing;     ///< m, in the grid's order, instead of what the headers say; empty: unset
};

/// Reads a section or volume onto the grid, in the grid's axis order. Numbers of traces and samples must be
/// the grid's. The sample interval is taken as a depth step, in mm or m (or thousandths of feet, or feet),
/// and the positions of the traces (midpoints, else receivers, else sources) as columns; both must agree with
/// grid.spacing unless the layout states a spacing. Traces in the direction of decreasing x or y are turned.
/// Adds to `warnings` what was taken for what. Throws UserError, naming the file, the word and what was
/// found.
Array read_segy_model(const SegyModelLayout& layout, const Grid& grid, std::vector<std::string>& warnings);

}  // namespace ondula::io
