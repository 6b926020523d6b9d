// Writing SEG-Y and SU: round trips, exact positions, and limits that are refused or warned of.
// SPDX-License-Identifier: MIT
#include "runtime/io/segy_writer.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "tests/runtime/io/segy_file.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::segy_test;

namespace {

/// Two shots that differ in their receivers, positions down to the mm.
WrittenFile two_shots(const std::filesystem::path& path) {
  WrittenFile file;
  file.path = path.string();
  file.samples = 7;
  file.dt = 0.00075;
  file.text = {"a line of text"};
  file.shots = {{{1000.125, -20, 6}, {{0, 0, 10}, {59.244, 1e6 + 0.5, 10.5}, {59.244, 0, -12.25}}},
                {{1025, 0, -3}, {{620197.2, 607423.29, 0}}}};
  return file;
}

std::vector<std::vector<double>> random_traces(std::size_t count, std::size_t samples) {
  std::mt19937 random(5);
  std::vector<std::vector<double>> traces(count, std::vector<double>(samples));
  for (auto& trace : traces) {
    for (double& value : trace) {
      const double size =
          std::ldexp(static_cast<double>(random()) - 2147483648.0, static_cast<int>(random() % 150) - 100);
      value = static_cast<double>(static_cast<float>(size));
    }
  }
  traces[0][0] = -0.0;
  traces[0][1] = static_cast<double>(std::numeric_limits<float>::max());
  traces[0][2] = static_cast<double>(std::numeric_limits<float>::denorm_min());
  return traces;
}

void write(const WrittenFile& file, const std::vector<std::vector<double>>& traces) {
  TraceWriter writer(file, Existing::refuse);
  for (const auto& trace : traces) writer.write(trace);
  writer.commit();
}

bool same_bits(double a, double b) { return a == b && std::signbit(a) == std::signbit(b); }

std::string plan_refusal(const WrittenFile& file) {
  return refusal([&] {
    std::vector<std::string> warnings;
    plan_traces(file, warnings);
  });
}

std::string plan_warnings(const WrittenFile& file) {
  std::vector<std::string> warnings;
  plan_traces(file, warnings);
  return joined(warnings);
}

}  // namespace

TEST_CASE(
    "segy writer: IEEE floats come back bit for bit in SEG-Y and in both orders of SU, positions exact") {
  const ondula::test::TemporaryDirectory folder;
  for (const char* name : {"a.segy", "big.su", "little.su"}) {
    CAPTURE(name);
    WrittenFile file = two_shots(folder.path() / name);
    if (std::string(name) != "a.segy") file.kind = TraceFileKind::su;
    file.big_endian = std::string(name) != "little.su";
    const auto traces = random_traces(4, 7);
    CHECK(plan_warnings(file).empty());
    write(file, traces);
    TraceReader reader(file.path);
    CHECK(reader.layout().kind == file.kind);
    CHECK(reader.layout().big_endian == file.big_endian);
    CHECK(reader.layout().traces == 4);
    CHECK(reader.interval() == doctest::Approx(0.00075).epsilon(1e-12));
    for (std::size_t trace = 0; trace < 4; ++trace) {
      std::vector<double> back(7);
      reader.read(static_cast<std::int64_t>(trace), back);
      for (std::size_t i = 0; i < 7; ++i) CHECK(same_bits(back[i], traces[trace][i]));
    }
    const SurveyGeometry geometry = read_survey_geometry(file.path, {});
    REQUIRE(geometry.shots.size() == 2);
    for (std::size_t shot = 0; shot < 2; ++shot) {
      CHECK(geometry.shots[shot].record == static_cast<int>(shot) + 1);
      CHECK(geometry.shots[shot].source == file.shots[shot].source);
      CHECK(geometry.shots[shot].receivers == file.shots[shot].receivers);
    }
    const TraceHeader header = reader.header(2);
    CHECK(header.file_sequence == 3);
    CHECK(header.record_trace == 3);
    CHECK(header.offset == -941);
    CHECK(header.coordinate_scalar == -1000);
    CHECK(header.elevation_scalar == -100);
  }
}

TEST_CASE("segy writer: IBM floats on request, to the precision of the format") {
  const ondula::test::TemporaryDirectory folder;
  WrittenFile file = two_shots(folder.path() / "ibm.segy");
  file.ibm = true;
  const auto traces = random_traces(4, 7);
  write(file, traces);
  TraceReader reader(file.path);
  CHECK(reader.layout().format == SampleFormat::ibm);
  for (std::size_t trace = 0; trace < 4; ++trace) {
    std::vector<double> back(7);
    reader.read(static_cast<std::int64_t>(trace), back);
    for (std::size_t i = 0; i < 7; ++i)
      CHECK(std::abs(back[i] - traces[trace][i]) <= 0x1p-21 * std::abs(traces[trace][i]));
  }
}

TEST_CASE(
    "segy writer: the file's headers say revision 1, metres, one trace length, and the text in EBCDIC") {
  const ondula::test::TemporaryDirectory folder;
  const WrittenFile file = two_shots(folder.path() / "a.segy");
  write(file, random_traces(4, 7));
  std::ifstream stream(file.path, std::ios::binary);
  std::string bytes(3600, '\0');
  stream.read(bytes.data(), 3600);
  const auto word = [&](int byte) {
    return static_cast<unsigned char>(bytes[static_cast<std::size_t>(byte - 1)]) << 8 |
           static_cast<unsigned char>(bytes[static_cast<std::size_t>(byte)]);
  };
  CHECK(word(3217) == 750);
  CHECK(word(3221) == 7);
  CHECK(word(3225) == 5);
  CHECK(word(3255) == 1);
  CHECK(word(3501) == 0x0100);
  CHECK(word(3503) == 1);
  CHECK(word(3505) == 0);
  // "C 1 a line": C3 40 F1 40 81 40 93 89 95 85.
  CHECK(bytes.substr(0, 10) == "\xc3\x40\xf1\x40\x81\x40\x93\x89\x95\x85");
  CHECK(bytes.substr(80, 3) == "\xc3\x40\xf2");
  CHECK(bytes.substr(38 * 80, 14) == "\xc3\xf3\xf9\x40\xe2\xc5\xc7\x40\xe8\x40\xd9\xc5\xe5\xf1");
}

