// The baseline's rows on a GPU: times, memory, what the kernels move and use.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "bench/gpu_parts.hpp"
#include "compiler/error.hpp"
#include "runtime/cuda_report.hpp"

namespace ondula::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Kernels {
  double bytes = 0;  ///< of DRAM per interior point and step, predicted
  Json list = Json::array();
};

/// The kernels that a workload launches each step.
Kernels kernels_of(const GpuCase& gpu, const Setup& setup, bool gradient) {
  CudaReportOptions options;
  options.dims = static_cast<int>(setup.grid.shape.size());
  options.order = setup.options.order;
  options.architecture = gpu.architecture();
  Kernels result;
  for (const Direction direction :
       gradient ? std::vector{Direction::keeping, Direction::adjoint} : std::vector{Direction::forward}) {
    options.direction = direction;
    const CudaReport report =
        report_cuda(cuda_text_of(setup.equation, options), options.architecture, *gpu.compiler());
    result.bytes += report.memory_bytes();
    for (const CudaKernelReport& kernel : report.kernels)
      result.list.push_back({{"step", direction == Direction::keeping   ? "keeping"
                                      : direction == Direction::adjoint ? "adjoint"
                                                                        : "forward"},
                             {"name", kernel.kernel.name},
                             {"block", fmt::format("{}x{}", kernel.kernel.block[0], kernel.kernel.block[1])},
                             {"registers", kernel.use.registers},
                             {"spill_bytes", kernel.use.stack_bytes},
                             {"dram_bytes", kernel.cost().memory_bytes},
                             {"layer", kernel.kernel.strip_axis >= 0}});
  }
  return result;
}

struct Measured {
  double first = 0;              ///< s, of the call that compiles and allocates
  std::vector<double> seconds;   ///< of the calls after it
  std::vector<double> stepping;  ///< s, of their steps alone, without what a call sets up
  std::size_t bytes = 0;
};

/// One call; the seconds of its steps.
double call(Propagator& propagator, const Setup& setup, bool gradient) {
  if (!gradient) {
    propagator.forward(setup.shots);
    const Timings& t = propagator.timings();
    const auto all = static_cast<double>(setup.options.steps) * static_cast<double>(setup.shots.size());
    return t.steps > 0 ? t.steady * all / static_cast<double>(t.steps) : 0;
  }
  propagator.gradient(setup.shots, [](std::int64_t, const auto& records) { return sum_of_squares(records); });
  return propagator.timings().keeping + propagator.timings().backward;
}

Measured measure(const GpuCase& gpu, const Setup& setup, bool gradient, int repeats) {
  Propagator propagator = setup.propagator();
  Measured result;
  auto begin = Clock::now();
  call(propagator, setup, gradient);
  result.first = seconds_since(begin);
  // One more that is not counted, while there is time for it.
  if (repeats > 0 && gpu.left() > 3 * result.first) call(propagator, setup, gradient);
  for (int k = 0; k < repeats && (k == 0 || gpu.left() > result.seconds.back()); ++k) {
    begin = Clock::now();
    result.stepping.push_back(call(propagator, setup, gradient));
    result.seconds.push_back(seconds_since(begin));
  }
  result.bytes = propagator.device_bytes_peak();
  return result;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

void add_measured(Json& line, const Measured& measured, const Kernels& kernels, double points, double steps) {
  line["first_s"] = measured.first;
  line["seconds"] = measured.seconds;
  line["median_s"] = median(measured.seconds);
  line["device_bytes"] = measured.bytes;
  line["padded_points"] = points;
  line["bytes_per_point"] = kernels.bytes;
  line["bytes_per_step"] = kernels.bytes * points;
  const double stepping = median(measured.stepping);
  if (stepping > 0) {
    line["stepping_s"] = stepping;
    line["padded_gpoints_s"] = 1e-9 * points * steps / stepping;
    line["achieved_gb_s"] = 1e-9 * kernels.bytes * points * steps / stepping;
  }
  line["kernels"] = kernels.list;
}

/// False where it failed, but for memory.
bool run_row(const GpuCase& gpu, const Case& c, const std::string& workload, const RowOptions& options,
             Json line) {
  const bool gradient = workload == "full";
  Setup setup = set_up(c);
  setup.options.backend = gpu.backend();
  setup.options.device = gpu.number();
  setup.options.cuda_compiler = gpu.compiler();
  try {
    const Estimate estimate = setup.propagator().estimate(setup.shots);
    line["estimated_bytes"] = gradient ? estimate.gradient_device_bytes : estimate.device_bytes;
    if (line["estimated_bytes"].get<std::size_t>() > gpu.facts().bytes) {
      line["problem"] = fmt::format("OOM: it needs {:.1f} GB of the device's {:.1f}",
                                    1e-9 * line["estimated_bytes"].get<double>(),
                                    1e-9 * static_cast<double>(gpu.facts().bytes));
      print_line(line);
      return true;
    }
    const Measured measured = measure(gpu, setup, gradient, options.repeats);
    const double steps = static_cast<double>(c.steps) * c.shots * estimate.substeps;
    add_measured(line, measured, kernels_of(gpu, setup, gradient),
                 static_cast<double>(estimate.padded_points), steps);
    print_line(line);
    return true;
  } catch (const Error& error) {
    line["problem"] = error.what();
    print_line(line);
    return std::string(error.what()).find("memory") != std::string::npos;
  }
}

}  // namespace

bool run_rows(const GpuCase& gpu, const RowOptions& options) {
  bool met = true;
  for (const std::string& workload : options.workloads) {
    double longest = 0;
    for (const Case& full : baseline_cases()) {
      if (!options.only.empty() && options.only != full.label) continue;
      Case c = scaled(full, options.scale);
      if (options.steps > 0) c.steps = options.steps;
      Json line = {{"part", "row"},  {"case", full.label}, {"workload", workload}, {"n", c.n},
                   {"dims", c.dims}, {"steps", c.steps},   {"shots", c.shots},     {"width", c.width}};
      if (gpu.left() < longest) {
        line["skipped"] = "no time left";
        print_line(line);
        continue;
      }
      const auto begin = Clock::now();
      met = run_row(gpu, c, workload, options, line) && met;
      longest = std::max(longest, seconds_since(begin));
    }
  }
  return met;
}

}  // namespace ondula::bench
