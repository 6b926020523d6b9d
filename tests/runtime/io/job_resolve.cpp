// From a job to shots: positions, wavelets, shot numbers, warnings.
// SPDX-License-Identifier: MIT
#include "runtime/io/job_resolve.hpp"

#include <filesystem>
#include <limits>

#include "runtime/io/npy.hpp"
#include "tests/runtime/io/job_text.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::job_test;

namespace {

Survey survey_of(const Json& json) {
  std::vector<std::string> warnings;
  return resolve_survey(parse(json), warnings);
}

/// The small job with another wavelet.
Json with_wavelet(const Json& wavelet) {
  Json json = small_job();
  json["wavelet"] = wavelet;
  return json;
}

/// A .npy file of the given shape, counting up, removed when it goes.
class WaveletFile {
 public:
  WaveletFile(std::vector<std::int64_t> shape, double first) {
    Array array{shape, std::vector<double>(static_cast<std::size_t>(element_count(shape)))};
    for (double& value : array.data) value = first++;
    write_npy(path_.string(), array, DType::float64, Existing::replace);
  }
  Json spec() const { return Json::object({{"file", path_.string()}}); }

 private:
  ondula::test::TemporaryDirectory folder_;
  std::filesystem::path path_ = folder_.path() / "wavelet.npy";
};

}  // namespace

TEST_CASE("sources are grouped by shot, receivers follow in the order listed") {
  Json json = small_job();
  json["sources"] = Json::parse(
      R"([{"shot": 1, "field": "u", "at": {"z": 50, "x": 300}}, {"shot": 0, "field": "u", "at": {"z": 50, "x": 100}},
                                    {"shot": 1, "field": "u", "at": {"z": 60, "x": 310}, "strength": 3}])");
  json["receivers"] = Json::parse(R"([{"field": "u", "at": [{"z": 10, "x": 30}, {"z": 10, "x": 10}]},
                                      {"field": "u", "at": {"z": 20, "x": 20}, "shots": [1]}])");
  const Survey survey = survey_of(json);
  REQUIRE(survey.shots.size() == 2);
  REQUIRE(survey.shots[1].sources.size() == 2);
  CHECK(survey.shots[0].sources[0].position == std::vector<double>{50, 100});
  CHECK(survey.shots[1].sources[0].position == std::vector<double>{50, 300});
  CHECK(survey.shots[1].sources[1].strength == 3);
  CHECK(survey.shots[1].sources[1].wavelet.size() == 500);
  CHECK(survey.shots[0].receivers.size() == 2);
  REQUIRE(survey.shots[1].receivers.size() == 3);
  CHECK(survey.shots[1].receivers[0].position == std::vector<double>{10, 30});
  CHECK(survey.shots[1].receivers[2].position == std::vector<double>{20, 20});
}

TEST_CASE("a gap in the shot numbers is refused") {
  Json json = small_job();
  json["sources"][0]["shot"] = 1;
  check_mentions(complaint(json, true), {"sources: ", "the highest is 1", "no source has the shot 0"});
}

TEST_CASE("a receiver of a shot that does not exist is refused") {
  Json json = small_job();
  json["receivers"][0]["shots"] = {0, 1};
  check_mentions(complaint(json, true), {"receivers[0].shots: found the shot 1", "allowed: 0 to 0"});
}

TEST_CASE("E3: all or some positions outside: the first is named, the rest counted") {
  Json json = small_job();
  json["receivers"][0]["line"]["to"]["x"] = 1200;
  check_mentions(complaint(json, true),
                 {"receivers[0].line, position 7 of 13 (every shot): x = 700 m lies outside the grid",
                  "x runs from 0 to 600 m", "so do 5 more of the 13 receivers"});
  json["receivers"][0]["line"]["from"]["x"] = 1000;
  check_mentions(complaint(json, true), {"position 0 of 13", "x = 1000 m", "all 13 receivers lie outside"});
  json = small_job();
  json["receivers"].push_back(
      Json::parse(R"({"field": "u", "at": [{"z": 10, "x": 10}, {"z": -0.1, "x": 10}], "shots": [0]})"));
  check_mentions(complaint(json, true),
                 {"receivers[1].at[1] (shot 0): z = -0.1 m", "z runs from 0 to 400 m"});
}