TEST_CASE("segy writer: scalars are the coarsest that lose nothing; what must be lost is said") {
  const auto chosen = [](std::vector<double> values) { return choose_scalar(values).value(); };
  CHECK(chosen({0, 20, -9190}).scalar == 1);
  CHECK(chosen({0.1, 20}).scalar == -10);
  CHECK(chosen({52.22, 20}).scalar == -100);
  CHECK(chosen({59.244}).scalar == -1000);
  CHECK(chosen({0.0002}).scalar == -10000);
  CHECK(chosen({59.244}).loss == 0);
  // A third of a metre: 0.1 mm steps, off by a third of that.
  CHECK(chosen({100.0 / 3}).scalar == -10000);
  CHECK(chosen({100.0 / 3}).loss == doctest::Approx(1e-4 / 3));
  // Beyond 2147 km mm no longer fit.
  CHECK(chosen({3e6 + 0.014}).scalar == -100);
  // A northing of 6000 km leaves room for cm only.
  CHECK(chosen({6074232.9, 59.244}).scalar == -100);
  CHECK(chosen({6074232.9, 59.244}).loss == doctest::Approx(0.004));
  CHECK_FALSE(choose_scalar(std::vector<double>{3e9}).has_value());
  WrittenFile file = two_shots("never written");
  file.shots[0].receivers[0].x = 3e6 + 0.014;
  check_mentions(plan_warnings(file), {"bytes 73-88", "scalar -100", "lose up to 0.00"});
  file.shots[0].receivers[0].x = -3e9;
  check_mentions(plan_refusal(file), {"position of 3e+09 m", "32-bit word", "bytes 73-88"});
  file = two_shots("never written");
  file.shots[0].receivers[0].x = 0.00001;
  file.shots[0].receivers[1].y = 0;
  file.shots[1].receivers[0] = {0, 0, 0};
  CHECK(plan_warnings(file).empty());
  file.fineness = 0.0002;
  check_mentions(plan_warnings(file), {"scalar -1000", "1e-05 m"});
}

TEST_CASE("B2: segy writer: sample counts up to 65535 are planned in 64 bits, past 32767 with a warning") {
  WrittenFile file = two_shots("never written");
  file.samples = 45000;
  file.shots[0].receivers.assign(49999, {0, 0, 0});
  std::vector<std::string> warnings;
  const WrittenPlan plan = plan_traces(file, warnings);
  CHECK(plan.layout.traces == 50000);
  CHECK(plan.layout.file_bytes() == 9012003600);
  check_mentions(joined(warnings), {"45000 samples", "bytes 3221-3222", "signed and ends at 32767"});
  file.samples = 65536;
  check_mentions(plan_refusal(file), {"65536 samples", "holds 1 to 65535"});
  file.samples = 0;
  check_mentions(plan_refusal(file), {"0 samples"});
  file.kind = TraceFileKind::su;
  file.samples = 65535;
  file.shots[0].receivers.resize(1);
  CHECK(plan_warnings(file).empty());
}

TEST_CASE("segy writer: the sampling interval in whole microseconds, the first time in fractions of a ms") {
  WrittenFile file = two_shots("never written");
  file.dt = 0.0010004;
  file.samples = 1001;
  check_mentions(plan_warnings(file), {"1000.4 µs is written as 1000 µs", "bytes 117-118", "0.0004 s off"});
  file.dt = 1e-7;
  check_mentions(plan_refusal(file), {"1e-07 s", "1 to 65535 µs"});
  file.dt = 0.066;
  check_mentions(plan_refusal(file), {"0.066 s"});
  file.dt = 0.0005;
  file.first_time = -0.00025;
  std::vector<std::string> warnings;
  WrittenPlan plan = plan_traces(file, warnings);
  CHECK(plan.delay == -25);
  CHECK(plan.time_scalar == -100);
  CHECK(warnings.empty());
  file.kind = TraceFileKind::su;
  plan = plan_traces(file, warnings);
  CHECK(plan.time_scalar == 0);
  check_mentions(joined(warnings), {"-0.25 ms is written as 0 ms", "bytes 109-110"});
  file.first_time = 40;
  check_mentions(plan_refusal(file), {"first sample is at 40 s"});
}

TEST_CASE("segy writer: nothing is left of a file that was not finished, or of a value that no float holds") {
  const ondula::test::TemporaryDirectory folder;
  const WrittenFile file = two_shots(folder.path() / "a.segy");
  const std::vector<double> trace(7, 1.0);
  {
    TraceWriter writer(file, Existing::refuse);
    writer.write(trace);
    CHECK_THROWS_AS(writer.commit(), InternalError);
    CHECK_THROWS_AS(writer.write(std::vector<double>(6)), InternalError);
    check_mentions(refusal([&] { writer.write(std::vector<double>(7, 1e39)); }), {"trace 2", "1e+39"});
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  write(file, {trace, trace, trace, trace});
  check_mentions(refusal([&] { TraceWriter writer(file, Existing::refuse); }), {"exists already"});
}
