// The program with GPUs, without, and on the stand-in.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>

#include "compiler/passes/cuda_schedule.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "runtime/cuda_report.hpp"
#include "runtime/device/cuda/library.hpp"
#include "runtime/io/npy.hpp"
#include "runtime/loop/cuda_kernels.hpp"
#include "tests/support/nvrtc.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

Json doctor(const std::map<std::string, std::string>& variables) {
  const Outcome outcome = run_program({"doctor", "--json"}, {.variables = variables});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out);
}

std::string problem(const Json& part) { return part.contains("problem") ? part["problem"] : ""; }

}  // namespace

TEST_CASE("program: a job on cuda-sim gives the host's records, bit for bit") {
  if (cuda::stand_in_library().empty()) ONDULA_SKIP("there is no libondula-cuda-sim.so");
  Workshop host, sim;
  REQUIRE(host.run().status == 0);
  const Outcome outcome = sim.run({"--backend", "cuda-sim", "--device", "0"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(sim.records().data == host.records().data);
  CHECK(sim.report()["job"]["backend"] == "cuda-sim");
  const Outcome misplaced = host.run({"--device", "1", "--force"});
  CHECK(misplaced.status == 2);
  CHECK(misplaced.err.find("belongs to the backends cuda and cuda-sim") != std::string::npos);
  const nlohmann::ordered_json shapes = sim.report()["launch_shapes"];
  REQUIRE(!shapes.empty());
  for (const auto& shape : shapes) CHECK(shape["from"] == "table");
  CHECK(!host.report().contains("launch_shapes"));
  const Outcome other = sim.run({"--backend", "cuda-sim", "--device", "7", "--force"});
  CHECK(other.status == 2);
  CHECK(other.err.find("there is no CUDA device 7; there are: 0") != std::string::npos);
}

TEST_CASE("program: a gradient's history on a CUDA device is not held against the host's memory") {
  if (cuda::stand_in_library().empty()) ONDULA_SKIP("there is no libondula-cuda-sim.so");
  Workshop shop;
  REQUIRE(shop.run().status == 0);  // whose results stand where the gradient's would go
  shop.job["grid"]["shape"] = {3000, 3000};
  shop.job["time"]["steps"] = 100'000;
  shop.job["observed"] = {{"u", "observed.npy"}};
  const io::Array observed{{2, 3, 100'000}, std::vector<double>(600'000)};
  io::write_npy((shop.folder() / "observed.npy").string(), observed, DType::float32, io::Existing::refuse);
  const Outcome host = shop.command("gradient");
  CAPTURE(host.err);
  CHECK(host.status == 4);
  CHECK(host.err.find("TB of memory, of which this machine has ") != std::string::npos);
  const Outcome sim = shop.command("gradient", {"--backend", "cuda-sim"});
  CAPTURE(sim.err);
  CHECK(sim.status == 2);
  CHECK(sim.err.find("--force") != std::string::npos);
}

TEST_CASE("program: --tune is of backend cuda; cuda-sim says that it measures nothing, and runs") {
  Workshop shop;
  const Outcome host = shop.run({"--tune"});
  CHECK(host.status == 2);
  CHECK(host.err.find("launch shapes are tuned on the backend cuda; the backend is host") !=
        std::string::npos);
  if (cuda::stand_in_library().empty()) ONDULA_SKIP("there is no libondula-cuda-sim.so");
  const Outcome sim = shop.run({"--backend", "cuda-sim", "--tune"});
  CAPTURE(sim.err);
  CHECK(sim.status == 0);
  CHECK(sim.err.find("no launch shapes are measured on cuda-sim") != std::string::npos);
  CHECK(shop.report()["job"]["tune"] == true);
  CHECK(shop.report()["timings"]["tuning"] == 0);
  CHECK(shop.report()["launch_shapes"][0]["from"] == "table");
}

TEST_CASE("explain and cache tell of the tuner's record of a program, which is found by a run's own text") {
  ONDULA_NEEDS_NVRTC();
  const TemporaryDirectory directory;
  jit::CudaCompiler compiler({.directory = directory.path().string()});
  CudaReportOptions asked;
  asked.dims = 2;
  asked.order = 4;
  const EquationDefinition equation = equations::acoustic();
  const CudaText text = cuda_text_of(equation, asked);
  ir::Domain domain;
  domain.dims = 2;
  domain.shape = {100, 100, 1};
  const passes::Compilation run =
      passes::compile(equation, {.axes = default_axes(2), .order = 4, .target = passes::Target::cuda});
  CHECK(loop::cuda_source(run, domain, DType::float32, 0, asked.architecture, false).text.text ==
        text.source.text);
  jit::TuningRecord record;
  record.subject = {compiler.key_of(text.source, asked.architecture), "Pretended GPU", 132, "13.0",
                    "z 64, x 64"};
  record.equation = "acoustic";
  for (const ir::CudaKernel& kernel : text.program.kernels)
    record.kernels.push_back(
        {kernel.name, 1, {{passes::shape_of(kernel), 2e-3, ""}, {{false, {64, 4}, 4, 1}, 1.5e-3, ""}}});
  REQUIRE(compiler.cache().store_record(record));
  const Start start{.variables = {{"ONDULA_CACHE", directory.path().string()}}};
  const Outcome told =
      run_program({"explain", "acoustic", "--dims", "2", "--order", "4", "--backend", "cuda"}, start);
  REQUIRE(told.status == 0);
  for (const char* part : {"shapes of the tuner's record for Pretended GPU, grids from z 64, x 64 on",
                           "plain 64x4, 4 blocks", "1.500 ms, the table's 2.000 ms"}) {
    CAPTURE(part);
    CHECK(told.out.find(part) != std::string::npos);
  }
  CHECK(told.out.find("  table ") != std::string::npos);
  CHECK(run_program({"cache", "list"}, start).out.find("tuned  acoustic, for Pretended GPU, z 64, x 64") !=
        std::string::npos);
  CHECK(run_program({"cache", "verify"}, start).status == 0);
  const Outcome other =
      run_program({"explain", "acoustic", "--dims", "2", "--order", "2", "--backend", "cuda"}, start);
  CHECK(other.out.find("Pretended GPU") == std::string::npos);
}

TEST_CASE("program: cuda without a driver ends with status 4 and says what is missing; the host needs none") {
  Workshop shop;
  const Start without{.variables = {{"ONDULA_CUDA_DRIVER", "/no/libcuda.so.1"}}};
  const Outcome outcome = shop.run({"--backend", "cuda"}, without);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 4);
  CHECK(outcome.err.find("/no/libcuda.so.1 cannot be opened, the NVIDIA driver's library") !=
        std::string::npos);
  CHECK(shop.run({"--force"}, without).status == 0);
}

TEST_CASE("doctor: no driver, an old driver, no NVRTC: each said, and what to do") {
  const Json none = doctor({{"ONDULA_CUDA_DRIVER", "/no/libcuda.so.1"}});
  CHECK(none["cuda_driver"]["usable"] == false);
  CHECK(problem(none["cuda_driver"]).find("Install the driver") != std::string::npos);
  const Json bare = doctor({{"CUDA_HOME", "/no/cuda"}, {"CUDA_PATH", "/no/cuda"}, {"LD_LIBRARY_PATH", ""}});
  if (!bare["nvrtc"]["usable"].get<bool>())
    CHECK(problem(bare["nvrtc"]).find("/no/cuda/lib64") != std::string::npos);
  const std::string stand_in = cuda::stand_in_library();
  if (stand_in.empty()) ONDULA_SKIP("there is no libondula-cuda-sim.so");
  const Json old = doctor({{"ONDULA_CUDA_DRIVER", stand_in}, {"ONDULA_SIM_DRIVER_VERSION", "11020"}});
  CHECK(problem(old["cuda_driver"]).find("supports CUDA up to 11.2, and Ondula needs a driver for 11.4") !=
        std::string::npos);
  const Json two = doctor({{"ONDULA_CUDA_DRIVER", stand_in}, {"ONDULA_SIM_DEVICES", "2"}});
  CHECK(two["cuda_driver"]["usable"] == true);
  CHECK(two["cuda_driver"]["devices"].size() == 2);
  CHECK(two["cuda_driver"]["devices"][0]["capability"] == "9.0");
  const Outcome text = run_program({"doctor"}, {.variables = {{"ONDULA_CUDA_DRIVER", stand_in}}});
  CHECK(text.out.find("up to CUDA 13.0") != std::string::npos);
  CHECK(text.out.find("device 0: ") != std::string::npos);
}

TEST_CASE("program: a driver named by ONDULA_CUDA_DRIVER serves backend cuda, without graphs too") {
  const std::string stand_in = cuda::stand_in_library();
  if (stand_in.empty()) ONDULA_SKIP("there is no libondula-cuda-sim.so");
  Workshop host, sim;
  REQUIRE(host.run().status == 0);
  const Outcome outcome =
      sim.run({"--backend", "cuda"},
              {.variables = {{"ONDULA_CUDA_DRIVER", stand_in}, {"ONDULA_CUDA_GRAPHS", "off"}}});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(sim.records().data == host.records().data);
}

}  // namespace ondula::test
