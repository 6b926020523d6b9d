// An RGB picture in memory, and the few shapes drawn on it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace ondula::io {

/// A colour: red, green and blue, 0 to 255, in sRGB.
struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  bool operator==(const Rgb&) const = default;
};

/// A point in pixels, x rightwards, y downwards; pixel (i, j) covers [i, i+1) x [j, j+1).
struct Point {
  double x = 0.0;
  double y = 0.0;
};

/// Whole pixels: [left, left + width) x [top, top + height).
struct Rect {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

/// A picture of width x height pixels, rows from the top. What is drawn outside is cut off.
class Image {
 public:
  /// A picture of one colour. Throws InternalError for a size below 1 or above 16384.
  Image(int width, int height, Rgb background = {255, 255, 255});

  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  /// The pixels, three bytes each, row by row.
  const std::vector<std::uint8_t>& bytes() const noexcept { return bytes_; }
  /// The colour of a pixel; black outside.
  Rgb at(int x, int y) const noexcept;
  /// Sets a pixel.
  void set(int x, int y, Rgb colour) noexcept;
  /// Mixes `colour` into a pixel, with a share of `coverage` in [0, 1].
  void blend(int x, int y, Rgb colour, double coverage) noexcept;
  /// Fills a rectangle.
  void fill(const Rect& rect, Rgb colour) noexcept;
  /// Draws the lines through the points, joined and ended round, `width` pixels wide, with smooth edges.
  void draw_lines(const std::vector<std::vector<Point>>& lines, double width, Rgb colour) noexcept;

 private:
  int width_;
  int height_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace ondula::io
