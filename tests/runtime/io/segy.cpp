// Reading SEG-Y and SU: formats, byte orders, and headers that contradict each other.
// SPDX-License-Identifier: MIT
#include "runtime/io/segy.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "runtime/io/segy_geometry.hpp"
#include "tests/runtime/io/segy_file.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::segy_test;

namespace {

std::string refusal_of(const FileText& text) {
  const FileOnDisk file(text);
  return refusal([&] { TraceReader reader(file.path()); });
}

}  // namespace

TEST_CASE("segy: every sample format in both byte orders") {
  struct Case {
    int format, width;
    std::uint32_t bits[4];
    std::vector<double> values;
  };
  const Case cases[] = {
      {1, 4, {0xc276a000, 0x41100000, 0x41001000, 0x00000000}, {-118.625, 1, 0.00390625, 0}},
      {2, 4, {0x80000000, 0x7fffffff, 1, 0xfffffffe}, {-2147483648.0, 2147483647, 1, -2}},
      {3, 2, {0x8000, 0x7fff, 258, 0xfffe}, {-32768, 32767, 258, -2}},
      {5, 4, {0x3fc00000, 0xc0000000, 0x7f7fffff, 0x00000001}, {1.5, -2, 0x1.fffffep127, 0x1p-149}},
      {8, 1, {0x80, 0x7f, 1, 0xfe}, {-128, 127, 1, -2}},
  };
  for (const Case& one : cases) {
    for (const bool big : {true, false}) {
      CAPTURE(one.format);
      CAPTURE(big);
      FileText text;
      text.big = big;
      text.format = one.format;
      text.width = one.width;
      text.sample = [&](int trace, int i) { return one.bits[(i + trace) % 4]; };
      const FileOnDisk file(text);
      TraceReader reader(file.path());
      CHECK(reader.layout().big_endian == big);
      CHECK(static_cast<int>(reader.layout().format) == one.format);
      REQUIRE(reader.layout().traces == 3);
      CHECK(samples_of(reader, 0) == one.values);
      const auto last = samples_of(reader, 2);
      CHECK(last[0] == one.values[2]);
      CHECK(last[3] == one.values[1]);
      CHECK(reader.header(2).record_trace == 3);
      CHECK(reader.interval() == doctest::Approx(0.002).epsilon(1e-12));
    }
  }
}

TEST_CASE("segy: SU in both byte orders, whatever the file is called") {
  for (const bool big : {true, false}) {
    for (const char* name : {"shot.su", "shot.dat"}) {
      CAPTURE(big);
      CAPTURE(name);
      FileText text;
      text.su = true;
      text.big = big;
      text.header = [](Words& words, int trace) { words.set32(73, -7 * trace).set_float(181, 12.5F); };
      const FileOnDisk file(text, name);
      TraceReader reader(file.path());
      CHECK(reader.layout().kind == TraceFileKind::su);
      CHECK(reader.layout().big_endian == big);
      CHECK(samples_of(reader, 2) == std::vector<double>{3, 2.75, 2.5, 2.25});
      CHECK(reader.header(2).source_x == -14);
      CHECK(reader.header(2).su_step == 12.5F);
      CHECK(reader.warnings().size() == (std::string(name) == "shot.su" ? 0 : 1));
    }
  }
}

TEST_CASE("segy: IBM floats are exact both ways over their whole range") {
  CHECK(from_ibm(0x7fffffff) == std::ldexp(16777215.0, 4 * 63 - 24));
  CHECK(from_ibm(0x00100000) == std::ldexp(1.0, -260));
  CHECK(to_ibm(0.1) == 0x4019999a);
  CHECK(to_ibm(-118.625) == 0xc276a000);
  CHECK(to_ibm(1 - 1e-9) == 0x41100000);
  CHECK(to_ibm(0) == 0);
  CHECK(from_ibm(to_ibm(static_cast<double>(std::numeric_limits<float>::denorm_min()))) == 0x1p-149);
  std::mt19937 random(1);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const double value =
        std::ldexp(1.0 + static_cast<double>(random()) * 0x1p-32, static_cast<int>(random() % 250) - 125);
    const double stored = from_ibm(to_ibm(value));
    worst = std::max(worst, std::abs(stored / value - 1));
    CHECK(from_ibm(to_ibm(stored)) == stored);
  }
  // Half a unit of the last of 21 bits, the fewest a normalised fraction holds.
  CHECK(worst <= 0x1p-21);
  CHECK(worst > 0x1p-23);
}

TEST_CASE("segy: scalars: negative divides, positive multiplies, 0 is 1") {
  CHECK(scaled(1234, 0) == 1234);
  CHECK(scaled(1234, 1) == 1234);
  CHECK(scaled(1234, -1) == 1234);
  CHECK(scaled(1234, 10) == 12340);
  CHECK(scaled(1234, -10) == 123.4);
  CHECK(scaled(-1234, -100) == -12.34);
  CHECK(scaled(1234, -1000) == 1.234);
  CHECK_FALSE(standard_scalar(-3));
  CHECK(standard_scalar(-10000));
}

