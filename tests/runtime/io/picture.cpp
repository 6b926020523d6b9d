// Pictures of gathers, snapshots and models: what is where, and at what scale.
// SPDX-License-Identifier: MIT
#include "runtime/io/picture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/error.hpp"

using namespace ondula;
using namespace ondula::io;

namespace {

/// The box of the pixels that `wanted` holds for: left, top, right, bottom; all zero where it holds for none.
template <class Wanted>
std::vector<int> box(const Image& image, Wanted wanted) {
  std::vector<int> found{image.width(), image.height(), -1, -1};
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      if (wanted(image.at(x, y)))
        found = {std::min(found[0], x), std::min(found[1], y), std::max(found[2], x), std::max(found[3], y)};
  return found[2] < 0 ? std::vector<int>{0, 0, 0, 0} : found;
}

/// A zero plane of `rows` x `columns`, with a block of one value.
Array block(std::int64_t rows, std::int64_t columns, std::int64_t top, std::int64_t left, std::int64_t size,
            double value) {
  Array array{{rows, columns}, std::vector<double>(static_cast<std::size_t>(rows * columns), 0.0)};
  for (std::int64_t i = top; i < top + size; ++i)
    for (std::int64_t j = left; j < left + size; ++j)
      array.data[static_cast<std::size_t>(i * columns + j)] = value;
  return array;
}

bool red(Rgb c) { return c.red > 120 && c.blue < 60 && c.green < 60; }
bool magenta(Rgb c) { return c == Rgb{255, 0, 255}; }

GatherPicture gather_of(const std::vector<double>& traces, std::int64_t receivers) {
  GatherPicture gather;
  gather.title = "Shot 0";
  gather.field = "u";
  gather.unit = "Pa";
  gather.traces = traces;
  gather.receivers = receivers;
  gather.samples = static_cast<std::int64_t>(traces.size()) / receivers;
  gather.dt = 0.004;
  gather.colours = Colormap::diverging;
  gather.clip_percent = 100.0;
  return gather;
}

}  // namespace

TEST_CASE("picture: a snapshot shows a field in true aspect, whatever the spacing") {
  // 400 m x 400 m in cells of 10 m x 20 m: as wide as high, left of the middle and under it.
  Array field{{100, 100}, std::vector<double>(10000, 0.0)};
  for (int i = 50; i < 90; ++i)
    for (int j = 10; j < 30; ++j) field.data[static_cast<std::size_t>(100 * i + j)] = 1.0;
  const Image image =
      draw_snapshot({"Shot 0", "u", "Pa", field, {{"z", "x"}, {10.0, 20.0}, {0.0, 0.0}}, 0.5});
  const int right = image.width() * 3 / 4;  // the colour bar is red too
  Image panel(right, image.height());
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < right; ++x) panel.set(x, y, image.at(x, y));
  const auto b = box(panel, red);
  const int width = b[2] - b[0], height = b[3] - b[1];
  CHECK(width > 100);
  CHECK(std::abs(width - height) <= 0.05 * width);
}

TEST_CASE("picture: values that are not finite are magenta, where they are") {
  Array field = block(50, 50, 10, 30, 5, std::numeric_limits<double>::quiet_NaN());
  field.data[0] = 1.0;
  const Image image = draw_snapshot({"", "u", "", field, {{"z", "x"}, {10.0, 10.0}, {0.0, 0.0}}});
  const auto b = box(image, magenta);
  CHECK(b[2] > b[0]);
  CHECK(b[0] > image.width() / 3);
  CHECK(b[3] < image.height() / 2);
}

TEST_CASE("picture: a gather shows time downwards and receivers across") {
  std::vector<double> traces(40 * 100, 0.0);
  for (int r = 30; r < 36; ++r)
    for (int k = 10; k < 20; ++k) traces[static_cast<std::size_t>(100 * r + k)] = 1.0;
  const Image image = draw_gather(gather_of(traces, 40));
  int left = image.width(), top = image.height(), bottom = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < 990; ++x)  // the colour bar, right of it, is red too
      if (red(image.at(x, y))) left = std::min(left, x), top = std::min(top, y), bottom = y;
  CHECK(left > 96 + 900 * 29 / 40);
  CHECK(top > 84 + 960 * 9 / 100);
  CHECK(top < 84 + 960 * 11 / 100);
  CHECK(bottom > 84 + 960 * 18 / 100);
  CHECK(bottom < 84 + 960 * 21 / 100);
}

TEST_CASE("picture: a gain over time lifts late arrivals to the strength of early ones") {
  std::vector<double> traces(40 * 100, 0.0);
  for (int r = 0; r < 40; ++r) {
    traces[static_cast<std::size_t>(100 * r + 10)] = 1.0;
    traces[static_cast<std::size_t>(100 * r + 90)] = 1.0 / 81.0;
  }
  GatherPicture gather = gather_of(traces, 40);
  const auto reddest = [](const Image& image, int top, int bottom) {
    int least = 255;
    for (int y = top; y < bottom; ++y) least = std::min<int>(least, image.at(500, y).green);
    return least;
  };
  const Image plain = draw_gather(gather);
  gather.time_power = 2.0;
  const Image lifted = draw_gather(gather);
  CHECK(reddest(plain, 700, 1000) > 200);
  CHECK(reddest(lifted, 700, 1000) < 60);
}

