// `ondula run` of elastic jobs: sources, receivers, pictures and the report.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/support/compare.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

Json elastic_job() {
  Json job = small_job();
  job["equation"] = "elastic";
  job["models"] = {{"vp", 2000}, {"vs", 1100}, {"rho", 1800}};
  job["free_surface"] = {"z-"};
  job["time"]["steps"] = 150;
  job["time"]["dt"] = 0.004;
  job["sources"] = Json::parse(R"([
    {"kind": "force", "direction": {"z": 1}, "at": {"z": 0, "x": 200}},
    {"shot": 1, "kind": "moment_rate", "tensor": "explosion", "at": {"z": 105, "x": 203}}])");
  job["receivers"] = Json::parse(R"([
    {"field": "v.z", "line": {"from": {"z": 0, "x": 50}, "to": {"z": 0, "x": 450}, "count": 9}},
    {"field": "pressure", "at": {"z": 200, "x": 250}},
    {"field": "fibre", "direction": "x", "at": {"z": 200, "x": 250}}])");
  return job;
}

TEST_CASE("An elastic job runs on both backends, with substeps, every kind of receiver and pictures") {
  Workshop shop(elastic_job());
  shop.job["output"] = {{"directory", "out"}, {"snapshots", {{"field", "v.z"}, {"every", 100}}}};
  const Outcome outcome = shop.run();
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  const auto host = shop.records("records_v.z.npy");
  CHECK(host.shape == std::vector<std::int64_t>{2, 9, 150});
  CHECK(max_abs(host.data) > 0);
  const auto files = shop.files();
  for (const char* name : {"records_pressure.npy", "records_fibre.npy", "shot_1_v.z.png",
                           "shot_0_pressure.png", "snapshot_v.z_100_shot_0.png"})
    CHECK(std::find(files.begin(), files.end(), name) != files.end());
  const Json report = shop.report();
  const int r = report["substeps"];
  CHECK(r > 1);
  CHECK(report["job"]["time"]["substeps"] == r);
  CHECK(report["time_offset"]["v.z"] == doctest::Approx(-0.5 * 0.004 / r));
  CHECK(report["time_offset"]["fibre"] == report["time_offset"]["v.z"]);
  CHECK(report["time_offset"]["pressure"] == 0.0);
  CHECK(report["limits"]["slowest"].get<double>() == doctest::Approx(1100));
  shop.job["backend"] = "reference";
  shop.job["time"]["steps"] = 60;
  const Outcome slow = shop.run({"--force"});
  REQUIRE_MESSAGE(slow.status == 0, slow.err);
  const auto reference = shop.records("records_v.z.npy");
  double worst = 0, most = 0;
  for (std::size_t row = 0; row < 18; ++row) {
    for (std::size_t n = 0; n < 60; ++n) {
      worst = std::max(worst, std::fabs(reference.data[row * 60 + n] - host.data[row * 150 + n]));
      most = std::max(most, std::fabs(reference.data[row * 60 + n]));
    }
  }
  CHECK(worst < 2e-5 * most);
}

}  // namespace
}  // namespace ondula::test