TEST_CASE("E21: segy: a file cut short, or of another sample width, is refused with its count and a guess") {
  FileText text;
  text.samples = 10;
  const std::string bytes = text.bytes();
  const FileOnDisk cut(bytes.substr(0, bytes.size() - 12));
  check_mentions(refusal([&] { TraceReader reader(cut.path()); }),
                 {cut.path(), "traces of 10 samples", "bytes 3221-3222", "2 whole traces and 268 bytes over",
                  "Truncated"});
  text.width = 2;
  check_mentions(refusal_of(text), {"IEEE floats", "it would fit 16-bit integers", "bytes 3225-3226"});
  const FileOnDisk tiny(std::string(100, 'x'));
  check_mentions(refusal([&] { TraceReader reader(tiny.path()); }), {tiny.path(), "100 bytes", "take 3600"});
}

TEST_CASE("E21: segy: another byte order is found, or refused where it is stated against the file") {
  FileText text;
  text.big = false;
  const FileOnDisk file(text);
  CHECK_FALSE(TraceReader(file.path()).layout().big_endian);
  TraceFileHints hints;
  hints.big_endian = true;
  check_mentions(refusal([&] { TraceReader reader(file.path(), hints); }),
                 {file.path(), "stated as big-endian", "1280", "5 little-endian"});
}

TEST_CASE("E21: segy: sample formats that are not read are refused by name") {
  FileText text;
  text.format = 0;
  check_mentions(refusal_of(text), {"bytes 3225-3226", "is 0", "left it empty"});
  text.format = 4;
  check_mentions(refusal_of(text), {"is 4", "fixed point with gain"});
  text.format = 6;
  check_mentions(refusal_of(text), {"is 6", "8-byte IEEE"});
  text.format = 77;
  check_mentions(refusal_of(text), {"77 big-endian", "is it a SEG-Y file?"});
}

TEST_CASE("E21: segy: IBM floats under the IEEE code, and the other way round, are warned of") {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 100);
  for (const bool ibm : {true, false}) {
    for (const bool honest : {true, false}) {
      CAPTURE(ibm);
      CAPTURE(honest);
      FileText text;
      text.samples = 300;
      text.format = ibm == honest ? 1 : 5;
      text.sample = [&](int, int) {
        const double value = noise(random);
        const auto single = static_cast<float>(value);
        std::uint32_t bits;
        std::memcpy(&bits, &single, 4);
        return ibm ? to_ibm(value) : bits;
      };
      const FileOnDisk file(text);
      const TraceReader reader(file.path());
      CHECK(reader.warnings().size() == (honest ? 0 : 1));
      if (!honest) check_mentions(joined(reader.warnings()), {"bits look like", ibm ? "IBM" : "IEEE"});
    }
  }
}

TEST_CASE("segy: sample counts of binary and trace headers: 0 is filled from the other, the length decides") {
  FileText text;
  text.binary = [](Words& words) { words.set16(3221, 0); };
  const FileOnDisk unset(text);
  CHECK(TraceReader(unset.path()).layout().samples == 4);
  text.binary = [](Words& words) { words.set16(3221, 5); };
  const FileOnDisk wrong(text);
  const TraceReader reader(wrong.path());
  CHECK(reader.layout().samples == 4);
  check_mentions(joined(reader.warnings()), {"says 5 samples", "4; the file's length fits 4"});
  text.header = [](Words& words, int) { words.set16(115, 0); };
  text.binary = [](Words& words) { words.set16(3221, 0); };
  check_mentions(refusal_of(text), {"number of samples is 0", "3221-3222", "115-116"});
}

TEST_CASE("segy: the sample interval: 0 is filled from the other header, contradictions are refused") {
  const auto interval = [](int binary, int first, int other) {
    FileText text;
    text.binary = [=](Words& words) { words.set16(3217, binary); };
    text.header = [=](Words& words, int trace) { words.set16(117, trace == 0 ? first : other); };
    const FileOnDisk file(text);
    return TraceReader(file.path()).interval();
  };
  CHECK(interval(0, 4000, 4000) == doctest::Approx(0.004));
  CHECK(interval(4000, 0, 0) == doctest::Approx(0.004));
  CHECK(interval(40000, 40000, 40000) == doctest::Approx(0.04));
  check_mentions(refusal([&] { interval(0, 0, 0); }), {"interval is 0", "3217-3218", "117-118"});
  check_mentions(refusal([&] { interval(2000, 4000, 4000); }), {"says a sample interval of 2000", "4000"});
  check_mentions(refusal([&] { interval(2000, 2000, 1000); }), {"trace 2 (of 3)", "is 1000", "2000 µs"});
}

