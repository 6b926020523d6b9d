// Text on pictures, in a stroke font of our own: no font file is needed.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "runtime/io/image.hpp"

namespace ondula::io {

/// Where the given point lies on the text's baseline.
enum class Align { left, centre, right };

/// How text looks. `cap_height` is the height of a capital letter in pixels.
struct TextStyle {
  double cap_height = 12.0;
  double weight = 0.13;  ///< stroke width over cap height
  Rgb colour{38, 38, 38};
  Align align = Align::left;
  bool upwards = false;  ///< written from bottom to top
};

/// The length of a text in pixels. A '^' raises the digits and sign after it ("kg/m^3"); characters outside
/// ASCII 32 to 126 are written as '?'.
double text_width(std::string_view text, const TextStyle& style);

/// Writes text with its baseline at `at`.
void draw_text(Image& image, std::string_view text, Point at, const TextStyle& style);

}  // namespace ondula::io
