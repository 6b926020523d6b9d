// Every equation's CUDA text compiles for every architecture, without a warning or a spill; docs/cuda.md's
// table is what comes out. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "compiler/error.hpp"
#include "equations/equations.hpp"
#include "runtime/cuda_report.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/nvrtc.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

constexpr std::array<int, 5> orders = {2, 4, 8, 12, 16};
constexpr std::array<const char*, 5> architectures = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};

/// One point of the matrix.
struct Case {
  std::string equation;
  int dims = 3;
  int order = 8;
  bool float64 = false;
  std::string architecture;
  Direction direction = Direction::forward;
  bool shots = false;

  CudaReportOptions options() const {
    CudaReportOptions options;
    options.direction = direction;
    options.dims = dims;
    options.shots = shots;
    options.order = order;
    options.real = float64 ? emit::Real::float64 : emit::Real::float32;
    options.architecture = jit::parse_architecture(architecture);
    return options;
  }
  std::string direction_text() const {
    return direction == Direction::forward      ? "forward"
           : direction == Direction::keeping    ? "keeping"
           : direction == Direction::rebuilding ? "rebuilding"
                                                : "adjoint";
  }
  std::string text() const {
    return fmt::format("{} {}-D order {} {} {} {}{}", equation, dims, order, float64 ? "float64" : "float32",
                       architecture, direction_text(), shots ? ", several shots" : "");
  }
};

std::vector<Case> all_cases(Direction direction = Direction::forward) {
  std::vector<Case> cases;
  for (const EquationDefinition& equation : equations::all())
    for (int dims = 1; dims <= 3; ++dims)
      for (const int order : orders)
        for (const bool float64 : {false, true})
          for (const bool shots : {false, true})
            for (const char* architecture : architectures)
              cases.push_back({equation.name(), dims, order, float64, architecture, direction, shots});
  return cases;
}

/// Cases that hold every pair of values of two axes: the first that adds most pairs, again and again.
std::vector<Case> pairs_of(const std::vector<Case>& all) {
  const auto values = [](const Case& c) {
    return std::array<std::string, 6>{c.equation,
                                      fmt::format("{}-D", c.dims),
                                      fmt::format("order {}", c.order),
                                      c.float64 ? "float64" : "float32",
                                      c.architecture,
                                      c.shots ? "several shots" : "one shot"};
  };
  std::map<std::string, bool> covered;
  const auto pairs = [&](const Case& c) {
    const auto v = values(c);
    std::vector<std::string> list;
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t k = i + 1; k < v.size(); ++k) list.push_back(v[i] + " x " + v[k]);
    return list;
  };
  for (const Case& c : all)
    for (const std::string& pair : pairs(c)) covered[pair] = false;
  std::vector<Case> chosen;
  while (true) {
    const Case* best = nullptr;
    int most = 0;
    for (const Case& c : all) {
      int fresh = 0;
      for (const std::string& pair : pairs(c)) fresh += covered[pair] ? 0 : 1;
      if (fresh <= most) continue;
      most = fresh;
      best = &c;
    }
    if (best == nullptr) return chosen;
    for (const std::string& pair : pairs(*best)) covered[pair] = true;
    chosen.push_back(*best);
  }
}

/// The least DRAM bytes per point and step in float32; 0 where none is stated.
double least_bytes(const std::string& equation, int dims) {
  if (equation == "acoustic") return 16;
  if (equation == "acoustic_density") return 20;
  if (equation == "elastic" && dims > 1) return dims == 2 ? 72 : 120;
  return 0;
}

/// What is wrong with one compilation; empty: nothing.
std::string faults_of(const Case& c, const CudaReport& report) {
  std::string faults;
  for (const std::string& warning : report.module->warnings()) faults += warning + "\n";
  for (const CudaKernelReport& kernel : report.kernels) {
    const jit::SassCounts& all = kernel.use.code.all;
    if (!c.float64 && (kernel.use.stack_bytes > 0 || all.local.loads + all.local.stores > 0))
      faults += fmt::format("{}: {} bytes of local memory\n", kernel.kernel.name, kernel.use.stack_bytes);
    if (all.global.stores == 0 || all.instructions == 0)
      faults += kernel.kernel.name + ": it stores nothing\n";
    if (kernel.use.max_threads != kernel.kernel.threads())
      faults += fmt::format("{}: bounds of {} threads\n", kernel.kernel.name, kernel.use.max_threads);
  }
  if (c.direction != Direction::forward) return faults;
  const double least = least_bytes(c.equation, c.dims) * (c.float64 ? 2 : 1);
  if (least > 0 && report.memory_bytes() > 1.1 * least)
    faults += fmt::format("{} bytes of DRAM per point, {} would do\n", report.memory_bytes(), least);
  return faults;
}

