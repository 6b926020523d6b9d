// Models from SEG-Y and SU: axes, depth steps, trace positions, and guesses at what is wrong.
// SPDX-License-Identifier: MIT
#include "runtime/io/segy_model.hpp"

#include <numeric>

#include "runtime/io/job_model.hpp"
#include "tests/runtime/io/segy_file.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::segy_test;

namespace {

Grid section() { return {{"z", "x"}, {5, 3}, {12.5, 20}, {0, 100}, {}}; }

/// Three traces of five samples, 1500 + 100 z + x, 12.5 m deep each in mm, 20 m apart from 100 m on.
FileText section_text() {
  FileText text;
  text.samples = 5;
  text.binary = [](Words& words) { words.set16(3217, 12500); };
  text.header = [](Words& words, int trace) {
    words.set16(117, 12500).set16(71, -10).set32(181, 1000 + 200 * trace).set32(73, 5);
  };
  text.sample = [](int trace, int i) {
    const auto value = static_cast<float>(1500 + 100 * i + trace);
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits;
  };
  return text;
}

/// Another word in every trace header.
FileText with(FileText text, const std::function<void(Words&, int)>& more) {
  text.header = [inner = text.header, more](Words& words, int trace) {
    inner(words, trace);
    more(words, trace);
  };
  return text;
}

struct Read {
  Array array;
  std::string warnings;
};

Read read(const FileText& text, const Grid& grid = section(), SegyModelLayout layout = {}) {
  const FileOnDisk file(text);
  layout.path = file.path();
  std::vector<std::string> warnings;
  Array array = read_segy_model(layout, grid, warnings);
  return {std::move(array), joined(warnings)};
}

const std::vector<double> expected = {1500, 1501, 1502, 1600, 1601, 1602, 1700, 1701,
                                      1702, 1800, 1801, 1802, 1900, 1901, 1902};

}  // namespace

TEST_CASE("segy model: traces are columns; the depth step is read in mm or m and said") {
  const Read mm = read(section_text());
  CHECK(mm.array.shape == std::vector<std::int64_t>{5, 3});
  CHECK(mm.array.data == expected);
  check_mentions(mm.warnings, {"12500 (bytes 117-118)", "in mm: 12.5 m"});
  Grid grid = section();
  grid.spacing[0] = 24;
  FileText text = with(section_text(), [](Words& words, int) { words.set16(117, 24); });
  text.binary = [](Words& words) { words.set16(3217, 24); };
  check_mentions(read(text, grid).warnings, {"24 (bytes 117-118)", "in m: 24 m"});
  grid.spacing[0] = 52.2222;
  text = with(section_text(), [](Words& words, int) { words.set16(117, 52222); });
  text.binary = [](Words& words) { words.set16(3217, 0); };
  check_mentions(read(text, grid).warnings, {"in mm: 52.222 m"});
}

TEST_CASE(
    "segy model: a step that is no depth step of the grid is refused, unless the job states the spacing") {
  FileText text = with(section_text(), [](Words& words, int) { words.set16(117, 4000); });
  text.binary = [](Words& words) { words.set16(3217, 4000); };
  check_mentions(refusal([&] { read(text); }),
                 {"(bytes 117-118) is 4000", "4 m as a depth step in mm", "4000 m in m", "4 ms of time",
                  "grid.spacing on z is 12.5 m", "\"spacing\""});
  SegyModelLayout layout;
  layout.spacing = {12.5, 20};
  CHECK(read(text, section(), layout).array.data == expected);
  layout.spacing = {10, 20};
  check_mentions(refusal([&] { read(text, section(), layout); }), {"stated as 10 m on z", "12.5 m"});
  text = with(section_text(), [](Words& words, int) { words.set16(117, 0); });
  text.binary = [](Words& words) { words.set16(3217, 0); };
  check_mentions(read(text).warnings, {"sample interval is 0 in every header", "12.5 m"});
}

TEST_CASE("segy model: feet, in the step and in the positions") {
  Grid grid = section();
  grid.spacing = {12.5 * 0.3048, 20 * 0.3048};
  grid.origin = {0, 30.48};
  FileText text = section_text();
  text.binary = [](Words& words) { words.set16(3217, 12500).set16(3255, 2); };
  const Read feet = read(text, grid);
  CHECK(feet.array.data == expected);
  check_mentions(feet.warnings, {"thousandths of feet: 3.81 m"});
  CHECK(feet.warnings.find("first column") == std::string::npos);
}

TEST_CASE("segy model: trace positions must be the grid's; reversed lines are turned") {
  check_mentions(
      refusal([&] {
        read(with(section_text(), [](Words& words, int trace) { words.set32(181, 1000 + 250 * trace); }));
      }),
      {"trace 1 (of 3)", "25 m further", "bytes 181-188", "grid.spacing is 20 m"});
  const Read turned =
      read(with(section_text(), [](Words& words, int trace) { words.set32(181, 1400 - 200 * trace); }));
  CHECK(std::vector<double>(turned.array.data.begin(), turned.array.data.begin() + 3) ==
        std::vector<double>{1502, 1501, 1500});
  check_mentions(turned.warnings, {"decreasing x", "turned"});
  const Read elsewhere =
      read(with(section_text(), [](Words& words, int trace) { words.set32(181, 9000 + 200 * trace); }));
  check_mentions(elsewhere.warnings, {"x = 900 m", "grid's first, at 100 m"});
  const Read nowhere = read(with(section_text(), [](Words& words, int) { words.set32(181, 0); }));
  CHECK(nowhere.array.data == expected);
  check_mentions(nowhere.warnings, {"no positions"});
  // Without midpoints, receivers tell.
  check_mentions(refusal([&] {
                   read(with(section_text(),
                             [](Words& words, int trace) { words.set32(181, 0).set32(81, 10 * trace); }));
                 }),
                 {"1 m further", "receivers, bytes 81-88"});
}

