// `list`, `explain`, `doctor`, `basin` and `estimate`.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/io/npy.hpp"
#include "runtime/jit/nvrtc.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("`ondula list` tells of every equation what runs, and where not, why") {
  const Json equations = Json::parse(run_program({"list", "--json"}).out)["equations"];
  REQUIRE(equations.size() == 3);
  CHECK(equations[0]["name"] == "acoustic");
  CHECK(equations[0]["parameters"][0] == Json{{"name", "vp"}, {"unit", "m/s"}, {"values", "positive"}});
  CHECK(equations[0]["dims"] == Json{1, 2, 3});
  CHECK(equations[0]["backends"][0]["runs"] == true);
  CHECK(equations[2]["name"] == "elastic");
  CHECK(equations[2]["backends"][0]["runs"] == true);
  CHECK(equations[2]["backends"][2]["runs"] == false);
  CHECK(equations[2]["fields"][0]["at"] == "half cells along z");
  CHECK(equations[2]["fields"][0]["time"] == "t - dt/2");
  const Outcome text = run_program({"list"});
  CHECK(text.status == 0);
  CHECK(text.out.find("laplacian") != std::string::npos);
}

TEST_CASE("`ondula explain` shows passes, text, work, and where the equation stands") {
  const Outcome all = run_program({"explain", "acoustic", "--dims", "1", "--order", "4"});
  REQUIRE(all.status == 0);
  for (const char* part :
       {"discretize_time", "hoist", "lower", "host text", "work per point", "acoustic.cpp:"}) {
    CAPTURE(part);
    CHECK(all.out.find(part) != std::string::npos);
  }
  CHECK(run_program({"explain", "acoustic", "--order", "5"}).status == 2);
  CHECK(run_program({"explain", "acoustic", "--dims", "4"}).status == 2);
  CHECK(run_program({"explain", "acoustic", "--dtype", "half"}).status == 2);
  CHECK(run_program({"explain", "acoustic", "--kappa", "0.5"}).status == 2);
}

TEST_CASE(
    "F4: `ondula explain` prints the halo: an outer and an inner derivative together reach 2M - 1 cells") {
  const Outcome nested = run_program({"explain", "acoustic_density", "--dims", "2", "--order", "8"});
  CHECK(nested.out.find(" reads a halo of 7 cells along z, 7 cells along x\n") != std::string::npos);
  const Outcome plain = run_program({"explain", "elastic", "--dims", "1", "--order", "4"});
  CHECK(plain.out.find(" reads a halo of 2 cells along z\n") != std::string::npos);
}

TEST_CASE(
    "`ondula explain --backend cuda` shows the text, its figures, what the cubin holds, and the roofline") {
  const std::vector<std::string> base = {"explain", "acoustic", "--dims",    "1",
                                         "--order", "4",        "--backend", "cuda"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return run_program(more);
  };
  const Outcome all = with({"--arch", "sm_80", "--gpu", "a100"});
  REQUIRE(all.status == 0);
  const bool compiled = jit::inspect_nvrtc().usable;
  for (const char* part : {"__global__", "per interior point", "DRAM", "roofline: A100",
                           compiled ? "sm_80, compiled by NVRTC" : "not compiled"}) {
    CAPTURE(part);
    CHECK(all.out.find(part) != std::string::npos);
  }
  CHECK(with({"--text"}).out.find("roofline") == std::string::npos);
  CHECK(with({}).out.find("roofline: H200") != std::string::npos);
  CHECK(with({"--arch", "hopper"}).status == 2);
  CHECK(with({"--gpu", "Z9"}).status == 2);
  CHECK(run_program({"explain", "acoustic", "--backend", "opencl"}).status == 2);
  CHECK(run_program({"explain", "acoustic", "--arch", "sm_90"}).status == 2);
}

TEST_CASE("F6: `ondula explain --text` gives the same bytes in every process, and others for other options") {
  const std::vector<std::string> base = {"explain", "acoustic", "--dims", "3", "--text"};
  const std::string text = run_program(base).out;
  CHECK(text.find("extern \"C\"") != std::string::npos);
  CHECK(run_program(base, {{{"LC_ALL", "C"}, {"HOME", "/nowhere"}}, 0, {}}).out == text);
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--order", "2"}, {"--dtype", "float64"}, {"--kappa", "2"}, {"--dims", "2"}}) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (more[0] == "--dims") arguments.erase(arguments.begin() + 2, arguments.begin() + 4);
    CHECK(run_program(arguments).out != text);
  }
}

