// How a SEG-Y or SU file is laid out: kind, byte order, sample format, and where each trace lies.
// SPDX-License-Identifier: MIT
#include "runtime/io/segy_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/error.hpp"
#include "runtime/io/segy_header.hpp"

namespace ondula::io {

namespace {

constexpr std::int64_t file_headers = 3600;
constexpr std::int64_t text_header = 3200;

/// The file's bytes, wherever they are asked for.
class Bytes {
 public:
  explicit Bytes(const std::string& path) : path_(path), stream_(path, std::ios::binary | std::ios::ate) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      throw UserError(fmt::format("cannot read {}: it is a directory, not a file of traces", path));
    if (!stream_) throw UserError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    size_ = stream_.tellg();
    if (size_ < 0) throw UserError(fmt::format("cannot read {}: it has no length; is it a pipe?", path));
  }
  std::int64_t size() const { return size_; }
  /// An unsigned number of `width` bytes at `offset`.
  std::uint64_t number(std::int64_t offset, int width, bool big_endian) {
    unsigned char item[8] = {};
    stream_.seekg(offset);
    if (!stream_.read(reinterpret_cast<char*>(item), width))
      throw RuntimeError(fmt::format("reading {} failed at byte {}", path_, offset));
    std::uint64_t value = 0;
    for (int i = 0; i < width; ++i) value = value << 8 | item[big_endian ? i : width - 1 - i];
    return value;
  }
  int word(std::int64_t offset, bool big_endian) { return static_cast<int>(number(offset, 2, big_endian)); }
  /// The sample count in the trace header at `offset`.
  int samples_at(std::int64_t offset, bool big_endian) {
    return offset + trace_header_bytes <= size_ ? word(offset + 114, big_endian) : 0;
  }

