// Misfits of modelled against observed records, with their derivatives: what a gradient's callback returns.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/export.hpp"
#include "runtime/gradient.hpp"
#include "runtime/types.hpp"

namespace ondula {

/// With m and o a modelled and an observed trace:
enum class MisfitKind {
  l2,           ///< dt/2 * sum of (m - o)^2
  correlation,  ///< 1 - <m, o> / (|m| |o|) of each trace: amplitudes do not count
  envelope      ///< dt/2 * sum of (e(m) - e(o))^2, e(x)^2 = x^2 + hilbert(x)^2
};

/// Drops what comes before one time or after another, which move out with the offset: the distance between a
/// receiver and the nearest source of its shot.
struct Mute {
  std::optional<double> before;    ///< s, of the record's times
  std::optional<double> after;     ///< s
  std::optional<double> velocity;  ///< m/s, > 0: both times are later by offset/velocity
  double taper = 0;                ///< s: the length of the half cosine inside the kept part
};

/// How records are compared.
struct MisfitOptions {
  MisfitKind kind = MisfitKind::l2;
  std::optional<Mute> mute;  ///< applied first, to both
  /// [low, high] in Hz, 0 <= low < high: then the zero-phase band-pass of trace_filter.hpp, on both.
  std::optional<std::array<double, 2>> band;
};

/// When the samples of records are: sample k of a field is at t0 + k dt + its offset.
struct RecordTimes {
  double t0 = 0;                          ///< s
  double dt = 0;                          ///< s, > 0
  std::map<std::string, double> offsets;  ///< s, per field; 0 where left out (Propagator::time_offset)
};

/// The weights, receiver by receiver and sample by sample, that a mute gives the traces of one field of a
/// shot: 0 where they are dropped, 1 where kept, between them in the taper.
ONDULA_API std::vector<double> mute_weights(const Mute& mute, const Shot& shot, const std::string& field,
                                            std::int64_t samples, const RecordTimes& times);

/// The misfit of one shot and its derivative: the sum over the fields of `observed` and their traces. Of the
/// correlation, a pair of traces counts 0 where the observed one is zero, and 1 with a derivative of 0 where
/// the modelled one alone is; the envelope's derivative is 0 where the modelled envelope is. Throws UserError
/// for options out of range, a field that is not among `modelled`, another shape, and values that are not
/// finite.
ONDULA_API Misfit compare_records(const std::map<std::string, Traces>& modelled,
                                  const std::map<std::string, Traces>& observed, const Shot& shot,
                                  const MisfitOptions& options, const RecordTimes& times);

/// `compare_records`, as Propagator::gradient takes it: shot by shot against `observed`. Throws UserError
/// where the numbers of shots differ, or the band does not fit the sampling.
ONDULA_API MisfitFunction misfit_against(Records observed, std::vector<Shot> shots, MisfitOptions options,
                                         RecordTimes times);

/// Throws UserError where a value of the options is out of range: a band beyond the Nyquist frequency, say.
ONDULA_API void check_misfit(const MisfitOptions& options, double dt);

}  // namespace ondula
