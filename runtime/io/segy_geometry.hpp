// Where a SEG-Y or SU file's trace headers put sources and receivers.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/io/segy.hpp"

namespace ondula::io {

/// A point of a survey in metres: x and y as the headers have them, z downwards from the elevations' datum.
struct SurveyPoint {
  double x = 0;
  double y = 0;
  double z = 0;
  bool operator==(const SurveyPoint&) const = default;
};

/// The traces of one source: those of one field record that share its position.
struct SurveyShot {
  std::int32_t record = 0;  ///< bytes 9-12
  SurveyPoint source;
  std::vector<SurveyPoint> receivers;  ///< in the file's order
  std::vector<std::int64_t> traces;    ///< the trace (from 0) of each
};

/// Shots in the order in which the file first shows them.
struct SurveyGeometry {
  std::vector<SurveyShot> shots;
  std::int64_t traces = 0;  ///< in the file
  std::vector<std::string> warnings;
};

/// What the job knows better than the file.
struct SurveyHints {
  TraceFileHints file;
  std::string unit;     ///< of coordinates and elevations, "m" or "ft"; empty: as the headers say
  bool depths = false;  ///< the elevation words hold depths
};

/// Reads the geometry of every trace header: coordinates and elevations with their scalars, feet converted;
/// z = sdepth - selev for a source, -gelev for a receiver (with `depths`: selev + sdepth, and gelev). Traces
/// of auxiliary channels are left out. `warnings` says what was assumed: an unknown unit, angles that are
/// lengths, scalars of no standard, offsets that contradict the positions. Throws UserError, naming the file,
/// the trace, the word and what was found, where headers hold no positions, or angles.
SurveyGeometry read_survey_geometry(const std::string& path, const SurveyHints& hints);

}  // namespace ondula::io
