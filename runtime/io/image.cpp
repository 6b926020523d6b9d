// An RGB picture in memory, and the few shapes drawn on it.
// SPDX-License-Identifier: MIT
#include "runtime/io/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"

namespace ondula::io {

namespace {

/// The distance from a point to the segment a-b.
double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double square = dx * dx + dy * dy;
  const double along =
      square == 0.0 ? 0.0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / square, 0.0, 1.0);
  return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

/// The pixels a set of lines can touch, and the share of each that they cover.
class Coverage {
 public:
  Coverage(const std::vector<std::vector<Point>>& lines, double reach, int width, int height) {
    double low_x = width, low_y = height, high_x = 0.0, high_y = 0.0;
    for (const auto& line : lines)
      for (const Point p : line) {
        low_x = std::min(low_x, p.x), high_x = std::max(high_x, p.x);
        low_y = std::min(low_y, p.y), high_y = std::max(high_y, p.y);
      }
    left_ = static_cast<int>(std::floor(std::max(low_x - reach, 0.0)));
    top_ = static_cast<int>(std::floor(std::max(low_y - reach, 0.0)));
    columns_ =
        std::max(0, std::min(width, static_cast<int>(std::min<double>(width, high_x + reach)) + 1) - left_);
    rows_ =
        std::max(0, std::min(height, static_cast<int>(std::min<double>(height, high_y + reach)) + 1) - top_);
    share_.assign(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_), 0.0);
  }

  void add(Point a, Point b, double radius) {
    const double reach = radius + 1.0;
    const int first_x = std::max(left_, static_cast<int>(std::floor(std::min(a.x, b.x) - reach)));
    const int last_x = std::min(left_ + columns_, static_cast<int>(std::max(a.x, b.x) + reach) + 1);
    const int first_y = std::max(top_, static_cast<int>(std::floor(std::min(a.y, b.y) - reach)));
    const int last_y = std::min(top_ + rows_, static_cast<int>(std::max(a.y, b.y) + reach) + 1);
    for (int y = first_y; y < last_y; ++y)
      for (int x = first_x; x < last_x; ++x) {
        const double share = std::clamp(radius + 0.5 - distance({x + 0.5, y + 0.5}, a, b), 0.0, 1.0);
        double& kept = share_[static_cast<std::size_t>(y - top_) * static_cast<std::size_t>(columns_) +
                              static_cast<std::size_t>(x - left_)];
        kept = std::max(kept, share);
      }
  }

  void paint(Image& image, Rgb colour) const {
    for (int y = 0; y < rows_; ++y)
      for (int x = 0; x < columns_; ++x)
        image.blend(left_ + x, top_ + y, colour,
                    share_[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) +
                           static_cast<std::size_t>(x)]);
  }

 private:
  int left_ = 0, top_ = 0, columns_ = 0, rows_ = 0;
  std::vector<double> share_;
};

}  // namespace

Image::Image(int width, int height, Rgb background) : width_(width), height_(height) {
  if (width < 1 || height < 1 || width > 16384 || height > 16384)
    throw InternalError(fmt::format("a picture of {} x {} pixels", width, height));
  bytes_.resize(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  fill({0, 0, width, height}, background);
}

Rgb Image::at(int x, int y) const noexcept {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return {};
  const std::size_t k =
      3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x));
  return {bytes_[k], bytes_[k + 1], bytes_[k + 2]};
}

void Image::set(int x, int y, Rgb colour) noexcept {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  const std::size_t k =
      3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x));
  bytes_[k] = colour.red;
  bytes_[k + 1] = colour.green;
  bytes_[k + 2] = colour.blue;
}

void Image::blend(int x, int y, Rgb colour, double coverage) noexcept {
  if (coverage <= 0.0) return;
  const Rgb under = at(x, y);
  const auto mix = [coverage](std::uint8_t below, std::uint8_t above) {
    return static_cast<std::uint8_t>(std::lround(below + coverage * (above - below)));
  };
  set(x, y, {mix(under.red, colour.red), mix(under.green, colour.green), mix(under.blue, colour.blue)});
}

void Image::fill(const Rect& rect, Rgb colour) noexcept {
  for (int y = rect.top; y < rect.top + rect.height; ++y)
    for (int x = rect.left; x < rect.left + rect.width; ++x) set(x, y, colour);
}

void Image::draw_lines(const std::vector<std::vector<Point>>& lines, double width, Rgb colour) noexcept {
  Coverage coverage(lines, 0.5 * width + 1.0, width_, height_);
  for (const auto& line : lines)
    for (std::size_t k = 0; k < line.size(); ++k)
      if (k > 0 || line.size() == 1) coverage.add(line[k > 0 ? k - 1 : 0], line[k], 0.5 * width);
  coverage.paint(*this, colour);
}

}  // namespace ondula::io
