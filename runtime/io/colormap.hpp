// Colours for numbers: sequential, diverging and grey scales, computed in a perceptual colour space.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "runtime/io/image.hpp"

namespace ondula::io {

/// The scales: `sequential` for models (dark blue over green to light yellow, lightness linear), `diverging`
/// for fields (blue, white at the middle, red), `grey` for gathers (white to black, the positive dark).
enum class Colormap { sequential, diverging, grey };

/// A scale as 257 colours, from its low end to its high end; the 129th is its middle. The first two are
/// linear in the lightness of Oklab (B. Ottosson, 2020), on each side of the middle for `diverging`.
std::vector<Rgb> colour_table(Colormap map);

/// The colour of `value` where [low, high] spans the table; values beyond take the end's colour, NaN and
/// infinities magenta.
Rgb colour_of(const std::vector<Rgb>& table, double value, double low, double high);

}  // namespace ondula::io
