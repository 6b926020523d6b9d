// Writing records as SEG-Y revision 1 or SU, of any geometry, as a whole file or none.
// SPDX-License-Identifier: MIT
#include "runtime/io/segy_writer.hpp"

#include <fmt/format.h>
#include <segyio/segy.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "compiler/error.hpp"
#include "runtime/io/ebcdic.hpp"
#include "runtime/io/segy.hpp"

namespace ondula::io {

namespace {

constexpr std::int32_t most_unsigned = 65535;
constexpr std::int32_t most_signed = 32767;

void plan_samples(const WrittenFile& file, WrittenPlan& plan, std::vector<std::string>& warnings) {
  const char* word = file.kind == TraceFileKind::su ? "ns, bytes 115-116" : "bytes 3221-3222 and 115-116";
  if (file.samples < 1 || file.samples > most_unsigned) {
    throw UserError(fmt::format("{}: {} samples a trace; the word for them ({}) holds 1 to {}", file.path,
                                file.samples, word, most_unsigned));
  }
  if (file.kind == TraceFileKind::segy && file.samples > most_signed) {
    warnings.push_back(
        fmt::format("{}: {} samples a trace; revision 1's word for them ({}) is signed and ends at {}: it is "
                    "written unsigned, as most programs read it",
                    file.path, file.samples, word, most_signed));
  }
  plan.layout.kind = file.kind;
  plan.layout.big_endian = file.kind == TraceFileKind::segy || file.big_endian;
  plan.layout.format = file.kind == TraceFileKind::segy && file.ibm ? SampleFormat::ibm : SampleFormat::ieee;
  plan.layout.first = file.kind == TraceFileKind::segy ? 3600 : 0;
  plan.layout.revision = file.kind == TraceFileKind::segy ? 1 : 0;
  plan.layout.samples = file.samples;
  for (const WrittenShot& shot : file.shots)
    plan.layout.traces += static_cast<std::int64_t>(shot.receivers.size());
  if (plan.layout.traces > std::numeric_limits<std::int32_t>::max()) {
    throw UserError(fmt::format("{}: {} traces; their number (bytes 1-8) ends at 2^31 - 1", file.path,
                                plan.layout.traces));
  }
  plan.layout.file_bytes();
}

void plan_interval(const WrittenFile& file, WrittenPlan& plan, std::vector<std::string>& warnings) {
  const double exact = file.dt * 1e6;
  const double whole = std::round(exact);
  if (!(whole >= 1 && whole <= most_unsigned)) {
    throw UserError(
        fmt::format("{}: a sampling interval of {} s; the word for it (dt, bytes 117-118) holds 1 to {} µs: "
                    "write .npy",
                    file.path, file.dt, most_unsigned));
  }
  plan.interval = static_cast<std::int32_t>(whole);
  if (std::abs(whole - exact) > 1e-6 * exact) {
    warnings.push_back(fmt::format(
        "{}: the sampling interval of {:.9g} µs is written as {} µs, the word (dt, bytes 117-118) "
        "holding whole ones: the last sample seems {:.3g} s off",
        file.path, exact, plan.interval,
        std::abs(whole - exact) * 1e-6 * static_cast<double>(file.samples - 1)));
  }
}

/// The delay in ms, or in finer units by SEG-Y's time scalar.
void plan_delay(const WrittenFile& file, WrittenPlan& plan, std::vector<std::string>& warnings) {
  const double ms = file.first_time * 1e3;
  std::int32_t scalar = 1;
  const auto fits = [&](std::int32_t factor) { return std::abs(std::round(ms * factor)) <= most_signed; };
  const auto exact = [&](std::int32_t factor) {
    return std::abs(std::round(ms * factor) / factor - ms) <= 1e-9 * std::abs(ms);
  };
  if (!fits(1)) {
    throw UserError(
        fmt::format("{}: the first sample is at {} s; the word for it (delrt, bytes 109-110) holds "
                    "±{} ms",
                    file.path, file.first_time, most_signed));
  }
  while (file.kind == TraceFileKind::segy && !exact(scalar) && scalar < 10000 && fits(10 * scalar))
    scalar *= 10;
  plan.delay = static_cast<std::int32_t>(std::round(ms * scalar));
  plan.time_scalar = scalar == 1 ? 0 : -scalar;
  if (!exact(scalar)) {
    warnings.push_back(
        fmt::format("{}: the first sample's time of {:.9g} ms is written as {:g} ms (delrt, bytes 109-110)",
                    file.path, ms, static_cast<double>(plan.delay) / scalar));
  }
}

std::int32_t plan_scalar(const WrittenFile& file, const std::vector<double>& values, const char* words,
                         std::vector<std::string>& warnings) {
  const auto choice = choose_scalar(values);
  if (!choice) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    throw UserError(fmt::format("{}: a position of {:.9g} m does not fit its 32-bit word ({})", file.path,
                                largest, words));
  }
  if (choice->loss > 0.5e-3 * (1 + 1e-6) || (file.fineness > 0 && choice->loss > 0.01 * file.fineness)) {
    warnings.push_back(fmt::format(
        "{}: positions ({}) are written with the scalar {} and lose up to {:.3g} m: the format ends there",
        file.path, words, choice->scalar, choice->loss));
  }
  return choice->scalar;
}

double offset_of(const SurveyPoint& source, const SurveyPoint& receiver) {
  const double length = std::hypot(receiver.x - source.x, receiver.y - source.y);
  const bool against = receiver.x < source.x || (receiver.x == source.x && receiver.y < source.y);
  return std::clamp(std::round(against ? -length : length), -2147483647.0, 2147483647.0);
}

void put_be(char* at, std::uint32_t bits) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<char>(bits >> (24 - 8 * i) & 0xff);
}

}  // namespace

