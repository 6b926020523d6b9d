// Ctrl-C in the middle of a run.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <csignal>

#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

TEST_CASE("An interrupted run ends with status 130 and leaves whole files or none") {
  for (const int signal : {SIGINT, SIGTERM}) {
    Workshop shop;
    shop.job["time"]["steps"] = 100'000'000;
    shop.job["receivers"] = nlohmann::ordered_json::array();
    shop.job["output"]["snapshots"] = {{"field", "u"}, {"every", 1'000'000}};
    shop.job["initial"] = {{"u", 1e-3}};
    // The snapshot of step 0 says that the steps have begun.
    const Outcome outcome = shop.run({}, {{}, signal, shop.out() / "snapshot_u_0_shot_0.png"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 130);
    CHECK(outcome.err.find("interrupted") != std::string::npos);
    for (const std::string& name : shop.files()) {
      CHECK(name.starts_with("snapshot_u_"));
      CHECK(name.ends_with(".png"));
    }
  }
}

}  // namespace
}  // namespace ondula::test
