// Collatz iterations.
// SPDX-License-Identifier: MIT
#include "runtime/collatz.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "compiler/error.hpp"
#include "compiler/ir/images.hpp"
#include "runtime/collatz_rows.hpp"

// Why layers and faces need no terms of their own. A mirror face makes the operator act on fields that are
// even or odd beyond it: folding the images back adds entries of |A|, which is what the images of x do here,
// all taken with the sign +. Where a field is not live x is 0: a row and a column less never raise the
// spectral radius of a matrix without negative entries. Rows changed on a free surface have smaller
// coefficients than the plain ones used here. In a layer the memory variables damp what the plain scheme
// would do; beyond its end there are zeros. The model is padded as the run pads it. Along an axis on which no
// model varies the fields x may be chosen constant, and the axis then counts as one periodic point: without
// faces the row sums are larger, if anything.

namespace ondula {
namespace {

constexpr int iterations = 30;
/// A homogeneous medium is one point; there iterations cost nothing and settle the last digits.
constexpr int iterations_of_a_point = 300;
constexpr double close_enough = 1.003;
constexpr double least_gain = 1e-4;
/// The sums are taken in float; what they may lose is added.
constexpr double rounding = 1 + 4e-6;
constexpr std::size_t cached_coefficients = std::size_t{1} << 25;  // floats

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// A field's place on the padded domain; axes count from the plane axis on: (plane, row, along).
struct Place {
  std::array<ir::Range, 3> live{};
  std::array<std::vector<std::int64_t>, 3> source;  // [index + halo]: the entry read there, or -1 for 0
};

/// Planes of a field; slots are reused where fewer are kept than there are.
struct Planes {
  std::int64_t rows = 0, row = 0, slots = 0;
  std::vector<float> values;
  float* at_row(std::int64_t plane, std::int64_t r) {
    return values.data() + ((plane % slots) * rows + r) * row;
  }
};

struct RowOperator {
  std::vector<TapGroup> groups;
  std::vector<std::size_t> coefficient;  // of each group
};

struct Scratch {
  std::unique_ptr<CoefficientRows> coefficients;
  std::vector<float> coefficient, sum, extended;
};

struct Largest {
  double ratio = 0;
  ir::Extents index{};
};

class Iteration {
 public:
  Iteration(const ir::Program& program, const Scheme& scheme, const ir::Domain& domain,
            const loop::Models& models)
      : program_(program), scheme_(scheme), domain_(domain), models_(models), lead_(3 - domain.dims) {
    const std::size_t last = scheme.stages.size() - 1;
    for (const FieldTerms& f : scheme.stages[0]) outer_.push_back(operator_of(f, scheme.stages[last]));
    if (last == 1) {
      for (const FieldTerms& f : scheme.stages[1]) inner_.push_back(operator_of(f, scheme.stages[0]));
    }
    for (int axis = 0; axis < domain.dims; ++axis) extent_[at(axis + lead_)] = domain.total(axis);
    for (std::size_t s = 0; s <= last; ++s) {
      for (const FieldTerms& f : scheme.stages[s]) places_[s].push_back(place(program.field(f.field)));
    }
    const bool wraps = domain.dims == 3 && domain.faces[0][0] == FaceKind::periodic;
    window_ = wraps ? extent_[0] : std::min<std::int64_t>(extent_[0], 2 * reach_ + 2);
  }

  /// What run() holds, a few rows per thread left out.
  std::size_t bytes() const {
    const std::size_t plane = at(extent_[1] * extent_[2]), points = at(extent_[0]) * plane;
    return sizeof(float) * (2 * outer_.size() * points + inner_.size() * at(window_) * plane +
                            (caches() ? coefficients_.size() * points : 0));
  }