TEST_CASE("segy: extended text headers are passed over, in revision 1 only") {
  FileText text;
  text.binary = [](Words& words) { words.set16(3501, 0x0100).set16(3505, 2); };
  std::string bytes = text.bytes();
  bytes.insert(3600, std::string(6400, 'x'));
  const FileOnDisk extended(bytes);
  TraceReader reader(extended.path());
  CHECK(reader.layout().first == 10000);
  CHECK(samples_of(reader, 1) == std::vector<double>{1.5, 1.25, 1, 0.75});
  text.binary = [](Words& words) { words.set16(3501, 0).set16(3505, 2); };
  const FileOnDisk old(text);
  CHECK(TraceReader(old.path()).layout().first == 3600);
  text.binary = [](Words& words) { words.set16(3501, 0x0100).set16(3505, -1); };
  check_mentions(refusal_of(text), {"bytes 3505-3506", "-1"});
  text.binary = [](Words& words) { words.set16(3501, 0x0200).set32(3269, 4); };
  check_mentions(refusal_of(text), {"revision 2", "bytes 3269-3272"});
}

TEST_CASE("segy: a folder, a missing file and an empty one are refused by name") {
  const ondula::test::TemporaryDirectory folder;
  check_mentions(refusal([&] { TraceReader reader(folder.path().string()); }), {"it is a directory"});
  check_mentions(refusal([&] { TraceReader reader("/nowhere/a.segy"); }),
                 {"/nowhere/a.segy", "No such file"});
  const FileOnDisk empty(std::string(), "empty.su");
  check_mentions(refusal([&] { TraceReader reader(empty.path()); }), {"empty.su", "0 bytes"});
}

TEST_CASE("B2: segy: 50,000 receivers of 45,000 samples: every byte where 64-bit arithmetic puts it") {
  TraceLayout layout;
  layout.first = 3600;
  layout.samples = 45000;
  layout.traces = 50000;
  CHECK(layout.trace_bytes() == 180240);
  CHECK(layout.file_bytes() == 9012003600);
  CHECK(layout.trace_offset(49999) == 9011823360);
  layout.traces = std::int64_t{1} << 60;
  CHECK_THROWS_AS(layout.file_bytes(), UserError);

  // A file of that size of holes, with a header and two samples wherever a 31-, 32- or 33-bit offset ends.
  FileText head;
  head.traces = 0;
  head.samples = 45000;
  const FileOnDisk file(head.bytes());
  std::filesystem::resize_file(file.path(), 9012003600);
  const std::vector<std::int64_t> marked = {0, 1, 11914, 11915, 23829, 23830, 47658, 47659, 49998, 49999};
  {
    std::fstream out(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (const std::int64_t trace : marked) {
      Words words(240, 1, true), ends(4, 1, true);
      words.set32(13, trace + 1).set16(115, 45000).set32(81, 3 * trace);
      ends.set_float(1, static_cast<float>(trace + 1));
      out.seekp(3600 + trace * 180240);
      out << words.bytes() << ends.bytes();
      out.seekp(3600 + (trace + 1) * 180240 - 4);
      out << ends.bytes();
    }
  }
  TraceReader reader(file.path());
  CHECK(reader.layout().traces == 50000);
  for (const std::int64_t trace : marked) {
    CAPTURE(trace);
    CHECK(reader.header(trace).record_trace == trace + 1);
    CHECK(reader.header(trace).group_x == 3 * trace);
    const auto samples = samples_of(reader, trace);
    CHECK(samples.front() == static_cast<double>(trace + 1));
    CHECK(samples[1] == 0);
    CHECK(samples.back() == static_cast<double>(trace + 1));
  }
}

TEST_CASE("segy: any byte of the headers set to anything is read or refused, never another failure") {
  for (const bool su : {false, true}) {
    FileText text;
    text.su = su;
    text.header = [](Words& words, int trace) { words.set32(73, 50).set32(81, 100 + 25 * trace); };
    const std::string whole = text.bytes();
    const FileOnDisk file(whole, su ? "a.su" : "a.segy");
    int read = 0, refused = 0;
    const std::size_t first = su ? 0 : 3200, last = su ? 240 : 3840;
    for (std::size_t at = first; at < last; ++at) {
      for (const char value : {'\x00', '\x01', '\x7f', '\x80', '\xff'}) {
        std::string changed = whole;
        changed[at] = value;
        std::ofstream(file.path(), std::ios::binary) << changed;
        try {
          TraceReader reader(file.path());
          for (std::int64_t trace = 0; trace < reader.layout().traces; ++trace) samples_of(reader, trace);
          read_survey_geometry(file.path(), {});
          reader.interval();
          ++read;
        } catch (const UserError&) {
          ++refused;
        }
      }
    }
    CHECK(read > 1000);
    CHECK(refused > 10);
  }
}
