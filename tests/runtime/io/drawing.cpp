// The parts pictures are made of: ticks, numbers, text, colours, resampling, gain.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "runtime/io/axis.hpp"
#include "runtime/io/colormap.hpp"
#include "runtime/io/font.hpp"
#include "runtime/io/gain.hpp"
#include "runtime/io/resample.hpp"

using namespace ondula::io;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double brightness(Rgb c) { return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue; }

}  // namespace

TEST_CASE("axis: ticks are round, inside the range, and as many as asked for") {
  CHECK(round_ticks(0.0, 4.0, 9).labels ==
        std::vector<std::string>{"0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0", "3.5", "4.0"});
  CHECK(round_ticks(-12.0, 9204.0, 10).labels.back() == "9000");
  CHECK(round_ticks(0.1, 0.31, 5).labels == std::vector<std::string>{"0.10", "0.15", "0.20", "0.25", "0.30"});
  CHECK(round_ticks(-1.0, 1.0, 5).labels == std::vector<std::string>{"-1.0", "-0.5", "0.0", "0.5", "1.0"});
  for (const double span : {1e-9, 0.3, 7.0, 1234.5, 9.99e8})
    for (const int most : {2, 3, 7, 20}) {
      const Ticks ticks = round_ticks(-0.4 * span, 0.6 * span, most);
      CHECK(ticks.values.size() <= static_cast<std::size_t>(most));
      CHECK(ticks.values.size() >= 1);
      CHECK(ticks.values.front() >= -0.4 * span * (1 + 1e-8));
      CHECK(ticks.values.back() <= 0.6 * span * (1 + 1e-8));
    }
  CHECK(round_ticks(1.0, 1.0, 5).values.empty());
  CHECK(round_ticks(0.0, HUGE_VAL, 5).values.empty());
}

TEST_CASE("axis: numbers and units are written as people write them") {
  CHECK(short_number(0.25) == "0.25");
  CHECK(short_number(0.00012) == "1.2e-4");
  CHECK(short_number(3020.0) == "3020");
  CHECK(short_number(0.0) == "0");
  CHECK(short_number(2e9) == "2e9");
  CHECK(short_number(5261.94, 5) == "5261.94");
  CHECK(common_exponent(5500.0) == 0);
  CHECK(common_exponent(3.2e-5) == -5);
  CHECK(scaled_unit("Pa", -5) == "10^-5 Pa");
  CHECK(scaled_unit("1", 0).empty());
}

TEST_CASE("font: every printable character leaves ink within its own place") {
  const TextStyle style{20.0};
  for (char c = 33; c <= 126; ++c) {
    Image image(80, 60);
    draw_text(image, std::string(1, c), {20.0, 40.0}, style);
    int ink = 0, stray = 0;
    const double width = text_width(std::string(1, c), style);
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < 80; ++x)
        if (image.at(x, y).red < 128) {
          ++ink;
          if (x < 17 || x > 23 + width || y < 14 || y > 49) ++stray;
        }
    CAPTURE(c);
    CHECK(ink > 3);
    CHECK(stray == 0);
  }
}

TEST_CASE("font: no two characters look the same") {
  std::vector<std::vector<std::uint8_t>> seen;
  for (char c = 32; c <= 126; ++c) {
    Image image(60, 60);
    draw_text(image, std::string(1, c), {20.0, 40.0}, {20.0});
    CAPTURE(c);
    CHECK(std::find(seen.begin(), seen.end(), image.bytes()) == seen.end());
    seen.push_back(image.bytes());
  }
}

TEST_CASE(
    "font: a raised exponent is smaller, alignment and direction move the text, other alphabets become '?'") {
  const TextStyle style{20.0};
  CHECK(text_width("m^3", style) < text_width("m3", style));
  CHECK(text_width("m^x", style) > text_width("mx", style));
  CHECK(text_width("\xce\xbb", style) == text_width("?", style));
  const auto first_column = [](Align align) {
    Image image(200, 60);
    draw_text(image, "H", {100.0, 40.0}, {20.0, 0.13, {0, 0, 0}, align});
    int x = 0;
    while (image.at(x, 35).red > 128) ++x;
    return x;
  };
  CHECK(first_column(Align::left) > first_column(Align::centre));
  CHECK(first_column(Align::centre) > first_column(Align::right));
  Image image(60, 200);
  draw_text(image, "LONG WORD", {40.0, 190.0}, {20.0, 0.13, {0, 0, 0}, Align::left, true});
  int top = 0;
  while (top < 200 && image.at(30, top).red > 128) ++top;
  CHECK(top < 60);
}

