// Raw model files and the guesses at what is wrong with them.
// SPDX-License-Identifier: MIT
#include "runtime/io/raw.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "compiler/error.hpp"
#include "runtime/io/diagnose.hpp"
#include "runtime/io/npy.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace ondula;
using namespace ondula::io;
using ondula::test::TemporaryDirectory;

using ondula::test::holds;

namespace {

/// A 12 (z) x 30 (x) model of layers, slightly tilted so that no two columns are equal.
double layered(int z, int x) { return 1500.0 + 200.0 * z + 0.5 * x; }

template <class T>
void append(std::string& bytes, T value, bool swap = false) {
  char item[sizeof(T)];
  std::memcpy(item, &value, sizeof(T));
  if (swap) std::reverse(item, item + sizeof(T));
  bytes.append(item, sizeof(T));
}

/// The layered model as a raw file of T, x fastest, each value times `factor`.
template <class T>
std::string model_bytes(bool swap = false, double factor = 1.0) {
  std::string bytes;
  for (int z = 0; z < 12; ++z)
    for (int x = 0; x < 30; ++x) append(bytes, static_cast<T>(factor * layered(z, x)), swap);
  return bytes;
}

struct RawFile {
  TemporaryDirectory folder;
  RawLayout layout;
  explicit RawFile(const std::string& bytes) {
    layout.path = (folder.path() / "vp.bin").string();
    std::ofstream(layout.path, std::ios::binary) << bytes;
    layout.shape = {12, 30};
    layout.axes = {"z", "x"};
  }
  RawArray read() const { return read_raw(layout, {"z", "x"}); }
  std::string refusal() const {
    return ondula::test::refusal([&] { read(); });
  }
};

}  // namespace

TEST_CASE("raw: a file with z fastest is transposed into the grid's order") {
  std::string bytes;
  for (int x = 0; x < 30; ++x)
    for (int z = 0; z < 12; ++z) append(bytes, static_cast<float>(layered(z, x)));
  RawFile file(bytes);
  file.layout.shape = {30, 12};
  file.layout.axes = {"x", "z"};
  const RawArray raw = file.read();
  REQUIRE(raw.array.shape == std::vector<std::int64_t>{12, 30});
  CHECK(raw.warnings.empty());
  for (int z = 0; z < 12; ++z)
    for (int x = 0; x < 30; ++x) CHECK(raw.array.data[static_cast<std::size_t>(30 * z + x)] == layered(z, x));
}

TEST_CASE("raw: three axes in any order give the same array") {
  const auto value = [](int z, int y, int x) { return 100.0 * z + 10.0 * y + x; };
  std::string bytes;
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x)
      for (int z = 0; z < 2; ++z) append(bytes, static_cast<std::int16_t>(value(z, y, x)), true);
  RawFile file(bytes);
  file.layout = {file.layout.path, "int16", "big", {3, 4, 2}, {"y", "x", "z"}};
  const Array array = read_raw(file.layout, {"z", "y", "x"}).array;
  REQUIRE(array.shape == std::vector<std::int64_t>{2, 3, 4});
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x)
        CHECK(array.data[static_cast<std::size_t>(12 * z + 4 * y + x)] == value(z, y, x));
}

TEST_CASE("raw: types and byte orders that fit are read without a warning") {
  CHECK(RawFile(model_bytes<float>()).read().warnings.empty());
  RawFile big(model_bytes<double>(true));
  big.layout.dtype = "float64";
  big.layout.endian = "big";
  CHECK(big.read().warnings.empty());
  CHECK(big.read().array.data[31] == layered(1, 1));
}

TEST_CASE("E21: a wrong byte count names both counts and guesses another type") {
  const std::string message = RawFile(model_bytes<double>()).refusal();
  CHECK(holds(message, "takes 1440 bytes, the file has 2880"));
  CHECK(holds(message, "float64"));
  CHECK(holds(RawFile(model_bytes<std::int16_t>()).refusal(), "int16"));
}

TEST_CASE("E21: a wrong byte count guesses a header, record markers, SEG-Y, an extent") {
  const std::string model = model_bytes<float>();
  CHECK(holds(RawFile(std::string(512, 'h') + model).refusal(), "header of 512 bytes"));
  CHECK(holds(RawFile(std::string(4, 'h') + model + "tail").refusal(), "record markers"));
  CHECK(holds(RawFile(std::string(12 * 8, 'm') + model).refusal(), "record markers"));
  CHECK(holds(RawFile(std::string(3600 + 12 * 240, 's') + model).refusal(), "SEG-Y"));
  CHECK(holds(RawFile(std::string(12 * 240, 's') + model).refusal(), "SU file"));
  CHECK(holds(RawFile(model + model.substr(0, 5 * 120)).refusal(), "17 points on axis z instead of 12"));
  CHECK(holds(RawFile("").refusal(), "empty"));
  CHECK(holds(RawFile("\x93NUMPY and so on").refusal(), ".npy file"));
}

