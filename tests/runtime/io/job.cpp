// The job file: defaults, contradictions, options, and what is refused.
// SPDX-License-Identifier: MIT
#include "runtime/io/job.hpp"

#include <fstream>

#include "tests/runtime/io/job_text.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::job_test;

TEST_CASE("a small job gets every default") {
  const Job job = parse(small_job());
  CHECK(job.grid.origin == std::vector<double>{0, 0});
  CHECK(job.grid.faces[1][0].kind == FaceKind::absorbing);
  CHECK(job.grid.faces[1][0].width == 20);
  CHECK(job.order == 8);
  CHECK(job.dtype == DType::float32);
  CHECK(job.backend == Backend::host);
  CHECK(job.t0 == 0);
  CHECK_FALSE(job.substeps.has_value());
  CHECK(job.absorb.kappa == 1);
  CHECK(job.wavelet->delay == doctest::Approx(0.075));
  CHECK(job.sources[0].shot == 0);
  CHECK(job.sources[0].strength == 1);
  CHECK(job.sources[0].scaling == Scaling::physical);
  CHECK(job.receivers[0].interpolation == Interpolation::sinc);
  CHECK_FALSE(job.receivers[0].shots.has_value());
  CHECK(job.output.directory == "out");
  CHECK(job.output.pictures);
}

TEST_CASE(
    "a job over a real model's grid: a line of receivers up to just short of the edge, limits, snapshots") {
  const Json json = Json::parse(R"({
    "equation": "acoustic",
    "grid":   {"axes": ["z","x"], "shape": [134, 384], "spacing": [24, 24], "origin": [0, 0]},
    "time":   {"dt": 0.002, "steps": 2000, "substeps": "auto"},
    "order":  8, "dtype":  "float32", "backend": "host",
    "models": {"vp": "marmousi_vp.npy"},
    "absorb": {"width": 20, "frequency": 5.0},
    "free_surface": ["z-"],
    "wavelet": {"ricker": {"frequency": 5.0, "delay": 0.25}},
    "sources": [{"shot": 0, "field": "u", "kind": "point", "at": {"z": 20, "x": 4600}}],
    "receivers": [{"field": "u", "line": {"from": {"z": 20, "x": 0}, "to": {"z": 20, "x": 9190}, "count": 384}}],
    "memory": {"mode": "auto", "limits": {"device": "8 GiB"}},
    "output": {"directory": "out", "records": "npy", "pictures": true, "snapshots": {"field": "u", "every": 200}}
  })");
  CHECK(complaint(json, true) == "");
  CHECK(warnings_of(json) == "");
  CHECK(parse(json).output.snapshots->every == 200);
}

TEST_CASE("the resolved job parses to itself") {
  for (const Json& json : {small_job(), full_job()}) {
    const Json once = resolved(parse(json));
    CHECK(once.dump(1) == resolved(parse(once)).dump(1));
  }
}

TEST_CASE("the resolved job keeps what the job says") {
  const Json json = resolved(parse(full_job()));
  for (const char* key : {"order", "dtype", "backend", "threads", "wavelet", "time", "grid", "free_surface",
                          "initial", "mesh"}) {
    CAPTURE(key);
    CHECK(json[key] == full_job()[key]);
  }
  CHECK(json["models"]["vp"] == full_job()["models"]["vp"]);
  CHECK(json["models"]["rho"] == full_job()["models"]["rho"]);
  CHECK(json["absorb"]["width"] == Json::parse(R"({"z+": 30, "x-": 0, "x+": 20})"));
  CHECK(json["receivers"][3]["plane"] == full_job()["receivers"][3]["plane"]);
  CHECK(json["memory"]["limits"]["device"] == 8589934592);
}

TEST_CASE("a width counts for every face that has a layer, and 0 is a rigid wall") {
  Json json = small_job();
  json["free_surface"] = {"z-"};
  json["absorb"]["width"] = 12;
  const Grid grid = parse(json).grid;
  CHECK(grid.faces[0][0].kind == FaceKind::free_surface);
  CHECK(grid.faces[0][1].width == 12);
  json["absorb"]["width"] = {{"x+", 0}};
  const Grid walls = parse(json).grid;
  CHECK(walls.faces[1][1].kind == FaceKind::rigid);
  CHECK(walls.faces[1][0].width == 20);
}

