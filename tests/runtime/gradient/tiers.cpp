// Histories in host memory and on disk: the bits of those on the device, whatever the disk does.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "compiler/error.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/gradient/pairs.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/storage/faulty_files.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {
namespace {

constexpr std::array<const char*, 3> equations_here = {"acoustic", "acoustic_density", "elastic"};
constexpr std::array<Tier, 2> below = {Tier::host, Tier::disk};

/// A folder for scratch files, and the calls on them.
struct Scratch {
  TemporaryDirectory folder;
  std::shared_ptr<FaultyFiles> files = std::make_shared<FaultyFiles>();
  std::string path() const { return folder.path().string(); }
  Problem on(Problem problem, Tier tier) const {
    problem.options.storage.steps = tier;
    problem.options.storage.scratch = path();
    problem.options.scratch_files = files;
    return problem;
  }
};

std::string all_differences(const Everything& found, const Everything& expected) {
  return fmt::format("{}", fmt::join(differences(found, expected), "; "));
}

/// The sizes of the files without a name below `folder` that this process has open.
std::size_t scratch_bytes(const std::string& folder) {
  std::size_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
    struct stat facts{};
    if (target.starts_with(folder) && ::stat(entry.path().c_str(), &facts) == 0 && S_ISREG(facts.st_mode))
      bytes += static_cast<std::size_t>(facts.st_size);
  }
  return bytes;
}

/// Two shots, so that a history is used again.
Problem problem_of(const Setting& setting) {
  Problem problem = random_problem(setting);
  problem.shots.push_back(problem.shots.front());
  for (Source& source : problem.shots.back().sources) {
    for (double& v : source.wavelet) v *= 0.5;
  }
  return problem;
}

}  // namespace

TEST_CASE("tiers: a history in host memory or on disk gives the bits of one on the device") {
  ONDULA_NEEDS_CLANG();
  const std::vector<std::size_t> levels = {below.size(), equations_here.size(), 2, 2, 2, 2, 2};
  const auto any = [](const Row&) { return true; };
  for (const Row& row : full_matrices() ? whole_matrix(levels, any) : cover_by_pairs(levels, any)) {
    Setting setting;
    setting.equation = equations_here[row[1]];
    setting.dims = row[2] == 0 ? 2 : 3;
    setting.dtype = row[3] == 0 ? DType::float32 : DType::float64;
    setting.substeps = row[4] == 0 ? 1 : 3;
    setting.faces = row[5] == 0 ? "l" : "fl";
    setting.initial = row[6] == 1;
    setting.steps = setting.dims == 2 ? 40 : 12;
    CAPTURE(text(setting));
    const Problem problem = problem_of(setting);
    const Scratch scratch;
    const Tier tier = below[row[0]];
    CAPTURE(tier == Tier::disk);
    CHECK(all_differences(everything(scratch.on(problem, tier)), everything(problem)) == "");
    CHECK((scratch.files->writes > 0) == (tier == Tier::disk));
    CHECK(std::filesystem::is_empty(scratch.folder.path()));
  }
}

TEST_CASE("B10: ten runs on a slow disk give the bits of a history on the device") {
  ONDULA_NEEDS_CLANG();
  Setting setting;
  setting.equation = "elastic";
  setting.dims = 3;
  setting.dtype = DType::float32;
  setting.steps = 12;
  const Problem problem = problem_of(setting);
  const Everything expected = everything(problem);
  for (int repeat = 0; repeat < 10; ++repeat) {
    const Scratch scratch;
    // From faster than the steps to slower by far.
    scratch.files->bytes_per_second = 50e6 * (1 << repeat);
    CHECK(all_differences(everything(scratch.on(problem, Tier::disk)), expected) == "");
  }
}

TEST_CASE(
    "B17: a disk that fails while history is kept is an error naming the file, and the next call is right") {
  ONDULA_NEEDS_CLANG();
  Setting setting;
  setting.steps = 30;
  const Problem problem = random_problem(setting);
  const Everything expected = everything(problem);
  const Scratch scratch;
  Propagator propagator = scratch.on(problem, Tier::disk).propagator();
  FaultyFiles& files = *scratch.files;
  const std::vector<std::pair<std::int64_t FaultyFiles::*, std::string>> faults = {
      // First, as afterwards the file holds the same bytes already.
      {&FaultyFiles::lose_write, "not what was written"},
      {&FaultyFiles::fail_write, "No space left"},
      {&FaultyFiles::fail_read, "No space left"},
      {&FaultyFiles::end_read, "0 got"},
      {&FaultyFiles::flip_read, "not what was written"}};
  files.error = ENOSPC;
  for (const auto& [fault, words] : faults) {
    CAPTURE(words);
    files.*fault = (fault == &FaultyFiles::fail_write || fault == &FaultyFiles::lose_write ? files.writes
                                                                                           : files.reads) +
                   20;
    check_mentions(message_of<RuntimeError>([&] { every_derivative(propagator, problem); }),
                   {scratch.path(), "/history", words});
    CHECK(all_differences(everything(propagator, problem), expected) == "");
  }
  files.short_write = files.writes + 5;
  files.short_read = files.reads + 5;
  CHECK(all_differences(everything(propagator, problem), expected) == "");
}

