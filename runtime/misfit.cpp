// Misfits of modelled against observed records, with their derivatives.
// SPDX-License-Identifier: MIT
#include "runtime/misfit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "compiler/error.hpp"
#include "runtime/trace_filter.hpp"

namespace ondula {
namespace {

/// The value of one pair of traces; `slope` gets its derivative with respect to the modelled one.
using Pair = double (*)(std::span<const double> modelled, std::span<const double> observed,
                        const TraceFilter& filter, double dt, std::vector<double>& slope);

double l2(std::span<const double> modelled, std::span<const double> observed, const TraceFilter&, double dt,
          std::vector<double>& slope) {
  double sum = 0;
  for (std::size_t i = 0; i < modelled.size(); ++i) {
    const double difference = modelled[i] - observed[i];
    sum += difference * difference;
    slope[i] = dt * difference;
  }
  return 0.5 * dt * sum;
}

/// Largest magnitude, so that squares of small fields do not underflow.
double largest(std::span<const double> trace) {
  double size = 0;
  for (const double value : trace) size = std::max(size, std::abs(value));
  return size;
}

double correlation(std::span<const double> modelled, std::span<const double> observed, const TraceFilter&,
                   double, std::vector<double>& slope) {
  const double m0 = largest(modelled), o0 = largest(observed);
  if (o0 == 0) return 0;
  if (m0 == 0) return 1;
  double mm = 0, oo = 0, mo = 0;
  for (std::size_t i = 0; i < modelled.size(); ++i) {
    const double m = modelled[i] / m0, o = observed[i] / o0;
    mm += m * m;
    oo += o * o;
    mo += m * o;
  }
  const double norm = 1 / std::sqrt(mm * oo), cosine = mo * norm;
  for (std::size_t i = 0; i < modelled.size(); ++i)
    slope[i] = (cosine / mm * (modelled[i] / m0) - norm * (observed[i] / o0)) / m0;
  return 1 - cosine;
}

double envelope(std::span<const double> modelled, std::span<const double> observed, const TraceFilter& filter,
                double dt, std::vector<double>& slope) {
  const std::vector<double> mh = filter.hilbert(modelled), oh = filter.hilbert(observed);
  std::vector<double> quarter(modelled.size());
  double sum = 0;
  for (std::size_t i = 0; i < modelled.size(); ++i) {
    const double size = std::hypot(modelled[i], mh[i]);
    const double difference = size - std::hypot(observed[i], oh[i]);
    sum += difference * difference;
    const double share = size > 0 ? dt * difference / size : 0;
    slope[i] = share * modelled[i];
    quarter[i] = share * mh[i];
  }
  const std::vector<double> turned = filter.hilbert(quarter);
  for (std::size_t i = 0; i < modelled.size(); ++i) slope[i] -= turned[i];
  return 0.5 * dt * sum;
}

double offset_of(const Shot& shot, const Receiver& receiver) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Source& source : shot.sources) {
    double square = 0;
    for (std::size_t a = 0; a < std::min(source.position.size(), receiver.position.size()); ++a) {
      const double distance = receiver.position[a] - source.position[a];
      square += distance * distance;
    }
    nearest = std::min(nearest, std::sqrt(square));
  }
  return shot.sources.empty() ? 0 : nearest;
}

/// 0 before `time`, 1 from `time + taper` on, half a cosine between.
double rise(double t, double time, double taper) {
  if (t < time) return 0;
  if (t >= time + taper) return 1;
  return 0.5 - 0.5 * std::cos(std::numbers::pi * (t - time) / taper);
}

void require_pair(const std::string& field, const std::map<std::string, Traces>& modelled,
                  const Traces& observed) {
  const auto own = modelled.find(field);
  if (own == modelled.end()) throw UserError(fmt::format("observed {}: no such record is modelled", field));
  const Traces& m = own->second;
  const auto count = static_cast<std::size_t>(observed.receivers * observed.samples);
  if (observed.receivers != m.receivers || observed.samples != m.samples || observed.data.size() != count) {
    throw UserError(fmt::format("observed {}: {} traces of {} samples; the modelled record has {} of {}",
                                field, observed.receivers, observed.samples, m.receivers, m.samples));
  }
  const auto wrong = std::find_if_not(observed.data.begin(), observed.data.end(),
                                      [](double value) { return std::isfinite(value); });
  if (wrong != observed.data.end()) {
    const auto at = wrong - observed.data.begin();
    throw UserError(fmt::format("observed {}: {} at trace {}, sample {}; allowed: finite numbers", field,
                                *wrong, at / observed.samples, at % observed.samples));
  }
}

Pair pair_of(MisfitKind kind) {
  if (kind == MisfitKind::correlation) return correlation;
  return kind == MisfitKind::envelope ? envelope : l2;
}

