// Sources and receivers from trace headers: scalars, units, elevations, auxiliary traces, and what is
// refused. SPDX-License-Identifier: MIT
#include "runtime/io/segy_geometry.hpp"

#include "tests/runtime/io/segy_file.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::segy_test;

namespace {

/// Receivers 25 apart from 100 on, the source at 50; all of it in the words' own unit.
FileText line() {
  FileText text;
  text.header = [](Words& words, int trace) { words.set32(73, 50).set32(81, 100 + 25 * trace); };
  return text;
}

SurveyGeometry geometry_of(const FileText& text, const SurveyHints& hints = {}) {
  const FileOnDisk file(text);
  return read_survey_geometry(file.path(), hints);
}

std::string refusal_of(const FileText& text) {
  return refusal([&] { geometry_of(text); });
}

}  // namespace

TEST_CASE("segy geometry: coordinate scalars of every kind") {
  struct Case {
    int scalar;
    double factor;
  };
  for (const auto& [scalar, factor] : {Case{0, 1}, Case{1, 1}, Case{-10, 0.1}, Case{-100, 0.01},
                                       Case{-1000, 0.001}, Case{10, 10}, Case{100, 100}}) {
    CAPTURE(scalar);
    FileText text = line();
    text.header = [scalar = scalar, inner = text.header](Words& words, int trace) {
      inner(words, trace);
      words.set16(71, scalar).set32(85, -7);
    };
    const SurveyGeometry geometry = geometry_of(text);
    REQUIRE(geometry.shots.size() == 1);
    CHECK(geometry.shots[0].source.x == doctest::Approx(50 * factor).epsilon(1e-15));
    REQUIRE(geometry.shots[0].receivers.size() == 3);
    CHECK(geometry.shots[0].receivers[2].x == doctest::Approx(150 * factor).epsilon(1e-15));
    CHECK(geometry.shots[0].receivers[2].y == doctest::Approx(-7 * factor).epsilon(1e-15));
    CHECK(geometry.warnings.empty());
  }
}

TEST_CASE("segy geometry: z is depth below the surface's elevation, receivers minus their elevation") {
  FileText text = line();
  text.header = [inner = text.header](Words& words, int trace) {
    inner(words, trace);
    words.set16(69, -10).set32(41, 1234).set32(45, 1300).set32(49, 85);
  };
  const SurveyGeometry above = geometry_of(text);
  CHECK(above.shots[0].source.z == doctest::Approx(8.5 - 130));
  CHECK(above.shots[0].receivers[0].z == doctest::Approx(-123.4));
  SurveyHints hints;
  hints.depths = true;
  const SurveyGeometry below = geometry_of(text, hints);
  CHECK(below.shots[0].source.z == doctest::Approx(8.5 + 130));
  CHECK(below.shots[0].receivers[0].z == doctest::Approx(123.4));
}

TEST_CASE("segy geometry: feet are converted, an unknown unit is taken as metres with a warning") {
  FileText text = line();
  text.binary = [](Words& words) { words.set16(3255, 2); };
  CHECK(geometry_of(text).shots[0].receivers[0].x == doctest::Approx(30.48));
  SurveyHints metres;
  metres.unit = "m";
  CHECK(geometry_of(text, metres).shots[0].receivers[0].x == 100);
  text.binary = [](Words& words) { words.set16(3255, 0); };
  const SurveyGeometry unknown = geometry_of(text);
  CHECK(unknown.shots[0].receivers[0].x == 100);
  check_mentions(joined(unknown.warnings), {"bytes 3255-3256) is 0", "read as metres"});
  SurveyHints feet;
  feet.unit = "ft";
  const SurveyGeometry stated = geometry_of(text, feet);
  CHECK(stated.shots[0].receivers[0].x == doctest::Approx(30.48));
  CHECK(stated.warnings.empty());
}

TEST_CASE("segy geometry: angles are refused, unless offsets show them to be lengths or the job says so") {
  FileText text = line();
  text.header = [inner = text.header](Words& words, int trace) {
    inner(words, trace);
    words.set16(89, 3);
  };
  check_mentions(refusal_of(text),
                 {"trace 1 (of 3)", "counit, bytes 89-90) is 3", "decimal degrees", "gx 100"});
  SurveyHints hints;
  hints.unit = "m";
  CHECK(geometry_of(text, hints).shots[0].source.x == 50);
  text.header = [inner = text.header](Words& words, int trace) {
    inner(words, trace);
    words.set32(37, 50 + 25 * trace);
  };
  const SurveyGeometry confirmed = geometry_of(text);
  CHECK(confirmed.shots[0].source.x == 50);
  check_mentions(joined(confirmed.warnings), {"bytes 89-90) is 3", "read as lengths"});
}

TEST_CASE("segy geometry: no coordinates, or a stack's, are refused") {
  FileText text;
  check_mentions(refusal_of(text), {"sx, sy, gx, gy, bytes 73-88) is 0", "so is every offset (bytes 37-40)"});
  text.header = [](Words& words, int trace) { words.set32(37, 100 * (trace + 1)); };
  check_mentions(refusal_of(text), {"bytes 73-88) is 0", "offsets (bytes 37-40) alone"});
  text.header = [](Words& words, int trace) { words.set32(73, 6201972 + trace).set32(77, 5); };
  check_mentions(refusal_of(text), {"gx, gy, bytes 81-88) is 0", "sx 6201972", "is it a stack"});
  text.traces = 0;
  check_mentions(refusal_of(text), {"holds no traces"});
}

