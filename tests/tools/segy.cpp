// Jobs with SEG-Y in and out, run as people do.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "runtime/io/segy_geometry.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

/// Every sample of a file of traces.
std::vector<double> all_samples(const std::filesystem::path& path) {
  io::TraceReader reader(path.string());
  const auto samples = static_cast<std::size_t>(reader.layout().samples);
  std::vector<double> all(samples * static_cast<std::size_t>(reader.layout().traces));
  for (std::int64_t trace = 0; trace < reader.layout().traces; ++trace)
    reader.read(trace, std::span(all).subspan(static_cast<std::size_t>(trace) * samples, samples));
  return all;
}

TEST_CASE("Records as SEG-Y and SU hold the very samples of the .npy, in one file of any geometry") {
  Workshop npy;
  REQUIRE(npy.run().status == 0);
  const std::vector<double> expected = npy.records().data;
  for (const Json& format : {Json("segy"), Json("su"), Json{{"format", "su"}, {"endian", "little"}}}) {
    CAPTURE(format.dump());
    Workshop shop;
    shop.job["output"]["records"] = format;
    const Outcome outcome = shop.run();
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const auto file = shop.out() / (format == "segy" ? "records_u.segy" : "records_u.su");
    CHECK(all_samples(file) == expected);
    CHECK(shop.report()["files"][0] == file.string());
    const io::SurveyGeometry geometry = io::read_survey_geometry(file.string(), {});
    REQUIRE(geometry.shots.size() == 2);
    const Json at = shop.report()["job"]["sources"][1]["at"];
    CHECK(geometry.shots[1].source.x == at["x"].get<double>());
    CHECK(geometry.shots[1].source.z == at["z"].get<double>());
  }
}

TEST_CASE("Shots that differ in receivers are one SEG-Y file, which is a geometry for the same run again") {
  Workshop first;
  first.job["receivers"].push_back({{"field", "u"}, {"at", {{"z", 33.25}, {"x", 77.5}}}, {"shots", {1}}});
  first.job["output"]["records"] = "segy";
  REQUIRE(first.run().status == 0);
  CHECK(first.files() == std::vector<std::string>{"records_u.segy", "run.json"});

  Workshop second;
  const Json source = second.job["sources"][0];
  second.job.erase("sources");
  second.job.erase("receivers");
  second.job["geometry"] = {{"segy", (first.out() / "records_u.segy").string()}, {"source", source}};
  second.job["geometry"]["source"].erase("at");
  second.job["geometry"]["source"].erase("shot");
  second.job["output"]["records"] = "segy";
  const Outcome outcome = second.run();
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  CHECK(all_samples(second.out() / "records_u.segy") == all_samples(first.out() / "records_u.segy"));
  const Json job = second.report()["job"];
  CHECK_FALSE(job.contains("geometry"));
  CHECK(job["sources"].size() == 2);
  CHECK(job["receivers"].size() == 2);
  CHECK(job["receivers"][1]["at"].back() == Json{{"z", 33.25}, {"x", 77.5}});
}

TEST_CASE("The geometry of a real marine line runs, and its records have the line's positions") {
  const auto line = data_path("segy/viking_small.segy");
  if (!line) ONDULA_SKIP("no segy/viking_small.segy under ONDULA_DATA");
  Workshop shop(Json::parse(R"({
    "equation": "acoustic",
    "grid": {"axes": ["z", "x"], "shape": [41, 141], "spacing": [25, 25]},
    "time": {"dt": 0.004, "steps": 150}, "order": 4, "models": {"vp": 1500},
    "wavelet": {"ricker": {"frequency": 6}}, "output": {"directory": "out", "records": "segy", "pictures": false}})"));
  shop.job["geometry"] = {{"segy", line->string()}};
  const Outcome outcome = shop.run();
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  CHECK(outcome.err.find("bytes 89-90) is 3, decimal degrees") != std::string::npos);
  const io::SurveyGeometry there = io::read_survey_geometry(line->string(), {});
  const io::SurveyGeometry here = io::read_survey_geometry((shop.out() / "records_u.segy").string(), {});
  REQUIRE(here.shots.size() == 4);
  for (std::size_t shot = 0; shot < 4; ++shot) {
    CHECK(here.shots[shot].source == there.shots[shot].source);
    CHECK(here.shots[shot].receivers == there.shots[shot].receivers);
  }
  // The direct wave: 262 m from the source it has come by now, 3237 m away it has not.
  const std::vector<double> samples = all_samples(shop.out() / "records_u.segy");
  const auto largest = [&](std::size_t trace) {
    return max_abs(std::span(samples).subspan(trace * 150, 150));
  };
  CHECK(largest(119) > 0);
  CHECK(largest(0) < 1e-6 * largest(119));
}

TEST_CASE("B2: the bytes of 50,000 traces of 45,000 samples are estimated in 64 bits") {
  Workshop shop;
  shop.job["time"]["steps"] = 45000;
  shop.job["sources"].erase(1);
  shop.job["receivers"] = {
      {{"field", "u"},
       {"line", {{"from", {{"z", 100}, {"x", 0}}}, {"to", {{"z", 100}, {"x", 500}}}, {"count", 50000}}}}};
  const Outcome outcome = shop.command("estimate", {"--json"});
  const double host = Json::parse(outcome.out)["bytes"]["host"].get<double>();
  // The records in float64, and little else.
  CHECK(host >= 50000.0 * 45000.0 * 8);
  CHECK(host < 1.01 * 50000.0 * 45000.0 * 8);
}

TEST_CASE("What SEG-Y cannot hold is refused or warned of before the run") {
  Workshop shop;
  shop.job["output"]["records"] = "segy";
  shop.job["time"]["steps"] = 70000;
  Outcome outcome = shop.run();
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("70000 samples a trace") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(shop.out()));
  shop.job["time"]["steps"] = 20;
  shop.job["time"]["dt"] = 0.0010003;
  outcome = shop.run();
  CHECK(outcome.status == 0);
  CHECK(outcome.err.find("1000.3 µs is written as 1000 µs") != std::string::npos);
}

}  // namespace
}  // namespace ondula::test
