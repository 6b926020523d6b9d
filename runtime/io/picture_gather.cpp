// Shot gathers as pictures.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/io/axis.hpp"
#include "runtime/io/figure.hpp"
#include "runtime/io/gain.hpp"
#include "runtime/io/picture.hpp"

namespace ondula::io {

namespace {

constexpr int panel_width = 900;
constexpr int panel_height = 960;
constexpr std::int64_t fewest_as_image = 16;  // with fewer traces, single wiggles say more than an image

void check(const GatherPicture& gather) {
  if (gather.receivers < 1 || gather.samples < 1)
    throw UserError(fmt::format("a gather of {} traces of {} samples cannot be drawn; it needs one of each",
                                gather.receivers, gather.samples));
  if (static_cast<std::int64_t>(gather.traces.size()) != gather.receivers * gather.samples)
    throw UserError(fmt::format("a gather of {} traces of {} samples needs {} values, {} were given",
                                gather.receivers, gather.samples, gather.receivers * gather.samples,
                                gather.traces.size()));
  if (!(gather.dt > 0.0))
    throw UserError(fmt::format("a gather's dt is {} s; it must be positive", gather.dt));
  if (!(gather.clip_percent > 0.0 && gather.clip_percent <= 100.0))
    throw UserError(
        fmt::format("a gather's clip is {} percent; allowed is more than 0, up to 100", gather.clip_percent));
  if (!gather.positions.empty() && static_cast<std::int64_t>(gather.positions.size()) != gather.receivers)
    throw UserError(
        fmt::format("a gather of {} traces has {} positions", gather.receivers, gather.positions.size()));
}

/// True where the positions step evenly, so that they can stand on a linear axis.
bool even(const std::vector<double>& positions) {
  if (positions.size() < 2) return false;
  const double step = (positions.back() - positions.front()) / static_cast<double>(positions.size() - 1);
  for (std::size_t k = 0; k < positions.size(); ++k)
    if (std::abs(positions[k] - positions.front() - static_cast<double>(k) * step) > 0.05 * std::abs(step))
      return false;
  return step != 0.0;
}

PanelAxis across_axis(const GatherPicture& gather) {
  const auto count = static_cast<double>(gather.receivers);
  if (!even(gather.positions)) return {-0.5, count - 0.5, "Receiver number"};
  const double half = 0.5 * (gather.positions.back() - gather.positions.front()) / (count - 1.0);
  const double first = gather.positions.front() - half;
  const double last = gather.positions.back() + half;
  const bool km = std::abs(last - first) >= 20000.0;
  const double unit = km ? 1000.0 : 1.0;
  return {first / unit, last / unit, fmt::format("Receiver {} ({})", gather.position_axis, km ? "km" : "m")};
}

/// The traces with their gain over time, transposed: rows of time, columns of receivers.
Plane gained(const GatherPicture& gather) {
  Plane plane{gather.samples, gather.receivers, std::vector<double>(gather.traces.size())};
  for (std::int64_t k = 0; k < gather.samples; ++k) {
    const double t = std::max(0.0, gather.first_time + static_cast<double>(k) * gather.dt);
    const double factor = gather.time_power == 0.0 ? 1.0 : std::pow(t, gather.time_power);
    for (std::int64_t r = 0; r < gather.receivers; ++r)
      plane.values[static_cast<std::size_t>(k * gather.receivers + r)] =
          factor * gather.traces[static_cast<std::size_t>(r * gather.samples + k)];
  }
  return plane;
}

/// Each trace as a line about its own place, the positive side filled.
void draw_wiggles(Image& image, const Rect& rect, const Plane& plane, double clip) {
  const double spacing = static_cast<double>(rect.width) / static_cast<double>(plane.columns);
  const Plane tall = resample(plane, rect.height, plane.columns, Resampling::smooth);
  for (std::int64_t r = 0; r < plane.columns; ++r) {
    const double centre = rect.left + (static_cast<double>(r) + 0.5) * spacing;
    std::vector<std::vector<Point>> lines(1);
    for (int y = 0; y < rect.height; ++y) {
      const double value = tall.values[static_cast<std::size_t>(y) * static_cast<std::size_t>(plane.columns) +
                                       static_cast<std::size_t>(r)];
      if (!std::isfinite(value)) {
        if (!lines.back().empty()) lines.emplace_back();
        continue;
      }
      const double shift = 0.48 * spacing * std::clamp(value / clip, -1.0, 1.0);
      const int from = static_cast<int>(centre);
      image.fill({from, rect.top + y, static_cast<int>(centre + shift) - from, 1}, {90, 90, 90});
      lines.back().push_back({centre + shift, rect.top + y + 0.5});
    }
    image.draw_lines(lines, 1.2, {20, 20, 20});
  }
}

}  // namespace

Image draw_gather(const GatherPicture& gather) {
  check(gather);
  const FigureStyle style;
  const Rect panel{style.left, style.top, panel_width, panel_height};
  Image image(style.left + panel_width + style.gap + style.bar + style.bar_right,
              style.top + panel_height + style.bottom);
  const Plane plane = gained(gather);
  const Gain gain = measure_gain(plane.values, gather.clip_percent, 1e-4, gather.most_medians);
  std::string unit = gather.unit == "1" ? "" : gather.unit;
  std::string subtitle = gain_text(gain, unit);
  if (gather.time_power != 0.0) {
    const std::string power = short_number(gather.time_power);
    unit += fmt::format("{}s^{}", unit.empty() ? "" : " ", power);
    subtitle = fmt::format("gain t^{}, {}", power, gain_text(gain, unit));
  }
  const double half = 0.5 * gather.dt;
  const double last = gather.first_time + static_cast<double>(gather.samples - 1) * gather.dt;
  if (gather.receivers < fewest_as_image) {
    draw_wiggles(image, panel, plane, gain.clip);
    subtitle += ", which moves a trace by half the spacing";
  } else {
    const ColourRange range{gather.colours, -gain.clip, gain.clip};
    draw_raster(image, panel, resample(plane, panel_height, panel_width, Resampling::smooth), range);
    draw_colour_bar(image, panel, range, gather.field, unit, style);
  }
  draw_title(image, panel.left, gather.title.empty() ? gather.field : gather.title + ", " + gather.field,
             subtitle, style);
  draw_axes(image, panel, across_axis(gather), {gather.first_time - half, last + half, "Time (s)"}, style);
  return image;
}

}  // namespace ondula::io
