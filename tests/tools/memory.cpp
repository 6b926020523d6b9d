// What users ask of memory and are told of it: plans, bytes by tier, what a step and a checkpoint keep.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>

#include "runtime/io/npy.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

/// Makes the job one whose gradient against records of another model can be had.
void observe(Workshop& shop) {
  shop.job["time"]["steps"] = 60;
  shop.job["absorb"]["width"] = 20;
  REQUIRE(shop.run({"-o", (shop.folder() / "observed").string()}).status == 0);
  shop.job["observed"] = {{"u", "observed/records_u.npy"}};
  shop.job["models"]["vp"] = 2010;
}

Json gradient_with(Workshop& shop, const Json& memory) {
  shop.job["memory"] = memory;
  const Outcome outcome = shop.command("gradient", {"--force"});
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  return shop.report();
}

std::int64_t number_after(const std::string& text, const std::string& words) {
  const auto at = text.find(words);
  REQUIRE_MESSAGE(at != std::string::npos, text);
  return std::stoll(text.substr(at + words.size()));
}

/// What explain prints for the workshop's grid.
std::string explained(const std::string& memory) {
  const Outcome outcome = run_program({"explain", "acoustic", "--order", "4", "--direction", "adjoint",
                                       "--memory", memory, "--shape", "41,51", "--width", "20"});
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  return outcome.out;
}

}  // namespace

TEST_CASE("explain and estimate print what the allocator counts for one step more: full and boundary") {
  ONDULA_NEEDS_CLANG();
  Workshop shop;
  observe(shop);
  for (const char* mode : {"full", "boundary"}) {
    CAPTURE(mode);
    shop.job["time"]["steps"] = 60;
    const Json before = gradient_with(shop, {{"mode", mode}});
    const std::int64_t printed = number_after(explained(mode), "bytes kept of a step: ");
    CHECK(before["storage"]["bytes_per_step"] == printed);
    CHECK(before["storage"]["keep"] == mode);
    const Json estimate = Json::parse(shop.command("estimate", {"--json"}).out);
    CHECK(estimate["bytes"]["gradient"]["step"] == printed);
    CHECK(estimate["bytes"]["gradient"]["device"] == before["bytes"]["device"]);
    shop.job["observed"] = {{"u", "longer/records_u.npy"}};
    shop.job["time"]["steps"] = 61;
    REQUIRE(shop.run({"--force", "-o", (shop.folder() / "longer").string()}).status == 0);
    const Json after = gradient_with(shop, {{"mode", mode}});
    shop.job["observed"] = {{"u", "observed/records_u.npy"}};
    CHECK(after["bytes"]["device"].get<std::int64_t>() - before["bytes"]["device"].get<std::int64_t>() ==
          printed);
  }
}

TEST_CASE("explain prints what the allocator counts for one checkpoint more") {
  ONDULA_NEEDS_CLANG();
  Workshop shop;
  observe(shop);
  // 60 steps in 5 and in 6 segments: stretches of 12 and of 10, and one state more.
  const Json five = gradient_with(shop, {{"mode", "segments"}, {"n", 5}});
  const Json six = gradient_with(shop, {{"mode", "segments"}, {"n", 6}});
  const std::string text = explained("full");
  const std::int64_t step = number_after(text, "bytes kept of a step: ");
  const std::int64_t state = number_after(text, "bytes of a checkpoint: ");
  CHECK(six["bytes"]["device"].get<std::int64_t>() - five["bytes"]["device"].get<std::int64_t>() ==
        state - 2 * step);
  CHECK(six["storage"]["bytes_per_checkpoint"] == state);
  CHECK(six["storage"]["checkpoints"]["segments"] == 6);
  CHECK(six["storage"]["steps_again"] == 2 * 50);  // shots
  CHECK(six["bytes_estimated"]["gradient"]["steps_again"] == 50);
}

