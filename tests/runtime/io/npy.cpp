// .npy files: what is written is read, what others wrote is read, what is wrong is refused with the reason.
// SPDX-License-Identifier: MIT
#include "runtime/io/npy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "compiler/error.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace ondula;
using namespace ondula::io;
using ondula::test::TemporaryDirectory;

using ondula::test::holds;

namespace {

std::string in(const TemporaryDirectory& folder, const std::string& name) {
  return (folder.path() / name).string();
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string get(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A .npy file of the given version, dictionary and data.
std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string text = dictionary + "\n";
  std::string file = "\x93NUMPY";
  file += {version, '\0', static_cast<char>(text.size()), '\0'};
  if (version > 1) file += {'\0', '\0'};
  return file + text + data;
}

/// The message of the UserError that reading `path` throws; empty where it throws none.
std::string refusal(const std::string& path) {
  return ondula::test::refusal([&] { read_npy(path); });
}

}  // namespace

TEST_CASE("npy: float64 comes back bit for bit, special values included") {
  const TemporaryDirectory folder;
  const Array out{{2, 3},
                  {0.0, -0.0, 1.0 / 3.0, std::numeric_limits<double>::infinity(),
                   std::numeric_limits<double>::denorm_min(), -1e300}};
  write_npy(in(folder, "a.npy"), out, DType::float64, Existing::refuse);
  const Array back = read_npy(in(folder, "a.npy"));
  REQUIRE(back.shape == out.shape);
  for (std::size_t k = 0; k < out.data.size(); ++k)
    CHECK(std::bit_cast<std::uint64_t>(back.data[k]) == std::bit_cast<std::uint64_t>(out.data[k]));
}

TEST_CASE("npy: float32 is rounded once, and its own values come back exactly") {
  const TemporaryDirectory folder;
  const std::vector<float> values{0.1F, -2.5F, 3e38F, 1e-45F};
  const std::vector<std::int64_t> shape{4};
  write_npy(in(folder, "a.npy"), shape, std::span<const float>(values), Existing::refuse);
  const Array back = read_npy(in(folder, "a.npy"));
  for (std::size_t k = 0; k < 4; ++k) CHECK(back.data[k] == static_cast<double>(values[k]));
  write_npy(in(folder, "b.npy"), Array{{1}, {0.1}}, DType::float32, Existing::refuse);
  CHECK(read_npy(in(folder, "b.npy")).data[0] == static_cast<double>(0.1F));
}

TEST_CASE("npy: data start on 64 bytes, at every rank and empty shapes too") {
  const TemporaryDirectory folder;
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{}, {5}, {0}, {3, 0, 2}, {1, 2, 3, 4, 5, 6, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1}}) {
    const Array out{shape, std::vector<double>(static_cast<std::size_t>(element_count(shape)), 1.5)};
    write_npy(in(folder, "a.npy"), out, DType::float32, Existing::replace);
    NpyReader reader(in(folder, "a.npy"));
    CHECK(reader.header().data_offset % 64 == 0);
    CHECK(reader.header().shape == shape);
    CHECK(read_npy(in(folder, "a.npy")).data == out.data);
  }
}

TEST_CASE("npy: every real type, both byte orders and versions 1 to 3 are read") {
  const TemporaryDirectory folder;
  const auto read = [&](const std::string& type, const std::string& data, char version = 1) {
    put(in(folder, "a.npy"),
        npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (1,), }", data, version));
    return read_npy(in(folder, "a.npy")).data.at(0);
  };
  using namespace std::string_literals;
  CHECK(read("<i2", "\x02\xff"s) == -254);
  CHECK(read(">i2", "\xff\x02"s) == -254);
  CHECK(read("<i4", "\x01\x00\x00\x80"s) == -2147483647.0);
  CHECK(read(">i8", "\x00\x00\x00\x00\x00\x00\x01\x02"s) == 258);
  CHECK(read("|u1", "\xfe"s) == 254);
  CHECK(read("|i1", "\xfe"s) == -2);
  CHECK(read("|b1", "\x01"s) == 1);
  CHECK(read(">u4", "\xff\x00\x00\x00"s) == 4278190080.0);
  CHECK(read(">f4", "\x44\xbb\x80\x00"s) == 1500.0);
  CHECK(read("<f4", "\x00\x80\xbb\x44"s, 2) == 1500.0);
  CHECK(read(">f8", "\x40\x97\x70\x00\x00\x00\x00\x00"s, 3) == 1500.0);
  CHECK(read("<f2", "\x00\x3c"s) == 1.0);
  CHECK(read("<f2", "\x01\x80"s) == -std::ldexp(1.0, -24));
  CHECK(std::isinf(read("<f2", "\x00\x7c"s)));
}

