// Snapshots of fields and models as pictures: planes in true aspect, three slices in 3-D, a curve in 1-D.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/io/axis.hpp"
#include "runtime/io/figure.hpp"
#include "runtime/io/gain.hpp"
#include "runtime/io/picture.hpp"

namespace ondula::io {

namespace {

constexpr int least_side = 120;       // pixels: a thinner panel has no room for its axis
constexpr double model_shade = 0.38;  // how dark the fastest model value is under a field

/// Everything a field's or a model's picture needs once its colours are decided.
struct FieldFigure {
  std::string title;
  std::string subtitle;
  std::string name;
  std::string unit;
  const Array& values;
  const Placement& placement;
  ColourRange range;
  Resampling how = Resampling::smooth;
  const Array* model = nullptr;
};

/// One axis of the grid in the picture's unit of length, and the pixels it takes.
struct Side {
  std::string name;
  double first = 0.0;  // the outer edges of the first and last cell
  double last = 0.0;
  int pixels = 0;
};

/// A plane of a 2-D or 3-D array: which axes it shows, and where the third is cut.
struct Slice {
  std::size_t down = 0;
  std::size_t across = 1;
  std::size_t cut = 0;
  std::int64_t index = 0;
};

void check(const Array& values, const Placement& placement, const char* what) {
  const std::size_t rank = values.shape.size();
  if (rank < 1 || rank > 3 || placement.axes.size() != rank || placement.spacing.size() != rank ||
      placement.origin.size() != rank)
    throw UserError(fmt::format(
        "{} of shape {} on axes [{}] with {} spacings and {} origins cannot be drawn; one of each is "
        "needed for 1 to 3 axes",
        what, shape_text(values.shape), fmt::join(placement.axes, ", "), placement.spacing.size(),
        placement.origin.size()));
  const std::int64_t count = element_count(values.shape);
  if (count == 0 || count != static_cast<std::int64_t>(values.data.size()))
    throw UserError(
        fmt::format("{} of shape {} has {} values", what, shape_text(values.shape), values.data.size()));
  for (const double spacing : placement.spacing)
    if (!(spacing > 0.0))
      throw UserError(fmt::format("{} has a spacing of {} m; it must be positive", what, spacing));
}

double extent(const Array& values, const Placement& placement, std::size_t axis) {
  return static_cast<double>(values.shape[axis]) * placement.spacing[axis];
}

bool in_kilometres(const Array& values, const Placement& placement) {
  double largest = 0.0;
  for (std::size_t axis = 0; axis < values.shape.size(); ++axis)
    largest = std::max(largest, extent(values, placement, axis));
  return largest >= 20000.0;
}

/// The axes with their pixels: one scale for all, as large as `width` and `height` allow.
std::vector<Side> sides(const FieldFigure& figure, const std::vector<Slice>& slices, double width,
                        double height) {
  const auto pixels = [&](std::size_t axis, double scale) {
    return std::max(least_side,
                    static_cast<int>(std::lround(scale * extent(figure.values, figure.placement, axis))));
  };
  double scale = HUGE_VAL;
  for (const Slice& slice : slices) {
    scale = std::min(scale, height / extent(figure.values, figure.placement, slice.down));
    scale = std::min(scale, width / extent(figure.values, figure.placement, slice.across));
  }
  const auto too_wide = [&] {
    int widths = 0;
    for (const Slice& slice : slices) widths += pixels(slice.across, scale);
    return widths > width;
  };
  while (too_wide()) scale *= 0.99;  // in steps, because panels at their least size do not shrink
  const double metre = in_kilometres(figure.values, figure.placement) ? 1e-3 : 1.0;
  std::vector<Side> all;
  for (std::size_t axis = 0; axis < figure.values.shape.size(); ++axis) {
    const double size = extent(figure.values, figure.placement, axis);
    const double first = figure.placement.origin[axis] - 0.5 * figure.placement.spacing[axis];
    all.push_back({figure.placement.axes[axis], metre * first, metre * (first + size), pixels(axis, scale)});
  }
  return all;
}

/// " (axis z drawn 3.2 times its scale)" where a thin axis had to be stretched.
std::string stretch_note(const std::vector<Side>& all) {
  double scale = HUGE_VAL;
  for (const Side& side : all) scale = std::min(scale, side.pixels / (side.last - side.first));
  std::string note;
  for (const Side& side : all) {
    const double stretch = side.pixels / (side.last - side.first) / scale;
    if (stretch > 1.1) note += fmt::format("; axis {} drawn {:.1f} times its scale", side.name, stretch);
  }
  return note;
}

std::vector<Slice> slices_of(const Array& values) {
  if (values.shape.size() == 2) return {{0, 1, 0, 0}};
  return {{0, 2, 1, values.shape[1] / 2}, {0, 1, 2, values.shape[2] / 2}, {1, 2, 0, values.shape[0] / 2}};
}

Plane cut(const Array& values, const Slice& slice) {
  if (values.shape.size() == 2) return {values.shape[0], values.shape[1], values.data};
  const std::int64_t strides[3] = {values.shape[1] * values.shape[2], values.shape[2], 1};
  Plane plane{values.shape[slice.down], values.shape[slice.across], {}};
  const Array part = contiguous(StridedView<double>{values.data.data() + slice.index * strides[slice.cut],
                                                    {plane.rows, plane.columns},
                                                    {strides[slice.down], strides[slice.across]}});
  plane.values = part.data;
  return plane;
}

/// The model as a shade: 0 at its least value, `model_shade` at its largest.
Plane shade_of(const Array& model, const Slice& slice, std::int64_t height, std::int64_t width) {
  const auto [low, high] = std::minmax_element(model.data.begin(), model.data.end());
  Plane plane = resample(cut(model, slice), height, width, Resampling::cells);
  const double span = *high > *low ? *high - *low : 1.0;
  for (double& value : plane.values) value = model_shade * (value - *low) / span;
  return plane;
}

std::string axis_label(const std::string& axis, const char* unit) {
  return fmt::format("{}{} ({})", axis == "z" ? "Depth " : "", axis, unit);
}

Image draw_planes(const FieldFigure& figure) {
  FigureStyle style;
  const std::vector<Slice> slices = slices_of(figure.values);
  const bool several = slices.size() > 1;
  if (several) style.top += 22;
  const auto columns = static_cast<double>(slices.size());
  const std::vector<Side> all = sides(
      figure, slices, several ? 1900.0 - columns * style.left - 140.0 : 1300.0, several ? 760.0 : 900.0);
  const char* unit = in_kilometres(figure.values, figure.placement) ? "km" : "m";
  int width = 0;
  int height = 0;
  for (const Slice& slice : slices) {
    width += style.left + all[slice.across].pixels;
    height = std::max(height, all[slice.down].pixels);
  }
  const std::string subtitle = figure.subtitle + stretch_note(all);
  const int text = style.left + 20 + static_cast<int>(text_width(subtitle, {style.number_height}));
  Image image(std::max(width + style.gap + style.bar + style.bar_right, text),
              style.top + height + style.bottom);
  draw_title(image, style.left, figure.title, subtitle, style);
  int left = 0;
  for (const Slice& slice : slices) {
    const Side& down = all[slice.down];
    const Side& across = all[slice.across];
    const Rect panel{left + style.left, style.top, across.pixels, down.pixels};
    const Plane pixels = resample(cut(figure.values, slice), panel.height, panel.width, figure.how);
    Plane shade;
    if (figure.model != nullptr) shade = shade_of(*figure.model, slice, panel.height, panel.width);
    draw_raster(image, panel, pixels, figure.range, figure.model != nullptr ? &shade : nullptr);
    draw_axes(image, panel, {across.first, across.last, axis_label(across.name, unit)},
              {down.first, down.last, axis_label(down.name, unit)}, style);
    if (several) {
      const double at = figure.placement.origin[slice.cut] +
                        static_cast<double>(slice.index) * figure.placement.spacing[slice.cut];
      draw_text(image,
                fmt::format("{} = {} {}", all[slice.cut].name,
                            short_number(unit[0] == 'k' ? 1e-3 * at : at, 5), unit),
                {panel.left + 0.5 * panel.width, panel.top - 12.0},
                {style.number_height, 0.125, {38, 38, 38}, Align::centre});
    }
    left = panel.left + panel.width;
  }
  draw_colour_bar(image, {0, style.top, left, height}, figure.range, figure.name, figure.unit, style);
  return image;
}

/// A 1-D field as a curve over its axis.
Image draw_curve(const FieldFigure& figure) {
  const FigureStyle style;
  const Rect panel{style.left + 24, style.top, 1100, 420};
  Image image(panel.left + panel.width + 40, style.top + panel.height + style.bottom);
  const double metre = in_kilometres(figure.values, figure.placement) ? 1e-3 : 1.0;
  const double first = metre * figure.placement.origin[0];
  const double step = metre * figure.placement.spacing[0];
  const auto count = static_cast<double>(figure.values.data.size());
  const double margin = 0.06 * (figure.range.high - figure.range.low);
  const int exponent = common_exponent(std::max(std::abs(figure.range.low), std::abs(figure.range.high)));
  const double factor = std::pow(10.0, -exponent);
  const double top = factor * (figure.range.high + margin);
  const double bottom = factor * (figure.range.low - margin);
  std::vector<std::vector<Point>> lines(1);
  for (std::size_t k = 0; k < figure.values.data.size(); ++k) {
    const double value = std::clamp(factor * figure.values.data[k], bottom, top);
    if (std::isfinite(value))
      lines.back().push_back({panel.left + (static_cast<double>(k) + 0.5) / count * panel.width,
                              panel.top + (top - value) / (top - bottom) * panel.height});
    else if (!lines.back().empty())
      lines.emplace_back();
  }
  image.draw_lines(lines, 1.8, {24, 84, 168});
  const std::string unit = scaled_unit(figure.unit, exponent);
  draw_title(image, panel.left, figure.title, figure.subtitle, style);
  draw_axes(image, panel,
            {first - 0.5 * step, first + (count - 0.5) * step,
             axis_label(figure.placement.axes[0], metre < 1.0 ? "km" : "m")},
            {top, bottom, unit.empty() ? figure.name : fmt::format("{} ({})", figure.name, unit)}, style);
  return image;
}

Image draw(const FieldFigure& figure) {
  return figure.values.shape.size() == 1 ? draw_curve(figure) : draw_planes(figure);
}

/// The finite range of a model's values, widened where they are all equal.
std::pair<double, double> value_range(const std::vector<double>& values) {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const double value : values)
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  return {low, high};
}

}  // namespace

