// What the tests of whole runs share: a run stated in a few lines, its wavelet, its traces.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "equations/equations.hpp"
#include "runtime/propagator.hpp"

namespace ondula::test {

inline constexpr Face rigid{FaceKind::rigid, 0};
inline constexpr Face free_surface{FaceKind::free_surface, 0};

/// `shape` nodes per axis with equal spacing (m), the origin at 0, the same face all around.
Grid grid(const std::vector<std::int64_t>& shape, double spacing, Face face = rigid);

/// float64 on one thread, substeps 1 (steps up to the limit itself are accepted).
PropagatorOptions options(double dt, std::int64_t steps, int order);

/// (1 - 2a) exp(-a), a = (pi f tau)^2, tau from the peak (s).
double ricker(double frequency, double tau);

/// `count` samples at k dt of the Ricker wavelet that peaks at `delay`.
std::vector<double> ricker_wavelet(double frequency, double delay, double dt, std::int64_t count);

/// A point source of the acoustic equation.
Source source(const std::vector<double>& position, const std::vector<double>& wavelet,
              Interpolation interpolation = Interpolation::sinc);

/// A receiver of the acoustic pressure.
Receiver receiver(const std::vector<double>& position, Interpolation interpolation = Interpolation::sinc);

/// The traces of field u of one acoustic shot through a new Propagator, one vector per receiver. `vp` has a
/// value per node, or one for all.
std::vector<std::vector<double>> acoustic_traces(const Grid& grid, const PropagatorOptions& options,
                                                 const std::vector<double>& vp, const Shot& shot);

/// `count` rows of `samples` values as vectors.
std::vector<std::vector<double>> rows(const Traces& traces);

/// sum of squares.
double energy(std::span<const double> values);

/// The difference of two series of one length.
std::vector<double> difference(std::span<const double> a, std::span<const double> b);

/// A value per node, C order, from f(node indices).
std::vector<double> on_nodes(const Grid& grid,
                             const std::function<double(const std::vector<std::int64_t>&)>& f);

/// Reproducible numbers on every platform (a 64-bit linear congruential generator; Knuth's multiplier).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// In [0, 1).
  double uniform();
  /// Of mean 0 and variance 1 (Box and Muller 1958).
  double normal();

 private:
  std::uint64_t state_;
};

/// S(theta) = -(a_0 + 2 sum a_m cos m theta) of the second derivative of `order`, from the closed form of its
/// weights (verification.md, Exact on the grid): independent of the compiler's own.
double second_derivative_symbol(int order, double theta);

/// The largest stable step for speed `c` on equal spacing: 2h/(c sqrt(dims S(pi))).
double acoustic_limit(int order, int dims, double spacing, double c);

}  // namespace ondula::test
