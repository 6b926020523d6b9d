// Positions on a grid: from what a job states to metres, inside or outside, on a surface or not.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/io/job.hpp"
#include "runtime/types.hpp"

namespace ondula::io {

/// A position in metres, in the grid's axis order. `axes` are the grid axes its values belong to (all of them
/// if empty).
std::vector<double> to_metres(const Position& position, const Grid& grid,
                              const std::vector<std::size_t>& axes = {});

/// The positions (metres) of a receiver entry, in the order its traces are wanted.
std::vector<std::vector<double>> expand(const ReceiverSpec& receiver, const Grid& grid);

/// Moves coordinates (metres) that rounding left beyond an end of the grid, by a millionth of a cell at most,
/// onto it.
void snap_to_grid(std::vector<double>& metres, const Grid& grid);

/// Why a position (metres) is outside the grid: "x = 5000 m lies outside the grid, whose x runs from 0 to
/// 2000 m", in cells if `cells`; with a hint if it would lie inside with two axes exchanged. Nothing if it is
/// inside.
std::optional<std::string> outside(const std::vector<double>& metres, bool cells, const Grid& grid);

/// The free face ("z-") on which `field` is zero by the surface's rule and the position (metres) lies:
/// scalars on any free face, a normal stress ("s.zz") on a face of its own axis. Nothing
/// otherwise.
std::optional<std::string> silent_face(const std::string& field, const std::vector<double>& metres,
                                       const Grid& grid);

/// A warning where an absorbing layer is thinner than half a wavelength at `speed` (m/s) and `frequency`
/// (Hz).
std::optional<std::string> layer_warning(const Grid& grid, double speed, double frequency);

}  // namespace ondula::io