TEST_CASE("E2: a source outside names its shot, axis, value, range and unit") {
  Json json = small_job();
  json["sources"].push_back(Json::parse(R"({"shot": 1, "field": "u", "at": {"z": 50, "x": 5000}})"));
  check_mentions(complaint(json, true),
                 {"sources[1].at (shot 1): x = 5000 m lies outside the grid, whose x runs from 0 to 600 m"});
  json["sources"][1]["at"] = Json::parse(R"({"cell": {"z": 5, "x": 61}})");
  check_mentions(complaint(json, true), {"sources[1].at (shot 1): x = cell 61", "from cell 0 to 60"});
}

TEST_CASE("E17: a source row that fits the other axis suggests swapped axes") {
  Json json = small_job();
  json["sources"][0]["at"] = Json::parse(R"({"cell": {"z": 50, "x": 20}})");
  check_mentions(complaint(json, true), {"z = cell 50", "with z and x swapped it would lie inside"});
}

TEST_CASE("E4: a source above z = 0 keeps its sign where the origin is higher still") {
  Json json = small_job();
  json["grid"]["origin"] = {-100, 0};
  json["sources"][0]["at"]["z"] = -50;
  CHECK(survey_of(json).shots[0].sources[0].position == std::vector<double>{-50, 300});
  json["grid"]["origin"] = {0, 0};
  check_mentions(complaint(json, true), {"z = -50 m lies outside", "z runs from 0 to 400 m"});
}

TEST_CASE("E16: two receivers in one place are two receivers") {
  Json json = small_job();
  json["receivers"] = Json::parse(R"([{"field": "u", "at": [{"z": 10, "x": 30}, {"z": 10, "x": 30}]}])");
  CHECK(survey_of(json).shots[0].receivers.size() == 2);
}

TEST_CASE("E6: no sources and no receivers are legal, and warned of") {
  Json json = small_job();
  json["sources"] = Json::array();
  json["receivers"] = Json::array();
  check_mentions(warnings_of(json), {"sources: none", "receivers: none"});
  const Survey survey = survey_of(json);
  CHECK(survey.shots.size() == 1);
  CHECK(survey.shots[0].sources.empty());
  CHECK(survey.shots[0].receivers.empty());
  CHECK_FALSE(survey.absorb.frequency.has_value());
  json["initial"]["u"] = 1;
  CHECK(warnings_of(json).find("sources") == std::string::npos);
}

TEST_CASE("a job without faults gives no warning") { CHECK(warnings_of(small_job()).empty()); }

TEST_CASE("E15: a frequency above Nyquist is warned of") {
  const std::string text =
      warnings_of(with_wavelet(Json::parse(R"({"ricker": {"frequency": 600, "delay": 0.1}})")));
  check_mentions(text,
                 {"wavelet: the frequency 600 Hz lies above the Nyquist frequency 500 Hz of dt = 0.001 s"});
  check_mentions(warnings_of(with_wavelet(
                     Json::parse(R"({"ormsby": {"f1": 5, "f2": 10, "f3": 400, "f4": 501, "delay": 0.25}})"))),
                 {"the corner f4 501 Hz"});
}

TEST_CASE("E20: a record that ends before the wavelet's peak is warned of") {
  const std::string text =
      warnings_of(with_wavelet(Json::parse(R"({"ricker": {"frequency": 20, "delay": 0.51}})")));
  check_mentions(text, {"wavelet: the record ends at 0.499 s, before the wavelet's peak at 0.51 s"});
}

TEST_CASE("E5: a wavelet that starts after the end is warned of; shorter, equal and longer ones are not") {
  check_mentions(warnings_of(with_wavelet(Json::parse(R"({"ricker": {"frequency": 20, "delay": 2}})"))),
                 {"after the record ends (0.499 s)"});
  for (const std::size_t length : {400U, 500U, 900U}) {
    WaveletSpec spec;
    spec.frequency = 20;
    spec.delay = 0.1;
    const std::vector<double> samples = sample_wavelet(spec, 0, 0.001, static_cast<std::int64_t>(length));
    const Json json = with_wavelet(Json::object({{"samples", samples}}));
    CHECK(warnings_of(json).empty());
    CHECK(survey_of(json).shots[0].sources[0].wavelet == samples);
  }
}

TEST_CASE("one wavelet of many sources is warned of once") {
  Json json = with_wavelet(Json::parse(R"({"ricker": {"frequency": 20, "delay": 2}})"));
  for (int i = 0; i < 5; ++i) json["sources"].push_back(json["sources"][0]);
  const std::string text = warnings_of(json);
  CHECK(text.find("after the record ends") == text.rfind("after the record ends"));
}

