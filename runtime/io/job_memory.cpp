// The job's memory: what a gradient keeps, where, and limits in bytes.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "runtime/io/job_sections.hpp"

namespace ondula::io {

namespace {

using Json = nlohmann::ordered_json;
using Mode = MemorySpec::Mode;

constexpr std::array<const char*, 6> mode_words = {"auto", "full", "boundary", "segments", "revolve", "none"};
constexpr std::array<const char*, 3> tier_words = {"device", "host", "disk"};

const char* word(Mode mode) { return mode_words[static_cast<std::size_t>(mode)]; }
const char* word(Tier tier) { return tier_words[static_cast<std::size_t>(tier)]; }

template <class E, std::size_t n>
E parse_word(const Node& node, const std::array<const char*, n>& words) {
  const std::string found = node.choice({words.begin(), words.end()});
  return static_cast<E>(std::find(words.begin(), words.end(), found) - words.begin());
}

bool has_states(Mode mode) { return mode == Mode::segments || mode == Mode::revolve; }

/// A key that some modes alone have.
void require_mode(const Node& node, Mode mode, bool fits, const std::string& modes) {
  if (fits) return;
  node.refuse(
      fmt::format("found {} with memory.mode \"{}\"; it belongs to {}", node.found(), word(mode), modes));
}

void parse_checkpoints(const Node& node, MemorySpec& memory) {
  const auto count = [&](const char* key, Mode own, const char* meaning) {
    const auto given = node.find(key);
    if (given) require_mode(*given, memory.mode, memory.mode == own, fmt::format("mode \"{}\"", word(own)));
    if (memory.mode == own)
      memory.count = static_cast<int>(node.at(key, meaning).integer(1, 1'000'000'000, meaning));
  };
  count("n", Mode::segments, "the number of segments");
  count("slots", Mode::revolve, "the number of states that may be held");
  if (const auto inside = node.find("inside")) {
    const std::string found = inside->choice({"full", "boundary"});
    require_mode(*inside, memory.mode, has_states(memory.mode), "modes \"segments\" and \"revolve\"");
    memory.inside = found == "boundary" ? Storage::boundary : Storage::full;
  }
}

void parse_tier(const Node& node, MemorySpec& memory) {
  require_mode(node, memory.mode, memory.mode != Mode::none, "modes that keep something: all but \"none\"");
  if (node.value().is_string()) {
    memory.steps = parse_word<Tier>(node, tier_words);
    if (has_states(memory.mode)) memory.states = memory.steps;
    return;
  }
  if (!node.value().is_object())
    node.fail(R"("device", "host", "disk", or an object with "steps" and "states", each one of these)");
  node.only({"steps", "states"});
  if (const auto steps = node.find("steps")) memory.steps = parse_word<Tier>(*steps, tier_words);
  if (const auto states = node.find("states")) {
    memory.states = parse_word<Tier>(*states, tier_words);
    require_mode(*states, memory.mode, has_states(memory.mode), "modes \"segments\" and \"revolve\"");
  }
}

}  // namespace

std::int64_t parse_bytes(const Node& node) {
  constexpr double most = 9007199254740992.0;  // 2^53
  const std::string allowed = R"(a size > 0: a whole number of bytes, or text as "8 GiB", "500 MB")";
  if (node.value().is_number()) return node.integer(1, static_cast<std::int64_t>(most), "bytes");
  if (!node.value().is_string()) node.fail(allowed);
  const std::string text = node.value().get<std::string>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !(number > 0)) node.fail(allowed);
  std::string unit(end, text.data() + text.size());
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  static const std::map<std::string, double> units = {
      {"B", 1.0},         {"kB", 1e3},           {"MB", 1e6},
      {"GB", 1e9},        {"TB", 1e12},          {"KiB", 1024.0},
      {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
  const auto factor = units.find(unit);
  if (factor == units.end()) node.fail(allowed + " (units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)");
  const double bytes = std::floor(number * factor->second);
  if (bytes < 1 || bytes > most) node.fail(allowed);
  return static_cast<std::int64_t>(bytes);
}

MemorySpec parse_memory(const Node& node, ParseContext& context) {
  node.only({"mode", "n", "slots", "inside", "every", "tier", "codec", "limits", "scratch", "shot_batch"});
  MemorySpec memory;
  if (const auto mode = node.find("mode")) memory.mode = parse_word<Mode>(*mode, mode_words);
  parse_checkpoints(node, memory);
  if (const auto tier = node.find("tier")) parse_tier(*tier, memory);
  if (const auto scratch = node.find("scratch")) {
    memory.scratch = context.path(*scratch);
    if (memory.steps != Tier::disk && memory.states != Tier::disk)
      scratch->refuse(fmt::format("found {}, and no tier is \"disk\"", scratch->found()));
  }
  const std::string why = "a gradient's history holds every step, as it was computed";
  if (const auto every = node.find("every"); every && every->integer(1, 1'000'000'000, "steps") != 1) {
    context.refuse_later(*every, why);
  }
  if (const auto codec = node.find("codec");
      codec && codec->choice({"none", "fp16", "bf16", "int8", "int16"}) != "none") {
    context.refuse_later(*codec, why);
  }
  if (const auto batch = node.find("shot_batch"); batch && batch->value() != "auto") {
    if (!batch->value().is_number()) batch->fail(R"("auto", or a whole number of shots from 1 on)");
    memory.shot_batch = static_cast<int>(batch->integer(1, 1'000'000, "shots"));
  }
  if (const auto limits = node.find("limits")) {
    limits->only({"device", "host", "disk"});
    for (const auto& [tier, size] : limits->members()) memory.limits[tier] = parse_bytes(size);
  }
  return memory;
}

nlohmann::ordered_json write_memory(const MemorySpec& memory) {
  Json json{{"mode", word(memory.mode)}};
  if (memory.mode == Mode::segments) json["n"] = memory.count;
  if (memory.mode == Mode::revolve) json["slots"] = memory.count;
  if (has_states(memory.mode)) json["inside"] = memory.inside == Storage::boundary ? "boundary" : "full";
  if (memory.mode != Mode::none) {
    json["tier"] = Json{{"steps", word(memory.steps)}};
    if (has_states(memory.mode)) json["tier"]["states"] = word(memory.states);
  }
  if (memory.scratch) json["scratch"] = *memory.scratch;
  json["shot_batch"] = memory.shot_batch > 0 ? Json(memory.shot_batch) : Json("auto");
  json["limits"] = Json::object();
  for (const auto& [tier, bytes] : memory.limits) json["limits"][tier] = bytes;
  return json;
}

StoragePlan storage_plan(const MemorySpec& memory) {
  StoragePlan plan;
  switch (memory.mode) {
    case Mode::automatic:
    case Mode::full:
      break;
    case Mode::boundary:
      plan.keep = Storage::boundary;
      break;
    case Mode::segments:
      plan.keep = memory.inside;
      plan.checkpoints = {Checkpoints::Kind::segments, memory.count};
      break;
    case Mode::revolve:
      plan.keep = memory.inside;
      plan.checkpoints = {Checkpoints::Kind::revolve, memory.count};
      break;
    case Mode::none:
      plan.keep = Storage::none;
      break;
  }
  plan.steps = memory.steps;
  plan.states = memory.states;
  plan.scratch = memory.scratch.value_or("");
  return plan;
}

}  // namespace ondula::io
