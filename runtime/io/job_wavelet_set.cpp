// The samples of each source's wavelet, and the warnings they give.
// SPDX-License-Identifier: MIT
#include "runtime/io/job_wavelet_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "compiler/error.hpp"
#include "runtime/io/npy.hpp"

namespace ondula::io {

namespace {

bool by_formula(const WaveletSpec& spec) {
  return spec.kind != WaveletKind::file && spec.kind != WaveletKind::samples;
}

/// The warning of a wavelet by formula whose frequency the run's dt cannot hold.
std::optional<std::string> nyquist_warning(const WaveletSpec& spec, const std::string& where, double dt) {
  const bool ormsby = spec.kind == WaveletKind::ormsby;
  const double frequency = ormsby ? spec.corners[3] : spec.frequency;
  const double nyquist = 1 / (2 * dt);
  if (frequency <= nyquist) return std::nullopt;
  return fmt::format(
      "{}: {} {:g} Hz lies above the Nyquist frequency {:g} Hz of dt = {:g} s and will alias; use a lower "
      "frequency or a dt under "
      "{:.3g} s",
      where, ormsby ? "the corner f4" : "the frequency", frequency, nyquist, dt, 1 / (2 * frequency));
}

/// Reads a (time) or (source, time) file; rows are what `expected` says, or 1.
std::vector<std::vector<double>> read_rows(const WaveletSpec& spec, const std::string& where,
                                           std::size_t expected) {
  const Array array = read_npy(spec.file.string());
  const bool fits = array.shape.size() == 1 ||
                    (array.shape.size() == 2 && array.shape[0] == static_cast<std::int64_t>(expected));
  if (!fits || array.shape.back() == 0) {
    throw UserError(
        fmt::format("{}.file: {} has shape {}; allowed: (time), or (source, time) with {} row{}, one for "
                    "each source; at least one sample",
                    where, spec.file.string(), shape_text(array.shape), expected, expected == 1 ? "" : "s"));
  }
  for (std::size_t i = 0; i < array.data.size(); ++i) {
    if (std::isfinite(array.data[i])) continue;
    throw UserError(fmt::format("{}.file: sample {} of {} is {}; allowed: finite numbers", where, i,
                                spec.file.string(), array.data[i]));
  }
  const auto length = static_cast<std::ptrdiff_t>(array.shape.back());
  std::vector<std::vector<double>> rows;
  for (auto row = array.data.begin(); row != array.data.end(); row += length)
    rows.emplace_back(row, row + length);
  return rows;
}

/// Collects frequencies and warnings wavelet by wavelet; of many that warn, the first few are printed.
class Inspector {
 public:
  explicit Inspector(const Job& job) : job_(job) {}

  void look(const WaveletSpec& spec, const std::vector<double>& series, const std::string& where,
            WaveletSet& set) {
    WaveletFacts facts = facts_of(spec, series);
    std::vector<std::string> found;
    if (by_formula(spec)) {
      if (auto warning = nyquist_warning(spec, where, job_.dt)) {
        found.push_back(*warning);
        facts.high_energy = 0;  // said already
      }
    }
    for (std::string& text : wavelet_warnings(facts, where, job_.t0, job_.dt, job_.steps))
      found.push_back(std::move(text));
    if (facts.peak > 0) {
      const bool first = set.dominant_frequency == 0;
      set.dominant_frequency =
          first ? facts.dominant_frequency : std::min(set.dominant_frequency, facts.dominant_frequency);
      set.top_frequency = std::max(set.top_frequency, facts.top_frequency);
    }
    if (!found.empty() && ++warned_ <= 3) warnings_.insert(warnings_.end(), found.begin(), found.end());
  }

  void finish(std::vector<std::string>& warnings) {
    if (warned_ > 3)
      warnings_.push_back(fmt::format("wavelets: {} more give warnings like these", warned_ - 3));
    warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
  }

 private:
  /// A survey's sources mostly share one formula; its spectrum is taken once.
  WaveletFacts facts_of(const WaveletSpec& spec, const std::vector<double>& series) {
    if (!by_formula(spec)) return series_facts(series, job_.t0, job_.dt);
    if (!last_ || last_->first != spec) last_.emplace(spec, wavelet_facts(spec, job_.t0, job_.dt));
    return last_->second;
  }

  const Job& job_;
  std::optional<std::pair<WaveletSpec, WaveletFacts>> last_;
  std::vector<std::string> warnings_;
  std::size_t warned_ = 0;
};

/// The rows of one statement: the formula or the samples as one row, or the rows of its file.
std::vector<std::vector<double>> rows_of(const WaveletSpec& spec, const Job& job, const std::string& where,
                                         std::size_t expected) {
  if (spec.kind == WaveletKind::file) return read_rows(spec, where, expected);
  if (spec.kind == WaveletKind::samples) return {spec.samples};
  return {sample_wavelet(spec, job.t0, job.dt, job.steps)};
}

}  // namespace

WaveletSet resolve_wavelets(const Job& job, std::vector<std::string>& warnings) {
  WaveletSet set;
  Inspector inspector(job);
  std::vector<std::vector<double>> shared;
  const auto shares = [](const SourceSpec& source) { return !source.wavelet.has_value(); };
  if (job.wavelet && std::any_of(job.sources.begin(), job.sources.end(), shares)) {
    shared = rows_of(*job.wavelet, job, "wavelet", job.sources.size());
    if (shared.size() == 1) inspector.look(*job.wavelet, shared[0], "wavelet", set);
  }
  for (std::size_t i = 0; i < job.sources.size(); ++i) {
    const SourceSpec& source = job.sources[i];
    if (source.wavelet) {
      const std::string where = fmt::format("sources[{}].wavelet", i);
      set.samples.push_back(rows_of(*source.wavelet, job, where, 1).front());
      inspector.look(*source.wavelet, set.samples.back(), where, set);
    } else if (shared.size() == 1) {
      set.samples.push_back(shared[0]);
    } else {
      set.samples.push_back(shared.at(i));
      inspector.look(*job.wavelet, set.samples.back(), fmt::format("wavelet.file, row {}", i), set);
    }
  }
  inspector.finish(warnings);
  return set;
}

}  // namespace ondula::io
