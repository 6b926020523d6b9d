// A model from a SEG-Y or SU file: traces are columns, samples run down.
// SPDX-License-Identifier: MIT
#include "runtime/io/segy_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/io/segy.hpp"

namespace ondula::io {

namespace {

constexpr double metres_per_foot = 0.3048;

std::size_t index_of(const Grid& grid, const std::string& axis) {
  return static_cast<std::size_t>(std::find(grid.axes.begin(), grid.axes.end(), axis) - grid.axes.begin());
}

std::vector<std::string> file_axes(const SegyModelLayout& layout, const Grid& grid) {
  if (index_of(grid, "z") == grid.axes.size()) {
    throw UserError(fmt::format("{}: samples run along z, an axis that the grid does not have", layout.path));
  }
  std::vector<std::string> axes = layout.axes;
  if (axes.empty()) {
    for (const std::string& axis : grid.axes) {
      if (axis != "z") axes.push_back(axis);
    }
    axes.emplace_back("z");
  }
  if (axes.back() == "z") return axes;
  throw UserError(
      fmt::format("{}: axes are [{}]; the samples of a trace run down, so that the last of them is z",
                  layout.path, fmt::join(axes, ", ")));
}

/// A way to read a number as a length.
struct LengthReading {
  double metres;
  const char* unit;
};

/// Where a trace lies, in the words that are set.
struct Place {
  double x;
  double y;
};

class ModelFile {
 public:
  ModelFile(const SegyModelLayout& layout, const Grid& grid, std::vector<std::string>& warnings)
      : layout_(layout),
        grid_(grid),
        warnings_(warnings),
        axes_(file_axes(layout, grid)),
        reader_(layout.path, TraceFileHints{{}, layout.big_endian}) {
    for (const std::string& axis : axes_) {
      shape_.push_back(grid.shape[index_of(grid, axis)]);
      step_.push_back(grid.spacing[index_of(grid, axis)]);
    }
    for (const std::string& warning : reader_.warnings()) warnings.push_back(warning);
  }

  Array read() {
    check_shape();
    for (std::int64_t trace = 0; trace < reader_.layout().traces; ++trace)
      headers_.push_back(reader_.header(trace));
    check_live();
    if (layout_.spacing.empty()) {
      check_depth_step();
    } else {
      check_stated();
    }
    check_lines();
    check_columns();
    return transposed(samples());
  }

 private:
  const std::string& path() const { return layout_.path; }

  /// "120 (x)" or "20 (y) times 30 (x)".
  std::string wanted_traces() const {
    std::string text;
    for (std::size_t i = 0; i + 1 < axes_.size(); ++i)
      text += fmt::format("{}{} ({})", i == 0 ? "" : " times ", shape_[i], axes_[i]);
    return text.empty() ? "1" : text;
  }

  void check_shape() const {
    const TraceLayout& found = reader_.layout();
    std::int64_t columns = 1;
    for (std::size_t i = 0; i + 1 < shape_.size(); ++i) columns *= shape_[i];
    if (found.traces == columns && found.samples == shape_.back()) return;
    const bool swapped = found.traces == shape_.back() && found.samples == columns;
    throw UserError(fmt::format("{}: {} traces of {} samples; the grid needs {} traces of {} samples (z){}",
                                path(), found.traces, found.samples, wanted_traces(), shape_.back(),
                                swapped ? "; its axes seem swapped: traces are columns" : ""));
  }

  void check_live() const {
    for (std::size_t trace = 0; trace < headers_.size(); ++trace) {
      if (headers_[trace].identification != 2) continue;
      throw UserError(
          fmt::format("{}: dead (trace identification, bytes 29-30: 2), so the model has no values there",
                      reader_.name_of(static_cast<std::int64_t>(trace))));
    }
  }

  void check_stated() const {
    for (std::size_t axis = 0; axis < grid_.axes.size(); ++axis) {
      const double stated = layout_.spacing[axis], wanted = grid_.spacing[axis];
      if (std::abs(stated - wanted) <= 1e-6 * wanted) continue;
      throw UserError(
          fmt::format("{}: its spacing is stated as {} m on {}, the grid's is {} m; models are not "
                      "resampled",
                      path(), stated, grid_.axes[axis], wanted));
    }
  }

