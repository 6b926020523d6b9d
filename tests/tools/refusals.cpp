// What the program refuses: exit status 2 and a message that names the key, before anything is run.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "runtime/io/npy.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

/// Runs the job and expects status 2, one paragraph on stderr that holds every one of `words`, and no output.
void expect_refusal(Workshop& shop, const std::vector<std::string>& words,
                    const std::vector<std::string>& more = {}) {
  const Outcome outcome = shop.run(more);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 2);
  CHECK(outcome.out == "");
  CHECK(outcome.err.find("ondula: ") != std::string::npos);
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(outcome.err.find(word) != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(shop.out() / "run.json"));
}

void write_wavelet(const Workshop& shop, double value) {
  io::write_npy((shop.folder() / "w.npy").string(), io::Array{{4}, {0.0, 1.0, value, 0.0}}, DType::float64,
                io::Existing::replace);
}

TEST_CASE("E6: dt of 0 or less is refused") {
  for (const double dt : {0.0, -0.001}) {
    Workshop shop;
    shop.job["time"]["dt"] = dt;
    expect_refusal(shop, {"time.dt", "found", "allowed"});
  }
}

TEST_CASE("An unknown key is refused with the nearest known one") {
  Workshop shop;
  shop.job["sources"][0]["stength"] = 2;
  expect_refusal(shop, {"sources[0].stength", "Did you mean \"strength\"?"});
}

TEST_CASE("A broken job and a missing one are refused") {
  Workshop shop;
  std::ofstream(shop.folder() / "broken.json") << "{\"equation\": ";
  const Outcome broken = run_program({"run", (shop.folder() / "broken.json").string()});
  CHECK(broken.status == 2);
  CHECK(broken.err.find("broken.json") != std::string::npos);
  CHECK(run_program({"run", (shop.folder() / "none.json").string()}).status == 2);
}

TEST_CASE("An unknown equation, an equation file and a misspelt model are refused") {
  Workshop shop;
  shop.job["equation"] = "acustic";
  expect_refusal(shop, {"acustic", "Did you mean \"acoustic\"?"});
  shop.job["equation"] = "mine.cpp";
  expect_refusal(shop, {"equation file ", "mine.cpp: there is no such file"});
  shop.job["equation"] = "acoustic";
  shop.job["models"] = {{"vq", 2000}};
  expect_refusal(shop, {"models.vq", "Did you mean \"vp\"?"});
}

TEST_CASE("A backend that does not exist is refused") {
  Workshop shop;
  expect_refusal(shop, {"--backend", "opencl", "cuda-sim"}, {"--backend", "opencl"});
}

TEST_CASE("A wavelet with NaN or infinity is refused") {
  Workshop shop;
  shop.job["wavelet"] = {{"file", "w.npy"}};
  write_wavelet(shop, std::nan(""));
  expect_refusal(shop, {"w.npy", "finite"});
  write_wavelet(shop, std::numeric_limits<double>::infinity());
  expect_refusal(shop, {"w.npy", "finite"});
}

TEST_CASE("E14: a field that grows out of range stops the run with status 4") {
  Workshop shop;
  shop.job["sources"][0]["strength"] = 1e38;
  shop.job["time"]["steps"] = 5000;
  const Outcome outcome = shop.run();
  CAPTURE(outcome.err);
  CHECK(outcome.status == 4);
  CHECK(outcome.err.find("step") != std::string::npos);
  CHECK(shop.files().empty());
}

TEST_CASE("Over the stability limit: run and estimate refuse, estimate with the figures") {
  Workshop shop;
  shop.job["time"]["dt"] = 0.004;
  shop.job["time"]["substeps"] = 1;
  expect_refusal(shop, {"0.004", "stability limit", "2000 m/s"});
  const Outcome estimate = shop.command("estimate");
  CHECK(estimate.status == 2);
  CHECK(estimate.out.find("the limit is") != std::string::npos);
  CHECK(estimate.err.find("stability limit") != std::string::npos);
}

TEST_CASE("B14: one cell at 1e6 m/s is refused with substeps and bytes; at 0.1 m/s there is a warning") {
  Workshop shop;
  std::vector<double> vp(41 * 51, 2000.0);
  vp[7 * 51 + 9] = 1e6;
  const auto write = [&] {
    io::write_npy((shop.folder() / "vp.npy").string(), io::Array{{41, 51}, vp}, DType::float64,
                  io::Existing::replace);
  };
  write();
  shop.job["models"]["vp"] = "vp.npy";
  expect_refusal(shop, {"1e+06 m/s", "z 7, x 9", "substeps", "MB"});
  vp[7 * 51 + 9] = 0.1;
  write();
  const Outcome slow = shop.run();
  CHECK(slow.status == 0);
  CHECK(slow.err.find("points per wavelength") != std::string::npos);
  CHECK(shop.report()["timings"]["steps"] == 2 * 400 - 1);
}

TEST_CASE("Memory limits are enforced before anything is allocated") {
  Workshop shop;
  shop.job["memory"] = {{"limits", {{"device", "10 kB"}}}};
  expect_refusal(shop, {"memory.limits.device", "10 kB", "needs"});
  shop.job["memory"] = {{"limits", {{"device", "1 GB"}, {"host", 10}}}};
  expect_refusal(shop, {"memory.limits.host", "needs"});
}

TEST_CASE("A job over this machine's memory has status 4 and both figures before anything is allocated") {
  Workshop shop;
  shop.job["grid"]["shape"] = {2000000, 2000000};
  const Outcome outcome = shop.run();
  CAPTURE(outcome.err);
  CHECK(outcome.status == 4);
  CHECK(outcome.err.find("TB of memory, of which this machine has ") != std::string::npos);
  CHECK(outcome.err.find("memory.limits") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(shop.out()));
  const Outcome estimate = shop.command("estimate", {"--json"});
  CHECK(estimate.status == 4);
  CHECK(Json::parse(estimate.out)["runs"] == false);
  CHECK(Json::parse(estimate.out)["bytes"]["device"] > 1e13);
  shop.job["memory"] = {{"limits", {{"device", "900 TB"}, {"host", "900 TB"}}}};
  const Outcome allowed = shop.command("estimate", {"--json"});
  CHECK(allowed.status == 0);
  CHECK(allowed.err.find("warning: the run needs ") != std::string::npos);
}

TEST_CASE("An output folder that is a file is refused") {
  Workshop shop;
  std::ofstream(shop.folder() / "out") << "in the way";
  expect_refusal(shop, {"output.directory"});
}

TEST_CASE("--resume is refused") {
  Workshop shop;
  expect_refusal(shop, {"--resume", "not supported by this version"}, {"--resume"});
}

}  // namespace
}  // namespace ondula::test
