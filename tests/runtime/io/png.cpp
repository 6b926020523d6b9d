// PNG files: pixels come back, files are whole, the same picture gives the same bytes.
// SPDX-License-Identifier: MIT
#include "runtime/io/png.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "compiler/error.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace ondula;
using namespace ondula::io;
using ondula::test::TemporaryDirectory;

namespace {

Image checkered() {
  Image image(37, 23);
  for (int y = 0; y < 23; ++y)
    for (int x = 0; x < 37; ++x)
      image.set(x, y,
                {static_cast<std::uint8_t>(7 * x), static_cast<std::uint8_t>(11 * y),
                 static_cast<std::uint8_t>(x * y)});
  return image;
}

std::string bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("png: every pixel comes back, and the same picture gives the same bytes") {
  const TemporaryDirectory folder;
  const std::string a = (folder.path() / "a.png").string(), b = (folder.path() / "b.png").string();
  write_png(a, checkered(), Existing::refuse);
  write_png(b, checkered(), Existing::refuse);
  const Image back = read_png(a);
  REQUIRE(back.width() == 37);
  REQUIRE(back.height() == 23);
  CHECK(back.bytes() == checkered().bytes());
  CHECK(bytes(a) == bytes(b));
}

TEST_CASE("png: an existing picture is kept unless it may be replaced; no PNG is no picture") {
  const TemporaryDirectory folder;
  const std::string path = (folder.path() / "a.png").string();
  std::ofstream(path) << "mine";
  CHECK_THROWS_AS(write_png(path, checkered(), Existing::refuse), UserError);
  CHECK_THROWS_AS(read_png(path), UserError);
  write_png(path, checkered(), Existing::replace);
  CHECK(read_png(path).width() == 37);
}

TEST_CASE("image: what is drawn outside is cut off, lines cover what they cross") {
  Image image(20, 20);
  image.fill({-5, -5, 8, 8}, {10, 20, 30});
  CHECK(image.at(2, 2) == Rgb{10, 20, 30});
  CHECK(image.at(3, 3) == Rgb{255, 255, 255});
  image.draw_lines({{{-100.0, 10.5}, {100.0, 10.5}}}, 1.0, {0, 0, 0});
  for (int x = 0; x < 20; ++x) {
    CHECK(image.at(x, 10) == Rgb{0, 0, 0});
    CHECK(image.at(x, 12) == Rgb{255, 255, 255});
  }
  image.draw_lines({{{500.0, 500.0}, {600.0, 700.0}}}, 3.0, {1, 1, 1});
  CHECK(image.at(19, 19) == Rgb{255, 255, 255});
}