TEST_CASE("statements that contradict each other are refused") {
  Json json = small_job();
  json["free_surface"] = {"z-"};
  json["absorb"]["width"] = {{"z-", 10}};
  check_mentions(complaint(json), {"absorb.width.z-", "free surface", "10"});
  json = small_job();
  json["grid"]["periodic"] = {"x"};
  json["free_surface"] = {"x+"};
  check_mentions(complaint(json), {"free_surface[0]", "x is periodic"});
  json["free_surface"] = Json::array();
  json["absorb"]["width"] = {{"x+", 5}};
  check_mentions(complaint(json), {"absorb.width.x+", "x is periodic"});
  json = small_job();
  json["free_surface"] = {"z-", "z-"};
  check_mentions(complaint(json), {"free_surface[1]", "twice"});
}

TEST_CASE("only the axes z, x, z-x and z-y-x exist") {
  for (const char* axes :
       {R"(["x","z"])", R"(["z","y"])", R"(["y"])", R"([])", R"("zx")", R"(["z","x","y"])"}) {
    Json json = small_job();
    json["grid"]["axes"] = Json::parse(axes);
    check_mentions(complaint(json), {"grid.axes: found ", R"(["z","y","x"])"});
  }
}

TEST_CASE("E10: a wrong rank and a zero extent together give the rank's error") {
  Json json = small_job();
  json["grid"]["shape"] = {41, 61, 0};
  check_mentions(complaint(json), {"grid.shape: found [41,61,0]", "a list of 2 node counts", "z, x"});
  json["grid"]["shape"] = {41, 0};
  check_mentions(complaint(json), {"grid.shape[1]: found 0", "a whole number from 1"});
}

TEST_CASE("E12: a dimension smaller than the stencil names the least size") {
  Json json = small_job();
  json["grid"]["shape"] = {41, 4};
  check_mentions(complaint(json), {"grid.shape[1]", "found 4 nodes on axis x", "order 8", "at least 5"});
  json["grid"]["shape"] = {41, 5};
  CHECK(complaint(json).empty());
}

TEST_CASE("A2: an order that does not exist is refused with the list of those that do") {
  for (const auto& [order, text] :
       {std::pair<Json, std::string>{32, "32"}, {7, "7"}, {0, "0"}, {-2, "-2"}, {"8", "\"8\""}}) {
    Json json = small_job();
    json["order"] = order;
    check_mentions(complaint(json), {"order: found " + text, "2, 4, 6, 8, 10, 12, 14, 16"});
  }
}

TEST_CASE("E6: dt must be positive") {
  for (const double dt : {0.0, -0.001}) {
    Json json = small_job();
    json["time"]["dt"] = dt;
    check_mentions(complaint(json), {"time.dt: found ", "a number > 0, in s"});
  }
}

TEST_CASE("E13: 0, 1 and 2 steps are legal, -1 is not") {
  for (const int steps : {0, 1, 2}) {
    Json json = small_job();
    json["time"]["steps"] = steps;
    CHECK(parse(json).steps == steps);
    CHECK(complaint(json, true).empty());
  }
  Json json = small_job();
  json["time"]["steps"] = -1;
  check_mentions(complaint(json), {"time.steps: found -1", "a whole number from 0"});
}

TEST_CASE("a missing key says what it holds") {
  for (const auto& [section, key] : std::vector<std::pair<std::string, std::string>>{{"", "equation"},
                                                                                     {"", "grid"},
                                                                                     {"", "time"},
                                                                                     {"", "models"},
                                                                                     {"grid", "axes"},
                                                                                     {"grid", "shape"},
                                                                                     {"grid", "spacing"},
                                                                                     {"time", "dt"},
                                                                                     {"time", "steps"}}) {
    Json json = small_job();
    (section.empty() ? json : json[section]).erase(key);
    check_mentions(complaint(json), {(section.empty() ? key : section + "." + key) + ": missing; it holds "});
  }
}