TEST_CASE("picture: no picture is larger than 2000 pixels, at any shape") {
  const auto small_enough = [](const Image& image) {
    return image.width() <= 2000 && image.height() <= 2000;
  };
  for (const auto& [rows, columns] : {std::pair{2, 3000}, {3000, 2}, {1, 1}, {700, 900}})
    CHECK(small_enough(draw_model(
        {"", "vp", "m/s", block(rows, columns, 0, 0, 1, 1500.0), {{"z", "x"}, {5.0, 5.0}, {0.0, 0.0}}})));
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{40, 50, 60}, {2, 500, 3}, {300, 4, 4}, {4, 4, 300}}) {
    Array volume{shape, std::vector<double>(static_cast<std::size_t>(element_count(shape)), 1.0)};
    CHECK(small_enough(
        draw_model({"", "vp", "m/s", volume, {{"z", "y", "x"}, {5.0, 5.0, 5.0}, {0.0, 0.0, 0.0}}})));
  }
  const std::vector<double> traces(3000 * 7, 1.0);
  CHECK(small_enough(draw_gather(gather_of(traces, 3000))));
  CHECK(small_enough(draw_gather(gather_of(traces, 1))));
}

TEST_CASE("picture: a volume shows its three middle slices") {
  Array volume{{20, 30, 40}, std::vector<double>(24000, 0.0)};
  const auto put = [&](int z, int y, int x) {
    for (int a = -2; a < 3; ++a)
      for (int b = -2; b < 3; ++b)
        for (int c = -2; c < 3; ++c)
          volume.data[static_cast<std::size_t>(((z + a) * 30 + y + b) * 40 + x + c)] = 1.0;
  };
  const Placement place{{"z", "y", "x"}, {10.0, 10.0, 10.0}, {0.0, 0.0, 0.0}};
  const auto red_pixels = [&] {
    const Image image = draw_snapshot({"", "u", "", volume, place});
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width() * 9 / 10; ++x) count += red(image.at(x, y)) ? 1 : 0;
    return count;
  };
  put(5, 8, 8);  // off all three planes
  CHECK(red_pixels() == 0);
  put(5, 15, 8);  // on the plane of constant y
  const int one = red_pixels();
  CHECK(one > 1000);
  put(10, 8, 30);  // and on that of constant z
  CHECK(red_pixels() > one + 1000);
}

TEST_CASE(
    "picture: a field in one dimension is a curve, a model under a field darkens it, flat models are drawn") {
  Array line{{200}, {}};
  for (int k = 0; k < 200; ++k) line.data.push_back(std::sin(0.1 * k));
  const Placement along{{"x"}, {10.0}, {0.0}};
  const Image curve = draw_snapshot({"", "u", "Pa", line, along, 0.1});
  CHECK(box(curve, [](Rgb c) { return c == Rgb{24, 84, 168}; })[2] > 1000);

  const Array field = block(50, 60, 0, 0, 1, 1.0);
  const Array model = block(50, 60, 30, 30, 20, 4000.0);
  const Placement plane{{"z", "x"}, {10.0, 10.0}, {0.0, 0.0}};
  const Image bare = draw_snapshot({"", "u", "Pa", field, plane});
  const Image shaded = draw_snapshot({"", "u", "Pa", field, plane, {}, 99.5, &model});
  CHECK(bare.at(bare.width() / 2, bare.height() * 3 / 4).green >
        shaded.at(bare.width() / 2, bare.height() * 3 / 4).green + 50);
  CHECK(draw_model({"", "vp", "m/s", block(5, 5, 0, 0, 5, 2000.0), plane}).width() > 0);
  CHECK(draw_model({"", "dvp", "", field, plane, true}).width() > 0);
}

TEST_CASE("picture: shapes and counts that do not fit are refused") {
  const Placement plane{{"z", "x"}, {10.0, 10.0}, {0.0, 0.0}};
  const Array other{{2, 2}, std::vector<double>(4, 1.0)};
  CHECK_THROWS_AS(draw_model({"", "vp", "", Array{{3, 3}, {1.0}}, plane}), UserError);
  CHECK_THROWS_AS(draw_model({"", "vp", "", Array{{0, 3}, {}}, plane}), UserError);
  CHECK_THROWS_AS(draw_model({"", "vp", "", Array{{4}, {1, 2, 3, 4}}, plane}), UserError);
  CHECK_THROWS_AS(draw_snapshot({"", "u", "", block(5, 5, 0, 0, 1, 1.0), plane, {}, 99.0, &other}),
                  UserError);
  const std::vector<double> traces(12, 1.0);
  GatherPicture gather = gather_of(traces, 3);
  gather.receivers = 5;
  CHECK_THROWS_AS(draw_gather(gather), UserError);
  gather = gather_of(traces, 3);
  gather.dt = 0.0;
  CHECK_THROWS_AS(draw_gather(gather), UserError);
  gather = gather_of(traces, 3);
  gather.positions = {1.0};
  CHECK_THROWS_AS(draw_gather(gather), UserError);
}
