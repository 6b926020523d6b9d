// The samples of each source's wavelet, and the warnings they give.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/io/job.hpp"

namespace ondula::io {

/// One series per source of the job, in its order, at t0 + k·dt; wavelets by formula have `steps` samples,
/// others the length they came with.
struct WaveletSet {
  std::vector<std::vector<double>> samples;
  double dominant_frequency = 0;  ///< Hz, the lowest; 0 without sources
  double top_frequency = 0;       ///< Hz, the highest
};

/// Samples every wavelet of a job. A (source, time) file of the job needs one row per source; a source's own
/// file one row. Throws UserError for another shape and for values that are not finite. Warns as
/// wavelet_warnings does, once per wavelet, and of a frequency above the Nyquist frequency.
WaveletSet resolve_wavelets(const Job& job, std::vector<std::string>& warnings);

}  // namespace ondula::io
