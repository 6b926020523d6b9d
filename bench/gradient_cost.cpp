// What a gradient costs in forward runs: both in turn, the ratio by rounds.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <memory>

#include "bench/baseline_cases.hpp"
#include "compiler/error.hpp"

namespace {

using namespace ondula;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string spread(const std::vector<double>& values) {
  return fmt::format("{:.2f} ({:.2f} .. {:.2f})", median(values),
                     *std::min_element(values.begin(), values.end()),
                     *std::max_element(values.begin(), values.end()));
}

const char* name_of(const StoragePlan& plan) {
  const bool boundary = plan.keep == Storage::boundary;
  switch (plan.checkpoints.kind) {
    case Checkpoints::Kind::none:
      return boundary ? "boundary" : "full";
    case Checkpoints::Kind::segments:
      return boundary ? "b.segments" : "segments";
    case Checkpoints::Kind::revolve:
      return boundary ? "b.revolve" : "revolve";
  }
  return "";
}

/// A storage plan against full storage: both gradients in turn.
void measure_plan(const bench::Case& c, const StoragePlan& plan, int threads, int rounds,
                  const std::shared_ptr<jit::HostCompiler>& compiler) {
  bench::Setup setup = bench::set_up(c);
  setup.options.threads = threads;
  setup.options.compiler = compiler;
  Propagator full = setup.propagator();
  setup.options.storage = plan;
  Propagator less = setup.propagator();
  const MisfitFunction misfit = [](std::int64_t, const auto& records) {
    return bench::sum_of_squares(records);
  };
  std::vector<double> ratio, keeping, whole;
  for (int k = -1; k < rounds; ++k) {
    auto begin = Clock::now();
    full.gradient(setup.shots, misfit);
    const double all = seconds_since(begin);
    begin = Clock::now();
    less.gradient(setup.shots, misfit);
    const double own = seconds_since(begin);
    if (k < 0) continue;
    ratio.push_back(own / all);
    whole.push_back(all);
    keeping.push_back(full.timings().keeping);
  }
  // What steps that run again ought to take: as long as steps that are kept do.
  const std::int64_t shots = static_cast<std::int64_t>(setup.shots.size());
  const double share =
      static_cast<double>(less.timings().steps_again) / static_cast<double>(shots * setup.options.steps);
  const double predicted = 1 + share * median(keeping) / median(whole);
  constexpr double gib = 1 << 30;
  fmt::print("{:<17}{}-D{:>7}{:>7}{:>7}   {:>8} {:<4}{:<22}{:>11.2f}{:>11.2f}{:>10.2f}{:>10.2f}\n",
             c.equation, c.dims, c.n, c.width, c.steps, name_of(plan), plan.checkpoints.count, spread(ratio),
             predicted, share, static_cast<double>(full.device_bytes_peak()) / gib,
             static_cast<double>(less.device_bytes_peak()) / gib);
  std::fflush(stdout);
}

void measure(const bench::Case& c, int threads, int rounds,
             const std::shared_ptr<jit::HostCompiler>& compiler) {
  bench::Setup setup = bench::set_up(c);
  setup.options.threads = threads;
  setup.options.compiler = compiler;
  // Two propagators, so that a forward run has no history's memory beside it.
  Propagator plain = setup.propagator(), inverse = setup.propagator();
  const MisfitFunction misfit = [](std::int64_t, const auto& records) {
    return bench::sum_of_squares(records);
  };
  plain.forward(setup.shots);
  inverse.gradient(setup.shots, misfit);
  std::vector<double> forward, gradient, ratio, keeping, backward, chain;
  for (int k = 0; k < rounds; ++k) {
    auto begin = Clock::now();
    plain.forward(setup.shots);
    forward.push_back(seconds_since(begin));
    begin = Clock::now();
    inverse.gradient(setup.shots, misfit);
    gradient.push_back(seconds_since(begin));
    ratio.push_back(gradient.back() / forward.back());
    keeping.push_back(inverse.timings().keeping / forward.back());
    backward.push_back(inverse.timings().backward / forward.back());
    chain.push_back(inverse.timings().chain / forward.back());
  }
  constexpr double gib = 1 << 30;
  fmt::print(
      "{:<17}{}-D{:>7}{:>7}{:>7}   {:<22}{:>9.2f}{:>10.2f}{:>8.2f}{:>11.3f}{:>12.3f}{:>9.2f}{:>10.2f}\n",
      c.equation, c.dims, c.n, c.width, c.steps, spread(ratio), median(keeping), median(backward),
      median(chain), median(forward), median(gradient), static_cast<double>(plain.device_bytes_peak()) / gib,
      static_cast<double>(inverse.device_bytes_peak()) / gib);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> equations = {"acoustic", "acoustic_density", "elastic"};
  std::vector<int> dims = {2, 3};
  std::int64_t n = 0, steps = 0;
  int width = -1, order = 8, threads = 0, rounds = 5, shots = 1;
  std::vector<int> segments, revolve;
  bool boundary = false;
  CLI::App app("What a gradient costs in forward runs, or by other storage in gradients of full storage");
  app.add_option("equations", equations, "default: acoustic acoustic_density elastic");
  app.add_option("--dims", dims, "default: 2 3")->check(CLI::Range(2, 3));
  app.add_option("-n,--nodes", n, "per axis; default: 1024 in 2-D, 192 in 3-D, elastic 128");
  app.add_option("--steps", steps, "default: 300 in 2-D, 100 in 3-D");
  app.add_option("--width", width, "layer cells; default: 50 in 2-D, 20 in 3-D");
  app.add_option("--order", order);
  app.add_option("--shots", shots);
  app.add_option("--threads", threads, "0: one per core");
  app.add_option("--rounds", rounds)->check(CLI::PositiveNumber);
  app.add_option("--segments", segments, "numbers of them: against full storage");
  app.add_option("--revolve", revolve, "numbers of states: against full storage");
  app.add_flag("--boundary", boundary, "boundary saving against full storage, with checkpoints where given");
  CLI11_PARSE(app, argc, argv);
  std::vector<StoragePlan> plans;
  const auto add = [&](Checkpoints::Kind kind, int count) {
    plans.emplace_back();
    plans.back().keep = boundary ? Storage::boundary : Storage::full;
    plans.back().checkpoints = {kind, count};
  };
  for (const int count : segments) add(Checkpoints::Kind::segments, count);
  for (const int count : revolve) add(Checkpoints::Kind::revolve, count);
  if (boundary && plans.empty()) add(Checkpoints::Kind::none, 0);
  try {
    const auto compiler = make_compiler();
    if (!plans.empty())
      fmt::print("{:<20}{:>7}{:>7}{:>7}   {:<13}{:<22}{:>11}{:>11}{:>10}{:>10}\n", "case", "nodes", "layer",
                 "steps", "plan", "gradient / full's", "predicted", "run again", "full GiB", "plan GiB");
    else
      fmt::print("{:<20}{:>7}{:>7}{:>7}   {:<22}{:>9}{:>10}{:>8}{:>11}{:>12}{:>9}{:>10}\n", "case", "nodes",
                 "layer", "steps", "gradient / forward", "keeping", "backward", "chain", "forward s",
                 "gradient s", "fwd GiB", "grad GiB");
    for (const std::string& equation : equations) {
      for (const int d : dims) {
        bench::Case c{"", equation, d, n, shots, steps, width, order, {}};
        if (n == 0) c.n = d == 2 ? 1024 : equation == "elastic" ? 128 : 192;
        if (steps == 0) c.steps = d == 2 ? 300 : 100;
        if (width < 0) c.width = d == 2 ? 50 : 20;
        for (const StoragePlan& plan : plans) measure_plan(c, plan, threads, rounds, compiler);
        if (plans.empty()) measure(c, threads, rounds, compiler);
      }
    }
  } catch (const Error& error) {
    fmt::print(stderr, "ondula-gradient-cost: {}\n", error.what());
    return 2;
  }
  return 0;
}