/// Compiles all cases over the machine's threads; `done` is called one at a time, in the order of the cases'
/// ends.
template <class Done>
void compile_all(const std::vector<Case>& cases, const Done& done) {
  jit::CudaCompiler compiler;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      std::string fault;
      CudaReport report;
      try {
        const CudaReportOptions options = cases[i].options();
        report = report_cuda(cuda_text_of(equations::find(cases[i].equation), options), options.architecture,
                             compiler);
        fault = faults_of(cases[i], report);
      } catch (const Error& error) {
        fault = error.what();
      }
      const std::scoped_lock lock(mutex);
      done(i, report, fault);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

/// All compile, without a fault.
void check_all(const std::vector<Case>& cases) {
  std::size_t compiled = 0;
  compile_all(cases, [&](std::size_t i, const CudaReport& report, const std::string& fault) {
    const std::string name = cases[i].text();
    CAPTURE(name);
    CHECK(fault == "");
    compiled += report.kernels.empty() ? 0 : 1;
  });
  CHECK(compiled == cases.size());
}

const std::filesystem::path page = std::filesystem::path(ONDULA_TESTS_DIR) / "../docs/cuda.md";
constexpr const char* table_begin = "<!-- the tables below are generated -->\n";

std::string read_page() {
  std::ostringstream text;
  text << std::ifstream(page).rdbuf();
  return text.str();
}

/// One kernel's line of docs/cuda.md without its registers: all that does not depend on NVRTC, and its code
/// on one architecture.
std::string line_of(const Case& c, const CudaKernelReport& report,
                    const std::array<const CudaKernelReport*, 5>& on) {
  const ir::CudaKernel& kernel = report.kernel;
  std::string registers, spills;
  for (const CudaKernelReport* other : on) {
    registers += fmt::format(" {} |", other == nullptr ? "" : std::to_string(other->use.registers));
    spills += other == nullptr ? "" : fmt::format("{}{}", spills.empty() ? "" : "/", other->use.stack_bytes);
  }
  const jit::SassCounts& counts = report.counts();
  return fmt::format(
      "| {} {}-D | {} | {} | {}x{}, {}{} |{} {} | {} | {} | {} | {} | {:.0f} | {:.0f} | {:.1f} |\n",
      c.equation, c.dims, c.order, kernel.name, kernel.block[0], kernel.block[1], kernel.min_blocks,
      kernel.march ? ", march" : "", registers, spills, counts.instructions, counts.global.loads,
      counts.global.stores, kernel.figures.flops, kernel.figures.dram_bytes, kernel.figures.l2_bytes,
      kernel.figures.l1_wavefronts);
}

constexpr const char* head =
    "| equation | order | kernel | block, blocks | sm_75 | sm_80 | sm_90 | sm_100 | sm_120 | spill | "
    "instructions | loads | "
    "stores | flops | DRAM | L2 | L1 "
    "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

}  // namespace

TEST_CASE(
    "C19: every equation's CUDA text compiles for sm_75 to sm_120 without a header, a warning or a spill") {
  ONDULA_NEEDS_NVRTC();
  const std::vector<Case> all = all_cases(), cases = full_matrices() ? all : pairs_of(all);
  CHECK(all.size() == 900);
  CHECK(cases.size() < all.size() + (full_matrices() ? 1 : 0));
  check_all(cases);
}

TEST_CASE(
    "adjoint CUDA text, and the forward one that keeps, compile without a header, a warning or a spill") {
  ONDULA_NEEDS_NVRTC();
  std::vector<Case> cases;
  for (const Direction direction : {Direction::keeping, Direction::adjoint, Direction::rebuilding}) {
    const std::vector<Case> all = all_cases(direction);
    const std::vector<Case> some = full_matrices() ? all : pairs_of(all);
    // What only keeps a field is the forward text: the pairs of the adjoint are the ones that count.
    if (direction != Direction::keeping || full_matrices())
      cases.insert(cases.end(), some.begin(), some.end());
  }
  if (!full_matrices()) {
    for (const char* architecture : architectures)
      cases.push_back({"acoustic_density", 3, 8, false, architecture, Direction::keeping});
  }
  check_all(cases);
}

TEST_CASE(
    "the adjoint of 3-D elastic at order 8 loads per interior point what the forward step loads, and "
    "density's "
    "sums") {
  ONDULA_NEEDS_NVRTC();
  const auto loads = [](Direction direction) {
    const Case c{"elastic", 3, 8, false, "sm_90", direction};
    std::vector<int> counts;
    for (const ir::CudaKernel& kernel : cuda_text_of(equations::elastic(), c.options()).program.kernels)
      counts.push_back(kernel.figures.loads);
    return counts;
  };
  // Velocities, stresses; between them, of the adjoint, the sums of the gradient.
  const std::vector<int> forward = loads(Direction::forward), adjoint = loads(Direction::adjoint);
  REQUIRE(forward.size() == 2);
  REQUIRE(adjoint.size() == 3);
  // With the velocities grow the sums of their coefficients: three, and as many saved fields.
  CHECK(adjoint[0] == forward[0] + 6);
  CHECK(adjoint[2] == forward[1]);
}

