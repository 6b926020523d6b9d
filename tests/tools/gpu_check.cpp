// tools/gpu-check on the stand-in driver: what it writes, what it refuses, the time it keeps.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "runtime/device/cuda/library.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;
namespace filesystem = std::filesystem;

const filesystem::path root = filesystem::path(ONDULA_TESTS_DIR).parent_path();

/// The environment of a machine whose driver is the stand-in, which was built elsewhere.
std::map<std::string, std::string> stand_in_variables() {
  const filesystem::path stand_in = cuda::stand_in_library();
  return {{"ONDULA_CUDA_DRIVER", stand_in},
          {"ONDULA_CLANG_MODULE",
           stand_in.parent_path().parent_path().parent_path() / "clang/libondula-clang.so"}};
}

/// A program that stands where ncu would, of these lines of shell.
void write_script(const filesystem::path& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/sh\n" << text;
  filesystem::permissions(path, filesystem::perms::owner_all);
}

/// What gpu-check left in its folder, checked for what every reduced run has.
Json checked_report(const filesystem::path& folder) {
  Json report = Json::parse(read_file(folder / "gpu-cuda-sim-9-0-quick.json"));
  CHECK(report["device"]["stand_in"] == true);
  CHECK(report["problems"].empty());
  CHECK(report["copy"].size() == 2);
  CHECK(report["copy_gb_s"] > 0);
  CHECK(report["compare"].size() == 9);
  for (const Json& line : report["compare"]) {
    CAPTURE(line.dump());
    CHECK(line["met"] == true);
  }
  CHECK(report["rows"].size() == 18);
  for (const Json& row : report["rows"]) {
    CAPTURE(row.dump());
    REQUIRE(row.contains("achieved_gb_s"));
    const double bytes = row["bytes_per_point"].get<double>() * row["padded_points"].get<double>() *
                         row["steps"].get<double>() * row["shots"].get<double>();
    CHECK(row["achieved_gb_s"].get<double>() ==
          doctest::Approx(1e-9 * bytes / row["stepping_s"].get<double>()));
    CHECK(row["stepping_s"] <= row["median_s"]);
    CHECK(row["kernels"].size() >= 2);
  }
  CHECK(report["rows"][0]["bytes_per_point"] == 16);
  return report;
}

}  // namespace

TEST_CASE("gpu-check: on the stand-in it compares, measures and writes a table named by the card") {
  if (cuda::stand_in_library().empty()) ONDULA_SKIP("there is no libondula-cuda-sim.so");
  const TemporaryDirectory folder;
  // A profiler that runs what it is given and prints as ncu does.
  write_script(folder.path() / "ncu",
               "while [ \"${1#*ondula-gpu-check}\" = \"$1\" ]; do shift; done\n"
               "\"$@\" >\"$0.log\" || exit 1\n"
               "echo '==PROF== Connected'\n"
               "echo '\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"'\n"
               "echo '\"0\",\"one_sweep1(float *)\",\"dram__bytes_read.sum\",\"byte\",\"3,000\"'\n"
               "echo '\"0\",\"one_sweep1(float *)\",\"dram__bytes_write.sum\",\"byte\",\"500\"'\n"
               "echo '\"1\",\"one_sweep1(float *)\",\"dram__bytes_read.sum\",\"byte\",\"1,000\"'\n"
               "echo '\"1\",\"one_sweep1(float *)\",\"dram__bytes_write.sum\",\"byte\",\"1,500\"'\n");
  Start start{.variables = stand_in_variables(), .program = root / "tools/gpu-check"};
  start.variables["PATH"] = folder.path().string() + ":" + std::getenv("PATH");
  const Outcome outcome =
      run_program({"--quick", "--program", ONDULA_GPU_CHECK, "--out", folder.path() / "out"}, start);
  CAPTURE(outcome.err);
  CAPTURE(outcome.out);
  CHECK(outcome.status == 0);
  const Json report = checked_report(folder.path() / "out");
  REQUIRE(report["profiler"]["kernels"].size() == 2);
  CHECK(report["profiler"]["kernels"][0]["read_bytes"] == 2000);
  CHECK(report["profiler"]["kernels"][0]["written_bytes"] == 1000);
  CHECK(report["profiler"]["kernels"][1]["case"] == "el3D 128");
  CHECK(read_file(folder.path() / "out/gpu-cuda-sim-9-0-quick.txt") == outcome.out);
  CHECK(outcome.out.find("A STAND-IN OF THE DRIVER") != std::string::npos);
  CHECK(outcome.out.find("all is right") != std::string::npos);
}