  Largest run(double enough) {
    x_.assign(outer_.size(), planes(extent_[0]));
    next_ = x_;
    y_.assign(inner_.size(), planes(window_));
    if (caches()) cache_coefficients();
    start();
    Largest best;
    const bool point = extent_[0] * extent_[1] * extent_[2] == 1;
    for (int k = 0; k < (point ? iterations_of_a_point : iterations); ++k) {
      const Largest now = step();
      const double gain = k == 0 ? 1 : 1 - now.ratio / best.ratio;
      if (k == 0 || now.ratio < best.ratio) best = now;
      if (best.ratio <= enough * close_enough || (k > 2 && gain < (point ? 1e-12 : least_gain))) break;
      scale(now.ratio);
    }
    return best;
  }

 private:
  RowOperator operator_of(const FieldTerms& terms, const std::vector<FieldTerms>& read) {
    RowOperator result;
    result.groups = absolute_row(program_, terms, read, domain_);
    for (const TapGroup& group : result.groups) {
      for (const AbsoluteTap& tap : group.taps) {
        for (const int offset : tap.offset) reach_ = std::max(reach_, std::abs(offset));
      }
      for (const auto& [product, ratio] : group.coefficient) {
        for (const PlacedFactor& factor : product) {
          for (const int half : factor.at) model_reach_ = std::max(model_reach_, std::abs(half) / 2 + 1);
        }
      }
      const auto same = std::find_if(coefficients_.begin(), coefficients_.end(),
                                     [&](const TapGroup& g) { return g.coefficient == group.coefficient; });
      result.coefficient.push_back(static_cast<std::size_t>(same - coefficients_.begin()));
      if (same == coefficients_.end()) coefficients_.push_back({group.coefficient, {}});
    }
    return result;
  }

  Place place(const ir::Field& field) const {
    Place result;
    for (std::size_t a = 0; a < 3; ++a) {
      const int axis = static_cast<int>(a) - lead_;
      result.live[a] = axis < 0 ? ir::Range{0, 1} : domain_.live(field, axis);
      auto& source = result.source[a];
      for (std::int64_t i = -reach_; i < extent_[a] + reach_; ++i)
        source.push_back(axis >= 0 || i == 0 ? i : -1);
      if (axis < 0) continue;
      for (const ir::Repeat& image :
           ir::field_images(domain_, field, axis, !scheme_.second_order(), reach_)) {
        source[at(image.to + reach_)] = image.sign == 0 ? -1 : image.from;
      }
    }
    return result;
  }

  Planes planes(std::int64_t slots) const {
    Planes result{extent_[1], extent_[2], slots, {}};
    result.values.assign(at(slots * extent_[1] * extent_[2]), 0.0F);
    return result;
  }

  bool caches() const {
    return at(extent_[0] * extent_[1] * extent_[2]) * coefficients_.size() <= cached_coefficients;
  }

  void cache_coefficients() {
    const std::int64_t points = extent_[0] * extent_[1] * extent_[2];
    cache_.resize(coefficients_.size());
    for (auto& values : cache_) values.resize(at(points));
    for (std::int64_t plane = 0; plane < extent_[0]; ++plane) {
      for_rows([&](std::int64_t row, Scratch& scratch) {
        for (std::size_t c = 0; c < cache_.size(); ++c) {
          fresh(scratch).row(coefficients_[c], natural(plane, row), scratch.coefficient);
          std::copy(scratch.coefficient.begin(), scratch.coefficient.end(),
                    cache_[c].begin() + (plane * extent_[1] + row) * extent_[2]);
        }
      });
    }
  }

  template <class F>
  void for_rows(const F& body) {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, extent_[1], 4),
                      [&](const tbb::blocked_range<std::int64_t>& rows) {
                        Scratch& scratch = scratch_.local();
                        for (std::int64_t row = rows.begin(); row < rows.end(); ++row) body(row, scratch);
                      });
  }

  ir::Extents natural(std::int64_t plane, std::int64_t row) const {
    ir::Extents index{};
    if (lead_ <= 0) index[0] = plane;
    if (lead_ <= 1) index[at(1 - lead_)] = row;
    return index;
  }

  CoefficientRows& fresh(Scratch& scratch) const {
    if (!scratch.coefficients)
      scratch.coefficients = std::make_unique<CoefficientRows>(domain_, models_, model_reach_);
    return *scratch.coefficients;
  }