TEST_CASE("F8: 3-D elastic kernels of order 16 say their registers, and spill none") {
  ONDULA_NEEDS_NVRTC();
  jit::CudaCompiler compiler;
  for (const std::string architecture : architectures) {
    CAPTURE(architecture);
    const Case c{"elastic", 3, 16, false, architecture};
    const CudaReport report =
        report_cuda(cuda_text_of(equations::elastic(), c.options()), c.options().architecture, compiler);
    CHECK(faults_of(c, report) == "");
    for (const CudaKernelReport& kernel : report.kernels) {
      CAPTURE(kernel.kernel.name);
      CHECK(kernel.use.registers > 32);
      // The launch bounds hold: so many threads of so many registers fit a multiprocessor.
      CHECK(kernel.use.registers * kernel.kernel.threads() * kernel.kernel.min_blocks <= 65536);
    }
  }
}

TEST_SUITE("alone") {
  TEST_CASE("cuda: 3-D elastic of order 8 compiles within a second, and loads from the cache within 20 ms") {
    ONDULA_NEEDS_NVRTC();
    const Case c{"elastic", 3, 8, false, "sm_90"};
    const CudaText text = cuda_text_of(equations::elastic(), c.options());
    const TemporaryDirectory directory;
    // The processor's time, which other processes on the machine do not stretch.
    const auto seconds = [&](const jit::CacheOptions& cache, bool hit) {
      const std::clock_t start = std::clock();
      jit::CudaCompiler compiler(cache);
      CHECK(report_cuda(text, c.options().architecture, compiler).module->record().cache_hit == hit);
      return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    };
    const jit::CacheOptions cache{.directory = directory.path().string()};
    const double cold = seconds(cache, false), cached = seconds(cache, true);
    MESSAGE(fmt::format("cold {:.2f} s, cached {:.1f} ms", cold, 1e3 * cached));
    CHECK(cold < 1);
    CHECK(cached < 0.02);
  }
}

TEST_CASE("docs: cuda.md's tables are what the compiler gives") {
  ONDULA_NEEDS_NVRTC();
  const bool update = ::getenv("ONDULA_UPDATE_GOLDEN") != nullptr;
  std::string text = read_page();
  const std::size_t begin = text.find(table_begin);
  REQUIRE(begin != std::string::npos);
  const std::string version = fmt::format("NVRTC {}\n", jit::inspect_nvrtc().version.text());
  if (!update && text.find(version, begin) == std::string::npos)
    ONDULA_SKIP("docs/cuda.md was made with another NVRTC than " + version);
  std::vector<Case> cases;
  for (const Case& c : all_cases())
    if (!c.float64 && !c.shots &&
        (update || full_matrices() || (c.equation == "acoustic" && c.dims == 3 && c.order == 8)))
      cases.push_back(c);
  std::vector<CudaReport> reports(cases.size());
  compile_all(cases, [&](std::size_t i, const CudaReport& report, const std::string& fault) {
    CHECK(fault == "");
    reports[i] = report;
  });
  // Cases come with the architectures innermost; plain kernels and marching ones have tables of their own.
  std::array<std::string, 2> tables;
  for (std::size_t first = 0; first < cases.size(); first += architectures.size()) {
    for (const bool march : {false, true}) {
      const std::size_t shown = first + (march ? 2 : 1);
      for (std::size_t k = 0; k < reports[shown].kernels.size(); ++k) {
        std::array<const CudaKernelReport*, 5> on{};
        for (std::size_t a = 0; a < architectures.size(); ++a) {
          const auto& kernels = reports[first + a].kernels;
          if ((jit::parse_architecture(architectures[a]).major >= 9) == march && k < kernels.size())
            on[a] = &kernels[k];
        }
        tables[march ? 1 : 0] += line_of(cases[shown], reports[shown].kernels[k], on);
      }
    }
  }
  if (update) {
    text = text.substr(0, begin) + table_begin + "\nMade with " + version +
           "\n## Before sm_90: code of sm_80\n\n" + head + tables[0] +
           "\n## From sm_90 on: code of sm_90\n\n" + head + tables[1];
    std::ofstream(page) << text;
  }
  for (const std::string& table : tables) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);)
      CHECK_MESSAGE(text.find(line) != std::string::npos, line);
  }
}
