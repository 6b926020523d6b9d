// The kernel cache as the program uses and shows it.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>

#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("C1: of two processes with the same kernels the second compiles nothing") {
  Workshop first, second;
  const Start start{{{"ONDULA_CACHE", (first.folder() / "cache").string()}}, 0, {}};
  REQUIRE(first.run({}, start).status == 0);
  second.job["grid"]["shape"] = {45, 60};  // sizes are no part of a kernel
  second.job["time"]["dt"] = 0.0012;
  const Outcome outcome = second.run({}, start);
  REQUIRE(outcome.status == 0);
  CHECK(first.report()["timings"]["compiled_cold"] == true);
  CHECK(second.report()["timings"]["compiled_cold"] == false);
  CHECK(outcome.out.find("kernels from the cache") != std::string::npos);
}

TEST_CASE("`ondula cache` lists, verifies and clears") {
  Workshop shop;
  const auto folder = shop.folder() / "cache";
  const Start start{{{"ONDULA_CACHE", folder.string()}}, 0, {}};
  REQUIRE(shop.run({}, start).status == 0);
  CHECK(run_program({"cache", "path"}, start).out == folder.string() + "\n");
  const Json list = Json::parse(run_program({"cache", "list", "--json"}, start).out);
  REQUIRE(list["entries"].size() == 1);
  CHECK(list["entries"][0]["equation"] == "acoustic");
  CHECK(run_program({"cache", "verify"}, start).status == 0);

  const std::string path = list["entries"][0]["path"];
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Outcome damaged = run_program({"cache", "verify"}, start);
  CHECK(damaged.status == 1);
  CHECK(damaged.err.find("damaged") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(path));

  REQUIRE(shop.run({"--force"}, start).status == 0);
  CHECK(run_program({"cache", "clear"}, start).status == 0);
  CHECK(Json::parse(run_program({"cache", "list", "--json"}, start).out)["entries"].empty());
  CHECK(run_program({"cache", "list"}, {{{"ONDULA_CACHE", "off"}}, 0, {}}).status == 0);
}

TEST_CASE("A cache that cannot be written is one warning, and the run goes on") {
  Workshop shop;
  std::ofstream(shop.folder() / "file") << "no folder";
  const Outcome outcome =
      shop.run({}, {{{"ONDULA_CACHE", (shop.folder() / "file" / "cache").string()}}, 0, {}});
  CHECK(outcome.status == 0);
  const auto first = outcome.err.find("warning: ");
  REQUIRE(first != std::string::npos);
  CHECK(outcome.err.find("warning: ", first + 1) == std::string::npos);
  CHECK(shop.report()["warnings"].size() == 1);
}

}  // namespace
}  // namespace ondula::test
