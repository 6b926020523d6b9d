// Real field and modelled files: each trap read right. The expected numbers were read from the bytes by hand.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <numeric>

#include "runtime/io/segy.hpp"
#include "tests/runtime/io/segy_file.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::segy_test;

namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

TEST_CASE("segy: a real marine file of IBM floats whose trace headers say another length") {
  const auto path = test::data_path("segy/viking_small.segy");
  if (!path) ONDULA_SKIP("no segy/viking_small.segy under ONDULA_DATA");
  TraceReader reader(path->string());
  CHECK(reader.layout().kind == TraceFileKind::segy);
  CHECK(reader.layout().format == SampleFormat::ibm);
  CHECK(reader.layout().big_endian);
  CHECK(reader.layout().traces == 480);
  CHECK(reader.layout().samples == 600);
  CHECK(reader.layout().file_bytes() == 1270800);
  REQUIRE(reader.warnings().size() == 1);
  check_mentions(reader.warnings()[0],
                 {"viking_small.segy", "bytes 3221-3222) says 600", "1500", "fits 600"});
  CHECK(reader.interval() == doctest::Approx(0.004).epsilon(1e-12));
  const auto first = samples_of(reader, 0);
  CHECK(first[0] == 0.027187347412109375);
  CHECK(first[1] == -0.28261852264404297);
  CHECK(first[599] == -10.901046752929688);
  CHECK(sum(first) == doctest::Approx(194.17273998260498).epsilon(1e-13));
  const auto last = samples_of(reader, 479);
  CHECK(last[0] == 2.10235595703125);
  CHECK(last[2] == -0.03426361083984375);
  CHECK(sum(last) == doctest::Approx(-23.333123207092285).epsilon(1e-13));
  const TraceHeader header = reader.header(241);
  CHECK(header.record == 5);
  CHECK(header.source_x == 3287);
  CHECK(header.group_x == 75);
  CHECK(header.offset == -3212);
  CHECK(header.coordinate_unit == 3);
  CHECK(header.receiver_elevation == -10);
  CHECK(header.source_elevation == -6);
}

TEST_CASE("segy: a real stack of 16-bit integers, coordinate scalar -10, first sample at 4 ms") {
  const auto path = test::data_path("segy/f3.sgy");
  if (!path) ONDULA_SKIP("no segy/f3.sgy under ONDULA_DATA");
  TraceReader reader(path->string());
  CHECK(reader.layout().format == SampleFormat::int16);
  CHECK(reader.layout().revision == 1);
  CHECK(reader.layout().unit_of_length == 1);
  CHECK(reader.layout().traces == 414);
  CHECK(reader.layout().samples == 75);
  check_mentions(joined(reader.warnings()), {"says 75 samples", "462", "fits 75"});
  const auto first = samples_of(reader, 0);
  CHECK(std::vector<double>(first.begin() + 30, first.begin() + 34) ==
        std::vector<double>{-5923, -1581, 3401, 4983});
  CHECK(sum(first) == 5818);
  CHECK(sum(samples_of(reader, 413)) == 6275);
  const TraceHeader header = reader.header(0);
  CHECK(scaled(header.source_x, header.coordinate_scalar) == 620197.2);
  CHECK(scaled(header.source_y, header.coordinate_scalar) == 6074232.9);
  CHECK(header.delay == 4);
  CHECK(header.inline_number == 111);
  CHECK(header.crossline_number == 875);
}

TEST_CASE("segy: modelled shots of IEEE floats, coordinate scalar -1000, 0.75 ms") {
  const auto path = test::data_path("segy/judi_shot_record_250.segy");
  if (!path) ONDULA_SKIP("no segy/judi_shot_record_250.segy under ONDULA_DATA");
  TraceReader reader(path->string());
  CHECK(reader.layout().format == SampleFormat::ieee);
  CHECK(reader.layout().traces == 99);
  CHECK(reader.layout().samples == 667);
  CHECK(reader.warnings().empty());
  CHECK(reader.interval() == doctest::Approx(0.00075).epsilon(1e-12));
  const auto first = samples_of(reader, 0);
  CHECK(first[0] == 0x1.4a49c4p-21);
  CHECK(first[2] == -0x1.63d148p-20);
  CHECK(first[666] == 0x1.b315b0p-9);
  CHECK(samples_of(reader, 98)[666] == 0x1.ef028ep-14);
  const TraceHeader header = reader.header(49);
  CHECK(header.coordinate_scalar == -1000);
  CHECK(scaled(header.source_x, header.coordinate_scalar) == 250);
  CHECK(scaled(header.group_x, header.coordinate_scalar) == 500);
  CHECK(scaled(header.receiver_elevation, header.elevation_scalar) == 50);
  CHECK(scaled(header.source_elevation, header.elevation_scalar) == 20);
}

TEST_CASE("segy: two modelled shots in one file, broken millimetres") {
  const auto path = test::data_path("segy/judi_unit_test_shot_records_2.segy");
  if (!path) ONDULA_SKIP("no segy/judi_unit_test_shot_records_2.segy under ONDULA_DATA");
  TraceReader reader(path->string());
  CHECK(reader.layout().traces == 240);
  CHECK(reader.layout().samples == 501);
  CHECK(reader.interval() == doctest::Approx(0.002).epsilon(1e-12));
  CHECK(samples_of(reader, 0)[1] == -0x1.63ca30p-43);
  CHECK(samples_of(reader, 239)[0] == -0x1.3e0af4p-96);
  CHECK(scaled(reader.header(1).group_x, reader.header(1).coordinate_scalar) == 59.244);
  CHECK(reader.header(119).record == 1);
  CHECK(reader.header(120).record == 2);
  CHECK(scaled(reader.header(120).source_x, reader.header(120).coordinate_scalar) == 1100);
}

TEST_CASE("segy: a real land shot in big-endian SU, no file headers, offsets all 0") {
  const auto path = test::data_path("segy/ozdata16.su");
  if (!path) ONDULA_SKIP("no segy/ozdata16.su under ONDULA_DATA");
  TraceReader reader(path->string());
  CHECK(reader.layout().kind == TraceFileKind::su);
  CHECK(reader.layout().big_endian);
  CHECK(reader.layout().traces == 48);
  CHECK(reader.layout().samples == 1325);
  CHECK(reader.warnings().empty());
  CHECK(reader.interval() == doctest::Approx(0.004).epsilon(1e-12));
  const auto first = samples_of(reader, 0);
  CHECK(first[0] == 0x1.110cp-2);
  CHECK(first[1] == -0x1.a08p-8);
  CHECK(sum(first) == doctest::Approx(-2.575042724609375).epsilon(1e-13));
  CHECK(samples_of(reader, 47)[2] == 0x1.4c1fp-1);
  for (std::int64_t trace = 0; trace < 48; ++trace) CHECK(reader.header(trace).offset == 0);
  CHECK(reader.header(47).record == 10016);
  CHECK(reader.header(0).delay == 4);
}
