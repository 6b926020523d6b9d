// The parts of a figure: a framed panel with axes, and a colour bar.
// SPDX-License-Identifier: MIT
#include "runtime/io/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/io/axis.hpp"

namespace ondula::io {

namespace {

constexpr Rgb ink{38, 38, 38};
constexpr Rgb soft_ink{105, 105, 105};
constexpr int tick_length = 6;

void frame(Image& image, const Rect& r) {
  image.fill({r.left - 1, r.top - 1, r.width + 2, 1}, ink);
  image.fill({r.left - 1, r.top + r.height, r.width + 2, 1}, ink);
  image.fill({r.left - 1, r.top - 1, 1, r.height + 2}, ink);
  image.fill({r.left + r.width, r.top - 1, 1, r.height + 2}, ink);
}

/// The pixel at which `value` lies on an axis of `length` pixels from `start`.
double place(double value, const PanelAxis& axis, int start, int length) {
  return start + (value - axis.first) / (axis.last - axis.first) * length;
}

}  // namespace

void draw_title(Image& image, int left, const std::string& title, const std::string& subtitle,
                const FigureStyle& style) {
  draw_text(image, title, {static_cast<double>(left), 34.0}, {style.title_height, 0.15, ink});
  draw_text(image, subtitle, {static_cast<double>(left), 62.0}, {style.number_height, 0.125, soft_ink});
}

void draw_raster(Image& image, const Rect& rect, const Plane& pixels, const ColourRange& range,
                 const Plane* shade) {
  const std::vector<Rgb> table = colour_table(range.map);
  for (int y = 0; y < rect.height; ++y)
    for (int x = 0; x < rect.width; ++x) {
      const auto k =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(rect.width) + static_cast<std::size_t>(x);
      Rgb colour = colour_of(table, pixels.values[k], range.low, range.high);
      if (shade != nullptr) {
        const double dim = std::isfinite(shade->values[k]) ? std::clamp(shade->values[k], 0.0, 1.0) : 0.0;
        const auto darker = [dim](std::uint8_t v) {
          return static_cast<std::uint8_t>(std::lround(v * (1.0 - dim)));
        };
        colour = {darker(colour.red), darker(colour.green), darker(colour.blue)};
      }
      image.set(rect.left + x, rect.top + y, colour);
    }
}

void draw_axes(Image& image, const Rect& rect, const PanelAxis& across, const PanelAxis& down,
               const FigureStyle& style) {
  frame(image, rect);
  TextStyle number{style.number_height, 0.125, ink, Align::centre};
  const int bottom = rect.top + rect.height;
  const Ticks horizontal = round_ticks(std::min(across.first, across.last),
                                       std::max(across.first, across.last), std::max(2, rect.width / 90));
  for (std::size_t k = 0; k < horizontal.values.size(); ++k) {
    const int x = static_cast<int>(std::floor(place(horizontal.values[k], across, rect.left, rect.width)));
    image.fill({x, bottom, 1, tick_length}, ink);
    draw_text(image, horizontal.labels[k], {x + 0.5, bottom + 9.0 + tick_length + style.number_height - 4.0},
              number);
  }
  draw_text(image, across.label,
            {rect.left + 0.5 * rect.width, bottom + 26.0 + style.number_height + style.label_height},
            {style.label_height, 0.13, ink, Align::centre});
  number.align = Align::right;
  const Ticks vertical = round_ticks(std::min(down.first, down.last), std::max(down.first, down.last),
                                     std::max(2, rect.height / 60));
  double widest = 0.0;
  for (std::size_t k = 0; k < vertical.values.size(); ++k) {
    const int y = static_cast<int>(std::floor(place(vertical.values[k], down, rect.top, rect.height)));
    image.fill({rect.left - tick_length, y, tick_length, 1}, ink);
    draw_text(image, vertical.labels[k], {rect.left - tick_length - 5.0, y + 0.5 + 0.5 * style.number_height},
              number);
    widest = std::max(widest, text_width(vertical.labels[k], number));
  }
  draw_text(image, down.label, {rect.left - tick_length - 20.0 - widest, rect.top + 0.5 * rect.height},
            {style.label_height, 0.13, ink, Align::centre, true});
}

void draw_colour_bar(Image& image, const Rect& panel, const ColourRange& range, const std::string& name,
                     const std::string& unit, const FigureStyle& style) {
  const Rect bar{panel.left + panel.width + style.gap, panel.top, style.bar, panel.height};
  const std::vector<Rgb> table = colour_table(range.map);
  for (int y = 0; y < bar.height; ++y)
    image.fill({bar.left, bar.top + y, bar.width, 1},
               colour_of(table, bar.height - y - 0.5, 0.0, bar.height));
  frame(image, bar);
  const int exponent = common_exponent(std::max(std::abs(range.low), std::abs(range.high)));
  const double factor = std::pow(10.0, -exponent);
  const PanelAxis axis{range.high * factor, range.low * factor, {}};
  const TextStyle number{style.number_height, 0.125, ink};
  double widest = 0.0;
  const Ticks ticks = round_ticks(axis.last, axis.first, std::max(2, bar.height / 60));
  for (std::size_t k = 0; k < ticks.values.size(); ++k) {
    const int y = std::min(static_cast<int>(std::floor(place(ticks.values[k], axis, bar.top, bar.height))),
                           bar.top + bar.height);
    image.fill({bar.left + bar.width, y, tick_length, 1}, ink);
    draw_text(image, ticks.labels[k],
              {bar.left + bar.width + tick_length + 5.0, y + 0.5 + 0.5 * style.number_height}, number);
    widest = std::max(widest, text_width(ticks.labels[k], number));
  }
  const std::string scaled = scaled_unit(unit, exponent);
  draw_text(
      image, scaled.empty() ? name : fmt::format("{} ({})", name, scaled),
      {bar.left + bar.width + tick_length + 18.0 + widest + style.label_height, bar.top + 0.5 * bar.height},
      {style.label_height, 0.13, ink, Align::centre, true});
}

}  // namespace ondula::io