TEST_CASE("wrong types name the path, what was found and what is allowed") {
  const auto with = [](const char* pointer, const Json& value) {
    Json json = small_job();
    json[Json::json_pointer(pointer)] = value;
    return complaint(json);
  };
  check_mentions(with("/grid/spacing/1", "10"), {"grid.spacing[1]: found \"10\"", "a number > 0, in m"});
  check_mentions(with("/sources/0/at/x", nullptr), {"sources[0].at.x: found null", "a number, in m"});
  check_mentions(with("/sources/0/strength", true), {"sources[0].strength: found true", "a number"});
  check_mentions(with("/receivers/0/line/count", 2.5),
                 {"receivers[0].line.count: found 2.5", "a whole number"});
  check_mentions(with("/output/pictures", 1), {"output.pictures: found 1", "true or false"});
  check_mentions(with("/models/vp", false), {"models.vp: found false", "a number, the path of a .npy file"});
  check_mentions(with("/sources", 3), {"sources: found 3", "a list"});
  check_mentions(with("/time/substeps", "atuo"), {"time.substeps: found \"atuo\"", "\"auto\""});
  check_mentions(with("/dtype", "flaot32"), {"dtype: found \"flaot32\"", "Did you mean \"float32\"?"});
  check_mentions(with("/absorb/kappa", 0.5), {"absorb.kappa: found 0.5", "a number >= 1"});
  check_mentions(with("/absorb/reflection", 1), {"absorb.reflection: found 1", "> 0 and < 1"});
  check_mentions(with("/sources/0/field", "v..z"), {"sources[0].field: found \"v..z\"", "v.z"});
}

TEST_CASE("E15: a wavelet frequency of 0 or -5 is an error") {
  for (const double frequency : {0.0, -5.0}) {
    Json json = small_job();
    json["wavelet"]["ricker"]["frequency"] = frequency;
    check_mentions(complaint(json), {"wavelet.ricker.frequency: found ", "a number > 0, in Hz"});
  }
}

TEST_CASE("a source without a wavelet is refused") {
  Json json = small_job();
  json.erase("wavelet");
  check_mentions(complaint(json), {"sources[0]: this source has no wavelet"});
}

TEST_CASE("the corners of an Ormsby wavelet must rise") {
  Json json = small_job();
  json["wavelet"] = Json::parse(R"({"ormsby": {"f1": 5, "f2": 10, "f3": 8, "f4": 30}})");
  check_mentions(complaint(json), {"wavelet.ormsby.f3: found 8", "a number >= 10, in Hz"});
}

TEST_CASE("E18: a 3-D position on a 2-D grid is refused") {
  Json json = small_job();
  json["sources"][0]["at"]["y"] = 5;
  check_mentions(complaint(json), {"sources[0].at", "\"y\" does not exist on this 2-D grid", "z, x"});
  json = small_job();
  json["sources"][0]["at"].erase("z");
  check_mentions(complaint(json), {"sources[0].at.z: missing", "names each of z, x"});
}

TEST_CASE("E2: a cell index of 12.5 is refused") {
  Json json = small_job();
  json["receivers"].push_back(
      Json::parse(R"({"field": "u", "at": [{"z": 10, "x": 20}, {"cell": {"z": 3, "x": 12.5}}]})"));
  check_mentions(complaint(json), {"receivers[1].at[1].cell.x: found 12.5",
                                   "a whole cell number, from 0 to 60", "written in metres"});
}

TEST_CASE("a plane needs two axes, the other axes' corners, and a number of positions that fits memory") {
  Json json = small_job();
  json["receivers"] = Json::parse(
      R"([{"field": "u", "plane": {"axis": "z", "at": 20, "from": {"x": 0}, "to": {"x": 600}, "count": {"x": 13}}}])");
  CHECK(complaint(json, true).empty());
  Json wrong = json;
  wrong["receivers"][0]["plane"]["from"]["z"] = 5;
  check_mentions(complaint(wrong), {"receivers[0].plane.from", "\"z\" is held fixed here", "name only x"});
  wrong = json;
  wrong["receivers"][0]["plane"]["count"]["x"] = 1;
  check_mentions(complaint(wrong), {"receivers[0].plane.count.x", "\"from\" and \"to\" differ"});
  wrong = full_job();
  wrong["receivers"][3]["plane"]["count"] = {{"y", 100000}, {"x", 100000}};
  check_mentions(complaint(wrong),
                 {"receivers[3].plane.count: found 10000000000 positions", "at most 20000000"});
}