TEST_CASE("plans and tiers give the gradient of full storage, and run.json says what lay where") {
  ONDULA_NEEDS_CLANG();
  Workshop shop;
  observe(shop);
  gradient_with(shop, {{"mode", "full"}});
  const io::Array full = io::read_npy((shop.out() / "gradient_vp.npy").string());
  const std::string folder = (shop.folder() / "scratch").string();
  std::filesystem::create_directory(folder);
  const Json memory = {{"mode", "revolve"},
                       {"slots", 3},
                       {"tier", {{"steps", "host"}, {"states", "disk"}}},
                       {"scratch", "scratch"}};
  const Json report = gradient_with(shop, memory);
  CHECK(io::read_npy((shop.out() / "gradient_vp.npy").string()).data == full.data);
  CHECK(report["storage"]["scratch"] == folder);
  CHECK(std::filesystem::is_empty(folder));
  for (const char* tier : {"device", "disk"}) {
    CHECK(report["bytes"][tier] > 0);
    CHECK(report["bytes"][tier] == report["bytes_estimated"]["gradient"][tier]);
  }
  CHECK(report["bytes"]["kept_on_host"] == report["bytes_estimated"]["gradient"]["host"]);
  CHECK(report["job"]["memory"]["tier"]["states"] == "disk");
  const Json rebuilt = gradient_with(shop, {{"mode", "boundary"}});
  CHECK(rebuilt["job"]["gradient"]["extent"] == "interior");
  const io::Array interior = io::read_npy((shop.out() / "gradient_vp.npy").string());
  const std::size_t middle = 20 * 51 + 25;
  CHECK(interior.data[middle] == doctest::Approx(full.data[middle]).epsilon(1e-4));
  const Outcome said = shop.command("estimate");
  CHECK(said.out.find("rings; the interior is rebuilt") != std::string::npos);
}

TEST_CASE("memory's limits hold for the disk too, and a scratch folder that is missing is named") {
  Workshop shop;
  observe(shop);
  shop.job["memory"] = {{"mode", "full"}, {"tier", "disk"}, {"limits", {{"disk", "1 kB"}}}};
  Outcome outcome = shop.command("gradient");
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("memory.limits.disk: found 1 kB; the run needs ") != std::string::npos);
  shop.job["memory"] = {{"mode", "full"}, {"tier", "disk"}, {"scratch", "nowhere"}};
  outcome = shop.command("gradient");
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("nowhere") != std::string::npos);
}

TEST_CASE("explain shows the reversed step and its rings; what does not fit is refused") {
  const std::string text = explained("boundary");
  for (const char* words : {"u.rebuilt", "a ring of u (2 along z, 2 along x cells)", "begins as u("})
    CHECK_MESSAGE(text.find(words) != std::string::npos, words);
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--memory", "boundary"}, "belong to --direction adjoint"},
      {{"--direction", "adjoint", "--memory", "rings"}, "--memory: found \"rings\"; allowed: full, boundary"},
      {{"--direction", "adjoint", "--shape", "41"}, "--shape: found 1 numbers; allowed: 2, for z, x"},
      {{"--direction", "adjoint", "--memory", "boundary", "--backend", "cuda"}, "belong to --backend host"}};
  for (const auto& [options, words] : wrong) {
    std::vector<std::string> arguments = {"explain", "acoustic"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run_program(arguments);
    CHECK(outcome.status == 2);
    CHECK_MESSAGE(outcome.err.find(words) != std::string::npos, outcome.err);
  }
}

TEST_CASE("`ondula list` says of every equation how its gradients can be had") {
  const Json equations = Json::parse(run_program({"list", "--json"}).out)["equations"];
  for (const Json& equation : equations) {
    REQUIRE(equation["gradients"].size() == 3);
    for (const Json& way : equation["gradients"]) CHECK(way["works"] == (way["why_not"] == ""));
  }
  CHECK(run_program({"list"}).out.find("by boundary saving") != std::string::npos);
}

}  // namespace ondula::test