WrittenPlan plan_traces(const WrittenFile& file, std::vector<std::string>& warnings) {
  WrittenPlan plan;
  plan_samples(file, plan, warnings);
  plan_interval(file, plan, warnings);
  plan_delay(file, plan, warnings);
  std::vector<double> across, down;
  for (const WrittenShot& shot : file.shots) {
    across.insert(across.end(), {shot.source.x, shot.source.y});
    down.push_back(shot.source.z);
    for (const SurveyPoint& receiver : shot.receivers) {
      across.insert(across.end(), {receiver.x, receiver.y});
      down.push_back(receiver.z);
    }
  }
  plan.coordinate_scalar = plan_scalar(file, across, "x and y, bytes 73-88", warnings);
  plan.elevation_scalar = plan_scalar(file, down, "depths and elevations, bytes 41-52", warnings);
  return plan;
}

TraceWriter::TraceWriter(WrittenFile file, Existing existing)
    : spec_(std::move(file)),
      plan_([this] {
        std::vector<std::string> heard_before;
        return plan_traces(spec_, heard_before);
      }()),
      file_(spec_.path, existing) {
  if (spec_.kind == TraceFileKind::segy) write_file_headers();
}

void TraceWriter::write_file_headers() {
  std::vector<std::string> lines = spec_.text;
  lines.resize(37);
  lines.insert(lines.end(), {"", "SEG Y REV1", "END TEXTUAL HEADER"});
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) text += fmt::format("C{:2d} {:<76.76}", i + 1, lines[i]);
  const std::string ebcdic = to_ebcdic(text);
  file_.write(std::as_bytes(std::span(ebcdic.data(), ebcdic.size())));

  std::vector<char> binary(SEGY_BINARY_HEADER_SIZE, '\0');
  const auto set = [&](int field, std::int64_t value) {
    if (segy_set_bfield(binary.data(), field, static_cast<std::int32_t>(value)) != SEGY_OK)
      throw InternalError(fmt::format("segy_set_bfield: no binary header word at byte {}", field));
  };
  // Traces per record, where all have as many and the word holds it.
  std::size_t ensemble = spec_.shots.empty() ? 0 : spec_.shots.front().receivers.size();
  for (const WrittenShot& shot : spec_.shots) ensemble = shot.receivers.size() == ensemble ? ensemble : 0;
  set(SEGY_BIN_TRACES,
      ensemble <= static_cast<std::size_t>(most_signed) ? static_cast<std::int64_t>(ensemble) : 0);
  set(SEGY_BIN_INTERVAL, plan_.interval);
  set(SEGY_BIN_SAMPLES, spec_.samples);
  set(SEGY_BIN_FORMAT, static_cast<int>(plan_.layout.format));
  set(SEGY_BIN_SORTING_CODE, 1);        // as recorded
  set(SEGY_BIN_MEASUREMENT_SYSTEM, 1);  // metres
  set(SEGY_BIN_SEGY_REVISION, 0x0100);
  set(SEGY_BIN_TRACE_FLAG, 1);  // all traces of one length
  file_.write(std::as_bytes(std::span(binary)));
}

