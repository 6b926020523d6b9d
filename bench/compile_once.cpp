// What a first call costs: every equation compiled in a process of its own, cold and from the cache.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <sstream>

#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "runtime/cuda_report.hpp"
#include "runtime/equation_file.hpp"
#include "runtime/machine.hpp"

namespace {

using namespace ondula;
using Clock = std::chrono::steady_clock;

/// Of one row's texts, all in the order of the columns.
struct Figures {
  double load = 0;  ///< s, an equation's file; 0 for one that is linked in
  double forward = 0, gradient = 0;
  std::size_t forward_bytes = 0, gradient_bytes = 0;
};

struct Row {
  std::string equation;  ///< a name, or a file's path
  int dims = 2, order = 8;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What `body` writes, from a child: each figure is of a process in which nothing is loaded yet.
Figures in_child(const std::function<Figures()>& body) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw RuntimeError("no pipe");
  const pid_t child = fork();
  if (child < 0) throw RuntimeError("no process");
  if (child == 0) {
    close(ends[0]);
    std::string told;
    try {
      const Figures f = body();
      told =
          fmt::format("ok {} {} {} {} {}", f.load, f.forward, f.gradient, f.forward_bytes, f.gradient_bytes);
    } catch (const std::exception& error) {
      told = error.what();
    }
    const bool whole = write(ends[1], told.data(), told.size()) == static_cast<ssize_t>(told.size());
    _exit(whole ? 0 : 1);
  }
  close(ends[1]);
  std::string told;
  std::array<char, 4096> some{};
  for (ssize_t got = 0; (got = read(ends[0], some.data(), some.size())) > 0;)
    told.append(some.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  std::istringstream words(told);
  std::string ok;
  Figures f;
  if (!(words >> ok >> f.load >> f.forward >> f.gradient >> f.forward_bytes >> f.gradient_bytes) ||
      ok != "ok")
    throw RuntimeError(told.empty() ? fmt::format("a child ended with status {}", status) : told);
  return f;
}

EquationDefinition definition_of(const Row& row, const jit::CacheOptions& cache, double& load) {
  if (!is_equation_path(row.equation)) return equations::find(row.equation);
  const auto begin = Clock::now();
  EquationDefinition found = load_equation(row.equation, {.cache = cache, .log = {}, .arguments = {}});
  load = seconds_since(begin);
  return found;
}

passes::PipelineOptions pipeline(const Row& row) {
  passes::PipelineOptions options;
  options.axes = default_axes(row.dims);
  options.order = row.order;
  return options;
}

/// As a Propagator does: the forward step, then what a gradient needs, its two texts at once.
Figures host(const Row& row, const jit::CacheOptions& cache) {
  Figures f;
  const EquationDefinition definition = definition_of(row, cache, f.load);
  PropagatorOptions options;
  options.cache = cache;
  Machine machine(options);
  ir::Domain domain;
  domain.dims = row.dims;
  auto begin = Clock::now();
  machine.ready();
  const passes::Compilation forward = passes::compile(definition, pipeline(row));
  StepSource text = machine.source(forward, domain, 0);
  f.forward_bytes = text.host.text.size();
  static_cast<void>(machine.compile(std::move(text)));
  f.forward = seconds_since(begin);
  begin = Clock::now();
  const passes::AdjointCompilation both = passes::compile_adjoint(definition, pipeline(row));
  StepSource keep = machine.source(both.forward, domain, 0), back = machine.source(both.backward, domain, 0);
  f.gradient_bytes = keep.host.text.size() + back.host.text.size();
  auto other = std::async(std::launch::async, [&] { return machine.compile(std::move(back)); });
  static_cast<void>(machine.compile(std::move(keep)));
  static_cast<void>(other.get());
  f.gradient = seconds_since(begin);
  return f;
}

Figures cubin(const Row& row, const jit::CacheOptions& cache) {
  Figures f;
  const EquationDefinition definition = definition_of(row, cache, f.load);
  CudaReportOptions options;
  options.dims = row.dims;
  options.order = row.order;
  auto begin = Clock::now();
  jit::CudaCompiler compiler(cache);
  const auto text_of = [&](Direction direction) {
    options.direction = direction;
    return cuda_text_of(definition, options).source;
  };
  const jit::KernelSource forward = text_of(Direction::forward);
  f.forward_bytes = forward.text.size();
  static_cast<void>(compiler.compile(forward, options.architecture));
  f.forward = seconds_since(begin);
  begin = Clock::now();
  const jit::KernelSource keep = text_of(Direction::keeping), back = text_of(Direction::adjoint);
  f.gradient_bytes = keep.text.size() + back.text.size();
  auto other = std::async(std::launch::async, [&] { return compiler.compile(back, options.architecture); });
  static_cast<void>(compiler.compile(keep, options.architecture));
  static_cast<void>(other.get());
  f.gradient = seconds_since(begin);
  return f;
}

/// The least of several rounds, each from an empty cache; then the least of as many that find it filled.
struct Pair {
  Figures cold, cached;
};

Pair measure(const std::function<Figures(const jit::CacheOptions&)>& body,
             const std::filesystem::path& folder, int rounds) {
  Pair least;
  const jit::CacheOptions cache{.directory = folder.string()};
  const auto take = [](Figures& best, const Figures& f, bool first) {
    if (first) best = f;
    best.load = std::min(best.load, f.load);
    best.forward = std::min(best.forward, f.forward);
    best.gradient = std::min(best.gradient, f.gradient);
  };
  for (int k = 0; k < rounds; ++k) {
    std::filesystem::remove_all(folder);
    take(least.cold, in_child([&] { return body(cache); }), k == 0);
  }
  for (int k = 0; k < rounds; ++k) take(least.cached, in_child([&] { return body(cache); }), k == 0);
  return least;
}

std::string columns(const Pair& p) {
  return fmt::format("{:>8.2f}{:>9.2f}{:>9.1f}{:>9.1f}{:>8.0f}{:>8.0f}", p.cold.forward, p.cold.gradient,
                     1e3 * p.cached.forward, 1e3 * p.cached.gradient,
                     static_cast<double>(p.cold.forward_bytes) / 1024,
                     static_cast<double>(p.cold.gradient_bytes) / 1024);
}

/// Whether the equation can be stated so; why not, where it cannot.
std::string refusal(const Row& row, const jit::CacheOptions& cache) {
  try {
    static_cast<void>(in_child([&] {
      Figures f;
      static_cast<void>(definition_of(row, cache, f.load).instantiate(default_axes(row.dims)));
      return f;
    }));
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> named;
  std::vector<int> orders = {4, 8}, dims = {1, 2, 3};
  int rounds = 1;
  bool no_cuda = false;
  CLI::App app(
      "Seconds until an equation's kernels can be called, each in a fresh process: cold, and from the cache");
  app.add_option("equations", named, "names or files; default: the built-in ones");
  app.add_option("--dims", dims)->check(CLI::Range(1, 3));
  app.add_option("--order", orders);
  app.add_option("--rounds", rounds, "the least of so many")->check(CLI::PositiveNumber);
  app.add_flag("--no-cuda", no_cuda, "the host alone");
  CLI11_PARSE(app, argc, argv);
  if (named.empty()) {
    for (const EquationDefinition& definition : equations::all()) named.push_back(definition.name());
  }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("ondula-compile-once-{}", getpid());
  int status = 0;
  double worst = 0;
  fmt::print(
      "seconds cold, milliseconds cached, KiB of text; gradient: the forward step that keeps, and the "
      "adjoint\n"
      "{:<42}{:>8} | {:^51} | {:^51}\n{:<42}{:>8} |",
      "", "", "host", no_cuda ? "" : "cubin, sm_90", "equation", "file s");
  const std::string heads = fmt::format("{:>8}{:>9}{:>9}{:>9}{:>8}{:>8}", "forward", "gradient", "f. ms",
                                        "g. ms", "f. KiB", "g. KiB");
  fmt::print("{} |{}\n", heads, no_cuda ? "" : heads);
  for (const std::string& equation : named) {
    for (const int d : dims) {
      for (const int order : orders) {
        const Row row{equation, d, order};
        const std::string name =
            fmt::format("{} {}-D order {}", std::filesystem::path(equation).filename().string(), d, order);
        const jit::CacheOptions cache{.directory = folder.string()};
        if (const std::string why = refusal(row, cache); !why.empty()) {
          if (order == orders.front())
            fmt::print("{:<42} none: {}\n", fmt::format("{} {}-D", equation, d),
                       why.substr(0, why.find('\n')));
          continue;
        }
        try {
          const Pair on_host = measure([&](const auto& c) { return host(row, c); }, folder, rounds);
          worst = std::max({worst, on_host.cold.forward, on_host.cold.gradient});
          std::string line = fmt::format("{:<42}{:>8.2f} |{} |", name, on_host.cold.load, columns(on_host));
          if (!no_cuda) {
            const Pair on_cuda = measure([&](const auto& c) { return cubin(row, c); }, folder, rounds);
            worst = std::max({worst, on_cuda.cold.forward, on_cuda.cold.gradient});
            line += columns(on_cuda);
          }
          fmt::print("{}\n", line);
        } catch (const std::exception& error) {
          fmt::print("{:<42} failed: {}\n", name, error.what());
          status = 1;
        }
        std::fflush(stdout);
      }
    }
  }
  std::filesystem::remove_all(folder);
  fmt::print("largest cold figure: {:.2f} s\n", worst);
  return status;
}
