// What a caller hands to the runtime and gets back: the grid, its faces, sources, receivers, shots, records.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/face.hpp"

namespace ondula {

/// The working type of fields and kernels.
enum class DType { float32, float64 };

/// What executes the kernels. `reference` is the whole-array oracle; `cuda_sim` runs what `cuda` would, on
/// the CPU, through a stand-in of the driver.
enum class Backend { host, reference, cuda, cuda_sim };

/// One face: its kind and, for an absorbing face, the width of its layer in cells (added outside the grid).
struct Face {
  FaceKind kind = FaceKind::absorbing;
  int width = 20;
};

/// The model's grid: axes named slowest first ({"z"}, {"x"}, {"z","x"} or {"z","y","x"}), nodes per axis,
/// spacing and origin in metres. `faces[axis]` = {minus side, plus side}.
struct Grid {
  std::vector<std::string> axes;
  std::vector<std::int64_t> shape;
  std::vector<double> spacing;
  std::vector<double> origin;
  std::vector<std::array<Face, 2>> faces;
};

/// The absorbing layer's profile (numerics.md, Absorbing layer). Unset values follow the run: frequency from
/// the wavelet, velocity from the fastest model value, reflection 10^-min(8, 3 + width/5).
struct Absorb {
  std::optional<double> frequency;   ///< f_c, Hz, >= 0
  std::optional<double> velocity;    ///< c_max, m/s, > 0
  std::optional<double> reflection;  ///< R, in (0, 1)
  double kappa = 1.0;                ///< >= 1
};

/// How an off-grid position is spread on the grid: Kaiser-windowed sinc (Hicks 2002) of radius 4, or linear.
enum class Interpolation { sinc, linear };

/// `physical`: the discrete delta is weights over the cell volume, times the equation's own factors.
/// `raw`: the field itself gains the wavelet's sample.
enum class Scaling { physical, raw };

/// What a source feeds: one field ("u", "v.z"); a vector field along a direction; a symmetric tensor field
/// with a moment rate.
enum class SourceKind { point, force, moment_rate };

/// One source: a term of the equation fed with a wavelet at a position.
struct Source {
  std::string
      field;  ///< of a point source its field; else empty, or the author's name of the vector or tensor
  std::vector<double> position;  ///< metres in the model's coordinates, in the grid's axis order
  std::vector<double> wavelet;   ///< samples at t0 + k dt; zero outside; any length
  double strength = 1.0;
  Scaling scaling = Scaling::physical;
  Interpolation interpolation = Interpolation::sinc;
  SourceKind kind = SourceKind::point;
  /// force: its direction, one value per axis, as long as the force is strong; moment_rate: the symmetric
  /// tensor, row by row (moment.hpp has explosions and double couples).
  std::vector<double> components = {};
};

/// One receiver: what it records, at a position. `field` is a field of the equation, "pressure" (minus the
/// trace of its tensor over the number of axes), a strain rate ("e.xx", "e.zx"), or "fibre", the strain rate
/// along `direction`.
struct Receiver {
  std::string field;
  std::vector<double> position;  ///< metres in the model's coordinates, in the grid's axis order
  Interpolation interpolation = Interpolation::sinc;
  std::vector<double> direction = {};  ///< fibre: one value per axis, of any length but 0
};

/// One experiment: sources fired together, receivers in the order their traces are wanted.
struct Shot {
  std::vector<Source> sources;
  std::vector<Receiver> receivers;
};

/// The traces of one shot and one field, C-ordered (receiver, time).
struct Traces {
  std::int64_t receivers = 0;
  std::int64_t samples = 0;
  std::vector<double> data;
};

/// Records of a call: per shot, per field name, its traces in the order the shot lists its receivers.
using Records = std::vector<std::map<std::string, Traces>>;

}  // namespace ondula
