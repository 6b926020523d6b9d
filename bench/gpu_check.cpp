// What tools/gpu-check runs on a GPU, part by part: each prints lines of JSON.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/gpu_parts.hpp"
#include "compiler/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/jit/host_compiler.hpp"

namespace ondula::bench {

void tell_device(const GpuCase& gpu) {
  const cuda::DeviceFacts& facts = gpu.facts();
  const jit::NvrtcStatus nvrtc =
      jit::inspect_nvrtc(gpu.driver()->stand_in() ? gpu.driver()->path() : std::string());
  print_line({{"part", "device"},
              {"name", facts.name},
              {"capability", fmt::format("{}.{}", facts.major, facts.minor)},
              {"bytes", facts.bytes},
              {"multiprocessors", facts.multiprocessors},
              {"l2_bytes", gpu.l2_bytes()},
              {"driver", gpu.driver()->path()},
              {"driver_cuda", gpu.driver()->version().text()},
              {"stand_in", gpu.driver()->stand_in()},
              {"nvrtc", nvrtc.usable ? nvrtc.version.text() : ""},
              {"nvrtc_problem", nvrtc.problem}});
}

}  // namespace ondula::bench

namespace {

using namespace ondula;

struct Options {
  std::string part;
  bool quick = false;
  double seconds = 480;
  std::string backend = "cuda";
  int device = 0;
  bench::RowOptions rows;
};

bool run(const Options& options) {
  const bench::GpuCase gpu(backend_of(options.backend), options.device, options.seconds);
  if (options.part == "device") bench::tell_device(gpu);
  if (options.part == "copy") bench::measure_copy(gpu, options.quick);
  if (options.part == "compare") return bench::compare_with_reference(gpu, options.quick);
  if (options.part == "rows") {
    bench::RowOptions rows = options.rows;
    if (options.quick) {
      rows.scale = {16, 8, 5, 25};
      rows.repeats = 1;
    }
    return bench::run_rows(gpu, rows);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("One part of the check of a GPU, in lines of JSON; tools/gpu-check runs them all");
  app.add_option("part", options.part)
      ->required()
      ->check(CLI::IsMember({"device", "copy", "compare", "rows"}));
  app.add_flag("--quick", options.quick, "reduced size");
  app.add_option("--seconds", options.seconds, "no work begins that would end later, as far as can be told");
  app.add_option("--backend", options.backend)->check(CLI::IsMember({"cuda", "cuda-sim"}));
  app.add_option("--device", options.device);
  app.add_option("--only", options.rows.only, "rows of this case alone, by its label");
  app.add_option("--workload", options.rows.workloads)->check(CLI::IsMember({"forward", "full"}));
  app.add_option("--steps", options.rows.steps, "instead of the case's");
  app.add_option("--repeats", options.rows.repeats, "calls after the first that are measured");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options) ? 0 : 1;
  } catch (const Error& error) {
    fmt::print(stderr, "ondula-gpu-check: {}\n", error.what());
    return 2;
  }
}