TEST_CASE("B17: a disk that is too small, or a scratch folder that is none, is told before anything runs") {
  ONDULA_NEEDS_CLANG();
  Setting setting;
  setting.steps = 30;
  const Problem problem = random_problem(setting);
  const Scratch scratch;
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
  rlimit small = limit;
  small.rlim_cur = 100'000;
  bool run = false;
  const MisfitFunction misfit = [&](std::int64_t, const std::map<std::string, Traces>&) {
    run = true;
    return Misfit{};
  };
  {
    Problem own = scratch.on(problem, Tier::disk);
    own.options.scratch_files = nullptr;
    Propagator propagator = own.propagator();
    propagator.forward(problem.shots);  // kernels are in the cache
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const std::string told = message_of<RuntimeError>([&] { propagator.gradient(problem.shots, misfit); });
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    check_mentions(told, {scratch.path(), "/history", "bytes wanted", "free", "File too large"});
    CHECK_FALSE(run);
    propagator.gradient(problem.shots, misfit);
    CHECK(run);
  }
  Problem own = problem;
  own.options.storage.steps = Tier::disk;
  own.options.storage.scratch = scratch.path() + "/missing";
  run = false;
  Propagator propagator = own.propagator();
  check_mentions(refusal([&] { propagator.gradient(problem.shots, misfit); }),
                 {scratch.path() + "/missing", "No such file"});
  CHECK_FALSE(run);
}

TEST_CASE(
    "tiers: a scratch folder that vanishes during a run takes nothing away, and a cancelled run nothing on") {
  ONDULA_NEEDS_CLANG();
  Setting setting;
  setting.steps = 30;
  const Problem problem = random_problem(setting);
  const Everything expected = everything(problem);
  const Scratch scratch;
  const std::string folder = scratch.path() + "/inner";
  std::filesystem::create_directory(folder);
  Problem own = scratch.on(problem, Tier::disk);
  own.options.storage.scratch = folder;
  std::int64_t asked = 0, cancel_at = -1;
  own.options.cancel = [&] { return ++asked == cancel_at; };
  scratch.files->bytes_per_second = 50e6;  // much is under way when it ends
  Propagator propagator = own.propagator();
  const MisfitFunction vanish = [&](std::int64_t, const std::map<std::string, Traces>& records) {
    CHECK(std::filesystem::remove_all(folder) == 1);
    return Misfit{0, records};
  };
  CHECK(propagator.gradient(problem.shots, vanish).models == expected.gradient.models);
  std::filesystem::create_directory(folder);
  for (const std::int64_t at : {10, 50}) {
    asked = 0;
    cancel_at = at;
    CHECK_THROWS_AS(every_derivative(propagator, problem), Cancelled);
    CHECK(asked == at);
    cancel_at = -1;
    CHECK(every_derivative(propagator, problem).models == expected.gradient.models);
  }
}

TEST_CASE("tiers: bytes on the device, of the host and on disk are what estimate says") {
  ONDULA_NEEDS_CLANG();
  for (const char* equation : equations_here) {
    for (const Tier tier : below) {
      Setting setting;
      setting.equation = equation;
      CAPTURE(equation);
      CAPTURE(tier == Tier::disk);
      const Scratch scratch;
      Problem problem = scratch.on(random_problem(setting), tier);
      problem.options.storage.states = tier;
      problem.options.storage.checkpoints = {Checkpoints::Kind::segments, 3};
      Propagator propagator = problem.propagator();
      const Estimate estimate = propagator.estimate(problem.shots);
      std::size_t on_disk = 0;
      propagator.gradient(problem.shots, [&](std::int64_t, const std::map<std::string, Traces>&) {
        on_disk = scratch_bytes(scratch.path());
        return Misfit{};
      });
      CHECK(propagator.device_bytes_peak() == estimate.gradient_device_bytes);
      CHECK(on_disk == estimate.gradient_disk_bytes);
      CHECK((on_disk > 0) == (tier == Tier::disk));
      CHECK(estimate.checkpoint_bytes > 0);
      if (tier == Tier::host) CHECK(estimate.gradient_host_bytes == estimate.checkpoint_bytes);
    }
  }
}

TEST_CASE("tiers: kill -9 in the middle of a gradient leaves nothing in the scratch folder") {
  ONDULA_NEEDS_CLANG();
  const Scratch scratch;
  const pid_t child = ::fork();
  if (child == 0) {
    const Problem problem = scratch.on(random_problem({}), Tier::disk);
    problem.propagator().gradient(problem.shots, [](std::int64_t, const std::map<std::string, Traces>&) {
      ::raise(SIGKILL);
      return Misfit{};
    });
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(std::filesystem::is_empty(scratch.folder.path()));
}

TEST_CASE("tiers: the reference has none, and says so") {
  Setting setting;
  setting.backend = Backend::reference;
  const Scratch scratch;
  const Problem problem = scratch.on(random_problem(setting), Tier::host);
  Propagator propagator = problem.propagator();
  check_mentions(refusal([&] { every_derivative(propagator, problem); }), {"reference", "tier"});
}

}  // namespace ondula::test