std::vector<char> TraceWriter::next_header() const {
  const WrittenShot& shot = spec_.shots[shot_];
  const SurveyPoint& receiver = shot.receivers[receiver_];
  TraceHeader header;
  header.line_sequence = header.file_sequence = static_cast<std::int32_t>(written_ + 1);
  header.record = header.source_point = static_cast<std::int32_t>(shot_ + 1);
  header.record_trace = static_cast<std::int32_t>(receiver_ + 1);
  header.identification = spec_.identification;
  header.offset = static_cast<std::int32_t>(offset_of(shot.source, receiver));
  header.elevation_scalar = plan_.elevation_scalar;
  header.coordinate_scalar = plan_.coordinate_scalar;
  header.receiver_elevation = unscaled(-receiver.z, plan_.elevation_scalar);
  // A source above the datum lies on a surface up there; one below it has a depth.
  const std::int32_t depth = unscaled(shot.source.z, plan_.elevation_scalar);
  (depth >= 0 ? header.source_depth : header.source_elevation) = std::abs(depth);
  header.source_x = unscaled(shot.source.x, plan_.coordinate_scalar);
  header.source_y = unscaled(shot.source.y, plan_.coordinate_scalar);
  header.group_x = unscaled(receiver.x, plan_.coordinate_scalar);
  header.group_y = unscaled(receiver.y, plan_.coordinate_scalar);
  header.coordinate_unit = 1;
  header.delay = plan_.delay;
  header.time_scalar = plan_.time_scalar;
  header.samples = static_cast<std::int32_t>(spec_.samples);
  header.interval = plan_.interval;
  return encode_trace_header(header, spec_.kind == TraceFileKind::su, plan_.layout.big_endian);
}

void TraceWriter::write(std::span<const double> samples) {
  while (shot_ < spec_.shots.size() && receiver_ == spec_.shots[shot_].receivers.size()) {
    ++shot_;
    receiver_ = 0;
  }
  if (shot_ == spec_.shots.size())
    throw InternalError(fmt::format("{}: more traces than planned", spec_.path));
  if (static_cast<std::int64_t>(samples.size()) != spec_.samples)
    throw InternalError(
        fmt::format("{}: a trace of {} samples instead of {}", spec_.path, samples.size(), spec_.samples));
  std::vector<char> bytes = next_header();
  const std::size_t first = bytes.size();
  bytes.resize(first + 4 * samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto single = static_cast<float>(samples[i]);
    if (!std::isfinite(single)) {
      throw UserError(
          fmt::format("{}: trace {}, sample {} is {}, which no 4-byte float holds: write .npy in "
                      "float64",
                      spec_.path, written_ + 1, i, samples[i]));
    }
    char* at = bytes.data() + first + 4 * i;
    const bool ibm = plan_.layout.format == SampleFormat::ibm;
    put_be(at, ibm ? to_ibm(static_cast<double>(single)) : std::bit_cast<std::uint32_t>(single));
    if (!plan_.layout.big_endian) std::reverse(at, at + 4);
  }
  file_.write(std::as_bytes(std::span(bytes)));
  ++written_;
  ++receiver_;
}

void TraceWriter::commit() {
  if (written_ != plan_.layout.traces)
    throw InternalError(
        fmt::format("{}: {} traces written of {}", spec_.path, written_, plan_.layout.traces));
  file_.commit();
}

}  // namespace ondula::io
