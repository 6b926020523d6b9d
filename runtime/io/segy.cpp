// Reading SEG-Y and SU files: headers and samples of any trace.
// SPDX-License-Identifier: MIT
#include "runtime/io/segy.hpp"

#include <fmt/format.h>
#include <segyio/segy.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "compiler/error.hpp"

namespace ondula::io {

namespace {

const char* segyio_text(int code) {
  switch (code) {
    case SEGY_FOPEN_ERROR:
      return "cannot open";
    case SEGY_FSEEK_ERROR:
      return "cannot seek";
    case SEGY_FREAD_ERROR:
      return "cannot read";
    case SEGY_TRACE_SIZE_MISMATCH:
      return "trace size mismatch";
    case SEGY_INVALID_ARGS:
      return "invalid arguments";
    default:
      return "unexpected";
  }
}

/// One sample as segyio hands it over: big-endian, of `width` bytes.
std::uint32_t bits_at(const unsigned char* bytes, std::int64_t width) {
  std::uint32_t value = 0;
  for (std::int64_t i = 0; i < width; ++i) value = value << 8 | bytes[i];
  return value;
}

double decode_sample(std::uint32_t bits, SampleFormat format) {
  switch (format) {
    case SampleFormat::ibm:
      return from_ibm(bits);
    case SampleFormat::int32:
      return static_cast<std::int32_t>(bits);
    case SampleFormat::int16:
      return static_cast<std::int16_t>(bits);
    case SampleFormat::ieee:
      return static_cast<double>(std::bit_cast<float>(bits));
    case SampleFormat::int8:
      return static_cast<std::int8_t>(bits);
  }
  throw InternalError("a sample format without a decoder");
}

}  // namespace

struct TraceReader::Handle {
  segy_file* file = nullptr;
  explicit Handle(segy_file* opened) : file(opened) {}
  ~Handle() { segy_close(file); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

TraceReader::TraceReader(const std::string& path, const TraceFileHints& hints) : path_(path) {
  layout_ = find_trace_layout(path, hints.kind, hints.big_endian, warnings_);
  if (layout_.traces > std::numeric_limits<std::int32_t>::max())
    throw UserError(fmt::format("{}: {} traces; up to 2^31 - 1 are read", path, layout_.traces));
  segy_file* file = segy_open(path.c_str(), "rb");
  if (file == nullptr) throw UserError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  handle_ = std::make_unique<Handle>(file);
  const int format = static_cast<int>(layout_.format) | (layout_.big_endian ? SEGY_MSB : SEGY_LSB);
  if (const int code = segy_set_format(file, format); code != SEGY_OK)
    throw InternalError(fmt::format("segy_set_format({:#x}): error {}", format, code));
  check_format();
}

TraceReader::~TraceReader() = default;
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;

std::string TraceReader::name_of(std::int64_t trace) const {
  return fmt::format("{}, trace {} (of {})", path_, trace + 1, layout_.traces);
}

TraceHeader TraceReader::header(std::int64_t trace) {
  if (trace < 0 || trace >= layout_.traces) throw InternalError(fmt::format("{}: no trace {}", path_, trace));
  char bytes[SEGY_TRACE_HEADER_SIZE];
  const auto data = static_cast<int>(layout_.trace_bytes() - trace_header_bytes);
  const int code = segy_traceheader(handle_->file, static_cast<int>(trace), bytes, layout_.first, data);
  if (code != SEGY_OK) {
    throw RuntimeError(fmt::format("{}: reading its header failed: segy_traceheader: {} ({})", name_of(trace),
                                   segyio_text(code), code));
  }
  return decode_trace_header(bytes, layout_.kind == TraceFileKind::su);
}

void TraceReader::read_raw(std::int64_t trace, std::vector<unsigned char>& bytes) {
  if (trace < 0 || trace >= layout_.traces) throw InternalError(fmt::format("{}: no trace {}", path_, trace));
  const auto data = static_cast<int>(layout_.trace_bytes() - trace_header_bytes);
  bytes.resize(static_cast<std::size_t>(data));
  const int code = segy_readtrace(handle_->file, static_cast<int>(trace), bytes.data(), layout_.first, data);
  if (code != SEGY_OK) {
    throw RuntimeError(fmt::format("{}: reading it failed: segy_readtrace: {} ({})", name_of(trace),
                                   segyio_text(code), code));
  }
}

void TraceReader::read(std::int64_t trace, std::span<double> out) {
  if (static_cast<std::int64_t>(out.size()) != layout_.samples)
    throw InternalError(
        fmt::format("{}: room for {} samples, {} to read", path_, out.size(), layout_.samples));
  read_raw(trace, buffer_);
  // segyio's own conversion takes every IBM float for a normalised one and is wrong for others.
  const std::int64_t width = sample_bytes(layout_.format);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] =
        decode_sample(bits_at(buffer_.data() + static_cast<std::int64_t>(i) * width, width), layout_.format);
}

/// IBM floats and IEEE floats have about the same magnitudes read as each other, but an IBM writer never
/// leaves the leading hexadecimal digit of the fraction 0, and IEEE floats have a 0 there once in sixteen.
void TraceReader::check_format() {
  if (layout_.format != SampleFormat::ibm && layout_.format != SampleFormat::ieee) return;
  constexpr std::size_t enough = 512;
  std::set<std::uint32_t> distinct;
  for (std::int64_t trace = 0; trace < layout_.traces && trace < 16 && distinct.size() < enough; ++trace) {
    read_raw(trace, buffer_);
    for (std::size_t i = 0; i + 4 <= buffer_.size() && distinct.size() < enough; i += 4) {
      if (const std::uint32_t bits = bits_at(buffer_.data() + i, 4); (bits & 0x7fffffff) != 0)
        distinct.insert(bits);
    }
  }
  std::size_t low = 0;
  for (const std::uint32_t bits : distinct) low += (bits & 0x00f00000) == 0 ? 1 : 0;
  const double share =
      static_cast<double>(low) / static_cast<double>(std::max<std::size_t>(1, distinct.size()));
  const bool ibm = layout_.format == SampleFormat::ibm;
  if (distinct.size() < 256 || (ibm ? share < 0.02 : share > 0)) return;
  const std::string code = fmt::format("code {} (bytes 3225-3226)", static_cast<int>(layout_.format));
  warnings_.push_back(fmt::format("{}: the samples are read as {}, as {} says, but their bits look like {}",
                                  path_, format_text(layout_.format),
                                  layout_.kind == TraceFileKind::su ? "SU" : code,
                                  format_text(ibm ? SampleFormat::ieee : SampleFormat::ibm)));
}

double TraceReader::interval() {
  if (layout_.traces == 0) {
    if (layout_.interval > 0) return 1e-6 * layout_.interval;
    throw UserError(fmt::format("{}: no traces, and a sample interval of 0 (bytes 3217-3218)", path_));
  }
  const std::int32_t first = header(0).interval;
  for (std::int64_t trace = 1; trace < layout_.traces; ++trace) {
    if (const std::int32_t other = header(trace).interval; other != first) {
      throw UserError(
          fmt::format("{}: its sample interval (dt, bytes 117-118) is {} µs, that of the first trace {} µs",
                      name_of(trace), other, first));
    }
  }
  const int file = layout_.kind == TraceFileKind::su ? 0 : layout_.interval;
  if (first > 0 && file > 0 && first != file) {
    throw UserError(
        fmt::format("{}: the binary header (bytes 3217-3218) says a sample interval of {} µs, the trace "
                    "headers (bytes 117-118) {} µs",
                    path_, file, first));
  }
  if (first == 0 && file == 0) {
    throw UserError(
        fmt::format("{}: the sample interval is 0 in {}the trace headers (bytes 117-118)", path_,
                    layout_.kind == TraceFileKind::su ? "" : "the binary header (bytes 3217-3218) and in "));
  }
  return 1e-6 * (first > 0 ? first : file);
}

double from_ibm(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 24 & 0x7f);
  const double fraction = static_cast<double>(bits & 0x00ffffff);
  const double size = std::ldexp(fraction, 4 * (exponent - 64) - 24);
  return (bits & 0x80000000) != 0 ? -size : size;
}

std::uint32_t to_ibm(double value) {
  const std::uint32_t sign = std::signbit(value) ? 0x80000000 : 0;
  if (value == 0 || !std::isfinite(value)) return sign;
  int power = 0;
  const double mantissa = std::frexp(std::abs(value), &power);  // in [1/2, 1)
  int exponent = power > 0 ? (power + 3) / 4 : -(-power / 4);   // the least with 16^exponent > |value|
  double fraction = std::nearbyint(std::ldexp(mantissa, power - 4 * exponent + 24));
  if (fraction >= 16777216.0) {
    fraction = 1048576.0;
    ++exponent;
  }
  if (exponent < -64) return sign;
  return sign | static_cast<std::uint32_t>(exponent + 64) << 24 | static_cast<std::uint32_t>(fraction);
}

}  // namespace ondula::io
