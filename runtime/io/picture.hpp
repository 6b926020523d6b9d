// The pictures a run writes: shot gathers, snapshots of fields, and models.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/io/array.hpp"
#include "runtime/io/colormap.hpp"
#include "runtime/io/image.hpp"

namespace ondula::io {

/// Where a sampled array lies: axes slowest first ({"z","x"}), spacing and origin in metres, one per axis.
struct Placement {
  std::vector<std::string> axes;
  std::vector<double> spacing;
  std::vector<double> origin;
};

/// A shot gather: traces side by side, time downwards.
struct GatherPicture {
  std::string title;               ///< "Shot 3"
  std::string field;               ///< "u"
  std::string unit;                ///< "Pa"; may be empty
  std::span<const double> traces;  ///< C-ordered (receiver, time)
  std::int64_t receivers = 0;
  std::int64_t samples = 0;
  double dt = 0.0;          ///< s between samples, > 0
  double first_time = 0.0;  ///< s, of sample 0
  std::vector<double>
      positions;  ///< m, one per receiver, along `position_axis`; empty or uneven: receiver numbers are shown
  std::string position_axis = "x";
  double clip_percent = 99.0;  ///< the share of |amplitude| left unclipped, in (0, 100]
  double most_medians = 0.0;  ///< more than 0: clipped no higher than so many medians of the live |amplitude|
  double time_power = 0.0;    ///< samples are multiplied by t^power (t in s from time 0) before clipping
  Colormap colours = Colormap::grey;
};

/// A gather as a picture, with its gain written in it. Throws UserError where sizes do not fit or nothing is
/// there to show.
Image draw_gather(const GatherPicture& gather);

/// A field at one instant, with 1, 2 or 3 axes; 3-D shows the three middle slices side by side.
struct SnapshotPicture {
  std::string title;  ///< "Shot 3"
  std::string field;
  std::string unit;
  Array values;
  Placement placement;
  std::optional<double> time;  ///< s
  double clip_percent = 99.5;
  const Array* model = nullptr;  ///< of the same shape: drawn as a faint shade under the field
  double most_medians = 0.0;     ///< as a gather's
};

/// A snapshot as a picture with true aspect and its gain written in it. Throws UserError where shapes do not
/// fit.
Image draw_snapshot(const SnapshotPicture& snapshot);

/// A model's parameter, or any array of the grid, in sequential colours (`centred`: diverging about zero, for
/// gradients).
struct ModelPicture {
  std::string title;
  std::string name;  ///< "vp"
  std::string unit;  ///< "m/s"
  Array values;
  Placement placement;
  bool centred = false;
};

/// A model as a picture with true aspect and the range of its values. Throws UserError where shapes do not
/// fit.
Image draw_model(const ModelPicture& model);

}  // namespace ondula::io
