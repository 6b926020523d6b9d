// How a SEG-Y or SU file is laid out: kind, byte order, sample format, and where each trace lies.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ondula::io {

/// SU is SEG-Y's traces without the file's headers: always 4-byte IEEE floats, in either byte order.
enum class TraceFileKind { segy, su };

/// Format codes of SEG-Y's binary header (bytes 3225-3226) that are read.
enum class SampleFormat { ibm = 1, int32 = 2, int16 = 3, ieee = 5, int8 = 8 };

/// Bytes of one sample.
std::int64_t sample_bytes(SampleFormat format);
/// "IBM floats", "16-bit integers", ...
std::string format_text(SampleFormat format);

/// Where everything lies in a file of traces of one length.
struct TraceLayout {
  TraceFileKind kind = TraceFileKind::segy;
  bool big_endian = true;
  SampleFormat format = SampleFormat::ieee;
  std::int64_t first = 0;    ///< byte of the first trace header
  std::int64_t samples = 0;  ///< per trace
  std::int64_t traces = 0;
  int revision = 0;        ///< SEG-Y: 0, 1 or 2
  int interval = 0;        ///< SEG-Y: sample interval of the binary header (3217-3218), µs; 0 where unset
  int unit_of_length = 0;  ///< SEG-Y: bytes 3255-3256, 1 metres, 2 feet, else unknown

  /// Bytes of a trace with its header.
  std::int64_t trace_bytes() const;
  /// The byte at which trace `trace` (from 0) has its header.
  std::int64_t trace_offset(std::int64_t trace) const;
  /// Bytes of the whole file. Throws UserError past 2^62.
  std::int64_t file_bytes() const;
};

/// Finds the layout of a file from its headers and its length. `kind` and `big_endian` state what is known;
/// unset, the kind follows from the name (".su") where the content allows it, the byte order from the
/// content. Adds to `warnings` what the headers say against each other. Throws UserError, naming the file,
/// the header word and what was found, where the file cannot be read, ends inside a trace, has a sample
/// format that is not read, or allows several layouts.
TraceLayout find_trace_layout(const std::string& path, std::optional<TraceFileKind> kind,
                              std::optional<bool> big_endian, std::vector<std::string>& warnings);

}  // namespace ondula::io