  /// The depth step in the words for the sample interval, which hold a whole number of something.
  void check_depth_step() {
    const double wanted = step_.back();
    const TraceHeader& first = headers_.front();
    if (reader_.layout().kind == TraceFileKind::su && first.su_step > 0) {
      const auto step = static_cast<double>(first.su_step);
      if (std::abs(step - wanted) <= 1e-5 * wanted) return;
      throw UserError(fmt::format("{}: d1 (bytes 181-184) says a step of {} m, grid.spacing on z is {} m{}",
                                  path(), step, wanted, remedy()));
    }
    const bool any =
        std::any_of(headers_.begin(), headers_.end(), [](const TraceHeader& h) { return h.interval; });
    if (!any && reader_.layout().interval == 0) {
      warnings_.push_back(fmt::format(
          "{}: the sample interval is 0 in every header (bytes 117-118), so it says no depth step: "
          "taken as grid.spacing, {} m",
          path(), wanted));
      return;
    }
    const double word = std::round(1e6 * reader_.interval());
    const bool feet = reader_.layout().unit_of_length == 2;
    const double unit = feet ? metres_per_foot : 1;
    const LengthReading readings[] = {{unit * word / 1000, feet ? "thousandths of feet" : "mm"},
                                      {unit * word, feet ? "feet" : "m"}};
    for (const auto& [metres, name] : readings) {
      const double off = std::abs(metres - wanted), rounding = 0.5 * metres / word;
      const bool rounded = off <= rounding && rounding <= 0.02 * wanted;
      if (off > 1e-9 * wanted && !rounded) continue;
      warnings_.push_back(fmt::format(
          "{}: the sample interval {} (bytes 117-118) is taken as a depth step in {}: {:.6g} m, as "
          "grid.spacing on z",
          path(), word, name, metres));
      return;
    }
    throw UserError(
        fmt::format("{}: the sample interval (bytes 117-118) is {}: {:.6g} m as a depth step in {}, {:.6g} m "
                    "in {}, or {:g} "
                    "ms of time; grid.spacing on z is {} m{}",
                    path(), word, readings[0].metres, readings[0].unit, readings[1].metres, readings[1].unit,
                    word / 1000, wanted, remedy()));
  }

  std::string remedy() const {
    return fmt::format(
        ". Models are not resampled; if the headers are wrong, state the file's own \"spacing\" ([{}], in m)",
        fmt::join(grid_.axes, ", "));
  }

  /// Of a volume whose lines are numbered: a run of the fastest axis' traces keeps one of the two numbers.
  void check_lines() const {
    if (axes_.size() != 3) return;
    const std::int64_t run = shape_[1];
    const auto same = [&](std::size_t a, std::size_t b) {
      return std::pair(headers_[a].inline_number == headers_[b].inline_number,
                       headers_[a].crossline_number == headers_[b].crossline_number);
    };
    if (same(0, headers_.size() - 1) == std::pair(true, true)) return;
    for (std::size_t trace = 1; trace < headers_.size(); ++trace) {
      const auto [inlines, crosslines] = same(trace - 1, trace);
      const bool starts = trace % static_cast<std::size_t>(run) == 0;
      if (starts || inlines || crosslines) continue;
      throw UserError(
          fmt::format("{}: a new line starts here (inline {}, crossline {}, bytes 189-196), but lines of {} "
                      "traces along {} "
                      "start elsewhere; state the file's own \"axes\", slowest first",
                      reader_.name_of(static_cast<std::int64_t>(trace)), headers_[trace].inline_number,
                      headers_[trace].crossline_number, run, axes_[1]));
    }
  }

  /// The places that some words give, if they differ from trace to trace.
  template <class Get>
  bool places(const char* name, const Get& get) {
    const double unit = reader_.layout().unit_of_length == 2 ? metres_per_foot : 1;
    places_.clear();
    bool differ = false;
    for (const TraceHeader& h : headers_) {
      const auto [x, y] = get(h);
      places_.push_back({unit * scaled(x, h.coordinate_scalar), unit * scaled(y, h.coordinate_scalar)});
      differ = differ || places_.back().x != places_.front().x || places_.back().y != places_.front().y;
    }
    place_name_ = name;
    return differ;
  }

  bool find_places() {
    using Pair = std::pair<std::int32_t, std::int32_t>;
    return places("midpoints, bytes 181-188", [](const TraceHeader& h) { return Pair(h.cdp_x, h.cdp_y); }) ||
           places("receivers, bytes 81-88",
                  [](const TraceHeader& h) { return Pair(h.group_x, h.group_y); }) ||
           places("sources, bytes 73-80", [](const TraceHeader& h) { return Pair(h.source_x, h.source_y); });
  }