Image draw_snapshot(const SnapshotPicture& snapshot) {
  check(snapshot.values, snapshot.placement, "a snapshot");
  if (snapshot.model != nullptr && (snapshot.model->shape != snapshot.values.shape ||
                                    snapshot.model->data.size() != snapshot.values.data.size()))
    throw UserError(fmt::format("a snapshot of shape {} over a model of shape {}: they must be equal",
                                shape_text(snapshot.values.shape), shape_text(snapshot.model->shape)));
  const Gain gain = measure_gain(snapshot.values.data, snapshot.clip_percent, 0.02, snapshot.most_medians);
  std::string title = snapshot.title.empty() ? snapshot.field : snapshot.title + ", " + snapshot.field;
  if (snapshot.time) title += fmt::format(", t = {:.3f} s", *snapshot.time);
  const std::string unit = snapshot.unit == "1" ? "" : snapshot.unit;
  if (snapshot.values.shape.size() == 1) {  // a curve is not clipped
    const double high = gain.maximum > 0.0 ? gain.maximum : 1.0;
    return draw({title,
                 fmt::format("maximum {} {}", short_number(gain.maximum), unit),
                 snapshot.field,
                 unit,
                 snapshot.values,
                 snapshot.placement,
                 {Colormap::diverging, -high, high}});
  }
  const double high = gain.clip;
  return draw({title,
               gain_text(gain, unit),
               snapshot.field,
               unit,
               snapshot.values,
               snapshot.placement,
               {Colormap::diverging, -high, high},
               Resampling::smooth,
               snapshot.model});
}

