// Where a SEG-Y or SU file's trace headers put sources and receivers.
// SPDX-License-Identifier: MIT
#include "runtime/io/segy_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "compiler/error.hpp"

namespace ondula::io {

namespace {

constexpr double metres_per_foot = 0.3048;

/// Dummies, time breaks, upholes, sweeps, timing, water breaks, gun signatures: no receiver of the survey.
bool auxiliary(const TraceHeader& header) {
  return header.identification >= 3 && header.identification <= 10;
}

/// Counts what is to be warned of, and keeps the first.
struct Tally {
  std::int64_t count = 0;
  std::int64_t first = 0;
  void add(std::int64_t trace) {
    if (count++ == 0) first = trace;
  }
};

/// The distance between source and receiver, in the file's own unit.
double distance(const TraceHeader& h) {
  const double dx = scaled(h.group_x, h.coordinate_scalar) - scaled(h.source_x, h.coordinate_scalar);
  const double dy = scaled(h.group_y, h.coordinate_scalar) - scaled(h.source_y, h.coordinate_scalar);
  return std::hypot(dx, dy);
}

/// The offset word is a whole number, and some writers round generously.
bool offset_agrees(const TraceHeader& header) {
  const double found = distance(header);
  return std::abs(std::abs(static_cast<double>(header.offset)) - found) <= 1 + 0.01 * found;
}

const char* unit_name(std::int32_t code) {
  switch (code) {
    case 2:
      return "seconds of arc";
    case 3:
      return "decimal degrees";
    case 4:
      return "degrees, minutes, seconds";
    default:
      return "unknown";
  }
}

/// One pass over the headers' values and what they say of each other.
class Reading {
 public:
  Reading(const std::string& path, const SurveyHints& hints) : reader_(path, hints.file), hints_(hints) {
    if (reader_.layout().traces == 0)
      throw UserError(fmt::format("{}: it holds no traces, so no geometry", path));
    geometry_.traces = reader_.layout().traces;
    geometry_.warnings = reader_.warnings();
    for (std::int64_t trace = 0; trace < geometry_.traces; ++trace) headers_.push_back(reader_.header(trace));
  }

  SurveyGeometry geometry() {
    look();
    check_positions();
    choose_unit();
    group();
    warn();
    return std::move(geometry_);
  }

 private:
  void look() {
    for (std::int64_t trace = 0; trace < geometry_.traces; ++trace) {
      const TraceHeader& h = headers_[static_cast<std::size_t>(trace)];
      if (auxiliary(h)) {
        auxiliary_.add(trace);
        continue;
      }
      ++used_;
      if (h.identification == 2) dead_.add(trace);
      if (!standard_scalar(h.coordinate_scalar)) coordinate_scalar_.add(trace);
      if (!standard_scalar(h.elevation_scalar)) elevation_scalar_.add(trace);
      if (h.offset == 0) no_offset_.add(trace);
      if (h.offset != 0 && !offset_agrees(h)) offset_.add(trace);
      if (h.coordinate_unit >= 2) angles_.add(trace);
      sources_ = sources_ || h.source_x != 0 || h.source_y != 0;
      groups_ = groups_ || h.group_x != 0 || h.group_y != 0;
    }
  }

  /// Every trace has an offset, and it is the distance between the positions: they are lengths in one unit.
  bool confirmed() const { return no_offset_.count == 0 && offset_.count == 0; }

  void check_positions() const {
    const std::string& path = reader_.path();
    if (used_ == 0) {
      throw UserError(
          fmt::format("{}: all {} traces are dummies or auxiliary channels (trace identification, "
                      "bytes 29-30: {} in the first)",
                      path, geometry_.traces, headers_.front().identification));
    }
    const char* offsets = no_offset_.count == used_
                              ? ", and so is every offset (bytes 37-40)"
                              : "; offsets (bytes 37-40) alone do not say where a trace lies";
    if (!sources_ && !groups_ && used_ > 1) {
      throw UserError(fmt::format(
          "{}: every source and receiver coordinate (sx, sy, gx, gy, bytes 73-88) is 0{}: there is "
          "no geometry in these headers; list \"sources\" and \"receivers\"",
          path, offsets));
    }
    if (sources_ && !groups_ && used_ > 1 && !confirmed()) {
      throw UserError(
          fmt::format("{}: every receiver coordinate (gx, gy, bytes 81-88) is 0, while source coordinates "
                      "are not (sx {}, "
                      "sy {} in the first trace): is it a stack, whose positions are those of midpoints?",
                      path, headers_.front().source_x, headers_.front().source_y));
    }
  }