  const float* coefficient(std::size_t c, std::int64_t plane, std::int64_t row, Scratch& scratch) const {
    if (!cache_.empty()) return cache_[c].data() + (plane * extent_[1] + row) * extent_[2];
    fresh(scratch).row(coefficients_[c], natural(plane, row), scratch.coefficient);
    return scratch.coefficient.data();
  }

  /// out = row of `rows` at (plane, row), reading `read` of the stage `from`.
  void apply(const RowOperator& op, std::vector<Planes>& read, std::size_t from, std::int64_t plane,
             std::int64_t row, Scratch& scratch, float* out) {
    const std::int64_t n = extent_[2];
    std::fill(out, out + n, 0.0F);
    scratch.sum.resize(at(n));
    scratch.extended.resize(at(n + 2 * reach_));
    for (std::size_t g = 0; g < op.groups.size(); ++g) {
      std::fill(scratch.sum.begin(), scratch.sum.end(), 0.0F);
      std::array<std::int64_t, 3> held{-1, -1, -1};
      for (const AbsoluteTap& tap : op.groups[g].taps) {
        const auto offset = [&](int a) { return a < lead_ ? 0 : tap.offset[at(a - lead_)]; };
        const Place& place = places_[from][tap.field];
        const std::int64_t p = place.source[0][at(plane + offset(0) + reach_)];
        const std::int64_t r = place.source[1][at(row + offset(1) + reach_)];
        if (p < 0 || r < 0) continue;
        const float* source = read[tap.field].at_row(p, r);
        if (offset(2) != 0) {
          const std::array<std::int64_t, 3> wanted{static_cast<std::int64_t>(tap.field), p, r};
          if (wanted != held) extend(source, place, scratch.extended);
          held = wanted;
          source = scratch.extended.data() + reach_ + offset(2);
        }
        const auto weight = static_cast<float>(tap.weight);
        for (std::int64_t i = 0; i < n; ++i) scratch.sum[at(i)] += weight * source[i];
      }
      const float* c = coefficient(op.coefficient[g], plane, row, scratch);
      for (std::int64_t i = 0; i < n; ++i) out[i] += c[i] * scratch.sum[at(i)];
    }
  }

  static void extend(const float* source, const Place& place, std::vector<float>& extended) {
    for (std::size_t i = 0; i < extended.size(); ++i) {
      const std::int64_t from = place.source[2][i];
      extended[i] = from < 0 ? 0.0F : source[from];
    }
  }

  static bool lives(const Place& place, std::int64_t plane, std::int64_t row) {
    return plane >= place.live[0].lo && plane < place.live[0].hi && row >= place.live[1].lo &&
           row < place.live[1].hi;
  }

  /// x = the root of the coefficients in front of the first stage: what makes A symmetric, and the exact
  /// answer in a homogeneous medium.
  void start() {
    float most = 0;
    for (std::size_t f = 0; f < outer_.size(); ++f) {
      for (std::int64_t plane = 0; plane < extent_[0]; ++plane) {
        for_rows([&](std::int64_t row, Scratch& scratch) {
          if (!lives(places_[0][f], plane, row)) return;
          float* x = x_[f].at_row(plane, row);
          for (const std::size_t c : outer_[f].coefficient) {
            const float* values = coefficient(c, plane, row, scratch);
            const ir::Range live = places_[0][f].live[2];
            for (std::int64_t i = live.lo; i < live.hi; ++i) x[i] = std::max(x[i], std::sqrt(values[i]));
          }
        });
      }
      most = std::max(most, *std::max_element(x_[f].values.begin(), x_[f].values.end()));
      if (!std::isfinite(most)) {
        throw UserError(fmt::format("equation {}: a coefficient of {} is not finite in this model",
                                    program_.equation, scheme_.stages[0][f].field));
      }
    }
    for_live([&](std::size_t, float& x) { x = std::max(x / most, 1e-6F); });
  }