TEST_CASE("keys that exclude each other are refused") {
  Json json = small_job();
  json["receivers"][0]["at"] = {{"z", 1}, {"x", 1}};
  check_mentions(complaint(json), {"receivers[0]", "\"at\" and \"line\" exclude each other"});
  json = small_job();
  json["receivers"][0].erase("line");
  check_mentions(complaint(json), {"receivers[0]", "one of these keys is needed: at, line, plane"});
  json = small_job();
  json["models"]["vp"] = Json::parse(R"({"npy": "a.npy", "endian": "big"})");
  check_mentions(complaint(json), {"models.vp.endian", "belongs to \"raw\""});
}

TEST_CASE("every backend is a word of jobs and options, with a device's number") {
  const std::vector<std::pair<std::string, Backend>> words = {{"host", Backend::host},
                                                              {"reference", Backend::reference},
                                                              {"cuda", Backend::cuda},
                                                              {"cuda-sim", Backend::cuda_sim}};
  for (const auto& [word, backend] : words) {
    Json json = small_job();
    json["backend"] = word;
    json["device"] = 3;
    const Job job = parse(json);
    CHECK(job.backend == backend);
    CHECK(job.device == 3);
    CHECK(resolved(job)["backend"] == word);
    CHECK(resolved(job)["device"] == 3);
    Overrides options;
    options.backend = word;
    options.device = 1;
    CHECK(parse(small_job(), options).backend == backend);
    CHECK(parse(json, options).device == 1);
  }
  Json json = small_job();
  json["device"] = -1;
  check_mentions(complaint(json), {"device", "-1"});
}

TEST_CASE("tune is true or false, false unless told, and the option turns it on") {
  Json json = small_job();
  CHECK(!parse(json).tune);
  CHECK(resolved(parse(json))["tune"] == false);
  Overrides options;
  options.tune = true;
  CHECK(parse(json, options).tune);
  json["tune"] = true;
  CHECK(parse(json).tune);
  CHECK(resolved(parse(json))["tune"] == true);
  json["tune"] = "yes";
  check_mentions(complaint(json), {"tune", "yes"});
}

TEST_CASE("options beat keys, and pass through the same checks") {
  Overrides options;
  options.order = 4;
  options.dtype = "float64";
  options.backend = "reference";
  options.threads = 2;
  options.dims = 2;
  options.output = "/elsewhere";
  Json json = small_job();
  json["backend"] = "cuda";
  const Job job = parse(json, options);
  CHECK(job.order == 4);
  CHECK(job.dtype == DType::float64);
  CHECK(job.backend == Backend::reference);
  CHECK(*job.threads == 2);
  CHECK(job.output.directory == "/elsewhere");
  options.order = 5;
  CHECK_THROWS_WITH_AS(parse(json, options), doctest::Contains("--order: found 5"), UserError);
  options.order = 4;
  options.dims = 3;
  CHECK_THROWS_WITH_AS(parse(json, options), doctest::Contains("--dims: found 3, but grid.axes"), UserError);
}

TEST_CASE("E8: keys whose feature does not exist yet are refused, never ignored") {
  const std::vector<std::pair<std::string, Json>> later = {
      {"/invert", Json::parse(R"({"parameters": ["vp"], "stages": [{"band": [0, 3], "iterations": 5}]})")},
      {"/mesh", Json::parse(R"({"x": 2})")},
      {"/memory/every", 2},
      {"/memory/codec", "bf16"},
  };
  for (const auto& [pointer, value] : later) {
    CAPTURE(pointer);
    Json json = small_job();
    json[Json::json_pointer(pointer)] = value;
    std::string path = pointer.substr(1, pointer.find('/', 1) - 1);
    check_mentions(complaint(json), {"not supported by this version: " + path, "(found "});
  }
}

