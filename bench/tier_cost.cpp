// What a history below the device costs: gradients with both in turn, on a disk as fast as is asked for.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "bench/baseline_cases.hpp"
#include "compiler/error.hpp"
#include "runtime/storage/blob_store.hpp"
#include "runtime/storage/file_operations.hpp"

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

/// The system's files, no faster than `rate`; 0: as they are. Like a disk with a queue it works on while a
/// call is being made: only what is missing to the rate is waited for.
class Throttled final : public storage::FileOperations {
 public:
  double rate = 0;  ///< bytes a second
  double busy = 0;  ///< seconds that calls took by themselves
  std::int64_t write(int file, const std::byte* from, std::size_t bytes, std::int64_t offset) override {
    return timed(bytes, [&] { return FileOperations::write(file, from, bytes, offset); });
  }
  std::int64_t read(int file, std::byte* to, std::size_t bytes, std::int64_t offset) override {
    return timed(bytes, [&] { return FileOperations::read(file, to, bytes, offset); });
  }

 private:
  template <class F>
  std::int64_t timed(std::size_t bytes, const F& call) {
    constexpr std::chrono::milliseconds queue(2);
    const auto begin = Clock::now();
    const std::int64_t done = call();
    std::unique_lock lock(mutex_);
    busy += seconds_since(begin);
    if (rate > 0) {
      free_ = std::max(free_, begin - queue) +
              std::chrono::duration_cast<Clock::duration>(
                  std::chrono::duration<double>(static_cast<double>(bytes) / rate));
      const Clock::time_point end = free_;
      lock.unlock();
      std::this_thread::sleep_until(end);
    }
    return done;
  }
  std::mutex mutex_;
  Clock::time_point free_;
};

/// Bytes a second that a disk takes and gives by itself.
struct DiskRates {
  double writes = 0, reads = 0;
};

/// By blobs of `bytes` in a fresh file of that folder.
DiskRates disk_rates(const std::string& scratch, std::size_t bytes) {
  const std::int64_t count = std::max<std::int64_t>(8, 400'000'000 / static_cast<std::int64_t>(bytes));
  storage::BlobOptions options;
  options.name = "rate";
  options.count = count;
  options.bytes = bytes;
  options.scratch = scratch;
  storage::BlobStore store(options);
  constexpr std::int64_t depth = 4;  // on their way at a time, as a history's window has
  const std::size_t room = storage::blob_room(Tier::disk, bytes);
  const std::shared_ptr<std::byte> memory = storage::allocate_host({}, depth * room, options.name);
  DiskRates rates;
  for (const bool writes : {true, false}) {
    const auto begin = Clock::now();
    for (std::int64_t k = 0; k < count; ++k) {
      if (k >= depth) store.wait(k - depth);
      std::byte* const place = memory.get() + static_cast<std::size_t>(k % depth) * room;
      if (writes)
        store.write(k, place);
      else
        store.read(k, place);
    }
    store.finish();
    (writes ? rates.writes : rates.reads) =
        static_cast<double>(count) * static_cast<double>(bytes) / seconds_since(begin);
  }
  return rates;
}

struct Plan {
  Tier tier = Tier::disk;
  double share = 1;  ///< the disk's rate in the history's
  std::string scratch;
};

