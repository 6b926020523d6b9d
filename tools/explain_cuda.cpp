// Prints CUDA kernels, their figures and rooflines.
// SPDX-License-Identifier: MIT
#include "tools/explain_cuda.hpp"

#include <fmt/format.h>

#include "compiler/error.hpp"
#include "compiler/passes/cuda_candidates.hpp"
#include "runtime/cuda_report.hpp"

namespace ondula::tools {
namespace {

CudaReportOptions options_of(const EquationOptions& options, emit::Real real) {
  CudaReportOptions report;
  report.dims = options.dims;
  report.order = options.order;
  report.stretched = options.kappa > 1;
  report.shots = options.shots;
  report.real = real;
  if (options.direction != "forward" && options.direction != "adjoint")
    throw UserError(fmt::format("--direction: found \"{}\"; allowed: forward, adjoint", options.direction));
  if (options.direction == "adjoint") report.direction = Direction::adjoint;
  if (!options.arch.empty()) report.architecture = jit::parse_architecture(options.arch);
  return report;
}

void print_heading(const std::string& heading) { fmt::print("\n==== {} ====\n\n", heading); }

void print_work(const CudaText& text) {
  print_heading("per interior point, predicted from the text");
  fmt::print("{:<34} {:>8} {:>6} {:>6} {:>6} {:>7} {:>6} {:>6} {:>6} {:>6}\n", "kernel", "block", "blocks",
             "from", "loads", "stores", "flops", "DRAM", "L2", "L1");
  for (const ir::CudaKernel& kernel : text.program.kernels) {
    const ir::CudaFigures& f = kernel.figures;
    fmt::print("{:<34} {:>8} {:>6} {:>6} {:>6} {:>7} {:>6} {:>6.0f} {:>6.0f} {:>6.1f}\n", kernel.name,
               fmt::format("{}x{}", kernel.block[0], kernel.block[1]), kernel.min_blocks,
               kernel.shape_given ? "record" : "table", f.loads, f.stores, f.flops, f.dram_bytes, f.l2_bytes,
               f.l1_wavefronts);
  }
  fmt::print(
      "\nblocks: at least so many on a multiprocessor; from: the table of shapes, or a record of the "
      "tuner's; "
      "DRAM, L2: bytes;\nL1: wavefronts per warp of 32 points\n");
}

/// The shapes that runs have where the tuner has measured these kernels: by device and size of the grid.
void print_records(const std::vector<jit::TuningRecord>& records) {
  for (const jit::TuningRecord& record : records) {
    const jit::TuningSubject& s = record.subject;
    print_heading(fmt::format("shapes of the tuner's record for {}, grids from {} on", s.device, s.grid));
    for (const jit::TunedKernel& kernel : record.kernels) {
      const jit::TunedCandidate &own = kernel.candidates[kernel.chosen], &table = kernel.candidates[0];
      const std::string gain =
          own.seconds > 0 && table.seconds > 0
              ? fmt::format("{:.3f} ms, the table's {:.3f} ms", 1e3 * own.seconds, 1e3 * table.seconds)
              : "the table's, not timed";
      fmt::print("{:<34} {:<36} {}\n", kernel.name, passes::shape_text(own.shape), gain);
    }
    fmt::print("\nmeasured {} with NVRTC {} and a driver for CUDA {}\n", record.created, record.nvrtc,
               s.driver);
  }
}

void print_code(const CudaReport& report) {
  const jit::CudaModule& module = *report.module;
  print_heading(fmt::format("{}, compiled by NVRTC {} ({:.0f} ms{})", module.architecture().text(),
                            module.nvrtc().text(), 1e3 * module.record().seconds,
                            module.record().cache_hit ? ", from the cache" : ""));
  if (module.architecture().portable) {
    fmt::print("PTX: registers and instructions are the driver's to choose\n");
    return;
  }
  fmt::print("{:<34} {:>9} {:>6} {:>7} {:>6} {:>12} {:>6} {:>7} {:>5} {:>5}\n", "kernel", "registers",
             "spill", "shared", "code", "instructions", "loads", "stores", "fma", "other");
  for (const CudaKernelReport& kernel : report.kernels) {
    const jit::SassCounts& c = kernel.counts();
    fmt::print("{:<34} {:>9} {:>6} {:>7} {:>6} {:>12} {:>6} {:>7} {:>5} {:>5}\n", kernel.kernel.name,
               kernel.use.registers, kernel.use.stack_bytes, kernel.use.shared_bytes, kernel.use.code_bytes,
               c.instructions, c.global.loads, c.global.stores, c.fma, c.add + c.multiply);
  }
  fmt::print(
      "\nspill: bytes of local memory a thread; instructions, loads, stores, arithmetic: as they stand in "
      "the code, the\n"
      "layers' included; of a marching kernel those of its loop\n");
  for (const std::string& warning : module.warnings()) fmt::print("{}\n", warning);
}

void print_roofs(const CudaText& text, const Gpu& gpu, bool float64) {
  print_heading(fmt::format("roofline: {} ({})", gpu.name, gpu.source));
  fmt::print("{:<34} {:>8} {:>8} {:>8} {:>10}   Gpoints/s\n", "kernel", "DRAM", "L2", "L1", "arithmetic");
  const auto shown = [](double roof) { return roof > 0 ? fmt::format("{:.0f}", roof) : std::string("-"); };
  double seconds = 0;  // for 1e9 points
  for (const ir::CudaKernel& kernel : text.program.kernels) {
    if (kernel.strip_axis >= 0) continue;
    const Roofs roofs = roofs_of(gpu, CudaKernelReport{kernel, {}}.cost(), float64);
    fmt::print("{:<34} {:>8} {:>8} {:>8} {:>10}\n", kernel.name, shown(roofs.memory), shown(roofs.l2),
               shown(roofs.l1), shown(roofs.arithmetic));
    if (roofs.least() > 0) seconds += 1 / roofs.least();
  }
  if (seconds > 0) fmt::print("\na step: at most {:.0f} Gpoints/s, interior points only", 1 / seconds);
  fmt::print("\nDRAM: {:.0f} % of {:.0f} GB/s, what a copy reaches; -: not known\n", 100 * memory_share,
             gpu.memory_gb_s);
}

}  // namespace

void explain_cuda(const EquationDefinition& definition, const EquationOptions& options, emit::Real real) {
  const CudaReportOptions asked = options_of(options, real);
  const Gpu* gpu = options.gpu.empty() ? gpu_of(asked.architecture.number()) : &find_gpu(options.gpu);
  const CudaText text = cuda_text_of(definition, asked);
  if (options.text) {
    fmt::print("{}", text.source.text);
    return;
  }
  fmt::print("{}: {}\n", definition.name(), definition.description());
  print_heading("CUDA text");
  fmt::print("{}", text.source.text);
  print_work(text);
  if (const jit::NvrtcStatus nvrtc = jit::inspect_nvrtc(); nvrtc.usable) {
    jit::CudaCompiler compiler;
    print_records(compiler.cache().records_of(compiler.key_of(text.source, asked.architecture)));
    print_code(report_cuda(text, asked.architecture, compiler));
  } else {
    print_heading("not compiled");
    fmt::print("{}\n", nvrtc.problem);
  }
  if (gpu != nullptr) print_roofs(text, *gpu, real == emit::Real::float64);
}

}  // namespace ondula::tools
