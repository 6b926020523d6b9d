// The job's SEG-Y keys: geometry, models, the format of records; and what a geometry becomes.
// SPDX-License-Identifier: MIT
#include "runtime/io/job_geometry.hpp"
#include "tests/runtime/io/job_text.hpp"
#include "tests/runtime/io/segy_file.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::job_test;
using namespace ondula::segy_test;

namespace {

/// The small job with a geometry instead of its lists.
Json geometry_job(const Json& geometry) {
  Json json = small_job();
  json.erase("sources");
  json.erase("receivers");
  json["geometry"] = geometry;
  return json;
}

const EquationNames acoustic = {"acoustic", {"vp"}, {"u"}, {"u"}, {"u", "u.previous"}};
const EquationNames elastic = {"elastic", {}, {"v.z", "v.x"}, {"v.z", "v.x", "pressure"}, {}};

struct Expanded {
  Job job;
  std::string warnings;
};

Expanded expanded(const Json& json, const EquationNames& names = acoustic) {
  Expanded result{parse(json), ""};
  std::vector<std::string> warnings;
  expand_geometry(result.job, names, warnings);
  result.warnings = joined(warnings);
  return result;
}

/// Two records of three receivers: sources at x 100 and 200, depth 50; receivers at 0, 10, 10, depth 100.
FileText survey() {
  FileText text;
  text.traces = 6;
  text.header = [](Words& words, int trace) {
    const int shot = trace / 3;
    words.set32(9, shot + 1).set32(73, 100 * (shot + 1)).set32(81, trace % 3 == 0 ? 0 : 10);
    words.set32(49, 50).set32(41, -100);
  };
  return text;
}

/// The same file with `more` done to its headers last.
FileText with_headers(FileText text, const std::function<void(Words&, int)>& more) {
  text.header = [before = text.header, more](Words& words, int trace) {
    before(words, trace);
    more(words, trace);
  };
  return text;
}

/// The survey on a line that leaves the x axis: sources at y 30, receivers at y 0, 5, ... 25.
FileText crooked_survey() {
  return with_headers(survey(), [](Words& words, int trace) { words.set32(77, 30).set32(85, 5 * trace); });
}

}  // namespace

TEST_CASE("E16: geometry: shots and receivers from headers, two receivers in one place are two traces") {
  const FileOnDisk file(survey());
  const auto [job, warnings] = expanded(geometry_job({{"segy", file.path()}}));
  CHECK_FALSE(job.geometry.has_value());
  REQUIRE(job.sources.size() == 2);
  CHECK(job.sources[1].shot == 1);
  CHECK(job.sources[1].field == "u");
  CHECK(job.sources[1].at.values == std::vector<double>{50, 200});
  // Both shots have the same spread: one list for every shot.
  REQUIRE(job.receivers.size() == 1);
  CHECK_FALSE(job.receivers[0].shots.has_value());
  REQUIRE(job.receivers[0].points.size() == 3);
  CHECK(job.receivers[0].points[1].values == std::vector<double>{100, 10});
  CHECK(job.receivers[0].points[2].values == std::vector<double>{100, 10});
  CHECK(warnings.empty());
  std::vector<std::string> notes;
  const Survey resolved_survey = resolve_survey(job, notes);
  CHECK(resolved_survey.shots.size() == 2);
  CHECK(resolved_survey.shots[1].receivers.size() == 3);
  // What run.json holds is a job, and gives the same lists.
  const Json written = resolved(job);
  CHECK_FALSE(written.contains("geometry"));
  CHECK(resolved(parse(written)) == written);
}

TEST_CASE("geometry: shots that differ in receivers have lists of their own, each field its entry") {
  const FileOnDisk file(with_headers(survey(), [](Words& words, int trace) { words.set32(81, 10 * trace); }));
  const Json geometry = {
      {"segy", file.path()},
      {"source", {{"field", "v.z"}, {"strength", 3}, {"interpolation", "linear"}}},
      {"receiver", {{{"field", "v.x"}}, {{"field", "pressure"}, {"interpolation", "linear"}}}}};
  const Expanded result = expanded(geometry_job(geometry), elastic);
  CHECK(result.job.sources[0].strength == 3);
  CHECK(result.job.sources[0].interpolation == Interpolation::linear);
  REQUIRE(result.job.receivers.size() == 4);
  CHECK(result.job.receivers[1].field == "v.x");
  CHECK(*result.job.receivers[1].shots == std::vector<std::int64_t>{1});
  CHECK(result.job.receivers[2].field == "pressure");
  CHECK(*result.job.receivers[2].shots == std::vector<std::int64_t>{0});
  CHECK(result.job.receivers[3].points[2].values == std::vector<double>{100, 50});
}

TEST_CASE("geometry: fields that the equation lacks, or leaves open, are refused by key") {
  const FileOnDisk file(survey());
  const Json bare = {{"segy", file.path()}};
  check_mentions(refusal([&] { expanded(geometry_job(bare), elastic); }),
                 {"geometry.source.field: missing", "v.z, v.x"});
  Json wrong = bare;
  wrong["receiver"] = {{{"field", "u"}}, {{"field", "uu"}}};
  check_mentions(refusal([&] { expanded(geometry_job(wrong)); }),
                 {"geometry.receiver[1].field: found \"uu\""});
}