  void choose_unit() {
    const TraceLayout& layout = reader_.layout();
    const std::string& path = reader_.path();
    if (angles_.count > 0 && hints_.unit.empty()) {
      const TraceHeader& h = headers_[static_cast<std::size_t>(angles_.first)];
      const std::string found =
          fmt::format("{}: the unit of its coordinates (counit, bytes 89-90) is {}, {}",
                      reader_.name_of(angles_.first), h.coordinate_unit, unit_name(h.coordinate_unit));
      if (!confirmed()) {
        throw UserError(
            fmt::format("{}; only lengths are read (found sx {} and gx {} with the scalar {}). If they are "
                        "lengths all the same, state the \"unit\"",
                        found, h.source_x, h.group_x, h.coordinate_scalar));
      }
      geometry_.warnings.push_back(fmt::format(
          "{}, but every offset (bytes 37-40) is the distance between source and receiver: read as "
          "lengths",
          found));
    }
    if (hints_.unit == "ft" || (hints_.unit.empty() && layout.unit_of_length == 2)) metres_ = metres_per_foot;
    if (!hints_.unit.empty() || layout.unit_of_length == 1 || layout.unit_of_length == 2) return;
    geometry_.warnings.push_back(
        layout.kind == TraceFileKind::su
            ? fmt::format("{}: SU does not say whether lengths are metres or feet: read as metres", path)
            : fmt::format(
                  "{}: the measurement system (bytes 3255-3256) is {}, neither 1 (metres) nor 2 (feet): "
                  "read as metres",
                  path, layout.unit_of_length));
  }

  SurveyPoint source_of(const TraceHeader& h) const {
    const double elevation = scaled(h.source_elevation, h.elevation_scalar);
    const double depth = scaled(h.source_depth, h.elevation_scalar);
    return {metres_ * scaled(h.source_x, h.coordinate_scalar),
            metres_ * scaled(h.source_y, h.coordinate_scalar),
            metres_ * (hints_.depths ? elevation + depth : depth - elevation)};
  }

  SurveyPoint receiver_of(const TraceHeader& h) const {
    const double elevation = scaled(h.receiver_elevation, h.elevation_scalar);
    // Adding 0 turns -0 into 0.
    return {metres_ * scaled(h.group_x, h.coordinate_scalar),
            metres_ * scaled(h.group_y, h.coordinate_scalar),
            metres_ * (hints_.depths ? elevation : -elevation) + 0.0};
  }

  void group() {
    using Key = std::tuple<std::int32_t, double, double, double>;
    std::map<Key, std::size_t> known;
    std::map<std::int32_t, std::size_t> positions;
    for (std::int64_t trace = 0; trace < geometry_.traces; ++trace) {
      const TraceHeader& h = headers_[static_cast<std::size_t>(trace)];
      if (auxiliary(h)) continue;
      const SurveyPoint source = source_of(h);
      const Key key{h.record, source.x, source.y, source.z};
      const auto [found, added] = known.try_emplace(key, geometry_.shots.size());
      if (added) {
        geometry_.shots.push_back({h.record, source, {}, {}});
        if (++positions[h.record] == 2 && h.record != 0) split_.add(trace);
      }
      SurveyShot& shot = geometry_.shots[found->second];
      shot.receivers.push_back(receiver_of(h));
      shot.traces.push_back(trace);
    }
  }

  void warn_of(const Tally& tally, const std::string& what) {
    if (tally.count == 0) return;
    const std::string rest = tally.count == 1 ? "" : fmt::format(" (and {} more)", tally.count - 1);
    geometry_.warnings.push_back(fmt::format("{}{}: {}", reader_.name_of(tally.first), rest, what));
  }

  void warn() {
    const auto first = [&](const Tally& tally) -> const TraceHeader& {
      return headers_[static_cast<std::size_t>(tally.first)];
    };
    warn_of(auxiliary_, fmt::format("an auxiliary channel or dummy (trace identification, bytes 29-30: {}), "
                                    "left out",
                                    first(auxiliary_).identification));
    warn_of(dead_, "dead (trace identification, bytes 29-30: 2), modelled like the others");
    warn_of(
        coordinate_scalar_,
        fmt::format("its coordinate scalar (bytes 71-72) is {}, none of the standard's 1, 10, ... 10000 with "
                    "either sign: used as it is",
                    first(coordinate_scalar_).coordinate_scalar));
    warn_of(
        elevation_scalar_,
        fmt::format("its elevation scalar (bytes 69-70) is {}, none of the standard's 1, 10, ... 10000 with "
                    "either sign: used as it is",
                    first(elevation_scalar_).elevation_scalar));
    warn_of(offset_, fmt::format("its offset (bytes 37-40) is {}, but its positions are {:.6g} apart: the "
                                 "positions are used",
                                 first(offset_).offset, distance(first(offset_))));
    warn_of(split_, fmt::format("field record {} (bytes 9-12) has several source positions: each is a shot",
                                first(split_).record));
  }

  TraceReader reader_;
  SurveyHints hints_;
  std::vector<TraceHeader> headers_;
  SurveyGeometry geometry_;
  double metres_ = 1;
  std::int64_t used_ = 0;
  bool sources_ = false, groups_ = false;  ///< any coordinate that is not 0
  Tally auxiliary_, dead_, coordinate_scalar_, elevation_scalar_, no_offset_, offset_, angles_, split_;
};

}  // namespace

SurveyGeometry read_survey_geometry(const std::string& path, const SurveyHints& hints) {
  return Reading(path, hints).geometry();
}

}  // namespace ondula::io