TEST_CASE("gpu-check: without a driver it ends with status 2 and says so; time that is over is kept") {
  const TemporaryDirectory folder;
  const std::vector<std::string> words = {"--quick",   "--program", ONDULA_GPU_CHECK, "--out", folder.path(),
                                          "--seconds", "8"};
  const filesystem::path program = root / "tools/gpu-check";
  const Outcome none =
      run_program(words, {.variables = {{"ONDULA_CUDA_DRIVER", "/no/libcuda.so.1"}}, .program = program});
  CHECK(none.status == 2);
  CHECK(none.err.find("/no/libcuda.so.1 cannot be opened") != std::string::npos);
  CHECK(filesystem::is_empty(folder.path()));
  if (cuda::stand_in_library().empty()) ONDULA_SKIP("there is no libondula-cuda-sim.so");
  Start slow{.variables = stand_in_variables(), .program = program};
  slow.variables["ONDULA_SIM_MODE"] = "check";  // slow enough that not all rows have their time
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run_program(words, slow);
  CAPTURE(outcome.err);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(14));
  CHECK(outcome.status == 1);
  CHECK(outcome.out.find("NOT ALL IS RIGHT") != std::string::npos);
}

TEST_CASE("gpu-check: a copy of the tree is built without LLVM and checked on a stand-in built elsewhere") {
  if (cuda::stand_in_library().empty()) ONDULA_SKIP("there is no libondula-cuda-sim.so");
  if (!full_matrices()) ONDULA_SKIP("it builds the library: with --full");
  const TemporaryDirectory folder;
  const filesystem::path copy = folder.path() / "tree";
  filesystem::create_directory(copy);
  for (const char* part : {"bench", "compiler", "equations", "runtime", "templates", "tools"})
    filesystem::copy(root / part, copy / part, filesystem::copy_options::recursive);
  for (const char* part : {"meson.build", "meson_options.txt"}) filesystem::copy(root / part, copy / part);
  const Start start{.variables = stand_in_variables(), .program = copy / "tools/gpu-check"};
  const Outcome outcome = run_program({"--quick", "--no-profiler", "--seconds", "3000"}, start);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(!filesystem::exists(copy / "build-gpu-check/runtime/clang/libondula-clang.so"));
  checked_report(copy / "bench/results");
}

TEST_CASE("gpu-pack: what it packs is what a build without packages is configured with") {
  const TemporaryDirectory folder;
  const filesystem::path packed = folder.path() / "packed";
  const Outcome outcome = run_program({packed}, {.program = root / "tools/gpu-pack"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(read_file(packed / "README").find("tools/gpu-check --packed") != std::string::npos);
  // pkg-config finds nothing here: what is used comes from the folder.
  const Outcome setup =
      run_program({"meson", "setup", folder.path() / "build", root, "-Dclang=disabled", "-Dtests=false",
                   "-Dpacked=" + packed.string()},
                  {.variables = {{"PKG_CONFIG_LIBDIR", folder.path()}}, .program = "/usr/bin/env"});
  CAPTURE(setup.out);
  CHECK(setup.status == 0);
  const std::string commands = read_file(folder.path() / "build/compile_commands.json");
  CHECK(commands.find("-isystem" + (packed / "include").string()) != std::string::npos);
  CHECK(commands.find("-DFMT_HEADER_ONLY") != std::string::npos);
  CHECK(run_program({packed}, {.program = root / "tools/gpu-pack"}).status == 1);
}

}  // namespace ondula::test