TEST_CASE("colours: model colours brighten steadily, field colours are white only in the middle") {
  const auto model = colour_table(Colormap::sequential);
  const auto field = colour_table(Colormap::diverging);
  REQUIRE(model.size() == 257);
  for (std::size_t k = 1; k < model.size(); ++k) CHECK(brightness(model[k]) > brightness(model[k - 1]) - 0.6);
  CHECK(brightness(model.front()) < 50.0);
  CHECK(brightness(model.back()) > 200.0);
  CHECK(field[128] == Rgb{255, 255, 255});
  for (std::size_t k = 1; k <= 128; ++k) {
    CHECK(brightness(field[128 - k]) < brightness(field[128 - k + 1]) + 0.6);
    CHECK(brightness(field[128 + k]) < brightness(field[128 + k - 1]) + 0.6);
  }
  CHECK(field.front().blue > field.front().red);
  CHECK(field.back().red > field.back().blue);
  CHECK(colour_of(field, not_a_number, -1.0, 1.0) == Rgb{255, 0, 255});
  CHECK(colour_of(field, 7.0, -1.0, 1.0) == field.back());
  CHECK(colour_of(field, 0.0, -1.0, 1.0) == field[128]);
  CHECK(colour_of(field, 3.0, 3.0, 3.0) == field[128]);
}

TEST_CASE(
    "resampling: constants stay, averages stay when cells are enlarged or averaged, NaN spreads to its "
    "pixels only") {
  const Plane ones{7, 11, std::vector<double>(77, 2.5)};
  for (const auto how : {Resampling::smooth, Resampling::cells})
    for (const std::int64_t size : {1, 3, 7, 64}) {
      const Plane out = resample(ones, size, size + 1, how);
      CHECK(std::all_of(out.values.begin(), out.values.end(),
                        [](double v) { return std::abs(v - 2.5) < 1e-12; }));
    }
  Plane ramp{6, 6, std::vector<double>(36)};
  std::iota(ramp.values.begin(), ramp.values.end(), 0.0);
  for (const std::int64_t size : {2, 3, 9, 30}) {
    const Plane out = resample(ramp, size, size, Resampling::cells);
    CHECK(std::accumulate(out.values.begin(), out.values.end(), 0.0) / static_cast<double>(size * size) ==
          doctest::Approx(17.5));
  }
  CHECK(resample(ramp, 6, 6, Resampling::smooth).values == ramp.values);
  ramp.values[0] = not_a_number;
  const Plane out = resample(ramp, 12, 12, Resampling::cells);
  CHECK(std::count_if(out.values.begin(), out.values.end(), [](double v) { return std::isnan(v); }) == 4);
}

TEST_CASE("gain: the clip leaves the stated share, and the text states it") {
  std::vector<double> values(1000);
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = (k % 2 == 0 ? 1.0 : -1.0) * static_cast<double>(k + 1);
  const Gain gain = measure_gain(values, 99.0, 0.0);
  CHECK(gain.clip == 990.0);
  CHECK(gain.maximum == 1000.0);
  CHECK(gain_text(gain, "Pa") == "clip 990 Pa (99.0 % of |amplitude|), maximum 1000 Pa");
  CHECK(measure_gain(values, 100.0, 0.0).clip == 1000.0);
  CHECK(measure_gain(values, 1.0, 0.5).clip == 500.0);
}

TEST_CASE("gain: zeros, spikes and NaN leave a usable clip and are named") {
  const std::vector<double> zeros(10, 0.0);
  CHECK(measure_gain(zeros, 99.0, 0.0).clip == 1.0);
  CHECK(gain_text(measure_gain(zeros, 99.0, 0.0), "Pa") == "all zero");
  std::vector<double> spike(1000, 0.0);
  spike[5] = -3.0;
  CHECK(measure_gain(spike, 99.0, 0.0).clip == 3.0);
  spike[6] = not_a_number;
  spike[7] = HUGE_VAL;
  CHECK(measure_gain(spike, 99.0, 0.0).not_finite == 2);
  CHECK(gain_text(measure_gain(spike, 99.0, 0.0), "").find("2 values are not finite") != std::string::npos);
  // One strong wave in a tenth of a quiet field: the bound goes by what is quiet, zeros left out.
  std::vector<double> roll(1000, 0.0);
  for (std::size_t k = 500; k < 1000; ++k) roll[k] = k < 900 ? 1.0 : 100.0;
  CHECK(measure_gain(roll, 99.0, 0.0).clip == 100.0);
  CHECK(measure_gain(roll, 99.0, 0.0, 12).clip == 12.0);
  CHECK(measure_gain(roll, 99.0, 0.0, 12).share == doctest::Approx(0.9));
  CHECK(measure_gain(roll, 99.0, 0.5, 12).clip == 50.0);
  CHECK(measure_gain(roll, 50.5, 0.0, 12).clip == 1.0);
  CHECK(measure_gain({}, 99.0, 0.0).clip == 1.0);
}