TEST_CASE("many wavelets that warn are summed up") {
  Json json = small_job();
  json["sources"][0]["wavelet"] = Json::parse(R"({"ricker": {"frequency": 20, "delay": 2}})");
  for (int i = 0; i < 9; ++i) json["sources"].push_back(json["sources"][0]);
  check_mentions(warnings_of(json), {"sources[2].wavelet: ", "wavelets: 7 more give warnings like these"});
}

TEST_CASE("A18: sources and receivers on a free surface are warned of") {
  Json json = small_job();
  json["free_surface"] = {"z-"};
  json["sources"][0]["at"]["z"] = 0;
  json["receivers"][0]["line"]["from"]["z"] = 0;
  json["receivers"][0]["line"]["to"]["z"] = 0;
  check_mentions(warnings_of(json),
                 {"sources: 1 source of field u on the free surface z-, where u is zero",
                  "receivers: 13 receivers of field u on the free surface z-", "the traces are zero"});
}

TEST_CASE("the layer's frequency follows the wavelet unless the job gives one") {
  CHECK(*survey_of(small_job()).absorb.frequency == doctest::Approx(20).epsilon(0.002));
  Json json = small_job();
  json["absorb"]["frequency"] = 0;
  CHECK(*survey_of(json).absorb.frequency == 0);
  CHECK(survey_of(json).top_frequency == doctest::Approx(55.2).epsilon(0.005));
}

TEST_CASE("a wavelet file of (time) serves every source, of (source, time) each its row") {
  Json json = small_job();
  json["sources"].push_back(json["sources"][0]);
  {
    const WaveletFile file({4}, 1);
    json["wavelet"] = file.spec();
    const Survey survey = survey_of(json);
    CHECK(survey.shots[0].sources[0].wavelet == std::vector<double>{1, 2, 3, 4});
    CHECK(survey.shots[0].sources[1].wavelet == std::vector<double>{1, 2, 3, 4});
  }
  const WaveletFile file({2, 3}, 1);
  json["wavelet"] = file.spec();
  const Survey survey = survey_of(json);
  CHECK(survey.shots[0].sources[0].wavelet == std::vector<double>{1, 2, 3});
  CHECK(survey.shots[0].sources[1].wavelet == std::vector<double>{4, 5, 6});
}

TEST_CASE("a wavelet file of another shape, or with NaN, is refused") {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{3, 4}, {0}, {1, 2, 2}, {}}) {
    const WaveletFile file(shape, 1);
    check_mentions(complaint(with_wavelet(file.spec()), true),
                   {"wavelet.file: ", " has shape (", "(source, time) with 1 row"});
  }
  const WaveletFile file({4}, std::numeric_limits<double>::quiet_NaN());
  check_mentions(complaint(with_wavelet(file.spec()), true),
                 {"wavelet.file: sample 0 of ", "is nan", "finite"});
}

TEST_CASE("a parameter, source, receiver or state the equation does not know is refused with the nearest") {
  const EquationNames names{"acoustic", {"vp"}, {"u"}, {"u"}, {"u", "u.previous"}};
  CHECK_NOTHROW(check_names(parse(small_job()), names));
  const auto refused = [&](const char* pointer, const Json& value, const std::vector<std::string>& parts) {
    Json json = small_job();
    json[Json::json_pointer(pointer)] = value;
    check_mentions(ondula::test::message_of<UserError>([&] { check_names(parse(json), names); }), parts);
  };
  refused("/models/vq", 1,
          {"models.vq: the equation acoustic has no parameter \"vq\"", "Did you mean \"vp\"?"});
  refused("/models", Json::object(), {"models.vp: missing", "acoustic"});
  refused("/sources/0/field", "uu",
          {"sources[0].field: the equation acoustic has no source term for \"uu\"", "\"u\"?"});
  refused("/receivers/0/field", "pressure", {"receivers[0].field", "no field \"pressure\"", "Allowed: u."});
  refused("/initial/u.prevous", 0, {"initial.u.prevous", "Did you mean \"u.previous\"?"});
  refused("/output/snapshots", Json::parse(R"({"field": "v", "every": 5})"),
          {"output.snapshots.field", "no field \"v\""});
}
