// The synthetic sedimentary basin: a model of our own for demonstrations and tests, in 2-D and 3-D.
// SPDX-License-Identifier: MIT
#include "runtime/io/basin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"

namespace ondula::io {

namespace {

enum class Rock { shale, sand, carbonate, basement };

/// A layer: from `top` (a share of the depth, before folding and faulting) to the next one's.
struct Layer {
  double top;
  Rock rock;
  double faster;  ///< m/s over the compaction curve
};

/// A place in the model: shares of the extents across, metres down.
struct Place {
  double x;      ///< 0 to 1
  double y;      ///< 0 to 1; 0.5 in a section
  double depth;  ///< m from the top of the model
};

struct Values {
  double vp, vs, rho;
};

/// A number in [0, 1) that looks random (the finaliser of MurmurHash3 over three integers).
double noise(std::uint32_t a, std::uint32_t b, std::uint32_t seed) {
  std::uint32_t h =
      seed * 0x9e3779b9U ^ (a * 0x85ebca6bU + 0x27d4eb2fU) ^ (b * 0xc2b2ae35U + 0x165667b1U) * 0x9e3779b1U;
  h = (h ^ (h >> 16)) * 0x85ebca6bU;
  h = (h ^ (h >> 13)) * 0xc2b2ae35U;
  return static_cast<double>(h ^ (h >> 16)) / 4294967296.0;
}

double smooth_step(double t) { return t * t * (3.0 - 2.0 * t); }

double mix(double a, double b, double t) { return a + t * (b - a); }

/// Smooth noise in [-1, 1] over a plane, of about one wave per unit.
double waves(double u, double v, std::uint32_t seed) {
  const double fu = std::floor(u);
  const double fv = std::floor(v);
  const auto iu = static_cast<std::uint32_t>(static_cast<std::int64_t>(fu));
  const auto iv = static_cast<std::uint32_t>(static_cast<std::int64_t>(fv));
  const double tu = smooth_step(u - fu);
  const double upper = mix(noise(iu, iv, seed), noise(iu + 1, iv, seed), tu);
  const double lower = mix(noise(iu, iv + 1, seed), noise(iu + 1, iv + 1, seed), tu);
  return 2.0 * mix(upper, lower, smooth_step(v - fv)) - 1.0;
}

/// A hill of height 1 at 0, half of it at 0.64, without an exponential (whose last bit differs between
/// machines).
double hill(double u) {
  const double w = 1.0 + u * u;
  return 1.0 / (w * w);
}

class Geology {
 public:
  Geology(double depth, double width, double water, std::uint32_t seed)
      : depth_(depth), width_(width), water_(water), seed_(seed) {
    double top = 0.0;
    for (std::uint32_t k = 0; top < basement_top; ++k) {
      const bool hard =
          (k + seed_) % 2 == 0;  // hard and soft beds take turns, so that every boundary reflects
      const Rock rock = !hard                                    ? Rock::shale
                        : top < 0.35 || noise(k, 1, seed_) < 0.7 ? Rock::sand
                                                                 : Rock::carbonate;
      const double step = 60.0 + 240.0 * noise(k, 2, seed_);
      layers_.push_back({top, rock, rock == Rock::shale ? -step : rock == Rock::sand ? step : 500.0 + step});
      top += 0.025 + 0.04 * noise(k, 3, seed_);
    }
    layers_.push_back({basement_top, Rock::basement, 0.0});
  }

  Values at(const Place& place) const {
    const double floor = sea_floor(place);
    const double below = place.depth - floor;
    if (below < 0.0) return {1500.0, 0.0, 1025.0};
    if (below < soft_thickness(place)) return soft(place);
    if (in_salt(place)) return {4500.0, 2600.0, 2150.0};
    return rock(place, below);
  }

 private:
  static constexpr double basement_top = 0.93;

  /// Depth of the sea floor, m: `water_` at its deepest.
  double sea_floor(const Place& place) const {
    return water_ == 0.0 ? 0.0 : water_ * (0.85 + 0.15 * waves(3.0 * place.x, 3.0 * place.y, seed_ + 11));
  }

  /// Thickness of the soft layer, m: 2 to 6 % of the depth, at most 120 m.
  double soft_thickness(const Place& place) const {
    const double largest = std::min(120.0, 0.06 * depth_);
    return largest * (0.67 + 0.33 * waves(7.0 * place.x, 7.0 * place.y, seed_ + 12));
  }

  Values soft(const Place& place) const {
    const double lateral = waves(11.0 * place.x, 11.0 * place.y, seed_ + 13);
    const double vp = water_ == 0.0 ? 1300.0 + 200.0 * lateral : 1625.0 + 75.0 * lateral;
    return {vp, 0.35 * vp, gardner(vp)};
  }

  static double gardner(double vp) { return 310.0 * std::sqrt(std::sqrt(vp)); }

  /// The salt: an ellipsoid in the anticline's core, wider at its top, with an uneven skin.
  bool in_salt(const Place& place) const {
    const double down = (place.depth / depth_ - 0.60) / 0.23;
    const double wide = 0.105 * (1.0 - 0.4 * down);
    const double across = (place.x - 0.69) / wide;
    const double along = (place.y - 0.5) / (2.4 * wide);
    const double skin =
        1.0 + 0.10 * waves(14.0 * place.x, 9.0 * (place.depth / depth_ + place.y), seed_ + 14);
    return across * across + along * along + down * down < skin * skin;
  }