 private:
  std::string path_;
  std::ifstream stream_;
  std::int64_t size_ = 0;
};

std::optional<SampleFormat> known_format(int code) {
  for (const auto format : {SampleFormat::ibm, SampleFormat::int32, SampleFormat::int16, SampleFormat::ieee,
                            SampleFormat::int8}) {
    if (static_cast<int>(format) == code) return format;
  }
  return std::nullopt;
}

/// Codes that a standard defines and that are not read.
const char* unread_format(int code) {
  switch (code) {
    case 4:
      return "4-byte fixed point with gain, obsolete";
    case 6:
      return "8-byte IEEE floats, revision 2";
    case 7:
    case 15:
      return "3-byte integers, revision 2";
    case 9:
    case 12:
      return "8-byte integers, revision 2";
    case 10:
    case 11:
    case 16:
      return "unsigned integers, revision 2";
    default:
      return nullptr;
  }
}

const char* order_text(bool big_endian) { return big_endian ? "big-endian" : "little-endian"; }

/// The byte order in which the format code makes sense; codes are below 256, so never both.
bool find_order(Bytes& bytes, const std::string& path, std::optional<bool> stated) {
  for (const bool big : {true, false}) {
    const int code = bytes.word(text_header + 24, big);
    if (!known_format(code) && unread_format(code) == nullptr) continue;
    if (stated && *stated != big) {
      throw UserError(
          fmt::format("{}: stated as {}, but the format code (bytes 3225-3226) is {} so and {} {}", path,
                      order_text(*stated), bytes.word(text_header + 24, *stated), code, order_text(big)));
    }
    return big;
  }
  const int big = bytes.word(text_header + 24, true);
  const char* reason =
      big == 0 ? "; a writer left it empty, so how to read the samples is unknown" : "; is it a SEG-Y file?";
  throw UserError(
      fmt::format("{}: the sample format code (bytes 3225-3226 of the binary header) is {} big-endian and {} "
                  "little-endian; read: 1 (IBM float), 2 (int32), 3 (int16), 5 (IEEE float), 8 (int8){}",
                  path, big, bytes.word(text_header + 24, false), reason));
}

/// Refuses what revision 2 adds and this reader does not follow.
void check_revision_2(Bytes& bytes, const std::string& path, bool big) {
  struct Extension {
    std::int64_t offset;
    int width;
    const char* what;
  };
  constexpr Extension extensions[] = {{3268, 4, "number of samples (bytes 3269-3272)"},
                                      {3272, 8, "sample interval (bytes 3273-3280)"},
                                      {3506, 4, "additional trace headers (bytes 3507-3510)"},
                                      {3520, 8, "byte offset of the first trace (bytes 3521-3528)"}};
  for (const auto& [offset, width, what] : extensions) {
    if (const std::uint64_t value = bytes.number(offset, width, big)) {
      throw UserError(fmt::format(
          "{}: revision 2's extended {} is set ({:#x}); files that use it are not read: write it as "
          "revision 1",
          path, what, value));
    }
  }
}

std::int64_t first_trace(Bytes& bytes, const std::string& path, const TraceLayout& layout) {
  // Revision 0 leaves this word to the writer.
  if (layout.revision == 0) return file_headers;
  const auto texts = static_cast<std::int16_t>(bytes.word(3504, layout.big_endian));
  if (texts < 0) {
    throw UserError(
        fmt::format("{}: the number of extended text headers (bytes 3505-3506) is {}, a count found only by "
                    "reading them; such files are not read",
                    path, texts));
  }
  return file_headers + text_header * texts;
}

bool fits(const TraceLayout& layout, std::int64_t size, std::int64_t samples) {
  return samples > 0 &&
         (size - layout.first) % (trace_header_bytes + samples * sample_bytes(layout.format)) == 0;
}

/// How far the trace headers themselves agree with a sample count: those of the second and the last trace
/// repeat the first one's word.
bool repeats(Bytes& bytes, const TraceLayout& layout, std::int64_t samples) {
  TraceLayout trial = layout;
  trial.samples = samples;
  const std::int64_t traces = (bytes.size() - layout.first) / trial.trace_bytes();
  const int word = bytes.samples_at(layout.first, layout.big_endian);
  const auto same = [&](std::int64_t trace) {
    return bytes.samples_at(trial.trace_offset(trace), layout.big_endian) == word;
  };
  return same(std::min<std::int64_t>(1, traces - 1)) && same(traces - 1);
}

/// What another sample format would make of the length; empty where none fits.
std::string other_formats(const TraceLayout& layout, std::int64_t size, std::int64_t samples) {
  std::vector<std::string> fitting;
  for (const auto format : {SampleFormat::ieee, SampleFormat::int16, SampleFormat::int8}) {
    TraceLayout trial = layout;
    trial.format = format;
    if (sample_bytes(format) != sample_bytes(layout.format) && fits(trial, size, samples))
      fitting.push_back(format == SampleFormat::ieee ? "4-byte numbers" : format_text(format));
  }
  if (fitting.empty()) return {};
  return fmt::format("; it would fit {}: is the format code (bytes 3225-3226) wrong?",
                     fmt::join(fitting, " or "));
}

[[noreturn]] void refuse_length(Bytes& bytes, const std::string& path, const TraceLayout& layout, int binary,
                                int trace) {
  TraceLayout trial = layout;
  trial.samples = binary > 0 ? binary : trace;
  if (trial.samples == 0) {
    throw UserError(fmt::format(
        "{}: the number of samples is 0 in the binary header (bytes 3221-3222) and in the first trace "
        "header (bytes 115-116)",
        path));
  }
  const std::int64_t data = bytes.size() - layout.first;
  throw UserError(fmt::format(
      "{}: {} bytes of traces are no whole number of traces of {} samples (binary header, bytes 3221-3222: "
      "{}; first trace header, bytes 115-116: {}) of {}, {} bytes each with the header: {} whole traces and "
      "{} bytes over. Truncated, or traces of different lengths{}",
      path, data, trial.samples, binary, trace, format_text(layout.format), trial.trace_bytes(),
      data / trial.trace_bytes(), data % trial.trace_bytes(),
      other_formats(layout, bytes.size(), trial.samples)));
}

std::int64_t find_samples(Bytes& bytes, const std::string& path, const TraceLayout& layout,
                          std::vector<std::string>& warnings) {
  const int binary = bytes.word(3220, layout.big_endian);
  const int trace = bytes.samples_at(layout.first, layout.big_endian);
  if (bytes.size() == layout.first) return binary;
  const bool binary_fits = fits(layout, bytes.size(), binary), trace_fits = fits(layout, bytes.size(), trace);
  if (!binary_fits && !trace_fits) refuse_length(bytes, path, layout, binary, trace);
  if (binary == trace) return binary;
  if (binary_fits && trace_fits) {
    const bool binary_repeats = repeats(bytes, layout, binary), trace_repeats = repeats(bytes, layout, trace);
    if (binary_repeats == trace_repeats) {
      throw UserError(fmt::format(
          "{}: the binary header (bytes 3221-3222) says {} samples, the first trace header (bytes "
          "115-116) {}, and the file's length fits both",
          path, binary, trace));
    }
    return binary_repeats ? binary : trace;
  }
  const std::int64_t right = binary_fits ? binary : trace;
  if (binary != 0 && trace != 0) {
    warnings.push_back(
        fmt::format("{}: the binary header (bytes 3221-3222) says {} samples, the first trace header (bytes "
                    "115-116) {}; the file's length fits {}",
                    path, binary, trace, right));
  }
  return right;
}

TraceLayout find_segy(Bytes& bytes, const std::string& path, std::optional<bool> stated,
                      std::vector<std::string>& warnings) {
  if (bytes.size() < file_headers) {
    throw UserError(
        fmt::format("{}: {} bytes; SEG-Y's file headers alone take {}", path, bytes.size(), file_headers));
  }
  TraceLayout layout;
  layout.big_endian = find_order(bytes, path, stated);
  const int code = bytes.word(text_header + 24, layout.big_endian);
  const auto format = known_format(code);
  if (!format) {
    throw UserError(fmt::format("{}: the sample format code (bytes 3225-3226) is {} ({}), which is not read",
                                path, code, unread_format(code)));
  }
  layout.format = *format;
  layout.revision = bytes.word(3500, layout.big_endian) >> 8;
  // Revision 0 has no such word: whatever else a writer left there is not one.
  if (layout.revision > 2) layout.revision = 0;
  if (layout.revision == 2) check_revision_2(bytes, path, layout.big_endian);
  layout.first = first_trace(bytes, path, layout);
  layout.interval = bytes.word(3216, layout.big_endian);
  layout.unit_of_length = bytes.word(3254, layout.big_endian);
  if (bytes.size() < layout.first)
    throw UserError(fmt::format("{}: it ends inside its extended text headers", path));
  layout.samples = find_samples(bytes, path, layout, warnings);
  layout.traces = (bytes.size() - layout.first) / layout.trace_bytes();
  return layout;
}

TraceLayout find_su(Bytes& bytes, const std::string& path, std::optional<bool> stated) {
  TraceLayout layout;
  layout.kind = TraceFileKind::su;
  std::vector<TraceLayout> found;
  std::vector<std::string> tried;
  if (bytes.size() < trace_header_bytes) {
    throw UserError(fmt::format("{}: {} bytes; the header of one SU trace takes {}", path, bytes.size(),
                                trace_header_bytes));
  }
  for (const bool big : {true, false}) {
    if (stated && *stated != big) continue;
    layout.big_endian = big;
    layout.samples = bytes.samples_at(0, big);
    tried.push_back(fmt::format("{} samples {}", layout.samples, order_text(big)));
    if (!fits(layout, bytes.size(), layout.samples) || !repeats(bytes, layout, layout.samples)) continue;
    layout.traces = bytes.size() / layout.trace_bytes();
    found.push_back(layout);
  }
  if (found.size() == 1) return found.front();
  throw UserError(fmt::format(
      "{}: as an SU file it has {} in its first trace header (bytes 115-116), and its {} bytes are {}", path,
      fmt::join(tried, ", "), bytes.size(),
      found.empty() ? "no whole number of such traces: truncated, or no SU file"
                    : "a whole number of either: state the byte order (\"endian\")"));
}

bool named_su(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".su";
}

}  // namespace

