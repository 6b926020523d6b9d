// "geometry": a job's sources and receivers from the trace headers of a SEG-Y or SU file.
// SPDX-License-Identifier: MIT
#include "runtime/io/job_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "compiler/error.hpp"
#include "runtime/io/geometry.hpp"
#include "runtime/io/segy_geometry.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::io {

namespace {

/// Lowest and highest value met.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double length() const { return high - low; }
};

/// The file's axes by their names.
double coordinate(const SurveyPoint& point, const std::string& axis) {
  if (axis == "z") return point.z;
  return axis == "y" ? point.y : point.x;
}

/// For each axis of the grid the axis of the file that becomes it.
std::vector<std::string> file_axes(const GeometrySpec& spec, const Grid& grid) {
  std::vector<std::string> axes;
  for (const std::string& axis : grid.axes) {
    if (axis == "z")
      axes.emplace_back("z");
    else
      axes.push_back(axis == "x" ? spec.horizontal[0] : spec.horizontal[1]);
  }
  return axes;
}

/// From points of the file to positions on the grid, and what is wrong with them.
class Placement {
 public:
  Placement(const GeometrySpec& spec, const Grid& grid, const SurveyGeometry& geometry)
      : spec_(spec), grid_(grid), geometry_(geometry), axes_(file_axes(spec, grid)) {
    for (const SurveyShot& shot : geometry.shots) {
      add_extent(shot.source);
      for (const SurveyPoint& receiver : shot.receivers) add_extent(receiver);
    }
  }

  std::vector<double> position(const SurveyPoint& point) const {
    std::vector<double> metres;
    for (const std::string& axis : axes_) metres.push_back(coordinate(point, axis));
    return metres;
  }

  /// What a grid without the axis drops.
  void warn_of_dropped(std::vector<std::string>& warnings) const {
    for (const std::string axis : {"x", "y"}) {
      const Extent& extent = extents_.at(axis);
      if (std::find(axes_.begin(), axes_.end(), axis) != axes_.end() || extent.length() == 0) continue;
      for (const std::string& kept : axes_) {
        if (kept == "z" || extents_.at(kept).length() > 0) continue;
        throw UserError(fmt::format(
            "geometry.segy: {}: the grid takes {}, which is {} m in every trace, while {} runs from {} to {} "
            "m; "
            "\"horizontal\": [\"{}\", \"{}\"] would take {}",
            spec_.file, kept, extents_.at(kept).low, axis, extent.low, extent.high, axis, kept, axis));
      }
      warnings.push_back(
          fmt::format("geometry.segy: {}: {} runs from {} to {} m, and the grid has no such axis: left out",
                      spec_.file, axis, extent.low, extent.high));
    }
  }

  void check_inside() const {
    std::int64_t count = 0, total = 0;
    std::string first;
    const auto look = [&](const SurveyPoint& point, const auto& where) {
      ++total;
      const auto reason = outside(position(point), false, grid_);
      if (reason && count++ == 0)
        first = fmt::format("geometry.segy: {}, {}: {}{}", spec_.file, where(), *reason, hint(point));
    };
    for (const SurveyShot& shot : geometry_.shots) {
      look(shot.source, [&] {
        return fmt::format("the source of trace {} (of {}), field record {}", shot.traces.front() + 1,
                           geometry_.traces, shot.record);
      });
      for (std::size_t i = 0; i < shot.receivers.size(); ++i) {
        look(shot.receivers[i], [&] {
          return fmt::format("the receiver of trace {} (of {})", shot.traces[i] + 1, geometry_.traces);
        });
      }
    }
    if (count == 0) return;
    std::string runs;
    for (const std::string& axis : axes_) {
      const Extent& extent = extents_.at(axis);
      runs += fmt::format("{}{} {} to {} m", runs.empty() ? "" : ", ", axis, extent.low, extent.high);
    }
    throw UserError(fmt::format("{}; {} of the {} positions lie outside. The file's positions: {}", first,
                                count, total, runs));
  }

 private:
  void add_extent(const SurveyPoint& point) {
    for (const std::string axis : {"x", "y", "z"}) extents_[axis].add(coordinate(point, axis));
  }

