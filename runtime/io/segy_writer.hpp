// Writing records as SEG-Y revision 1 or SU, of any geometry, as a whole file or none.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/io/atomic_file.hpp"
#include "runtime/io/segy_geometry.hpp"
#include "runtime/io/segy_layout.hpp"

namespace ondula::io {

/// The traces of one source.
struct WrittenShot {
  SurveyPoint source;
  std::vector<SurveyPoint> receivers;
};

/// A file of records to be.
struct WrittenFile {
  std::string path;
  TraceFileKind kind = TraceFileKind::segy;
  bool ibm = false;          ///< SEG-Y: IBM floats instead of IEEE
  bool big_endian = true;    ///< SU; SEG-Y always is
  std::int64_t samples = 0;  ///< per trace
  double dt = 0;             ///< s
  double first_time = 0;     ///< s, of the first sample
  int identification = 1;    ///< bytes 29-30
  double fineness = 0;  ///< m: a loss in positions over a hundredth of it is warned of; 0: over 0.5 mm only
  std::vector<std::string>
      text;  ///< lines of the text header, up to 76 characters of ASCII each, up to 37 lines
  std::vector<WrittenShot> shots;  ///< field records 1, 2, ...
};

/// Everything of a file but its samples, found before any is computed.
struct WrittenPlan {
  TraceLayout layout;
  std::int32_t interval = 0;  ///< µs
  std::int32_t coordinate_scalar = 1;
  std::int32_t elevation_scalar = 1;
  std::int32_t delay = 0;        ///< ms, times the time scalar
  std::int32_t time_scalar = 0;  ///< SEG-Y
};

/// Chooses the scalars of positions (exact where the format allows it), interval and delay. Adds to
/// `warnings` what the format loses: positions by more than 0.5 mm, an interval that is no whole number of
/// µs, a first time, words past their signed range. Throws UserError, saying which word cannot hold what: no
/// samples, or more than 65535; an interval beyond 1 to 65535 µs; positions, or a first time, beyond their
/// words.
WrittenPlan plan_traces(const WrittenFile& file, std::vector<std::string>& warnings);

/// Writes the traces of a planned file one after the other: shots outermost, receivers in their order.
class TraceWriter {
 public:
  /// Starts the file. Throws as plan_traces and AtomicFile do.
  TraceWriter(WrittenFile file, Existing existing);
  /// The next trace, rounded to 4-byte floats. Throws UserError for a value that no such float holds,
  /// InternalError past the last trace or for another number of samples.
  void write(std::span<const double> samples);
  /// Publishes the file. Throws InternalError where traces are missing, and as AtomicFile does.
  void commit();

 private:
  void write_file_headers();
  std::vector<char> next_header() const;

  WrittenFile spec_;
  WrittenPlan plan_;
  AtomicFile file_;
  std::int64_t written_ = 0;
  std::size_t shot_ = 0, receiver_ = 0;
};

}  // namespace ondula::io
