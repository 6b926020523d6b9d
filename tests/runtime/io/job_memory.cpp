// The job's memory: modes, tiers, and which keys go with which.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/runtime/io/job_text.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::job_test;

namespace {

Json with_memory(const Json& memory) {
  Json json = small_job();
  json["memory"] = memory;
  return json;
}

StoragePlan plan_of(const Json& memory) { return storage_plan(parse(with_memory(memory)).memory); }

}  // namespace

TEST_CASE("memory: every mode is a storage plan, and run.json's job asks for the same again") {
  CHECK(plan_of(Json::object()).keep == Storage::full);
  CHECK(plan_of({{"mode", "full"}}).keep == Storage::full);
  CHECK(plan_of({{"mode", "none"}}).keep == Storage::none);
  CHECK(plan_of({{"mode", "boundary"}}).keep == Storage::boundary);
  const StoragePlan segments = plan_of({{"mode", "segments"}, {"n", 4}, {"tier", "host"}});
  CHECK(segments.keep == Storage::full);
  CHECK(segments.checkpoints.kind == Checkpoints::Kind::segments);
  CHECK(segments.checkpoints.count == 4);
  CHECK(segments.steps == Tier::host);
  CHECK(segments.states == Tier::host);
  const Json full = {{"mode", "revolve"},
                     {"slots", 6},
                     {"inside", "boundary"},
                     {"tier", {{"steps", "host"}, {"states", "disk"}}},
                     {"scratch", "/scratch"}};
  const StoragePlan revolve = plan_of(full);
  CHECK(revolve.keep == Storage::boundary);
  CHECK(revolve.checkpoints.kind == Checkpoints::Kind::revolve);
  CHECK(revolve.checkpoints.count == 6);
  CHECK(revolve.steps == Tier::host);
  CHECK(revolve.states == Tier::disk);
  CHECK(revolve.scratch == "/scratch");
  const std::vector<Json> memories = {Json::object(),
                                      {{"mode", "none"}},
                                      {{"mode", "boundary"}, {"tier", "disk"}},
                                      {{"mode", "segments"}, {"n", 4}, {"tier", {{"states", "disk"}}}},
                                      full};
  for (const Json& memory : memories) {
    CAPTURE(memory.dump());
    const Job job = parse(with_memory(memory));
    CHECK(resolved(parse(resolved(job))) == resolved(job));
  }
  const Json written = resolved(parse(with_memory(full)))["memory"];
  for (const auto& [key, value] : full.items()) CHECK(written[key] == value);
}

TEST_CASE("memory: what does not go together is refused, exactly") {
  const std::vector<std::pair<Json, std::string>> wrong = {
      {{{"mode", "segmnts"}}, "memory.mode: found \"segmnts\". Did you mean \"segments\"?"},
      {{{"mode", "segments"}}, "memory.n: missing; it holds the number of segments"},
      {{{"mode", "revolve"}}, "memory.slots: missing; it holds the number of states that may be held"},
      {{{"mode", "segments"}, {"n", 0}}, "memory.n: found 0; allowed: "},
      {{{"mode", "revolve"}, {"slots", 3}, {"n", 3}},
       "memory.n: found 3 with memory.mode \"revolve\"; it belongs to mode \"segments\""},
      {{{"n", 3}}, "memory.n: found 3 with memory.mode \"auto\"; it belongs to mode \"segments\""},
      {{{"mode", "boundary"}, {"slots", 3}},
       "memory.slots: found 3 with memory.mode \"boundary\"; it belongs to mode \"revolve\""},
      {{{"mode", "full"}, {"inside", "boundary"}},
       "memory.inside: found \"boundary\" with memory.mode \"full\"; it belongs to modes \"segments\" and "
       "\"revolve\""},
      {{{"mode", "segments"}, {"n", 3}, {"inside", "none"}}, "memory.inside: found \"none\""},
      {{{"tier", "disc"}}, "memory.tier: found \"disc\". Did you mean \"disk\"?"},
      {{{"tier", 3}}, "memory.tier: found 3; allowed: \"device\", \"host\", \"disk\", or an object with "},
      {{{"tier", {{"step", "host"}}}}, "memory.tier.step: unknown key. Did you mean \"steps\"?"},
      {{{"tier", {{"states", "host"}}}},
       "memory.tier.states: found \"host\" with memory.mode \"auto\"; it belongs to modes"},
      {{{"mode", "none"}, {"tier", "host"}}, "memory.tier: found \"host\" with memory.mode \"none\""},
      {{{"scratch", "there"}}, "memory.scratch: found \"there\", and no tier is \"disk\""},
      {{{"segments", 4}}, "memory.segments: unknown key."},
  };
  for (const auto& [memory, text] : wrong) {
    CAPTURE(memory.dump());
    check_mentions(complaint(with_memory(memory)), {text});
  }
}

TEST_CASE("memory: boundary saving has gradients of the interior, whoever asks for more is told why") {
  for (const Json& memory :
       {Json{{"mode", "boundary"}}, Json{{"mode", "revolve"}, {"slots", 3}, {"inside", "boundary"}}}) {
    Json json = with_memory(memory);
    CHECK(resolved(parse(json))["gradient"]["extent"] == "interior");
    json["gradient"]["extent"] = "interior";
    CHECK(resolved(parse(json))["gradient"]["extent"] == "interior");
    json["gradient"]["extent"] = "model";
    check_mentions(complaint(json), {"gradient.extent: found \"model\" with boundary saving (memory), which "
                                     "rebuilds the interior alone",
                                     "allowed: \"interior\""});
  }
  CHECK(resolved(parse(small_job()))["gradient"]["extent"] == "model");
}