  /// The share of the depth at which the rock at a place lay before folding and faulting.
  double stratum(const Place& place) const {
    const double level = place.depth / depth_;
    const double grown = level * (1.6 - 0.6 * level);
    const double anticline = 0.17 * hill((place.x - 0.69) / 0.21) * hill((place.y - 0.5) / 0.9);
    const double sag = 0.10 * hill((place.x - 0.22) / 0.26) * hill((place.y - 0.45) / 0.8);
    const double ripple = 0.008 * waves(6.0 * place.x, 6.0 * place.y + 2.0 * level, seed_ + 15);
    return level + grown * (anticline - sag + ripple) - fault_throw(place, level);
  }

  /// The throw at a place, a share of the depth: in the hanging wall, full from 30 % of the depth down, none
  /// above 8 %.
  double fault_throw(const Place& place, double level) const {
    constexpr double cot60 = 0.5773502691896258;
    const double surface = 0.36 + 0.10 * (place.y - 0.5);
    const double from_plane = (place.x - surface) * width_ - cot60 * place.depth;
    return from_plane < 0.0 ? 0.0 : 0.07 * smooth_step(std::clamp((level - 0.08) / 0.22, 0.0, 1.0));
  }

  Values rock(const Place& place, double below) const {
    const double stratum_here = std::clamp(stratum(place), 0.0, 1.0);
    const auto next = std::upper_bound(layers_.begin(), layers_.end(), stratum_here,
                                       [](double level, const Layer& layer) { return level < layer.top; });
    const Layer& layer = *(next - 1);
    const double lateral = 1.0 + 0.015 * waves(9.0 * place.x, 9.0 * place.y + 5.0 * layer.top, seed_ + 16);
    if (layer.rock == Rock::basement) {
      const double vp = 5200.0 * lateral;
      return {vp, vp / 1.75, gardner(vp)};
    }
    // Compaction: from 2150 m/s at the surface towards 5200, half of the way at 2.8 km.
    const double compacted = 5200.0 - 3050.0 / (1.0 + below / 2800.0);
    const double vp = std::max(1900.0, (compacted + layer.faster) * lateral);
    return {vp, layer.rock == Rock::carbonate ? vp / 1.9 : 0.862 * vp - 1172.0, gardner(vp)};
  }

  double depth_;
  double width_;
  double water_;
  std::uint32_t seed_;
  std::vector<Layer> layers_;
};

void check(const BasinOptions& options) {
  const std::size_t rank = options.shape.size();
  if ((rank != 2 && rank != 3) || options.spacing.size() != rank)
    throw UserError(
        fmt::format("a basin of {} extents and {} spacings; allowed are 2 of each (z, x) or 3 (z, y, x)",
                    rank, options.spacing.size()));
  element_count(options.shape);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (options.shape[axis] < 2)
      throw UserError(
          fmt::format("a basin of shape {}: each extent must be 2 or more", shape_text(options.shape)));
    if (!(options.spacing[axis] > 0.0 && options.spacing[axis] < 1e5))
      throw UserError(fmt::format("a basin's spacing is {} m; it must be positive and below 100 km",
                                  options.spacing[axis]));
  }
  const double depth = static_cast<double>(options.shape[0]) * options.spacing[0];
  if (!(options.water_depth >= 0.0 && options.water_depth < 0.5 * depth))
    throw UserError(fmt::format("a basin's water depth is {} m; allowed is 0 to under half its depth of {} m",
                                options.water_depth, depth));
}

double rounded(double value) { return std::floor(10.0 * value + 0.5) / 10.0; }

}  // namespace

BasinOptions default_basin_volume() { return {{96, 96, 96}, {20.0, 20.0, 20.0}}; }

Basin make_basin(const BasinOptions& options) {
  check(options);
  const bool volume = options.shape.size() == 3;
  const std::int64_t rows = options.shape[0];
  const std::int64_t lines = volume ? options.shape[1] : 1;
  const std::int64_t columns = options.shape.back();
  const Geology geology(static_cast<double>(rows) * options.spacing[0],
                        static_cast<double>(columns) * options.spacing.back(), options.water_depth,
                        options.seed);
  Basin basin;
  basin.axes = volume ? std::vector<std::string>{"z", "y", "x"} : std::vector<std::string>{"z", "x"};
  basin.spacing = options.spacing;
  for (Array* array : {&basin.vp, &basin.vs, &basin.rho}) {
    array->shape = options.shape;
    array->data.reserve(static_cast<std::size_t>(rows * lines * columns));
  }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < lines; ++j)
      for (std::int64_t k = 0; k < columns; ++k) {
        const Values values = geology.at({(static_cast<double>(k) + 0.5) / static_cast<double>(columns),
                                          (static_cast<double>(j) + 0.5) / static_cast<double>(lines),
                                          static_cast<double>(i) * options.spacing[0]});
        basin.vp.data.push_back(rounded(values.vp));
        basin.vs.data.push_back(rounded(values.vs));
        basin.rho.data.push_back(rounded(values.rho));
      }
  return basin;
}

}  // namespace ondula::io
