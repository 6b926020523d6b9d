// From a job's statements to what the runtime runs: shots with positions in metres and wavelets in samples.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/io/job.hpp"
#include "runtime/types.hpp"

namespace ondula::io {

/// The shots of a job and what their wavelets say about the run.
struct Survey {
  std::vector<Shot> shots;        ///< by shot number; receivers in the order listed
  Absorb absorb;                  ///< the job's, its frequency filled in from the wavelets if there are any
  double dominant_frequency = 0;  ///< Hz, the lowest of the wavelets' spectral peaks; 0 without sources
  double top_frequency = 0;  ///< Hz, the highest at which a wavelet's spectrum falls below 1 % of its peak
};

/// Resolves sources and receivers. Shots are numbered 0 to n − 1 by the sources; without sources there is one
/// shot. Reads wavelet files, a (source, time) array by row in the order of "sources". Warns (into
/// `warnings`) of no sources or receivers, of wavelets (wavelet_warnings, and a frequency above Nyquist), of
/// sources and receivers on a free surface where the field is zero. Throws UserError for a gap in the shot
/// numbers, a shot that does not exist, a position outside the grid (the first is named, the others counted),
/// and a wavelet file of the wrong shape or values.
Survey resolve_survey(const Job& job, std::vector<std::string>& warnings);

/// The names an equation knows, to check a job against.
struct EquationNames {
  std::string equation;
  std::vector<std::string> parameters;
  std::vector<std::string> sources;    ///< fields a point source may feed
  std::vector<std::string> receivers;  ///< what can be recorded and pictured
  std::vector<std::string> initial;    ///< fields that take an initial state ("u", "u.previous")
  std::vector<std::string> derived;    ///< what can be recorded besides: "pressure", "e.xx", "fibre"
  std::vector<std::string> forces;     ///< vector fields that take a force ("v")
  std::vector<std::string> moments;    ///< tensor fields that take a moment rate ("s")
};

/// Throws UserError, with the nearest known name, for a model, source, receiver, snapshot or initial state
/// that the equation does not know, and for a parameter without a model.
void check_names(const Job& job, const EquationNames& names);

}  // namespace ondula::io