  template <class F>
  void for_live(const F& body) {
    for (std::size_t f = 0; f < x_.size(); ++f) {
      const Place& place = places_[0][f];
      for (std::int64_t plane = place.live[0].lo; plane < place.live[0].hi; ++plane) {
        for (std::int64_t row = place.live[1].lo; row < place.live[1].hi; ++row) {
          float* x = x_[f].at_row(plane, row);
          for (std::int64_t i = place.live[2].lo; i < place.live[2].hi; ++i) body(f, x[i]);
        }
      }
    }
  }

  void stress_plane(std::int64_t plane) {
    for_rows([&](std::int64_t row, Scratch& scratch) {
      for (std::size_t f = 0; f < inner_.size(); ++f) {
        float* out = y_[f].at_row(plane, row);
        const Place& place = places_[1][f];
        if (!lives(place, plane, row)) {
          std::fill(out, out + extent_[2], 0.0F);
          continue;
        }
        apply(inner_[f], x_, 0, plane, row, scratch, out);
        std::fill(out, out + place.live[2].lo, 0.0F);
        std::fill(out + place.live[2].hi, out + extent_[2], 0.0F);
      }
    });
  }

  /// next = |A| x, and the largest of its ratios to x.
  Largest step() {
    Largest largest;
    std::int64_t ready = 0;
    std::vector<Largest> of_row(at(extent_[1]));
    for (std::int64_t plane = 0; plane < extent_[0]; ++plane) {
      if (!inner_.empty()) {
        const bool all = y_[0].slots == extent_[0];
        const std::int64_t until = all ? extent_[0] : std::min(extent_[0], plane + reach_ + 1);
        for (; ready < until; ++ready) stress_plane(ready);
      }
      for_rows(
          [&](std::int64_t row, Scratch& scratch) { of_row[at(row)] = velocity_row(plane, row, scratch); });
      for (const Largest& found : of_row) {
        if (found.ratio > largest.ratio || std::isnan(found.ratio)) largest = found;
      }
      if (!std::isfinite(largest.ratio)) {
        throw UserError(
            fmt::format("equation {}: a coefficient is not finite in this model", program_.equation));
      }
    }
    return largest;
  }

  Largest velocity_row(std::int64_t plane, std::int64_t row, Scratch& scratch) {
    Largest largest;
    for (std::size_t f = 0; f < outer_.size(); ++f) {
      const Place& place = places_[0][f];
      if (!lives(place, plane, row)) continue;
      float* out = next_[f].at_row(plane, row);
      apply(outer_[f], inner_.empty() ? x_ : y_, inner_.empty() ? 0 : 1, plane, row, scratch, out);
      const float* x = x_[f].at_row(plane, row);
      for (std::int64_t i = place.live[2].lo; i < place.live[2].hi; ++i) {
        const double ratio = static_cast<double>(out[i]) / static_cast<double>(x[i]);
        if (ratio > largest.ratio || std::isnan(ratio)) {
          largest.ratio = ratio;
          largest.index = natural(plane, row);
          largest.index[at(domain_.dims - 1)] = i;
        }
      }
    }
    return largest;
  }

  /// x = next / ratio, kept positive: fields that fade beside a much faster medium must not reach 0.
  void scale(double ratio) {
    std::swap(x_, next_);
    const auto factor = static_cast<float>(1 / ratio);
    for_live([&](std::size_t, float& x) { x = std::max(x * factor, 1e-30F); });
  }

  const ir::Program& program_;
  const Scheme& scheme_;
  const ir::Domain& domain_;
  const loop::Models& models_;
  int lead_;
  int reach_ = 0, model_reach_ = 1;
  std::int64_t window_ = 0;  // planes kept of the second stage
  std::array<std::int64_t, 3> extent_{1, 1, 1};
  std::vector<RowOperator> outer_, inner_;  // of the first stage, and of the second
  std::vector<TapGroup> coefficients_;      // without taps
  std::vector<std::vector<float>> cache_;
  std::array<std::vector<Place>, 2> places_;
  std::vector<Planes> x_, next_, y_;
  tbb::enumerable_thread_specific<Scratch> scratch_;
};

