// How amplitudes become colours: the clip of a picture, and the words that state it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ondula::io {

/// What the amplitudes of a picture are like. Numbers that are not finite are counted and otherwise ignored.
struct Gain {
  double clip = 1.0;     ///< the amplitude at which colours end, > 0
  double maximum = 0.0;  ///< the largest |amplitude|
  double share = 1.0;    ///< the share of |amplitude| at or under the clip
  std::int64_t not_finite = 0;
};

/// The gain that leaves `percent` of |values| unclipped, but clips no lower than `least_share` of the
/// maximum, so that a field which is zero nearly everywhere does not show its rounding errors. With
/// `most_medians` more than 0 it clips no higher than so many medians of what is over 1e-4 of the maximum, so
/// that one strong wave does not hide the others.
Gain measure_gain(std::span<const double> values, double percent, double least_share,
                  double most_medians = 0);

/// "clip 0.0012 Pa (99.0 % of |amplitude|), maximum 0.03 Pa", with a note on numbers that are not finite.
std::string gain_text(const Gain& gain, const std::string& unit);

}  // namespace ondula::io
