// `ondula run`: what it writes.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "runtime/io/npy.hpp"
#include "runtime/io/png.hpp"
#include "tests/support/compare.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Names = std::vector<std::string>;
using Shape = std::vector<std::int64_t>;

TEST_CASE("A run writes records (shot, receiver, time) in the job's type, and run.json") {
  Workshop shop;
  const Outcome outcome = shop.run();
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  CHECK(shop.files() == Names{"records_u.npy", "run.json"});
  CHECK(shop.records().shape == Shape{2, 3, 400});
  CHECK(max_abs(shop.records().data) > 0);
  CHECK(io::NpyReader((shop.out() / "records_u.npy").string()).header().format.bytes == 4);
  const auto report = shop.report();
  CHECK(report["job"]["order"] == 4);
  CHECK(report["job"]["absorb"]["velocity"] == 2000.0);
  CHECK(report["job"]["absorb"]["frequency"].get<double>() == doctest::Approx(14).epsilon(0.05));
  CHECK(report["time_offset"]["u"] == 0.0);
  CHECK(report["substeps"] == 1);
  CHECK(report["grid"]["padded_shape"] == nlohmann::ordered_json{61, 71});
  CHECK(report["bytes"]["device"] == report["bytes_estimated"]["device"]);
  const auto bytes = [&](const char* key, const char* tier) { return report[key][tier].get<double>(); };
  CHECK(bytes("bytes", "host") == report["resident_peak"].get<double>() - bytes("bytes", "device"));
  // Records of both shots and the models at least; the process holds the program too.
  CHECK(bytes("bytes_estimated", "host") > 2 * 3 * 400 * 8);
  CHECK(bytes("bytes_estimated", "host") < bytes("bytes", "host"));
  CHECK(bytes("bytes_estimated", "disk") == 0);
  CHECK(report["timings"]["steps"] == 2 * 400 - 1);
  CHECK(report["timings"]["gpoints_per_s"] > 0.0);
  CHECK(report["files"].size() == 2);
}

TEST_CASE("Pictures: gathers, snapshots and models; of several shots each its own snapshots") {
  Workshop shop;
  io::write_npy((shop.folder() / "vp.npy").string(),
                io::Array{{41, 51}, std::vector<double>(41 * 51, 2000.0)}, DType::float32,
                io::Existing::refuse);
  shop.job["models"]["vp"] = "vp.npy";
  shop.job["output"] = {{"directory", "out"}, {"snapshots", {{"field", "u"}, {"every", 150}}}};
  const Outcome outcome = shop.run();
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  CHECK(shop.files() == Names{"records_u.npy", "run.json", "shot_0_u.png", "shot_1_u.png",
                              "snapshot_u_150_shot_0.png", "snapshot_u_150_shot_1.png",
                              "snapshot_u_300_shot_0.png", "snapshot_u_300_shot_1.png", "vp.png"});
  CHECK(io::read_png((shop.out() / "shot_1_u.png").string()).width() > 100);
}

TEST_CASE("With an initial state there is a snapshot of step 0, and the state moves without a source") {
  Workshop shop;
  std::vector<double> bump(41 * 51, 0.0);
  bump[18 * 51 + 26] = 1.0;
  io::write_npy((shop.folder() / "u.npy").string(), io::Array{{41, 51}, bump}, DType::float64,
                io::Existing::refuse);
  shop.job["sources"] = nlohmann::ordered_json::array();
  shop.job["initial"] = {{"u", "u.npy"}, {"u.previous", "u.npy"}};
  shop.job["output"]["snapshots"] = {{"field", "u"}, {"every", 250}};
  const Outcome outcome = shop.run();
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  CHECK(shop.files() == Names{"records_u.npy", "run.json", "snapshot_u_0.png", "snapshot_u_250.png"});
  const io::Array records = shop.records();
  CHECK(records.data[0] == 1.0);  // sample 0 is the initial state
  CHECK(records.data[1] != records.data[0]);
}

TEST_CASE("E7: without receivers the record is empty and of the right shape, on every backend") {
  for (const char* backend : {"host", "reference"}) {
    Workshop shop;
    shop.job["receivers"] = nlohmann::ordered_json::array();
    const Outcome outcome = shop.run({"--backend", backend});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(shop.records().shape == Shape{2, 0, 400});
    CHECK(outcome.err.find("records no traces") != std::string::npos);
  }
}

TEST_CASE("E6: without sources the records are zero, with a warning") {
  Workshop shop;
  shop.job["sources"] = nlohmann::ordered_json::array();
  const Outcome outcome = shop.run();
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  CHECK(shop.records().shape == Shape{1, 3, 400});
  CHECK(max_abs(shop.records().data) == 0);
  CHECK(outcome.err.find("every record will be zero") != std::string::npos);
}

TEST_CASE("E13: 0, 1 and 2 steps give records of that length") {
  Workshop whole;
  // At the source something arrives with the first update.
  whole.job["receivers"][0]["at"][0] = whole.job["sources"][0]["at"];
  REQUIRE(whole.run().status == 0);
  const io::Array all = whole.records();
  REQUIRE(all.data[1] != 0);
  for (const int steps : {0, 1, 2}) {
    for (const char* backend : {"host", "reference"}) {
      Workshop shop(whole.job);
      shop.job["time"]["steps"] = steps;
      shop.job["output"]["pictures"] = true;
      const Outcome outcome = shop.run({"--backend", backend});
      REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
      const io::Array records = shop.records();
      REQUIRE(records.shape == Shape{2, 3, steps});
      for (std::size_t trace = 0; trace < 6; ++trace) {
        for (std::size_t n = 0; n < static_cast<std::size_t>(steps); ++n)
          CHECK(records.data[trace * static_cast<std::size_t>(steps) + n] ==
                doctest::Approx(all.data[trace * 400 + n]).epsilon(1e-5));
      }
      CHECK(shop.files().size() == (steps == 0 ? 2 : 4));
    }
  }
}

TEST_CASE("Shots with different numbers of receivers have a file each") {
  Workshop shop;
  shop.job["receivers"].push_back({{"field", "u"}, {"at", {{"z", 50}, {"x", 60}}}, {"shots", {1}}});
  const Outcome outcome = shop.run();
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  CHECK(shop.files() == Names{"records_u_shot_0.npy", "records_u_shot_1.npy", "run.json"});
  CHECK(shop.records("records_u_shot_0.npy").shape == Shape{3, 400});
  CHECK(shop.records("records_u_shot_1.npy").shape == Shape{4, 400});
}

TEST_CASE("The job that run.json holds is itself a job, and gives the same bytes") {
  Workshop first, second;
  REQUIRE(first.run().status == 0);
  second.job = first.report()["job"];
  second.job["output"]["directory"] = "out";
  const Outcome outcome = second.run();
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  CHECK(read_file(first.out() / "records_u.npy") == read_file(second.out() / "records_u.npy"));
}

TEST_CASE("One and two threads give the same bytes") {
  Workshop one, two;
  REQUIRE(one.run({"--threads", "1"}).status == 0);
  REQUIRE(two.run({"--threads", "2"}).status == 0);
  CHECK(one.report()["threads"] == 1);
  CHECK(read_file(one.out() / "records_u.npy") == read_file(two.out() / "records_u.npy"));
}

}  // namespace
}  // namespace ondula::test