/// True if no model varies along `axis`.
bool uniform_along(const loop::Models& models, const ir::Domain& domain, int axis) {
  std::int64_t stride = 1;
  for (int a = axis + 1; a < domain.dims; ++a) stride *= domain.shape[at(a)];
  const std::int64_t extent = domain.shape[at(axis)];
  const std::int64_t nodes = domain.shape[0] * domain.shape[1] * domain.shape[2];
  for (const auto& [name, array] : models) {
    if (array.is_constant()) continue;
    for (std::int64_t i = 0; i < nodes; ++i) {
      if (i / stride % extent != 0 && array[i] != array[i - stride]) return false;
    }
  }
  return true;
}

/// The models on their first nodes along the axes that shrink to one point.
loop::Models shrunk(const loop::Models& models, const ir::Domain& from, const ir::Domain& to) {
  loop::Models result;
  for (const auto& [name, array] : models) {
    if (array.is_constant()) {
      result[name] = array;
      continue;
    }
    std::vector<double> values;
    ir::Extents i{};
    for (i[0] = 0; i[0] < to.shape[0]; ++i[0]) {
      for (i[1] = 0; i[1] < to.shape[1]; ++i[1]) {
        for (i[2] = 0; i[2] < to.shape[2]; ++i[2]) {
          values.push_back(array[(i[0] * from.shape[1] + i[1]) * from.shape[2] + i[2]]);
        }
      }
    }
    result[name] = loop::ModelArray(values);
  }
  return result;
}

/// `domain` with one periodic point along every axis on which no model varies.
ir::Domain varying(const ir::Domain& domain, const loop::Models& models) {
  ir::Domain small = domain;
  for (int axis = 0; axis < domain.dims; ++axis) {
    if (!uniform_along(models, domain, axis)) continue;
    small.shape[at(axis)] = 1;
    small.pad[at(axis)] = {0, 0};
    small.faces[at(axis)] = {FaceKind::periodic, FaceKind::periodic};
  }
  return small;
}

Largest bound(const ir::Program& program, const Scheme& scheme, const ir::Domain& domain,
              const loop::Models& models, double enough) {
  const ir::Domain small = varying(domain, models);
  if (small.shape == domain.shape) return Iteration(program, scheme, domain, models).run(enough);
  const loop::Models less = shrunk(models, domain, small);
  return Iteration(program, scheme, small, less).run(enough);
}

loop::Models homogeneous(const loop::Models& models, const ir::Domain& domain,
                         const std::vector<std::int64_t>& cell) {
  std::int64_t flat = 0;
  for (std::size_t a = 0; a < cell.size(); ++a) flat = flat * domain.shape[a] + cell[a];
  loop::Models result;
  for (const auto& [name, array] : models) result[name] = loop::ModelArray(array[flat]);
  return result;
}

}  // namespace

std::size_t collatz_bytes(const ir::Program& physical, const Scheme& scheme, const ir::Domain& domain,
                          const loop::Models& models) {
  const ir::Domain small = varying(domain, models);
  std::size_t bytes = Iteration(physical, scheme, small, models).bytes();
  if (small.shape == domain.shape) return bytes;
  const auto nodes = [](const ir::Domain& d) { return at(d.shape[0] * d.shape[1] * d.shape[2]); };
  for (const auto& [name, array] : models) bytes += array.bytes() / nodes(domain) * nodes(small);
  return bytes;
}

StepBound collatz_bound(const ir::Program& physical, const Scheme& scheme, const ir::Domain& domain,
                        const loop::Models& models, const std::vector<std::int64_t>& fastest_cell,
                        int threads) {
  StepBound result;
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  arena.execute([&] {
    const loop::Models like_fastest = homogeneous(models, domain, fastest_cell);
    const double enough = bound(physical, scheme, domain, like_fastest, 0).ratio;
    const Largest found = bound(physical, scheme, domain, models, enough);
    result.limit = 2 / std::sqrt(found.ratio * rounding);
    for (int axis = 0; axis < domain.dims; ++axis) {
      const std::int64_t node = found.index[at(axis)] - domain.pad[at(axis)][0];
      result.cell.push_back(std::clamp<std::int64_t>(node, 0, domain.shape[at(axis)] - 1));
    }
  });
  return result;
}

}  // namespace ondula
