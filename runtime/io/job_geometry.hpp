// "geometry": a job's sources and receivers from the trace headers of a SEG-Y or SU file.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/io/job.hpp"
#include "runtime/io/job_resolve.hpp"

namespace ondula::io {

/// Replaces the job's "geometry", if it has one, by the sources and receivers it stands for: shots numbered
/// from 0 in the file's order, positions on the grid's axes in metres, one list of receivers per distinct
/// spread and field. A field left out is the equation's only one. Adds to `warnings` what the file leaves
/// open, and what a grid of fewer axes drops. Throws UserError for a file without usable positions, for
/// positions outside the grid (the first trace is named, the others counted; an exchange of sign or axes
/// that would help is suggested), and for a field that the equation does not have or leaves open.
void expand_geometry(Job& job, const EquationNames& names, std::vector<std::string>& warnings);

}  // namespace ondula::io
