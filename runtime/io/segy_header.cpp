// The 240 bytes before a trace, in SEG-Y and SU: the words Ondula uses, and the scalars of positions.
// SPDX-License-Identifier: MIT
#include "runtime/io/segy_header.hpp"

#include <fmt/format.h>
#include <segyio/segy.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/error.hpp"

namespace ondula::io {

namespace {

/// A word of a trace header: where it starts (from 1), how wide it is, how it is read.
struct Word {
  int field;
  int bytes;
  bool is_unsigned;
  std::int32_t TraceHeader::* member;
};

constexpr Word words[] = {
    {SEGY_TR_SEQ_LINE, 4, false, &TraceHeader::line_sequence},
    {SEGY_TR_SEQ_FILE, 4, false, &TraceHeader::file_sequence},
    {SEGY_TR_FIELD_RECORD, 4, false, &TraceHeader::record},
    {SEGY_TR_NUMBER_ORIG_FIELD, 4, false, &TraceHeader::record_trace},
    {SEGY_TR_ENERGY_SOURCE_POINT, 4, false, &TraceHeader::source_point},
    {SEGY_TR_ENSEMBLE, 4, false, &TraceHeader::ensemble},
    {SEGY_TR_TRACE_ID, 2, false, &TraceHeader::identification},
    {SEGY_TR_OFFSET, 4, false, &TraceHeader::offset},
    {SEGY_TR_RECV_GROUP_ELEV, 4, false, &TraceHeader::receiver_elevation},
    {SEGY_TR_SOURCE_SURF_ELEV, 4, false, &TraceHeader::source_elevation},
    {SEGY_TR_SOURCE_DEPTH, 4, false, &TraceHeader::source_depth},
    {SEGY_TR_ELEV_SCALAR, 2, false, &TraceHeader::elevation_scalar},
    {SEGY_TR_SOURCE_GROUP_SCALAR, 2, false, &TraceHeader::coordinate_scalar},
    {SEGY_TR_SOURCE_X, 4, false, &TraceHeader::source_x},
    {SEGY_TR_SOURCE_Y, 4, false, &TraceHeader::source_y},
    {SEGY_TR_GROUP_X, 4, false, &TraceHeader::group_x},
    {SEGY_TR_GROUP_Y, 4, false, &TraceHeader::group_y},
    {SEGY_TR_COORD_UNITS, 2, false, &TraceHeader::coordinate_unit},
    {SEGY_TR_DELAY_REC_TIME, 2, false, &TraceHeader::delay},
    {SEGY_TR_SAMPLE_COUNT, 2, true, &TraceHeader::samples},
    {SEGY_TR_SAMPLE_INTER, 2, true, &TraceHeader::interval},
};

/// Those that SU does not have: it keeps its own words there.
constexpr Word segy_words[] = {
    {SEGY_TR_CDP_X, 4, false, &TraceHeader::cdp_x},
    {SEGY_TR_CDP_Y, 4, false, &TraceHeader::cdp_y},
    {SEGY_TR_INLINE, 4, false, &TraceHeader::inline_number},
    {SEGY_TR_CROSSLINE, 4, false, &TraceHeader::crossline_number},
    {SEGY_TR_SCALAR_TRACE_HEADER, 2, false, &TraceHeader::time_scalar},
};

constexpr int su_step_byte = 181;
constexpr int su_trace_step_byte = 189;

std::int32_t get(std::span<const char> bytes, const Word& word) {
  std::int32_t value = 0;
  if (segy_get_field(bytes.data(), word.field, &value) != SEGY_OK)
    throw InternalError(fmt::format("segy_get_field: no trace header word at byte {}", word.field));
  return word.is_unsigned ? value & 0xffff : value;
}

float get_float(std::span<const char> bytes, int field) {
  std::int32_t value = 0;
  if (segy_get_field(bytes.data(), field, &value) != SEGY_OK)
    throw InternalError(fmt::format("segy_get_field: no trace header word at byte {}", field));
  return std::bit_cast<float>(value);
}

void set(std::vector<char>& bytes, const Word& word, std::int32_t value, bool big_endian) {
  const std::int32_t low = word.is_unsigned ? 0 : std::numeric_limits<std::int16_t>::min();
  const std::int32_t high = word.is_unsigned ? 0xffff : std::numeric_limits<std::int16_t>::max();
  if (word.bytes == 2 && (value < low || value > high))
    throw InternalError(fmt::format("trace header word at byte {}: {} does not fit", word.field, value));
  if (segy_set_field(bytes.data(), word.field, value) != SEGY_OK)
    throw InternalError(fmt::format("segy_set_field: no trace header word at byte {}", word.field));
  const auto start = bytes.begin() + word.field - 1;
  if (!big_endian) std::reverse(start, start + word.bytes);
}

}  // namespace

TraceHeader decode_trace_header(std::span<const char> bytes, bool su) {
  TraceHeader header;
  for (const Word& word : words) header.*word.member = get(bytes, word);
  if (su) {
    header.su_step = get_float(bytes, su_step_byte);
    header.su_trace_step = get_float(bytes, su_trace_step_byte);
  } else {
    for (const Word& word : segy_words) header.*word.member = get(bytes, word);
  }
  return header;
}

std::vector<char> encode_trace_header(const TraceHeader& header, bool su, bool big_endian) {
  std::vector<char> bytes(static_cast<std::size_t>(trace_header_bytes), '\0');
  for (const Word& word : words) set(bytes, word, header.*word.member, big_endian);
  if (su) {
    const Word step{su_step_byte, 4, false, nullptr};
    const Word trace_step{su_trace_step_byte, 4, false, nullptr};
    set(bytes, step, std::bit_cast<std::int32_t>(header.su_step), big_endian);
    set(bytes, trace_step, std::bit_cast<std::int32_t>(header.su_trace_step), big_endian);
  } else {
    for (const Word& word : segy_words) set(bytes, word, header.*word.member, big_endian);
  }
  return bytes;
}

double scaled(std::int32_t word, std::int32_t scalar) {
  if (scalar == 0) return word;
  return scalar > 0 ? static_cast<double>(word) * scalar : static_cast<double>(word) / -scalar;
}

bool standard_scalar(std::int32_t scalar) {
  const std::int32_t size = std::abs(scalar);
  return size == 0 || size == 1 || size == 10 || size == 100 || size == 1000 || size == 10000;
}

std::optional<ScalarChoice> choose_scalar(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  std::optional<ScalarChoice> best;
  for (const std::int32_t scalar : {1, -10, -100, -1000, -10000}) {
    const double factor = scalar > 0 ? scalar : -scalar;
    if (largest * factor >= std::numeric_limits<std::int32_t>::max()) break;
    double loss = 0;
    for (const double value : values)
      loss = std::max(loss, std::abs(std::round(value * factor) / factor - value));
    if (!best || loss < best->loss) best = ScalarChoice{scalar, loss};
    // What rounding leaves of a position that was computed.
    if (loss <= 1e-9 + 1e-15 * largest) return ScalarChoice{scalar, 0};
  }
  return best;
}

std::int32_t unscaled(double value, std::int32_t scalar) {
  const double word = std::round(scalar >= 0 ? value : value * -scalar);
  if (!(std::abs(word) <= std::numeric_limits<std::int32_t>::max()))
    throw InternalError(fmt::format("{} m does not fit a header word with the scalar {}", value, scalar));
  return static_cast<std::int32_t>(word);
}

}  // namespace ondula::io
