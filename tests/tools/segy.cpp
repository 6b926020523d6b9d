// Jobs with SEG-Y in and out, run as people do.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "runtime/io/segy_geometry.hpp"
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