TEST_CASE("E3: geometry: positions outside name the first trace, count the others, and suggest") {
  FileText text = survey();
  const auto outside_of = [&](const std::function<void(Words&, int)>& more, const Json& extra = {}) {
    const FileOnDisk file(with_headers(text, more));
    Json geometry = {{"segy", file.path()}};
    geometry.update(extra.is_null() ? Json::object() : extra);
    return refusal([&] { expanded(geometry_job(geometry)); });
  };
  check_mentions(outside_of([](Words& words, int trace) {
                   if (trace == 4) words.set32(81, 601);
                 }),
                 {"the receiver of trace 5 (of 6)", "x = 601 m lies outside", "1 of the 8 positions"});
  check_mentions(outside_of([](Words& words, int) { words.set32(41, 100); }),
                 {"the receiver of trace 1", "z = -100 m", R"("vertical": "depth")"});
  check_mentions(
      outside_of([](Words& words, int trace) { words.set32(73, 7000).set32(81, 7000 + 10 * trace); }),
      {"the source of trace 1 (of 6), field record 1", "grid.origin at 7000 on x", "x 7000 to 7050 m"});
}

TEST_CASE("geometry: a 2-D grid takes x, warns of a crooked line, and takes y where the job says so") {
  const FileText text = crooked_survey();
  const FileOnDisk crooked(text);
  check_mentions(expanded(geometry_job({{"segy", crooked.path()}})).warnings,
                 {"y runs from 0 to 30 m", "left out"});
  const Expanded along_y = expanded(geometry_job({{"segy", crooked.path()}, {"horizontal", {"y", "x"}}}));
  CHECK(along_y.job.sources[0].at.values == std::vector<double>{50, 30});
  CHECK(along_y.job.receivers[1].points[0].values == std::vector<double>{100, 15});
  const FileOnDisk north(with_headers(text, [](Words& words, int) { words.set32(73, 40).set32(81, 40); }));
  check_mentions(refusal([&] { expanded(geometry_job({{"segy", north.path()}})); }),
                 {"x, which is 40 m in every trace", R"("horizontal": ["y", "x"])"});
}

TEST_CASE("geometry: a 3-D grid takes x and y, a 1-D grid z") {
  const FileOnDisk file(crooked_survey());
  Json json = geometry_job({{"segy", file.path()}});
  json["grid"] = Json::parse(R"({"axes": ["z","y","x"], "shape": [41, 11, 61], "spacing": [10, 10, 10]})");
  const Expanded cube = expanded(json);
  CHECK(cube.job.sources[1].at.values == std::vector<double>{50, 30, 200});
  CHECK(cube.job.receivers[1].points[0].values == std::vector<double>{100, 15, 0});
  CHECK(cube.warnings.empty());
  json["grid"] = Json::parse(R"({"axes": ["z"], "shape": [41], "spacing": [10]})");
  CHECK(expanded(json).job.sources[1].at.values == std::vector<double>{50});
}

TEST_CASE("geometry: a real marine line and modelled shots on grids of ours") {
  const auto viking = test::data_path("segy/viking_small.segy");
  const auto judi = test::data_path("segy/judi_unit_test_shot_records_2.segy");
  if (!viking || !judi) ONDULA_SKIP("no segy/viking_small.segy or judi files under ONDULA_DATA");
  Json json = geometry_job({{"segy", viking->string()}});
  json["grid"] = Json::parse(R"({"axes": ["z","x"], "shape": [41, 151], "spacing": [25, 25]})");
  const Expanded marine = expanded(json);
  CHECK(marine.job.sources.size() == 4);
  CHECK(marine.job.sources[0].at.values == std::vector<double>{6, 3237});
  REQUIRE(marine.job.receivers.size() == 4);
  CHECK(marine.job.receivers[0].points.size() == 120);
  CHECK(marine.job.receivers[0].points[119].values == std::vector<double>{10, 2975});
  json["geometry"] = {{"segy", judi->string()}};
  check_mentions(refusal([&] { expanded(json); }),
                 {"judi_unit_test", "z = -20 m lies outside", R"("vertical": "depth")"});
  json["geometry"]["vertical"] = "depth";
  const Expanded modelled = expanded(json);
  CHECK(modelled.job.sources[1].at.values == std::vector<double>{20, 1100});
  REQUIRE(modelled.job.receivers.size() == 1);
  CHECK(modelled.job.receivers[0].points[1].values == std::vector<double>{50, 59.244});
}