  /// What would bring a position inside.
  std::string hint(const SurveyPoint& point) const {
    SurveyPoint mirrored = point;
    mirrored.z = -point.z;
    if (point.z < 0 && !outside(position(mirrored), false, grid_)) {
      return fmt::format("; were depths written as elevations? Then state \"vertical\": \"{}\"",
                         spec_.depths ? "elevation" : "depth");
    }
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const Extent& extent = extents_.at(axes_[a]);
      const double length = grid_.spacing[a] * static_cast<double>(grid_.shape[a] - 1);
      const bool beyond = extent.low < grid_.origin[a] || extent.high > grid_.origin[a] + length;
      if (axes_[a] != "z" && beyond && extent.length() <= length) {
        return fmt::format("; it would fit with grid.origin at {} on {}, say", extent.low, grid_.axes[a]);
      }
    }
    return "";
  }

  const GeometrySpec& spec_;
  const Grid& grid_;
  const SurveyGeometry& geometry_;
  std::vector<std::string> axes_;
  std::map<std::string, Extent> extents_;
};

/// A stated field that exists, or the only one there is.
void settle_field(std::string& field, const std::string& where, const std::vector<std::string>& known,
                  const std::string& equation) {
  if (field.empty() && known.size() == 1) field = known.front();
  if (field.empty()) {
    throw UserError(
        fmt::format("{}: missing; the equation {} has several: {}", where, equation, list_of(known)));
  }
  if (std::find(known.begin(), known.end(), field) != known.end()) return;
  throw UserError(fmt::format("{}: found \"{}\", which the equation {} does not have.{}", where, field,
                              equation, suggestion(field, known)));
}

/// One entry per distinct spread: shots that share it share its receivers.
void add_receivers(Job& job, const ReceiverSpec& model, const SurveyGeometry& geometry,
                   const Placement& placement) {
  std::map<std::vector<std::vector<double>>, std::size_t> known;
  for (std::size_t number = 0; number < geometry.shots.size(); ++number) {
    std::vector<std::vector<double>> spread;
    for (const SurveyPoint& receiver : geometry.shots[number].receivers)
      spread.push_back(placement.position(receiver));
    const auto [found, added] = known.try_emplace(std::move(spread), job.receivers.size());
    if (added) {
      ReceiverSpec entry = model;
      entry.layout = ReceiverSpec::Layout::points;
      entry.list = true;
      for (const auto& metres : found->first) entry.points.push_back({metres, false});
      entry.shots.emplace();
      job.receivers.push_back(std::move(entry));
    }
    job.receivers[found->second].shots->push_back(static_cast<std::int64_t>(number));
  }
  for (ReceiverSpec& entry : job.receivers) {
    if (entry.shots && entry.shots->size() == geometry.shots.size()) entry.shots.reset();
  }
}

}  // namespace

void expand_geometry(Job& job, const EquationNames& names, std::vector<std::string>& warnings) {
  if (!job.geometry) return;
  GeometrySpec spec = std::move(*job.geometry);
  job.geometry.reset();
  const bool point = spec.source.kind == SourceKind::point;
  if (point && (spec.default_source_field || !spec.source.field.empty()))
    settle_field(spec.source.field, "geometry.source.field", names.sources, names.equation);
  for (std::size_t i = 0; i < spec.receivers.size(); ++i) {
    const std::string index = spec.receivers.size() == 1 ? "" : fmt::format("[{}]", i);
    std::vector<std::string> known = names.receivers;
    if (!spec.receivers[i].field.empty())
      known.insert(known.end(), names.derived.begin(), names.derived.end());
    settle_field(spec.receivers[i].field, fmt::format("geometry.receiver{}.field", index), known,
                 names.equation);
  }
  SurveyHints hints;
  hints.file.big_endian = spec.big_endian;
  hints.unit = spec.unit;
  hints.depths = spec.depths;
  const SurveyGeometry geometry = read_survey_geometry(spec.file, hints);
  for (const std::string& warning : geometry.warnings) warnings.push_back("geometry.segy: " + warning);
  const Placement placement(spec, job.grid, geometry);
  placement.warn_of_dropped(warnings);
  placement.check_inside();
  for (std::size_t number = 0; number < geometry.shots.size(); ++number) {
    SourceSpec source = spec.source;
    source.shot = static_cast<std::int64_t>(number);
    source.at = {placement.position(geometry.shots[number].source), false};
    job.sources.push_back(std::move(source));
  }
  for (const ReceiverSpec& model : spec.receivers) add_receivers(job, model, geometry, placement);
}

}  // namespace ondula::io
