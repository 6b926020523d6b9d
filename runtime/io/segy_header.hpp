// The 240 bytes before a trace, in SEG-Y and SU: the words Ondula uses, and the scalars of positions.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ondula::io {

/// Words of a trace header as stored, none of them scaled; the bytes (from 1) are those of SEG-Y revision 1,
/// and of SU up to 180. Words of 16 bits that cannot be negative are read unsigned.
struct TraceHeader {
  std::int32_t line_sequence = 0;       ///< 1-4, tracl
  std::int32_t file_sequence = 0;       ///< 5-8, tracr
  std::int32_t record = 0;              ///< 9-12, the field record, fldr
  std::int32_t record_trace = 0;        ///< 13-16, tracf
  std::int32_t source_point = 0;        ///< 17-20, ep
  std::int32_t ensemble = 0;            ///< 21-24, cdp
  std::int32_t identification = 0;      ///< 29-30, trid: 1 live, 2 dead, 3 dummy, ...
  std::int32_t offset = 0;              ///< 37-40, m or ft, not scaled
  std::int32_t receiver_elevation = 0;  ///< 41-44, gelev, upwards
  std::int32_t source_elevation = 0;    ///< 45-48, selev, of the surface at the source, upwards
  std::int32_t source_depth = 0;        ///< 49-52, sdepth, below that surface
  std::int32_t elevation_scalar = 0;    ///< 69-70, scalel
  std::int32_t coordinate_scalar = 0;   ///< 71-72, scalco
  std::int32_t source_x = 0;            ///< 73-76, sx
  std::int32_t source_y = 0;            ///< 77-80, sy
  std::int32_t group_x = 0;             ///< 81-84, gx: the receiver's
  std::int32_t group_y = 0;             ///< 85-88, gy
  std::int32_t coordinate_unit = 0;     ///< 89-90, counit: 1 length, 2 arc seconds, 3 degrees, 4 DMS
  std::int32_t delay = 0;               ///< 109-110, delrt: time of the first sample, ms
  std::int32_t samples = 0;             ///< 115-116, ns
  std::int32_t interval = 0;            ///< 117-118, dt: µs
  std::int32_t cdp_x = 0;               ///< 181-184; 0 in SU, which has other words from here on
  std::int32_t cdp_y = 0;               ///< 185-188
  std::int32_t inline_number = 0;       ///< 189-192
  std::int32_t crossline_number = 0;    ///< 193-196
  std::int32_t time_scalar = 0;         ///< 215-216, of the delay (revision 1)
  float su_step = 0;                    ///< SU 181-184, d1: sample spacing where it is not time
  float su_trace_step = 0;              ///< SU 189-192, d2: trace spacing
};

constexpr std::int64_t trace_header_bytes = 240;

/// Decodes 240 bytes of big-endian words.
TraceHeader decode_trace_header(std::span<const char> bytes, bool su);

/// The 240 bytes of a header, big-endian or with every word's bytes reversed. Throws InternalError where a
/// value does not fit its word.
std::vector<char> encode_trace_header(const TraceHeader& header, bool su, bool big_endian);

/// A word times its scalar: a positive scalar multiplies, a negative one divides, 0 counts as 1.
double scaled(std::int32_t word, std::int32_t scalar);

/// Whether a scalar is one that the standard allows: 0, or ±1, 10, 100, 1000, 10000.
bool standard_scalar(std::int32_t scalar);

/// The scalar to store values (m) with, and the largest rounding it costs (m).
struct ScalarChoice {
  std::int32_t scalar = 1;
  double loss = 0;
};

/// The coarsest scalar among 1, -10, ... -10000 that stores every value exactly (to a nanometre), or
/// else the one that loses least; nothing where some value is too large for any.
std::optional<ScalarChoice> choose_scalar(std::span<const double> values);

/// The word that stores a value with a scalar of choose_scalar. Throws InternalError where it does not fit.
std::int32_t unscaled(double value, std::int32_t scalar);

}  // namespace ondula::io
