// Launch shapes of CUDA kernels by measurement: candidates timed against the table, and the record of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/jit/cuda_compiler.hpp"
#include "runtime/jit/tuning_record.hpp"
#include "runtime/loop/cuda_kernels.hpp"

namespace ondula::loop {

/// Times kernels on one device and grid, those of many candidates in turn.
class CudaMeter {
 public:
  virtual ~CudaMeter() = default;
  /// Seconds of one launch of the program's kernel `number`; 0 where this grid launches none. Throws
  /// RuntimeError where it cannot be launched.
  virtual double seconds(const std::shared_ptr<const CudaKernels>& kernels, std::size_t number) = 0;
};

/// Makes a meter when something is to be measured. May throw RuntimeError, for want of memory for example.
using MakeCudaMeter = std::function<std::unique_ptr<CudaMeter>()>;

/// How long and how carefully.
struct CudaTunerRules {
  int rounds = 7;        ///< each times every candidate once, forwards and backwards by turns
  double margin = 0.02;  ///< a candidate has to beat the table by more than this, and than the table's spread
  double hopeless = 1.3;  ///< one slower than the best by this factor after a round is dropped
};

/// The candidate to take: among those timed in every round of the first's, which is the table's, the one of
/// the least median ratio to it; the table's own where no ratio is below 1 - max(margin, half of the spread
/// between the table's quartiles, relative to its median). `times[c][round]`, s.
std::size_t best_candidate(const std::vector<std::vector<double>>& times, double margin);

/// Chooses shapes. Values never depend on them. Not for two threads at once.
class CudaTuner {
 public:
  /// `log` gets why a record is not used or nothing could be measured. `meter`: for tests, instead of the one
  /// that shaped() is given.
  explicit CudaTuner(std::shared_ptr<jit::CudaCompiler> compiler, jit::Log log = {},
                     const CudaTunerRules& rules = {}, MakeCudaMeter meter = {})
      : compiler_(std::move(compiler)), log_(std::move(log)), rules_(rules), meter_(std::move(meter)) {}
  virtual ~CudaTuner() = default;
  CudaTuner(const CudaTuner&) = delete;
  CudaTuner& operator=(const CudaTuner&) = delete;

  /// `table` with the shapes of the record for `subject` (whose program is filled in), where there is one
  /// that fits; else, where `make` is given, with those that are the fastest by measurement, which are
  /// recorded; else `table`. Throws only what cannot pass, as CompileError for the table's text.
  virtual CudaSource shaped(CudaSource table, jit::TuningSubject subject, const MakeCudaMeter& make = {});

  /// Seconds spent on measuring so far, compilation included.
  double seconds() const { return seconds_; }

 private:
  struct Trial;
  jit::TuningRecord measure(const CudaSource& table, const jit::TuningSubject& subject,
                            const MakeCudaMeter& make);
  void compile(std::vector<Trial>& trials);
  static void refuse_spills(std::vector<Trial>& trials, std::vector<jit::TunedKernel>& kernels);
  void time(CudaMeter& meter, const std::vector<Trial>& trials, std::vector<jit::TunedKernel>& kernels) const;
  void say(const std::string& text) const {
    if (log_) log_(text);
  }

  std::shared_ptr<jit::CudaCompiler> compiler_;
  jit::Log log_;
  CudaTunerRules rules_;
  MakeCudaMeter meter_;
  double seconds_ = 0;
};

}  // namespace ondula::loop
