// The padded domain a Program runs on: extents, faces, live ranges, images, and the absorbing layer's
// profiles. SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/equation.hpp"
#include "compiler/ir/face.hpp"

namespace ondula {

namespace ir {

using Extents = std::array<std::int64_t, max_axes>;

/// Indices lo <= i < hi along one axis.
struct Range {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::int64_t size() const { return hi > lo ? hi - lo : 0; }
};

using Box = std::array<Range, max_axes>;

/// How the halo beyond a face is filled: zeros, the other end, or the mirror image about the outermost node
/// row
/// (`node`) or about the plane one cell beyond it (`beyond`), with a sign.
enum class ImageKind { zero, wrap, node, beyond };
struct Image {
  ImageKind kind = ImageKind::zero;
  int sign = 0;
};

/// The numbers CPML's profiles follow from. Widths come from the Domain.
struct LayerOptions {
  double dt = 0;          ///< the step delta, s
  double velocity = 0;    ///< c_max, m/s
  double frequency = 0;   ///< f_c, Hz
  double reflection = 0;  ///< R; 0: 10^-min(8, 3 + width/5) for each face
  double kappa = 1;       ///< >= 1
};

/// One profile along one axis, over `total` entries, 0 outside the strips.
struct Profile {
  std::string name;  ///< "a", "b"; with kappa also "k" = 1/kappa - 1 and "dk" = d(1/kappa)/dx
  int axis = 0;
  bool half = false;
  std::vector<double> values;
};

/// Axes are slowest first; unused axes have extent 1 and no faces.
struct Domain {
  int dims = 0;
  Extents shape{1, 1, 1};                                   ///< model nodes per axis
  std::array<std::array<std::int64_t, 2>, max_axes> pad{};  ///< layer cells beyond each face
  std::array<std::array<FaceKind, 2>, max_axes> faces{};
  std::array<double, max_axes> spacing{1, 1, 1};  ///< m

  std::int64_t total(int axis) const;  ///< nodes with the layers
  std::int64_t points() const;         ///< product of the totals
  /// Where `field` evolves, along one axis, in padded indices (numerics.md: live entries, rows of surfaces).
  Range live(const Field& field, int axis) const;
  /// The same along all axes.
  Box live(const Field& field) const;
  /// The entries of `field` between two depths beside its absorbing faces, whatever its own inset: boxes that
  /// do not meet, whose union is what lies outside of `inner` and inside of `outer`. Two per axis, empty
  /// where a face has no layer.
  std::vector<Box> ring(const Field& field, const Depths& outer, const Depths& inner) const;
  /// 1 where node `index` (padded) lies on the row of a free surface normal to `axis`, else 0.
  int surfaces(int axis, std::int64_t index) const;
  bool has_free_surface() const;
  /// The strip of `axis` where d > 0 on one side (0 minus, 1 plus), for nodes or half cells, in padded
  /// indices.
  Range strip(int axis, int side, bool half) const;
  /// The strip on which `field` is updated: with what of it lives beyond the face.
  Range strip(const Field& field, int axis, int side) const;
  /// The `radius` cells beside that strip, inwards; never beyond the other side's strip.
  Range apron(int axis, int side, bool half, int radius) const;
  /// The same into the other side's strip where that is near: where each side's memory stands in an array of
  /// its own, it acts that far.
  Range beside(int axis, int side, bool half, int radius) const;
  /// The image rule of `field` beyond a face; `first_order` tells velocity-stress systems from second-order
  /// scalars.
  Image image(const Field& field, int axis, int side, bool first_order) const;
  /// All profiles of the layers (numerics.md, Absorbing layer), in double.
  std::vector<Profile> profiles(const LayerOptions& options) const;
};

/// The default R of a layer of `width` cells: 10^-min(8, 3 + width/5) (numerics.md, Absorbing layer).
double layer_reflection(std::int64_t width);

}  // namespace ir
}  // namespace ondula