TEST_CASE(
    "segy model: another number of traces or samples is refused with both shapes; swapped axes are seen") {
  Grid grid = section();
  grid.shape = {3, 5};
  check_mentions(refusal([&] { read(section_text(), grid); }),
                 {"3 traces of 5 samples", "5 (x) traces of 3 samples (z)", "axes seem swapped"});
  grid.shape = {5, 4};
  check_mentions(refusal([&] { read(section_text(), grid); }), {"needs 4 (x) traces"});
  const Grid flat{{"x"}, {3}, {20}, {0}, {}};
  check_mentions(refusal([&] { read(section_text(), flat); }), {"samples run along z"});
  check_mentions(refusal([&] {
                   read(with(section_text(), [](Words& words, int trace) { words.set16(29, 1 + trace); }));
                 }),
                 {"trace 2 (of 3)", "dead"});
}

TEST_CASE("segy model: a volume in either order of its lines, numbers and positions checked") {
  const Grid grid{{"z", "y", "x"}, {2, 3, 4}, {10, 50, 20}, {0, 0, 0}, {}};
  FileText text;
  text.samples = 2;
  text.traces = 12;
  text.binary = [](Words& words) { words.set16(3217, 10000); };
  for (const bool x_fastest : {true, false}) {
    CAPTURE(x_fastest);
    const auto y_of = [=](int trace) { return x_fastest ? trace / 4 : trace % 3; };
    const auto x_of = [=](int trace) { return x_fastest ? trace % 4 : trace / 3; };
    text.header = [=](Words& words, int trace) {
      words.set16(117, 10000).set32(189, 7 + y_of(trace)).set32(193, 3 + x_of(trace));
      words.set32(181, 20 * x_of(trace)).set32(185, 50 * y_of(trace));
    };
    text.sample = [=](int trace, int i) {
      const auto value = static_cast<float>(1500 + 100 * i + 10 * y_of(trace) + x_of(trace));
      std::uint32_t bits;
      std::memcpy(&bits, &value, 4);
      return bits;
    };
    SegyModelLayout layout;
    if (!x_fastest) layout.axes = {"x", "y", "z"};
    const Read volume = read(text, grid, layout);
    REQUIRE(volume.array.shape == grid.shape);
    for (int z = 0; z < 2; ++z)
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 4; ++x)
          CHECK(volume.array.data[static_cast<std::size_t>((z * 3 + y) * 4 + x)] ==
                1500 + 100 * z + 10 * y + x);
  }
  // The last of these files, x slowest, read as if x were fastest.
  check_mentions(refusal([&] { read(text, grid); }),
                 {"trace 4 (of 12)", "bytes 189-196", "lines of 4 traces along x", "\"axes\""});
}

TEST_CASE("segy model: SU says its depth step in d1") {
  FileText text =
      with(section_text(), [](Words& words, int) { words.set16(117, 0).set_float(181, 12.5F).set32(81, 0); });
  text.su = true;
  text.big = false;
  CHECK(read(text).array.data == expected);
  check_mentions(refusal([&] {
                   Grid grid = section();
                   grid.spacing[0] = 10;
                   read(text, grid);
                 }),
                 {"d1 (bytes 181-184) says a step of 12.5 m", "10 m"});
}

TEST_CASE(
    "E21: segy model: km/s, squared slowness, feet, swapped bytes and a wrong format code are guessed") {
  const auto warnings_of = [](double factor, double power, bool swap) {
    FileText text = section_text();
    text.sample = [=](int trace, int i) {
      const auto value = static_cast<float>(factor * std::pow(1500.0 + 500 * i + trace, power));
      std::uint32_t bits;
      std::memcpy(&bits, &value, 4);
      return swap ? __builtin_bswap32(bits) : bits;
    };
    const FileOnDisk file(text);
    ModelSpec spec;
    spec.kind = ModelSpec::Kind::segy;
    spec.segy.path = file.path();
    std::vector<std::string> warnings;
    load_model("models.vp", spec, section(), "m/s", warnings);
    return joined(warnings);
  };
  check_mentions(warnings_of(1e-3, 1, false), {"models.vp", "looks like km/s"});
  check_mentions(warnings_of(1e6, -2, false), {"squared slowness in s^2/km^2"});
  check_mentions(warnings_of(1 / 0.3048, 1, false), {"ft/s"});
  check_mentions(warnings_of(1, 1, true), {"bytes of each number reversed"});
  CHECK(warnings_of(1, 1, false).find("looks") == std::string::npos);
}