Image draw_model(const ModelPicture& model) {
  check(model.values, model.placement, "a model");
  const auto [low, high] = value_range(model.values.data);
  const std::string unit = model.unit == "1" ? "" : model.unit;
  const std::string title = model.title.empty() ? model.name : model.title + ", " + model.name;
  if (model.centred) {
    const Gain gain = measure_gain(model.values.data, 99.5, 0.02);
    return draw({title,
                 gain_text(gain, unit),
                 model.name,
                 unit,
                 model.values,
                 model.placement,
                 {Colormap::diverging, -gain.clip, gain.clip},
                 Resampling::cells});
  }
  const std::string after = unit.empty() ? "" : " " + unit;
  const std::string subtitle =
      low > high    ? std::string("no value is finite")
      : low == high ? fmt::format("{}{} everywhere", short_number(low, 5), after)
                    : fmt::format("{} to {}{}", short_number(low, 5), short_number(high, 5), after);
  const double widen = low < high ? 0.0 : low > high ? 1.0 : std::max(1.0, 0.01 * std::abs(low));
  const double base = low > high ? 0.0 : low;
  return draw({title,
               subtitle,
               model.name,
               unit,
               model.values,
               model.placement,
               {Colormap::sequential, base - widen, (low > high ? 0.0 : high) + widen},
               Resampling::cells});
}

}  // namespace ondula::io