TEST_CASE("segy geometry: auxiliary traces are left out, dead ones kept, both named") {
  FileText text = line();
  text.traces = 5;
  text.header = [inner = text.header](Words& words, int trace) {
    inner(words, trace);
    words.set16(29, trace == 1 ? 2 : trace >= 3 ? 6 : 1);
  };
  const SurveyGeometry geometry = geometry_of(text);
  REQUIRE(geometry.shots[0].receivers.size() == 3);
  CHECK(geometry.shots[0].traces == std::vector<std::int64_t>{0, 1, 2});
  check_mentions(joined(geometry.warnings),
                 {"trace 4 (of 5) (and 1 more): an auxiliary", "bytes 29-30: 6", "trace 2 (of 5): dead"});
  text.header = [](Words& words, int) { words.set16(29, 9).set32(73, 1); };
  check_mentions(refusal_of(text), {"all 5 traces are dummies or auxiliary", "bytes 29-30: 9"});
}

TEST_CASE("segy geometry: odd scalars and contradicting offsets are used and warned of") {
  FileText text = line();
  text.header = [inner = text.header](Words& words, int trace) {
    inner(words, trace);
    words.set16(71, -3).set32(37, trace == 2 ? 4000 : 0);
  };
  const SurveyGeometry geometry = geometry_of(text);
  CHECK(geometry.shots[0].receivers[0].x == doctest::Approx(100.0 / 3));
  check_mentions(joined(geometry.warnings),
                 {"trace 1 (of 3) (and 2 more): its coordinate scalar (bytes 71-72) is -3",
                  "trace 3 (of 3): its offset (bytes 37-40) is 4000", "33.3333 apart"});
}

TEST_CASE("segy geometry: a shot is a record at one position; records may be mixed in the file") {
  FileText text = line();
  text.traces = 6;
  text.header = [](Words& words, int trace) {
    words.set32(9, 7 + trace % 2).set32(73, trace % 2 == 0 ? 10 : 20).set32(81, 100 + trace);
    if (trace == 5) words.set32(73, 30);
  };
  const SurveyGeometry geometry = geometry_of(text);
  REQUIRE(geometry.shots.size() == 3);
  CHECK(geometry.shots[0].traces == std::vector<std::int64_t>{0, 2, 4});
  CHECK(geometry.shots[1].traces == std::vector<std::int64_t>{1, 3});
  CHECK(geometry.shots[1].record == 8);
  CHECK(geometry.shots[2].source.x == 30);
  check_mentions(joined(geometry.warnings), {"trace 6 (of 6)", "field record 8 (bytes 9-12) has several"});
}

TEST_CASE("segy geometry: a real marine line, whose unit word says degrees and whose elevations are depths") {
  const auto path = test::data_path("segy/viking_small.segy");
  if (!path) ONDULA_SKIP("no segy/viking_small.segy under ONDULA_DATA");
  const SurveyGeometry geometry = read_survey_geometry(path->string(), {});
  REQUIRE(geometry.shots.size() == 4);
  CHECK(geometry.shots[0].source == SurveyPoint{3237, 0, 6});
  CHECK(geometry.shots[3].source == SurveyPoint{3312, 0, 6});
  REQUIRE(geometry.shots[3].receivers.size() == 120);
  CHECK(geometry.shots[0].receivers[0] == SurveyPoint{0, 0, 10});
  CHECK(geometry.shots[3].receivers[119] == SurveyPoint{3050, 0, 10});
  check_mentions(joined(geometry.warnings), {"bytes 89-90) is 3, decimal degrees", "read as lengths"});
}

TEST_CASE("segy geometry: modelled shots, scalar -1000, no unit of length") {
  const auto path = test::data_path("segy/judi_unit_test_shot_records_2.segy");
  if (!path) ONDULA_SKIP("no segy/judi_unit_test_shot_records_2.segy under ONDULA_DATA");
  SurveyHints hints;
  hints.depths = true;
  const SurveyGeometry geometry = read_survey_geometry(path->string(), hints);
  REQUIRE(geometry.shots.size() == 2);
  CHECK(geometry.shots[0].source == SurveyPoint{100, 0, 20});
  CHECK(geometry.shots[1].source == SurveyPoint{1100, 0, 20});
  CHECK(geometry.shots[1].receivers[1] == SurveyPoint{59.244, 0, 50});
  check_mentions(joined(geometry.warnings), {"bytes 3255-3256) is 0"});
}

TEST_CASE("segy geometry: a real stack and a real shot without coordinates are refused") {
  const auto stack = test::data_path("segy/f3.sgy");
  const auto land = test::data_path("segy/ozdata16.su");
  if (!stack || !land) ONDULA_SKIP("no segy/f3.sgy or segy/ozdata16.su under ONDULA_DATA");
  check_mentions(refusal([&] { read_survey_geometry(stack->string(), {}); }),
                 {"f3.sgy", "gx, gy, bytes 81-88) is 0", "sx 6201972", "is it a stack"});
  check_mentions(refusal([&] { read_survey_geometry(land->string(), {}); }),
                 {"ozdata16.su", "bytes 73-88) is 0, and so is every offset (bytes 37-40)"});
}