  void check_columns() {
    reversed_.assign(axes_.size(), false);
    if (headers_.size() < 2) return;
    if (!find_places()) {
      if (layout_.spacing.empty()) {
        warnings_.push_back(
            fmt::format("{}: the headers say no positions (bytes 73-88, 181-188): traces are taken as the "
                        "grid's columns in order",
                        path()));
      }
      return;
    }
    std::int64_t stride = 1;
    for (std::size_t i = axes_.size() - 1; i-- > 0;) {
      check_column_steps(i, stride);
      stride *= shape_[i];
    }
    check_start();
  }

  /// Every step along one of the file's axes is as long as the grid's, and they run one way.
  void check_column_steps(std::size_t i, std::int64_t stride) {
    const double wanted = step_[i];
    const bool is_x = axes_[i] == "x";
    std::int64_t against = 0, along = 0;
    for (std::int64_t trace = 0; trace + stride < reader_.layout().traces; ++trace) {
      if (trace / stride % shape_[i] == shape_[i] - 1) continue;
      const Place& here = places_[static_cast<std::size_t>(trace)];
      const Place& next = places_[static_cast<std::size_t>(trace + stride)];
      const double length = std::hypot(next.x - here.x, next.y - here.y);
      const double forward = is_x ? next.x - here.x : next.y - here.y;
      // A line that runs across the axis (a rotated survey) has no way to run against it.
      if (std::abs(forward) > 0.5 * length) ++(forward < 0 ? against : along);
      if (layout_.spacing.empty() && std::abs(length - wanted) > 0.01 * wanted + rounding(trace)) {
        throw UserError(fmt::format(
            "{}: the next trace along {} lies {:.6g} m further ({}); grid.spacing is {} m there{}",
            reader_.name_of(trace), axes_[i], length, place_name_, wanted, remedy()));
      }
    }
    if (against == 0) return;
    if (along > 0) {
      throw UserError(fmt::format("{}: along {} some traces go forward and some back ({})", path(), axes_[i],
                                  place_name_));
    }
    reversed_[i] = true;
    warnings_.push_back(fmt::format("{}: traces come in the order of decreasing {} ({}): turned", path(),
                                    axes_[i], place_name_));
  }

  /// What one unit of a position's word is worth.
  double rounding(std::int64_t trace) const {
    const double unit = reader_.layout().unit_of_length == 2 ? metres_per_foot : 1;
    return unit * scaled(1, headers_[static_cast<std::size_t>(trace)].coordinate_scalar);
  }

  void check_start() {
    if (axes_.size() != 2) return;
    const double first = reversed_[0] ? places_.back().x : places_.front().x;
    const double origin = grid_.origin[index_of(grid_, axes_[0])];
    if (std::abs(first - origin) <= 0.5 * step_[0]) return;
    warnings_.push_back(
        fmt::format("{}: its first column lies at x = {} m ({}) and is taken as the grid's first, at {} m",
                    path(), first, place_name_, origin));
  }

  std::vector<double> samples() {
    std::vector<double> all(static_cast<std::size_t>(element_count(shape_)));
    const std::int64_t count = reader_.layout().samples;
    for (std::int64_t trace = 0; trace < reader_.layout().traces; ++trace) {
      reader_.read(trace, std::span(all).subspan(static_cast<std::size_t>(trace * count),
                                                 static_cast<std::size_t>(count)));
    }
    return all;
  }

  Array transposed(const std::vector<double>& stored) const {
    StridedView<double> view{stored.data(), grid_.shape, {}};
    for (const std::string& axis : grid_.axes) {
      const auto at = static_cast<std::size_t>(std::find(axes_.begin(), axes_.end(), axis) - axes_.begin());
      std::int64_t stride = element_count(std::span(shape_).subspan(at + 1));
      if (reversed_[at]) {
        view.first += stride * (shape_[at] - 1);
        stride = -stride;
      }
      view.strides.push_back(stride);
    }
    return contiguous(view);
  }

  const SegyModelLayout& layout_;
  const Grid& grid_;
  std::vector<std::string>& warnings_;
  std::vector<std::string> axes_;    ///< the file's, slowest first
  std::vector<std::int64_t> shape_;  ///< in the file's order, as the grid wants it
  std::vector<double> step_;
  std::vector<bool> reversed_;
  TraceReader reader_;
  std::vector<TraceHeader> headers_;
  std::vector<Place> places_;
  const char* place_name_ = "";
};

}  // namespace

Array read_segy_model(const SegyModelLayout& layout, const Grid& grid, std::vector<std::string>& warnings) {
  return ModelFile(layout, grid, warnings).read();
}

}  // namespace ondula::io
