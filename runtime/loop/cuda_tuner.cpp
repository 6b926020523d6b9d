// Choosing launch shapes by measurement.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_tuner.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <future>
#include <thread>
#include <utility>

#include "compiler/error.hpp"
#include "compiler/passes/cuda_candidates.hpp"

namespace ondula::loop {
namespace {

/// The value a share of the way from the least to the largest.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

/// Why a record's shapes are not for `program`; empty where they are.
std::string mismatch(const jit::TuningRecord& record, const ir::CudaProgram& program) {
  const passes::CudaShapes shapes = record.shapes();
  if (shapes.size() != program.kernels.size()) return fmt::format("{} kernels", shapes.size());
  for (const ir::CudaKernel& kernel : program.kernels) {
    const auto found = shapes.find(kernel.name);
    if (found == shapes.end()) return "no kernel " + kernel.name;
    const std::string problem =
        passes::cuda_shape_problem(found->second, program.set.program.dims(), kernel.strip_axis >= 0);
    if (!problem.empty()) return fmt::format("kernel {}: {}", kernel.name, problem);
  }
  return "";
}

std::int64_t spilled(const CudaKernels& kernels, const std::string& name) {
  for (const jit::KernelUse& use : kernels.module->use().kernels) {
    if (use.name == name) return use.stack_bytes;
  }
  return 0;  // PTX: the driver's to know
}

}  // namespace

/// All kernels with their candidate of one number; those that have fewer are as in the table.
struct CudaTuner::Trial {
  CudaSource source;
  std::shared_ptr<const CudaKernels> kernels;
  std::string failure;  ///< why there are none
};

std::size_t best_candidate(const std::vector<std::vector<double>>& times, double margin) {
  const std::vector<double>& table = times.at(0);
  if (table.empty() || !(median(table) > 0)) return 0;
  const double spread = (quantile(table, 0.75) - quantile(table, 0.25)) / median(table);
  std::size_t best = 0;
  double least = 1 - std::max(margin, 0.5 * spread);
  for (std::size_t c = 1; c < times.size(); ++c) {
    if (times[c].size() != table.size()) continue;
    std::vector<double> ratios;
    for (std::size_t round = 0; round < table.size(); ++round)
      ratios.push_back(times[c][round] / table[round]);
    const double ratio = median(ratios);
    if (!(ratio < least)) continue;
    least = ratio;
    best = c;
  }
  return best;
}

CudaSource CudaTuner::shaped(CudaSource table, jit::TuningSubject subject, const MakeCudaMeter& make) {
  subject.program = compiler_->key_of(table.text, table.architecture);
  std::optional<jit::TuningRecord> record = compiler_->cache().load_record(subject);
  if (record) {
    const std::string problem = mismatch(*record, table.program);
    if (problem.empty()) return with_shapes(table, record->shapes());
    compiler_->cache().discard_record(subject, problem);
  }
  if (!make) return table;
  const auto begin = std::chrono::steady_clock::now();
  try {
    record = measure(table, subject, make);
    static_cast<void>(compiler_->cache().store_record(*record));
    table = with_shapes(table, record->shapes());
  } catch (const CompileError&) {
    throw;
  } catch (const RuntimeError& error) {
    say(fmt::format(
        "the launch shapes of equation '{}' are the table's, since they could not be measured: {}",
        table.text.equation, error.what()));
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return table;
}

jit::TuningRecord CudaTuner::measure(const CudaSource& table, const jit::TuningSubject& subject,
                                     const MakeCudaMeter& make) {
  const std::unique_ptr<CudaMeter> meter = meter_ ? meter_() : make();  // before anything is compiled in vain
  jit::TuningRecord record;
  record.subject = subject;
  record.equation = table.text.equation;
  record.architecture = table.architecture.text();
  record.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  std::size_t most = 1;
  for (const ir::CudaKernel& kernel : table.program.kernels) {
    record.kernels.push_back({kernel.name, 0, {}});
    for (const passes::CudaShape& shape : passes::cuda_candidates(table.program, kernel))
      record.kernels.back().candidates.push_back({shape, 0, ""});
    most = std::max(most, record.kernels.back().candidates.size());
  }
  std::vector<Trial> trials;
  for (std::size_t c = 0; c < most; ++c) {
    passes::CudaShapes shapes;
    for (const jit::TunedKernel& kernel : record.kernels)
      if (c < kernel.candidates.size()) shapes[kernel.name] = kernel.candidates[c].shape;
    trials.push_back({with_shapes(table, shapes), nullptr, ""});
  }
  compile(trials);
  record.nvrtc = trials.front().kernels->module->nvrtc().text();
  refuse_spills(trials, record.kernels);
  time(*meter, trials, record.kernels);
  return record;
}

void CudaTuner::compile(std::vector<Trial>& trials) {
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t first = 0; first < trials.size(); first += threads) {
    std::vector<std::future<std::shared_ptr<const CudaKernels>>> made;
    for (std::size_t c = first; c < std::min(first + threads, trials.size()); ++c) {
      made.push_back(std::async(std::launch::async, [this, source = std::move(trials[c].source)]() mutable {
        return compile_cuda(std::move(source), *compiler_);
      }));
    }
    for (std::size_t c = first; c < first + made.size(); ++c) {
      try {
        trials[c].kernels = made[c - first].get();
      } catch (const Error& error) {
        if (c == 0) throw;  // the others are waited for where they are destroyed
        trials[c].failure = error.what();
      }
    }
  }
}

void CudaTuner::refuse_spills(std::vector<Trial>& trials, std::vector<jit::TunedKernel>& kernels) {
  for (jit::TunedKernel& kernel : kernels) {
    const std::int64_t table = spilled(*trials.front().kernels, kernel.name);
    for (std::size_t c = 1; c < kernel.candidates.size(); ++c) {
      std::string& refused = kernel.candidates[c].refused;
      if (trials[c].kernels == nullptr) {
        refused = trials[c].failure;
        continue;
      }
      const std::int64_t own = spilled(*trials[c].kernels, kernel.name);
      if (own > table) refused = fmt::format("{} bytes of local memory", own);
    }
  }
}

void CudaTuner::time(CudaMeter& meter, const std::vector<Trial>& trials,
                     std::vector<jit::TunedKernel>& kernels) const {
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    std::vector<jit::TunedCandidate>& candidates = kernels[k].candidates;
    if (candidates.size() < 2) continue;
    std::vector<std::vector<double>> times(candidates.size());
    std::vector<bool> dropped(candidates.size());
    for (int round = 0; round < rules_.rounds; ++round) {
      for (std::size_t n = 0; n < candidates.size(); ++n) {
        const std::size_t c = round % 2 == 0 ? n : candidates.size() - 1 - n;
        if (dropped[c] || !candidates[c].refused.empty()) continue;
        try {
          times[c].push_back(meter.seconds(trials[c].kernels, k));
        } catch (const RuntimeError& error) {
          if (c == 0) throw;
          candidates[c].refused = error.what();
        }
      }
      double best = median(times.front());
      for (const std::vector<double>& own : times)
        if (own.size() == times.front().size()) best = std::min(best, median(own));
      for (std::size_t c = 1; c < candidates.size(); ++c)
        dropped[c] = dropped[c] || times[c].empty() || median(times[c]) > rules_.hopeless * best;
    }
    for (std::size_t c = 0; c < candidates.size(); ++c)
      if (candidates[c].refused.empty() && !times[c].empty()) candidates[c].seconds = median(times[c]);
    kernels[k].chosen = best_candidate(times, rules_.margin);
  }
}

}  // namespace ondula::loop