TEST_CASE("E11: a .npy file in Fortran order equals the same array in C order") {
  const TemporaryDirectory folder;
  std::string stored;
  for (int k = 0; k < 24; ++k) stored.push_back(static_cast<char>(k));
  put(in(folder, "f.npy"), npy("{'descr':'|u1','fortran_order':True,'shape':(2,3,4)}", stored));
  const Array array = read_npy(in(folder, "f.npy"));
  REQUIRE(array.shape == std::vector<std::int64_t>{2, 3, 4});
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k)
        CHECK(array.data[static_cast<std::size_t>(12 * i + 4 * j + k)] == i + 2 * j + 6 * k);
}

TEST_CASE("npy: a header with other spacing, quotes, key order and Python 2 integers is read") {
  const TemporaryDirectory folder;
  put(in(folder, "a.npy"),
      npy("{\"shape\": (2L, 1L), \"fortran_order\":False,'descr' : '|u1'}   ", "\x05\x06"));
  CHECK(read_npy(in(folder, "a.npy")).data == std::vector<double>{5, 6});
}

TEST_CASE("E21: a .npy file cut short or too long is refused with the expected and found byte counts") {
  const TemporaryDirectory folder;
  write_npy(in(folder, "a.npy"), Array{{3, 4}, std::vector<double>(12, 1.0)}, DType::float32,
            Existing::refuse);
  std::string file = get(in(folder, "a.npy"));
  put(in(folder, "short.npy"), file.substr(0, file.size() - 5));
  put(in(folder, "long.npy"), file + "xx");
  put(in(folder, "header.npy"), file.substr(0, 30));
  CHECK(holds(refusal(in(folder, "short.npy")), "truncated"));
  CHECK(holds(refusal(in(folder, "short.npy")), "takes 48 bytes after the header; found 43"));
  CHECK(holds(refusal(in(folder, "long.npy")), "found 50"));
  CHECK(holds(refusal(in(folder, "header.npy")), "truncated in its .npy header"));
}

TEST_CASE("npy: what is no array of real numbers is refused by name") {
  const TemporaryDirectory folder;
  const auto type = [&](const std::string& descr) {
    put(in(folder, "a.npy"),
        npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,), }", "12345678"));
    return refusal(in(folder, "a.npy"));
  };
  CHECK(holds(type("'|O'"), "Python objects"));
  CHECK(holds(type("'<c8'"), "complex"));
  CHECK(holds(type("'<U2'"), "strings"));
  CHECK(holds(type("'<f16'"), "unknown type"));
  CHECK(holds(type("[('x', '<f4'), ('y', '<f4')]"), "records of several fields"));
  put(in(folder, "text.npy"), "1 2 3\n");
  put(in(folder, "zip.npy"), "PK\x03\x04 and more");
  put(in(folder, "new.npy"), npy("{}", "", 9));
  put(in(folder, "bad.npy"), npy("{'descr': '<f4', 'shape': (1,)}", "1234"));
  CHECK(holds(refusal(in(folder, "text.npy")), "is not a .npy file"));
  CHECK(holds(refusal(in(folder, "zip.npy")), "npz"));
  CHECK(holds(refusal(in(folder, "new.npy")), "version 9"));
  CHECK(holds(refusal(in(folder, "bad.npy")), "missing"));
  CHECK(holds(refusal(in(folder, "none.npy")), "No such file"));
  CHECK(holds(refusal(folder.path().string()), "directory"));
}

TEST_CASE("npy: every header cut or garbled at any byte is refused, never misread") {
  const TemporaryDirectory folder;
  write_npy(in(folder, "a.npy"), Array{{2}, {1.0, 2.0}}, DType::float64, Existing::refuse);
  const std::string file = get(in(folder, "a.npy"));
  for (std::size_t cut = 0; cut < file.size(); ++cut) {
    put(in(folder, "b.npy"), file.substr(0, cut));
    CHECK_THROWS_AS(read_npy(in(folder, "b.npy")), UserError);
  }
  for (std::size_t at = 0; at < 60; ++at) {
    std::string garbled = file;
    garbled[at] = '\x7f';
    put(in(folder, "b.npy"), garbled);
    if (at == 7) continue;  // the minor version says nothing we read
    CHECK_THROWS_AS(read_npy(in(folder, "b.npy")), UserError);
  }
}

TEST_CASE("npy: an existing file is kept unless it may be replaced") {
  const TemporaryDirectory folder;
  const std::string path = in(folder, "a.npy");
  write_npy(path, Array{{1}, {1.0}}, DType::float64, Existing::refuse);
  CHECK_THROWS_AS(write_npy(path, Array{{1}, {2.0}}, DType::float64, Existing::refuse), UserError);
  CHECK(read_npy(path).data[0] == 1.0);
  write_npy(path, Array{{1}, {2.0}}, DType::float64, Existing::replace);
  CHECK(read_npy(path).data[0] == 2.0);
}

