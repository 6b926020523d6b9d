// Reading SEG-Y and SU files: headers and samples of any trace.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/io/segy_header.hpp"
#include "runtime/io/segy_layout.hpp"

namespace ondula::io {

/// What is known of a trace file beforehand; unset, its content tells.
struct TraceFileHints {
  std::optional<TraceFileKind> kind;
  std::optional<bool> big_endian;
};

/// A SEG-Y or SU file, open for reading.
class TraceReader {
 public:
  /// Opens the file. Throws UserError as find_trace_layout does, and for over 2^31 - 1 traces.
  explicit TraceReader(const std::string& path, const TraceFileHints& hints = {});
  ~TraceReader();
  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;

  const std::string& path() const noexcept { return path_; }
  const TraceLayout& layout() const noexcept { return layout_; }
  /// What the file's headers say against each other, and what its samples say against its format code.
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  /// The header of a trace (from 0). Throws InternalError past the end, RuntimeError where reading fails.
  TraceHeader header(std::int64_t trace);
  /// The samples of a trace; out.size() is layout().samples. Throws as `header` does.
  void read(std::int64_t trace, std::span<double> out);
  /// The sample interval in seconds, from the binary header and the trace headers. Throws UserError, naming
  /// both words, where they are 0 or contradict each other, and the trace that differs from the first.
  double interval();
  /// How messages name a trace: "FILE, trace 17 (of 120)", counted from 1.
  std::string name_of(std::int64_t trace) const;

 private:
  struct Handle;
  void read_raw(std::int64_t trace, std::vector<unsigned char>& bytes);
  void check_format();

  std::string path_;
  std::vector<std::string> warnings_;
  TraceLayout layout_;
  std::unique_ptr<Handle> handle_;
  std::vector<unsigned char> buffer_;
};

/// An IBM float from its bits: exact.
double from_ibm(std::uint32_t bits);
/// The nearest IBM float; a finite `value` of float32's range always has one.
std::uint32_t to_ibm(double value);

}  // namespace ondula::io