TEST_CASE("what gradients take: observed, misfit, gradient and born, and what is wrong with them") {
  Json json = small_job();
  json["observed"] = Json::parse(R"({"u": "u.npy"})");
  json["misfit"] = Json::parse(
      R"({"kind": "correlation", "mute": {"before": 0.1, "velocity": 1500, "taper": 0.05}, "band": [0, 5]})");
  json["gradient"] =
      Json::parse(R"({"parameters": ["vp"], "wavelet": true, "initial": true, "extent": "interior"})");
  json["born"] = Json::parse(R"({"vp": {"value": 0.1, "unit": "km/s"}})");
  const Job job = parse(json);
  CHECK(job.observed.front().first == "u");
  CHECK(job.misfit.kind == MisfitKind::correlation);
  CHECK(*job.misfit.mute->velocity == 1500);
  CHECK(job.gradient.extent == Extent::interior);
  CHECK(job.born.front().second.unit == "km/s");
  CHECK(parse(small_job()).misfit.kind == MisfitKind::l2);
  CHECK(resolved(parse(resolved(job))) == resolved(job));
  const std::vector<std::tuple<std::string, Json, std::string>> wrong = {
      {"/misfit", "l1", "misfit: found \"l1\""},
      {"/misfit", 3, "misfit: found 3; allowed: \"l2\", \"correlation\", \"envelope\", or an object"},
      {"/misfit/mute", Json::object(), "misfit.mute: found {}; allowed: an object with at least one of"},
      {"/misfit/mute/velocity", 0, "misfit.mute.velocity: found 0; allowed: a number > 0, in m/s"},
      {"/misfit/mute/after", 0.1, "misfit.mute.after: found 0.1; allowed: a number > 0.1, in s"},
      {"/misfit/mute/taper", -1, "misfit.mute.taper: found -1; allowed: a number >= 0, in s"},
      {"/misfit/band", Json::array({5, 5}), "misfit.band[1]: found 5; allowed: a number > 5, in Hz"},
      {"/misfit/band", Json::array({5, 1e6}), "misfit.band[1]: found 1000000.0; allowed: a number"},
      {"/gradient/parameters", Json::array(), "gradient.parameters: found []; allowed: \"all\", or a list"},
      {"/gradient/extent", "inside", "gradient.extent: found \"inside\""},
      {"/observed/u", 1, "observed.u: found 1; allowed: the path of a file"},
  };
  for (const auto& [pointer, value, text] : wrong) {
    CAPTURE(pointer);
    Json changed = json;
    changed[Json::json_pointer(pointer)] = value;
    check_mentions(complaint(changed), {text});
  }
}

TEST_CASE("several keys of later versions are refused together") {
  Json json = small_job();
  json["invert"] = Json::object();
  json["mesh"] = {{"x", 2}};
  check_mentions(complaint(json), {"mesh (found {\"x\":2}", "invert (found {})"});
}

TEST_CASE("what later versions will do alike is accepted") {
  Json json = small_job();
  json["mesh"] = "auto";
  json["time"]["substeps"] = 1;
  json["memory"] =
      Json::parse(R"({"mode": "auto", "every": 1, "codec": "none", "limits": {"device": "8 GiB"}})");
  CHECK(parse(json).memory.limits.at("device") == std::int64_t{8} * 1024 * 1024 * 1024);
}

TEST_CASE("sizes in bytes need a unit that exists") {
  const auto limit = [](const Json& value) {
    Json json = small_job();
    json["memory"]["limits"]["host"] = value;
    return json;
  };
  CHECK(parse(limit("1.5 kB")).memory.limits.at("host") == 1500);
  CHECK(parse(limit("2MiB")).memory.limits.at("host") == 2097152);
  for (const char* bad : {"8 gigs", "8", "GiB", "-1 GB", "0 B"})
    check_mentions(complaint(limit(bad)), {"memory.limits.host: found ", "8 GiB"});
}

TEST_CASE("a job file's paths are relative to its folder, and its name heads every message") {
  const ondula::test::TemporaryDirectory temporary;
  const std::filesystem::path& folder = temporary.path();
  const std::string file = (folder / "job.json").string();
  Json json = small_job();
  json["models"]["vp"] = "models/vp.npy";
  json["equation"] = "mine.cpp";
  std::ofstream(file) << json.dump();
  const Job job = read_job(file);
  CHECK(job.models[0].second.file == (folder / "models/vp.npy").string());
  CHECK(job.equation == (folder / "mine.cpp").string());
  CHECK(job.output.directory == (folder / "out").string());
  json["oder"] = 8;
  std::ofstream(file) << json.dump();
  CHECK_THROWS_WITH_AS(read_job(file),
                       doctest::Contains((file + ": oder: unknown key. Did you mean \"order\"?").c_str()),
                       UserError);
  std::filesystem::remove(file);
  CHECK_THROWS_WITH_AS(read_job(file), doctest::Contains("cannot be read"), UserError);
}