TEST_CASE("npy: a writer given up half way leaves the old file and no temporary") {
  const TemporaryDirectory folder;
  const std::string path = in(folder, "a.npy");
  write_npy(path, Array{{1}, {1.0}}, DType::float64, Existing::refuse);
  {
    NpyWriter writer(path, {4}, DType::float64, Existing::replace);
    writer.write(std::vector<double>{1.0, 2.0});
    CHECK_THROWS_AS(writer.commit(), InternalError);
  }
  CHECK(read_npy(path).data == std::vector<double>{1.0});
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("npy: a name that appears while a file is written is not written over") {
  const TemporaryDirectory folder;
  const std::string path = in(folder, "a.npy");
  NpyWriter writer(path, {1}, DType::float64, Existing::refuse);
  writer.write(std::vector<double>{1.0});
  put(path, "mine");
  CHECK_THROWS_AS(writer.commit(), UserError);
  CHECK(get(path) == "mine");
}

TEST_CASE("npy: a missing directory is the user's to make") {
  const TemporaryDirectory folder;
  CHECK_THROWS_AS(write_npy(in(folder, "no/such/a.npy"), Array{{1}, {1.0}}, DType::float64, Existing::refuse),
                  UserError);
}

TEST_CASE("npy: written and read in pieces equals written and read whole") {
  const TemporaryDirectory folder;
  std::vector<double> values(300001);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::sin(static_cast<double>(k));
  NpyWriter writer(in(folder, "a.npy"), {300001}, DType::float64, Existing::refuse);
  writer.write(std::span<const double>(values).first(7));
  writer.write(std::span<const double>(values).subspan(7));
  writer.commit();
  NpyReader reader(in(folder, "a.npy"));
  std::vector<double> first(123), rest(values.size() - 123);
  reader.read(first);
  reader.read(rest);
  CHECK_THROWS_AS(reader.read(std::span(first).first(1)), UserError);
  first.insert(first.end(), rest.begin(), rest.end());
  CHECK(first == values);
  CHECK(read_npy(in(folder, "a.npy")).data == values);
}

TEST_CASE("npy: NumPy reads our files, and we read NumPy's, bit for bit") {
  if (std::system("python3 -c 'import numpy' 2>/dev/null") != 0) ONDULA_SKIP("python3 has no numpy here");
  const TemporaryDirectory folder;
  const std::string script =
      "import numpy as np, sys, os\n"
      "d = sys.argv[1]\n"
      "a = np.load(os.path.join(d, 'ours.npy'))\n"
      "k = np.arange(60)\n"
      "assert a.dtype == np.float64 and a.shape == (3, 4, 5) and (a.ravel() == np.sqrt(k)).all()\n"
      "assert np.load(os.path.join(d, 'ours32.npy')).tobytes() == a.astype(np.float32).tobytes()\n"
      "np.save(os.path.join(d, 'c.npy'), a)\n"
      "np.save(os.path.join(d, 'f.npy'), np.asfortranarray(a))\n"
      "np.save(os.path.join(d, 'big.npy'), a.astype('>f8'))\n"
      "np.save(os.path.join(d, 'view.npy'), a[::-1, ::2, ::-2])\n";
  put(in(folder, "check.py"), script);
  Array out{{3, 4, 5}, {}};
  for (int k = 0; k < 60; ++k) out.data.push_back(std::sqrt(k));
  write_npy(in(folder, "ours.npy"), out, DType::float64, Existing::refuse);
  write_npy(in(folder, "ours32.npy"), out, DType::float32, Existing::refuse);
  REQUIRE(std::system(("python3 " + in(folder, "check.py") + " " + folder.path().string()).c_str()) == 0);
  for (const char* name : {"c.npy", "f.npy", "big.npy"}) CHECK(read_npy(in(folder, name)).data == out.data);
  const Array view = read_npy(in(folder, "view.npy"));
  CHECK(view.data == contiguous(StridedView<double>{out.data.data() + 44, {3, 2, 3}, {-20, 10, -2}}).data);
}

TEST_CASE("npy: the Marmousi model is read with its known extremes") {
  const auto path = test::data_path("marmousi/vp.npy");
  if (!path) ONDULA_SKIP("ONDULA_DATA has no marmousi/vp.npy");
  const Array vp = read_npy(path->string());
  REQUIRE(vp.shape == std::vector<std::int64_t>{134, 384});
  CHECK(*std::min_element(vp.data.begin(), vp.data.end()) == 1500.0);
  CHECK(*std::max_element(vp.data.begin(), vp.data.end()) == 5500.0);
  CHECK(vp.data[10 * 384 - 1] == 1500.0);
}
