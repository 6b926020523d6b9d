// The parts of a figure: a framed panel with axes, and a colour bar.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/io/colormap.hpp"
#include "runtime/io/font.hpp"
#include "runtime/io/image.hpp"
#include "runtime/io/resample.hpp"

namespace ondula::io {

/// One axis of a panel: the values at its two ends (left and right, or top and bottom) and its label.
struct PanelAxis {
  double first = 0.0;
  double last = 1.0;
  std::string label;
};

/// Which numbers the colours span.
struct ColourRange {
  Colormap map = Colormap::diverging;
  double low = -1.0;
  double high = 1.0;
};

/// Sizes of a figure's parts, in pixels, shared by all pictures.
struct FigureStyle {
  double title_height = 15.0;   ///< cap height of the title
  double label_height = 12.0;   ///< of axis labels
  double number_height = 11.0;  ///< of tick labels
  int left = 96;       ///< from a panel's left edge to the figure's, where a vertical axis is labelled
  int top = 84;        ///< title and subtitle
  int bottom = 66;     ///< a horizontal axis
  int gap = 28;        ///< panel to colour bar
  int bar = 20;        ///< width of the colour bar
  int bar_right = 92;  ///< its numbers and label
};

/// Title and subtitle at the top of the figure, over a panel that starts at `left`.
void draw_title(Image& image, int left, const std::string& title, const std::string& subtitle,
                const FigureStyle& style);

/// A plane's colours in a rectangle. `shade`, where given, darkens each pixel by its value in [0, 1].
void draw_raster(Image& image, const Rect& rect, const Plane& pixels, const ColourRange& range,
                 const Plane* shade = nullptr);

/// The frame of a panel with ticks, numbers and labels at the bottom and the left.
void draw_axes(Image& image, const Rect& rect, const PanelAxis& across, const PanelAxis& down,
               const FigureStyle& style);

/// A colour bar right of a panel, as high as it, with numbers and a label ("u (10^-3 Pa)").
void draw_colour_bar(Image& image, const Rect& panel, const ColourRange& range, const std::string& name,
                     const std::string& unit, const FigureStyle& style);

}  // namespace ondula::io