std::int64_t sample_bytes(SampleFormat format) {
  if (format == SampleFormat::int8) return 1;
  return format == SampleFormat::int16 ? 2 : 4;
}

std::string format_text(SampleFormat format) {
  switch (format) {
    case SampleFormat::ibm:
      return "IBM floats";
    case SampleFormat::int32:
      return "32-bit integers";
    case SampleFormat::int16:
      return "16-bit integers";
    case SampleFormat::ieee:
      return "IEEE floats";
    case SampleFormat::int8:
      return "8-bit integers";
  }
  throw InternalError("a sample format without a name");
}

std::int64_t TraceLayout::trace_bytes() const { return trace_header_bytes + samples * sample_bytes(format); }

std::int64_t TraceLayout::trace_offset(std::int64_t trace) const { return first + trace * trace_bytes(); }

std::int64_t TraceLayout::file_bytes() const {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (traces > (most - first) / trace_bytes())
    throw UserError(fmt::format("{} traces of {} samples take over 2^62 bytes", traces, samples));
  return trace_offset(traces);
}

TraceLayout find_trace_layout(const std::string& path, std::optional<TraceFileKind> kind,
                              std::optional<bool> big_endian, std::vector<std::string>& warnings) {
  Bytes bytes(path);
  const auto find = [&](TraceFileKind which) {
    return which == TraceFileKind::su ? find_su(bytes, path, big_endian)
                                      : find_segy(bytes, path, big_endian, warnings);
  };
  if (kind) return find(*kind);
  const auto named = named_su(path) ? TraceFileKind::su : TraceFileKind::segy;
  const auto other = named == TraceFileKind::su ? TraceFileKind::segy : TraceFileKind::su;
  try {
    return find(named);
  } catch (const UserError& error) {
    TraceLayout layout;
    try {
      layout = find(other);
    } catch (const UserError&) {
      throw error;
    }
    warnings.push_back(fmt::format("{}: read as {}, which its content is, whatever its name says", path,
                                   other == TraceFileKind::su ? "SU" : "SEG-Y"));
    return layout;
  }
}

}  // namespace ondula::io