TEST_CASE("geometry: its keys are checked, and written out with every default") {
  const auto says = [](const Json& geometry) { return refusal([&] { parse(geometry_job(geometry)); }); };
  check_mentions(says({{"sgy", "a"}}), {"geometry.sgy", "Did you mean \"segy\"?"});
  check_mentions(says({{"segy", "a"}, {"unit", "km"}}), {"geometry.unit", "m, ft"});
  check_mentions(says({{"segy", "a"}, {"vertical", "up"}}), {"geometry.vertical", "elevation"});
  check_mentions(says({{"segy", "a"}, {"horizontal", {"x", "x"}}}), {"geometry.horizontal", R"(["y","x"])"});
  check_mentions(says({{"segy", "a"}, {"source", {{"shot", 1}}}}),
                 {"geometry.source.shot", "the file says it"});
  check_mentions(says({{"segy", "a"}, {"source", {{"strenght", 1}}}}),
                 {"geometry.source.strenght", "strength"});
  check_mentions(says({{"segy", "a"}, {"receiver", {{{"line", 1}}}}}),
                 {"geometry.receiver[0].line", "the file says it"});
  Json silent = geometry_job({{"segy", "a"}});
  silent.erase("wavelet");
  check_mentions(refusal([&] { parse(silent); }), {"geometry: its sources have no wavelet"});
  Json both = small_job();
  both["geometry"] = {{"segy", "a"}};
  check_mentions(refusal([&] { parse(both); }), {"geometry: it replaces"});
  const Json full = {
      {"segy", "/a.su"},
      {"endian", "little"},
      {"unit", "ft"},
      {"vertical", "depth"},
      {"horizontal", {"y", "x"}},
      {"source", {{"field", "v.z"}, {"strength", 2.0}, {"scaling", "raw"}}},
      {"receiver", {{{"field", "v.x"}}, {{"field", "pressure"}, {"interpolation", "linear"}}}}};
  for (const Json& geometry : {full, Json{{"segy", "/a.su"}}}) {
    const Json written = resolved(parse(geometry_job(geometry)));
    CHECK(written["geometry"]["segy"] == "/a.su");
    CHECK(written["geometry"]["horizontal"].size() == 2);
    CHECK(resolved(parse(written)) == written);
  }
  const Json written = resolved(parse(geometry_job(full)));
  CHECK(written["geometry"]["unit"] == "ft");
  CHECK(written["geometry"]["vertical"] == "depth");
  CHECK(written["geometry"]["source"]["scaling"] == "raw");
  CHECK(written["geometry"]["receiver"][1]["interpolation"] == "linear");
}

TEST_CASE("models from SEG-Y: keys are checked and written out") {
  Json json = small_job();
  json["models"]["vp"] = Json::parse(
      R"({"segy": "/vp.segy", "endian": "little", "axes": ["x","z"], "spacing": [10, 10], "unit": "km/s"})");
  const Job job = parse(json);
  CHECK(job.models[0].second.kind == ModelSpec::Kind::segy);
  CHECK(job.models[0].second.segy.spacing == std::vector<double>{10, 10});
  CHECK(resolved(job)["models"]["vp"] == json["models"]["vp"]);
  json["models"]["vp"] = Json::parse(R"({"segy": "/vp.segy", "dtype": "int16"})");
  check_mentions(refusal([&] { parse(json); }), {"models.vp.dtype", "belongs to \"raw\"", "\"segy\""});
  json["models"]["vp"] = Json::parse(R"({"raw": "/vp.bin", "spacing": [10, 10]})");
  check_mentions(refusal([&] { parse(json); }), {"models.vp.spacing", "belongs to \"segy\""});
  json["models"]["vp"] = Json::parse(R"({"npy": "/vp.npy", "endian": "big"})");
  check_mentions(refusal([&] { parse(json); }), {"models.vp.endian", "\"raw\" or \"segy\""});
  json["models"]["vp"] = Json::parse(R"({"segy": "/vp.segy", "spacing": [10]})");
  check_mentions(refusal([&] { parse(json); }), {"models.vp.spacing", "2 steps in m"});
}

TEST_CASE("output.records: a word, or an object with the samples or the byte order") {
  const auto format_of = [](const Json& records) {
    Json json = small_job();
    json["output"] = {{"records", records}};
    const Json written = resolved(parse(json));
    CHECK(resolved(parse(written)) == written);
    return written["output"]["records"];
  };
  CHECK(format_of("npy") == "npy");
  CHECK(format_of("segy") == Json{{"format", "segy"}, {"samples", "ieee"}});
  CHECK(format_of("su") == Json{{"format", "su"}, {"endian", "big"}});
  CHECK(format_of({{"format", "segy"}, {"samples", "ibm"}})["samples"] == "ibm");
  CHECK(format_of({{"format", "su"}, {"endian", "little"}})["endian"] == "little");
  check_mentions(refusal([&] { format_of("sgy"); }), {"output.records", "Did you mean \"segy\"?"});
  check_mentions(refusal([&] { format_of({{"format", "su"}, {"samples", "ibm"}}); }),
                 {"output.records.samples", "belongs to \"segy\""});
  check_mentions(refusal([&] { format_of({{"format", "segy"}, {"endian", "little"}}); }),
                 {"output.records.endian", "belongs to \"su\""});
}
