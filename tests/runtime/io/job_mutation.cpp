// Misspells every key of a full job in turn: each must be refused with the right suggestion.
// SPDX-License-Identifier: MIT
#include <functional>

#include "tests/runtime/io/job_text.hpp"

using namespace ondula;
using namespace ondula::job_test;

namespace {

/// Objects whose keys are names from elsewhere (parameters, fields), checked against the equation later.
bool free_names(const std::string& path) {
  return path == "/models" || path == "/initial" || path == "/observed" || path == "/born";
}

/// Calls `visit` with the pointer of every object in a document.
void each_object(const Json& json, const std::string& path,
                 const std::function<void(const std::string&)>& visit) {
  if (json.is_object()) {
    visit(path);
    for (const auto& member : json.items()) each_object(member.value(), path + "/" + member.key(), visit);
  }
  if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) each_object(json[i], path + "/" + std::to_string(i), visit);
  }
}

/// The job with the key of one object renamed, in its place.
Json renamed(const Json& job, const std::string& path, const std::string& key, const std::string& wrong) {
  Json copy = job;
  Json& object = copy[Json::json_pointer(path)];
  Json changed = Json::object();
  for (const auto& member : object.items())
    changed[member.key() == key ? wrong : member.key()] = member.value();
  object = changed;
  return copy;
}

/// The pointers of every value in a document, objects and lists included.
void each_value(const Json& json, const std::string& path,
                const std::function<void(const std::string&)>& visit) {
  visit(path);
  if (json.is_object()) {
    for (const auto& member : json.items()) each_value(member.value(), path + "/" + member.key(), visit);
  }
  if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) each_value(json[i], path + "/" + std::to_string(i), visit);
  }
}

int misspell_all(const Json& job) {
  int tried = 0;
  each_object(job, "", [&](const std::string& path) {
    if (free_names(path)) return;
    for (const auto& member : job[Json::json_pointer(path)].items()) {
      const std::string& key = member.key();
      const std::string wrong = key + "q";
      CAPTURE(path);
      const std::string text = complaint(renamed(job, path, key, wrong));
      check_mentions(text, {wrong + ": unknown key.", "Did you mean \"" + key + "\"?", "Allowed: "});
      ++tried;
    }
  });
  return tried;
}

}  // namespace

TEST_CASE("every misspelt key of a full job is refused with the right one") {
  CHECK(misspell_all(full_job()) > 120);
}

TEST_CASE("every misspelt key of a later version's sections is refused with the right one") {
  Json job = small_job();
  job["sources"].push_back(Json::parse(
      R"({"shot": 1, "kind": "force", "field": "v", "direction": {"z": 1, "x": 0}, "at": {"z": 5, "x": 5}})"));
  job["sources"].push_back(Json::parse(
      R"({"shot": 2, "kind": "moment_rate", "tensor": {"zz": 1, "xx": 1}, "at": {"z": 5, "x": 5}})"));
  job["sources"].push_back(Json::parse(
      R"({"shot": 3, "kind": "moment_rate", "tensor": {"double_couple": {"dip": 45}}, "at": {"z": 5, "x": 5}})"));
  job["memory"] = Json::parse(
      R"({"mode": "segments", "n": 4, "inside": "full", "every": 2, "tier": "disk", "codec": "fp16", "scratch": "s"})");
  job["misfit"] = Json::parse(
      R"({"kind": "l2", "mute": {"before": 0.1, "after": 2, "velocity": 1500, "taper": 0.1}, "band": [1, 5]})");
  job["gradient"] =
      Json::parse(R"({"parameters": ["vp"], "wavelet": true, "initial": false, "extent": "interior"})");
  job["invert"] = Json::parse(
      R"({"parameters": ["vp"], "bounds": {}, "stages": [{"band": [0, 3], "iterations": 5}], "mask": "m.npy",
                                  "smoothing": 1, "preconditioner": "none"})");
  check_mentions(complaint(job), {"not supported by this version"});
  CHECK(misspell_all(job) > 60);
}

TEST_CASE("any value replaced by any other gives a job or a UserError, never another exception") {
  const std::vector<Json> values = {nullptr,
                                    true,
                                    -1,
                                    0,
                                    1,
                                    0.5,
                                    1e300,
                                    -1e-300,
                                    "",
                                    "q",
                                    "auto",
                                    Json::array(),
                                    Json::object(),
                                    Json::array({1, 2}),
                                    Json::array({"z-"}),
                                    Json::object({{"z", 1}})};
  Json whole = full_job();
  whole["sources"].erase(4);  // its wavelet is a file that does not exist
  REQUIRE(complaint(whole, true) == "");
  int refused = 0;
  int accepted = 0;
  each_value(whole, "", [&](const std::string& path) {
    for (const Json& value : values) {
      Json job = whole;
      job[Json::json_pointer(path)] = value;
      CAPTURE(path);
      CAPTURE(value);
      std::string text;
      CHECK_NOTHROW(text = complaint(job, true));
      (text.empty() ? accepted : refused) += 1;
    }
  });
  CHECK(refused > 1500);
  CHECK(accepted > 200);
}
