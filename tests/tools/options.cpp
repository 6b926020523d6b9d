// The options of the command line: overwriting, --json, -q, and those that beat a job's key.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>
#include <thread>

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
  shop.job["output"]["snapshots"] = {{"field", "u"}, {"every", 200}};
  std::filesystem::create_directories(shop.out());
  std::ofstream(shop.out() / "snapshot_u_200_shot_1.png") << "mine";
  const Outcome refused = shop.run();
  CHECK(refused.status == 2);
  CHECK(shop.files() == std::vector<std::string>{"snapshot_u_200_shot_1.png"});
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

TEST_CASE("A refused step is one JSON object of estimate, with the figures and the error") {
  Workshop shop;
  shop.job["time"]["dt"] = 0.004;
  shop.job["time"]["substeps"] = 1;
  const Outcome outcome = shop.command("estimate", {"--json"});
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("stability limit") != std::string::npos);
  const Json json = Json::parse(outcome.out);
  CHECK(json["runs"] == false);
  CHECK(json["status"] == 2);
  CHECK(json["error"] == json["refusal"]);
  CHECK(json["limits"]["cfl"] < 0.004);
}

TEST_CASE("A command line that cannot be read is answered in JSON where that was asked for") {
  const std::vector<std::vector<std::string>> lines = {{"rum", "--json"},
                                                       {"run", "--json"},
                                                       {"list", "--json", "--colour"},
                                                       {"explain", "acoustic", "--json"}};
  for (const std::vector<std::string>& line : lines) {
    CAPTURE(line);
    const Outcome outcome = run_program(line);
    CHECK(outcome.status == 2);
    CHECK(Json::parse(outcome.out)["status"] == 2);
    CHECK(outcome.err.starts_with("ondula: "));
  }
}

TEST_CASE("Options of later versions are refused by name") {
  Workshop shop;
  for (const char* option : {"--timeout", "--arch"}) {
    for (const char* command : {"run", "estimate"}) {
      CAPTURE(option);
      const Outcome outcome = shop.command(command, {option, "1"});
      CHECK(outcome.status == 2);
      CHECK(outcome.err.find(std::string(option) + ": not supported by this version") != std::string::npos);
    }
  }
  CHECK(run_program({"explain", "acoustic", "--arch", "sm_90"}).err.find("belong to --backend cuda") !=
        std::string::npos);
  CHECK(shop.command("estimate", {"--force"}).status == 0);
  CHECK_FALSE(std::filesystem::exists(shop.out()));
}

TEST_CASE("A full standard output is status 4 and a message") {
  Workshop shop;
  Start full;
  full.out = "/dev/full";
  const Outcome run = shop.run({}, full);
  CHECK(run.status == 4);
  CHECK(run.err.find("stdout") != std::string::npos);
  CHECK(run_program({"list"}, full).status == 4);
  CHECK(run_program({"explain", "acoustic"}, full).status == 4);
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

TEST_CASE("More threads than cores: nothing is printed over it, the bits are the same") {
  Workshop shop;
  REQUIRE(shop.run({"--threads", "1"}).status == 0);
  const std::string before = read_file(shop.out() / "records_u.npy");
  const unsigned threads = std::thread::hardware_concurrency() + 2;
  const Outcome outcome = shop.run({"--force", "--threads", std::to_string(threads)});
  CHECK(outcome.status == 0);
  CHECK(outcome.err == "");
  CHECK(shop.report()["threads"] == threads);
  CHECK(read_file(shop.out() / "records_u.npy") == before);
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