TEST_CASE("`ondula doctor` answers with status 0 whatever is missing") {
  const Outcome outcome =
      run_program({"doctor", "--json"}, {{{"CUDA_HOME", "/nowhere"}, {"ONDULA_CACHE_LIMIT", "many"}}, 0, {}});
  REQUIRE(outcome.status == 0);
  const Json json = Json::parse(outcome.out);
  CHECK(json["cpu"]["threads"] >= 1);
  CHECK(json["cache"]["problem"].get<std::string>().find("many") != std::string::npos);
  CHECK(json["optional"].size() == 4);
  CHECK(json.contains("cuda_driver"));
  CHECK(json["nvrtc"]["searched"][0] == "/nowhere/lib64");
  CHECK(json["variables"]["CUDA_HOME"] == "/nowhere");
  const auto toolkit = json["optional"][0]["searched"];
  CHECK(std::find(toolkit.begin(), toolkit.end(), "/nowhere/bin/nvcc") != toolkit.end());
  CHECK(run_program({"doctor"}, {{{"ONDULA_CLANG_MODULE", "/nowhere.so"}}, 0, {}}).out.find("PROBLEM") !=
        std::string::npos);
}

TEST_CASE("`ondula basin` makes a model that a job runs on") {
  Workshop shop;
  const std::string folder = (shop.folder() / "basin").string();
  const std::vector<std::string> basin = {"basin", "-o", folder, "--shape", "41,51", "--spacing", "10"};
  REQUIRE(run_program(basin).status == 0);
  CHECK(run_program(basin).status == 2);
  shop.job["models"]["vp"] = "basin/vp.npy";
  shop.job["time"]["dt"] = 0.0008;
  const Outcome outcome = shop.run();
  CHECK_MESSAGE(outcome.status == 0, outcome.err);
}

TEST_CASE("`ondula estimate` predicts the device's bytes to the byte, and writes nothing") {
  Workshop shop;
  shop.job["output"]["directory"] = "never";
  const Json estimate = Json::parse(shop.command("estimate", {"--json"}).out);
  CHECK_FALSE(std::filesystem::exists(shop.folder() / "never"));
  shop.job["output"]["directory"] = "out";
  REQUIRE(shop.run().status == 0);
  CHECK(estimate["bytes"]["device"] == shop.report()["bytes"]["device"]);
  CHECK(shop.command("estimate").out.find("points per wavelength") != std::string::npos);
}

TEST_CASE(
    "`ondula estimate` refuses nothing it can run: a model that varies counts the search for its limit") {
  Workshop shop;
  shop.job["equation"] = "elastic";
  std::vector<double> vp(41 * 51, 2000.0);
  vp[20 * 51 + 20] = 2200.0;
  io::write_npy((shop.folder() / "vp.npy").string(), io::Array{{41, 51}, vp}, DType::float32,
                io::Existing::refuse);
  shop.job["models"] = {{"vp", 2000}, {"vs", 1000}, {"rho", 2000}};
  for (auto& one : shop.job["sources"]) one["field"] = "v.z";
  shop.job["receivers"][0]["field"] = "v.z";
  const auto host = [&] {
    return Json::parse(shop.command("estimate", {"--json"}).out)["bytes"]["host"].get<double>();
  };
  const double uniform = host();
  shop.job["models"]["vp"] = "vp.npy";
  const double padded = (41 + 20) * (51 + 20);
  // The model as it is kept, and two floats a point and velocity component at least.
  CHECK(host() >= 4 * (41 * 51 + 2 * 2 * padded));
  CHECK(uniform < 2 * 2 * 4 * padded);
}

TEST_SUITE("alone") {
  TEST_CASE("`ondula estimate` predicts the time of many receivers on a small grid within a factor of two") {
    Workshop shop;
    shop.job["time"]["steps"] = 300;
    shop.job["sources"].erase(1);
    shop.job["receivers"] = {
        {{"field", "u"},
         {"line", {{"from", {{"z", 103}, {"x", 0}}}, {"to", {{"z", 107}, {"x", 500}}}, {"count", 10000}}}}};
    const Json time = Json::parse(shop.command("estimate", {"--json"}).out)["time"];
    REQUIRE(shop.run().status == 0);
    const Json timings = shop.report()["timings"];
    const double measured = timings["first"].get<double>() + timings["steady"].get<double>();
    const double predicted = time["seconds"].get<double>();
    MESSAGE("predicted ", predicted, " s, measured ", measured, " s");
    CHECK(predicted > measured / 2);
    CHECK(predicted < measured * 2);
    // Nearly all of it is theirs.
    CHECK(time["points_seconds"].get<double>() > predicted / 2);
  }
}

}  // namespace
}  // namespace ondula::test