TEST_CASE("E21: swapped bytes are read with a warning that names the other byte order") {
  const auto warnings = RawFile(model_bytes<float>(true)).read().warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(holds(warnings[0], "as float32 big-endian they would be 1500 to 3714.5"));
}

TEST_CASE("E21: floats read as integers give a warning that names the type") {
  RawFile file(model_bytes<float>());
  file.layout.dtype = "int32";
  const auto warnings = file.read().warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(holds(warnings[0], "as float32 little-endian they would be 1500 to 3714.5"));
}

TEST_CASE("E21: swapped extents give a warning that the axes may be in another order") {
  RawFile file(model_bytes<float>());
  file.layout.shape = {30, 12};
  const auto warnings = file.read().warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(holds(warnings[0], "jump every 30 numbers, not every 12"));
}

TEST_CASE("raw: an unknown dtype, endian or axis is refused with what is allowed") {
  RawFile file(model_bytes<float>());
  file.layout.dtype = "single";
  CHECK(holds(file.refusal(), "allowed are float32"));
  file.layout.dtype = "float32";
  file.layout.endian = "middle";
  CHECK(holds(file.refusal(), "\"little\" and \"big\""));
  file.layout.endian = "little";
  file.layout.axes = {"z", "y"};
  CHECK(holds(file.refusal(), "the grid's are [z, x]"));
  file.layout.axes = {"z"};
  CHECK(holds(file.refusal(), "axes [z] names 1"));
  file.layout.path += ".gone";
  file.layout.axes = {"z", "x"};
  CHECK(holds(file.refusal(), "No such file"));
}

TEST_CASE("E21: units other than the parameter's are guessed from the values") {
  const auto text = [](const char* name, const char* unit, std::vector<double> values) {
    const auto size = static_cast<std::int64_t>(values.size());
    return diagnose_values(name, unit, Array{{size}, std::move(values)}).value_or("");
  };
  CHECK(holds(text("vp", "m/s", {1.5, 2.0, 5.5}), "km/s"));
  CHECK(holds(text("vp", "m/s", {1.5, 2.0, 5.5}), "vp: values run from 1.5 to 5.5"));
  CHECK(holds(text("vp", "m/s", {4921.0, 18045.0}), "ft/s"));
  CHECK(holds(text("vp", "m/s", {1.0 / 2.25, 1.0 / 30.25}), "squared slowness"));
  CHECK(holds(text("vp", "m/s", {1.0 / 1.5, 1.0 / 5.5}), "slowness in s/km"));
  CHECK(holds(text("vp", "m/s", {1.0 / 1500.0, 1.0 / 5500.0}), "slowness in s/m"));
  CHECK(holds(text("rho", "kg/m^3", {1.0, 2.6}), "g/cm^3"));
  CHECK(text("vp", "m/s", {1500.0, 5500.0}).empty());
  CHECK(text("vs", "m/s", {0.0, 9.0, 2800.0}).empty());
  CHECK(text("vs", "m/s", {0.0, 0.0}).empty());
  CHECK(text("rho", "kg/m^3", {1010.0, 2625.0}).empty());
  CHECK(text("q", "1", {0.5, 40.0}).empty());
}

TEST_CASE("E21: a model in the other byte order is recognised from its values alone") {
  RawFile file(model_bytes<float>(true));
  const Array swapped = file.read().array;
  CHECK(holds(diagnose_values("vp", "m/s", swapped).value_or(""), "1500 to 3714.5"));
}

TEST_CASE("raw: Marmousi with z fastest equals rows 8 to 129 of the .npy model") {
  const auto raw_path = test::data_path("marmousi/vp_zfastest_384x122_f4le.bin");
  const auto npy_path = test::data_path("marmousi/vp.npy");
  if (!raw_path || !npy_path) ONDULA_SKIP("ONDULA_DATA has no marmousi models");
  RawLayout layout{raw_path->string(), "float32", "little", {384, 122}, {"x", "z"}};
  const RawArray raw = read_raw(layout, {"z", "x"});
  CHECK(raw.warnings.empty());
  const Array whole = read_npy(npy_path->string());
  REQUIRE(raw.array.shape == std::vector<std::int64_t>{122, 384});
  CHECK(std::equal(raw.array.data.begin(), raw.array.data.end(), whole.data.begin() + 8 * 384));
  layout.shape = {122, 384};
  layout.axes = {"z", "x"};
  CHECK(read_raw(layout, {"z", "x"}).warnings.size() == 1);
  layout.endian = "big";
  CHECK(holds(read_raw(layout, {"z", "x"}).warnings.at(0), "little-endian they would be 1500 to 5500"));
}

TEST_CASE("E21: the models that are right give no warning") {
  int models = 0;
  for (const char* name : {"marmousi/vp.npy", "marmousi2/vp.npy", "marmousi2/vs.npy", "overthrust/vp.npy"})
    if (const auto path = test::data_path(name)) {
      ++models;
      CHECK(diagnose_values(name, "m/s", read_npy(path->string())).value_or("") == "");
    }
  if (models == 0) ONDULA_SKIP("ONDULA_DATA has no models");
}