void measure(const bench::Case& c, int threads, int rounds, const Plan& plan,
             const std::shared_ptr<jit::HostCompiler>& compiler) {
  bench::Setup setup = bench::set_up(c);
  setup.options.threads = threads;
  setup.options.compiler = compiler;
  const MisfitFunction misfit = [](std::int64_t, const auto& records) {
    return bench::sum_of_squares(records);
  };
  Propagator plain = setup.propagator();
  const auto files = std::make_shared<Throttled>();
  setup.options.storage.steps = plan.tier;
  setup.options.storage.scratch = plan.scratch;
  setup.options.scratch_files = files;
  Propagator below = setup.propagator();
  const auto history = static_cast<double>(plain.estimate(setup.shots).history_bytes);
  const DiskRates disk = plan.tier == Tier::disk
                             ? disk_rates(plan.scratch, plain.estimate(setup.shots).step_bytes)
                             : DiskRates{};
  plain.gradient(setup.shots, misfit);
  plain.gradient(setup.shots, misfit);
  const double rate = history / plain.timings().keeping;
  const double rate_back = history / plain.timings().backward;
  files->rate = plan.share * rate;
  below.gradient(setup.shots, misfit);
  files->busy = 0;
  std::vector<double> times, others, ratios, keeping, backward;
  for (int k = 0; k < rounds; ++k) {
    auto begin = Clock::now();
    plain.gradient(setup.shots, misfit);
    times.push_back(seconds_since(begin));
    const double kept = plain.timings().keeping, back = plain.timings().backward;
    begin = Clock::now();
    below.gradient(setup.shots, misfit);
    others.push_back(seconds_since(begin));
    ratios.push_back(others.back() / times.back());
    keeping.push_back(below.timings().keeping / kept);
    backward.push_back(below.timings().backward / back);
  }
  fmt::print(
      "{:<17}{}-D{:>7}{:>7}{:>12.0f}{:>9.0f} {:<7.0f}{:>9.0f} {:<7.0f}{:>9.3f}{:>10.3f}   {:.3f} ({:.3f} .. "
      "{:.3f}){:>10.3f}{:>10.3f}"
      "{:>12.3f}\n",
      c.equation, c.dims, c.n, c.steps, history / 1e6, rate / 1e6, rate_back / 1e6, disk.writes / 1e6,
      disk.reads / 1e6, median(times), median(others), median(ratios),
      *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()),
      median(keeping), median(backward), files->busy / rounds);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> equations = {"acoustic", "acoustic_density", "elastic"};
  std::vector<int> dims = {2, 3};
  std::int64_t n = 0, steps = 0;
  int width = -1, order = 8, threads = 0, rounds = 5;
  bool host = false;
  Plan plan;
  CLI::App app("What a history in host memory or on disk costs a gradient");
  app.add_option("equations", equations, "default: acoustic acoustic_density elastic");
  app.add_option("--dims", dims, "default: 2 3")->check(CLI::Range(2, 3));
  app.add_option("-n,--nodes", n, "per axis; default: 512 in 2-D, 96 in 3-D");
  app.add_option("--steps", steps, "default: 300 in 2-D, 100 in 3-D");
  app.add_option("--width", width, "layer cells; default: 50 in 2-D, 20 in 3-D");
  app.add_option("--order", order);
  app.add_option("--threads", threads, "0: one per core");
  app.add_option("--rounds", rounds)->check(CLI::PositiveNumber);
  app.add_flag("--host", host, "in host memory instead of on disk");
  app.add_option("--share", plan.share,
                 "the disk's rate, in that at which the forward run makes history; 0: as fast as it is");
  app.add_option("--scratch", plan.scratch, "folder of the disk");
  CLI11_PARSE(app, argc, argv);
  if (host) plan.tier = Tier::host;
  try {
    const auto compiler = make_compiler();
    fmt::print("{:<20}{:>7}{:>7}{:>12}{:>17}{:>17}{:>9}{:>10}   {:<22}{:>11}{:>10}{:>12}\n", "case", "nodes",
               "steps", "history MB", "out back MB/s", "disk w r MB/s", "device s", "below s",
               "below / device", "keeping", "backward", "calls s");
    for (const std::string& equation : equations) {
      for (const int d : dims) {
        bench::Case c{"", equation, d, n, 1, steps, width, order, {}};
        if (n == 0) c.n = d == 2 ? 512 : 96;
        if (steps == 0) c.steps = d == 2 ? 300 : 100;
        if (width < 0) c.width = d == 2 ? 50 : 20;
        measure(c, threads, rounds, plan, compiler);
      }
    }
  } catch (const Error& error) {
    fmt::print(stderr, "ondula-tier-cost: {}\n", error.what());
    return 2;
  }
  return 0;
}
