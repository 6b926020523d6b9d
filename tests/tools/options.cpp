// The options of the command line: overwriting, --json, -q, and those that beat a job's key.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>

#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("Nothing is written over without --force") {
  Workshop shop;
  REQUIRE(shop.run().status == 0);
  const std::string before = read_file(shop.out() / "records_u.npy");
  shop.job["sources"][0]["strength"] = 2;
  const Outcome refused = shop.run();
  CHECK(refused.status == 2);
  CHECK(refused.err.find("records_u.npy exists already") != std::string::npos);
  CHECK(refused.err.find("--force") != std::string::npos);
  CHECK(read_file(shop.out() / "records_u.npy") == before);
  CHECK(shop.run({"--force"}).status == 0);
  CHECK(read_file(shop.out() / "records_u.npy") != before);
}

TEST_CASE("A file in the way of any output is found before the run") {
  Workshop shop;
  shop.job["output"]["snapshots"] = {{"field", "u"}, {"every", 50}};
  std::filesystem::create_directories(shop.out());
  std::ofstream(shop.out() / "snapshot_u_50_shot_1.png") << "mine";
  const Outcome refused = shop.run();
  CHECK(refused.status == 2);
  CHECK(shop.files() == std::vector<std::string>{"snapshot_u_50_shot_1.png"});
}

TEST_CASE("--json prints one object and nothing else on stdout") {
  Workshop shop;
  const Outcome outcome = shop.run({"--json"});
  REQUIRE(outcome.status == 0);
  CHECK(Json::parse(outcome.out) == shop.report());
  const Outcome failed = shop.run({"--json"});
  CHECK(failed.status == 2);
  CHECK(Json::parse(failed.out)["status"] == 2);
  const Outcome estimate = shop.command("estimate", {"--json"});
  CHECK(estimate.status == 0);
  const Json json = Json::parse(estimate.out);
  CHECK(json["runs"] == true);
  CHECK(json["bytes"]["device"] == shop.report()["bytes"]["device"]);
  CHECK(json["limits"]["cfl"] > 0.001);
  CHECK(json["time"]["seconds"] > 0.0);
}

TEST_CASE("-q is silent, warnings included; errors are not") {
  Workshop shop;
  shop.job["receivers"] = Json::array();
  const Outcome outcome = shop.run({"-q"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "");
  CHECK(outcome.err == "");
  CHECK(shop.report()["warnings"].size() == 1);
  CHECK(shop.run({"-q"}).err.find("exists already") != std::string::npos);
}

TEST_CASE("Warnings are printed once each, and kept in run.json") {
  Workshop shop;
  shop.job["time"]["steps"] = 20;  // ends before the wavelet's peak
  const Outcome outcome = shop.run();
  REQUIRE(outcome.status == 0);
  const auto first = outcome.err.find("warning: wavelet");
  REQUIRE(first != std::string::npos);
  CHECK(outcome.err.find("warning: wavelet", first + 1) == std::string::npos);
  CHECK(shop.report()["warnings"].size() == 1);
}

TEST_CASE("An option beats the job's key") {
  Workshop shop;
  const auto elsewhere = shop.folder() / "elsewhere";
  const Outcome outcome = shop.run({"--order", "2", "--dtype", "float64", "--threads", "1", "--backend",
                                    "reference", "--dims", "2", "-o", elsewhere.string()});
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  const Json job = Json::parse(read_file(elsewhere / "run.json"))["job"];
  CHECK(job["order"] == 2);
  CHECK(job["dtype"] == "float64");
  CHECK(job["threads"] == 1);
  CHECK(job["backend"] == "reference");
  CHECK(shop.run({"--dims", "3"}).status == 2);
  CHECK(shop.run({"--order", "3"}).status == 2);
}

TEST_CASE("Unknown commands and options have status 2 and a hint") {
  const Outcome command = run_program({"rum"});
  CHECK(command.status == 2);
  CHECK(command.err.find("Did you mean \"run\"?") != std::string::npos);
  const Outcome later = run_program({"invert", "job.json"});
  CHECK(later.status == 2);
  CHECK(later.err.find("not supported by this version") != std::string::npos);
  CHECK(run_program({"run", "job.json", "--colour"}).status == 2);
  CHECK(run_program({"run"}).status == 2);
  CHECK(run_program({}).status == 2);
  CHECK(run_program({"--help"}).status == 0);
  CHECK(run_program({"run", "--help"}).status == 0);
}

}  // namespace
}  // namespace ondula::test