/// A trace as it is compared: muted, then filtered.
std::vector<double> prepared(std::span<const double> trace, std::span<const double> weights,
                             const TraceFilter& filter, const MisfitOptions& options) {
  std::vector<double> result(trace.begin(), trace.end());
  for (std::size_t i = 0; i < weights.size(); ++i) result[i] *= weights[i];
  return options.band ? filter.band(result, (*options.band)[0], (*options.band)[1]) : result;
}

}  // namespace

void check_misfit(const MisfitOptions& options, double dt) {
  if (!(dt > 0)) throw UserError(fmt::format("misfit: a sampling of {} s; allowed: > 0", dt));
  if (const auto& band = options.band) {
    const double nyquist = 0.5 / dt;
    if (!((*band)[0] >= 0) || !((*band)[1] > (*band)[0]) || !((*band)[1] < nyquist)) {
      throw UserError(fmt::format(
          "misfit.band: found [{:g}, {:g}] Hz; allowed: 0 <= low < high < {:g} Hz, half the sampling rate",
          (*band)[0], (*band)[1], nyquist));
    }
  }
  if (!options.mute) return;
  const Mute& mute = *options.mute;
  if (!(mute.taper >= 0))
    throw UserError(fmt::format("misfit.mute.taper: found {}; allowed: 0 s and up", mute.taper));
  if (mute.velocity && !(*mute.velocity > 0))
    throw UserError(fmt::format("misfit.mute.velocity: found {}; allowed: > 0 m/s", *mute.velocity));
  if (mute.before && mute.after && !(*mute.before < *mute.after)) {
    throw UserError(fmt::format("misfit.mute: before is {:g} s, after {:g} s: nothing is kept", *mute.before,
                                *mute.after));
  }
}

std::vector<double> mute_weights(const Mute& mute, const Shot& shot, const std::string& field,
                                 std::int64_t samples, const RecordTimes& times) {
  std::vector<double> weights;
  const auto own = times.offsets.find(field);
  const double first = times.t0 + (own == times.offsets.end() ? 0 : own->second);
  const bool both = mute.before || !mute.after;  // a velocity alone mutes before the wave it belongs to
  for (const Receiver& receiver : shot.receivers) {
    if (receiver.field != field) continue;
    const double moved = mute.velocity ? offset_of(shot, receiver) / *mute.velocity : 0;
    for (std::int64_t k = 0; k < samples; ++k) {
      const double t = first + static_cast<double>(k) * times.dt - moved;
      double weight = 1;
      if (both) weight *= rise(t, mute.before.value_or(0), mute.taper);
      if (mute.after) weight *= rise(-t, -*mute.after, mute.taper);
      weights.push_back(weight);
    }
  }
  return weights;
}

Misfit compare_records(const std::map<std::string, Traces>& modelled,
                       const std::map<std::string, Traces>& observed, const Shot& shot,
                       const MisfitOptions& options, const RecordTimes& times) {
  check_misfit(options, times.dt);
  const Pair pair = pair_of(options.kind);
  Misfit result;
  for (const auto& [field, theirs] : observed) {
    require_pair(field, modelled, theirs);
    const Traces& ours = modelled.at(field);
    const auto n = static_cast<std::size_t>(ours.samples);
    const TraceFilter filter(n, times.dt);
    const std::vector<double> weights =
        options.mute ? mute_weights(*options.mute, shot, field, ours.samples, times) : std::vector<double>();
    if (options.mute && weights.size() != ours.data.size())
      throw UserError(fmt::format("observed {}: the shot has other receivers than the record", field));
    Traces adjoint{ours.receivers, ours.samples, std::vector<double>(ours.data.size(), 0.0)};
    for (std::size_t first = 0; first < ours.data.size(); first += n) {
      const auto weight = options.mute ? std::span(weights).subspan(first, n) : std::span<const double>();
      const auto trace = [&](const Traces& traces) {
        return prepared(std::span(traces.data).subspan(first, n), weight, filter, options);
      };
      std::vector<double> slope(n, 0.0);
      result.value += pair(trace(ours), trace(theirs), filter, times.dt, slope);
      if (options.band) slope = filter.band(slope, (*options.band)[0], (*options.band)[1]);
      for (std::size_t i = 0; i < n; ++i)
        adjoint.data[first + i] = weight.empty() ? slope[i] : weight[i] * slope[i];
    }
    result.adjoint.emplace(field, std::move(adjoint));
  }
  return result;
}

MisfitFunction misfit_against(Records observed, std::vector<Shot> shots, MisfitOptions options,
                              RecordTimes times) {
  if (observed.size() != shots.size())
    throw UserError(fmt::format("observed records of {} shots for {} shots", observed.size(), shots.size()));
  check_misfit(options, times.dt);
  return [observed = std::move(observed), shots = std::move(shots), options = std::move(options),
          times = std::move(times)](std::int64_t shot, const std::map<std::string, Traces>& records) {
    const auto s = static_cast<std::size_t>(shot);
    return compare_records(records, observed.at(s), shots.at(s), options, times);
  };
}

}  // namespace ondula
