// PNG files of RGB pictures.
// SPDX-License-Identifier: MIT
#include "runtime/io/png.hpp"

#include <fmt/format.h>
#include <png.h>

#include <cstddef>
#include <vector>

#include "compiler/error.hpp"

namespace ondula::io {

namespace {

/// libpng's simplified interface, released on every path.
struct PngImage {
  png_image image{};
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

}  // namespace

void write_png(const std::string& path, const Image& image, Existing existing) {
  AtomicFile file(path, existing);
  PngImage png;
  png.image.width = static_cast<png_uint_32>(image.width());
  png.image.height = static_cast<png_uint_32>(image.height());
  png.image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png.image);
  std::vector<std::byte> encoded(size);
  if (png_image_write_to_memory(&png.image, encoded.data(), &size, 0, image.bytes().data(), 0, nullptr) == 0)
    throw RuntimeError(fmt::format("writing {} failed: libpng: {}", path, png.image.message));
  file.write(std::span(encoded).first(size));
  file.commit();
}

Image read_png(const std::string& path) {
  PngImage png;
  if (png_image_begin_read_from_file(&png.image, path.c_str()) == 0)
    throw UserError(fmt::format("cannot read {} as PNG: {}", path, png.image.message));
  png.image.format = PNG_FORMAT_RGB;
  Image image(static_cast<int>(png.image.width), static_cast<int>(png.image.height));
  std::vector<std::uint8_t> bytes(PNG_IMAGE_SIZE(png.image));
  const png_color white{255, 255, 255};
  if (png_image_finish_read(&png.image, &white, bytes.data(), 0, nullptr) == 0)
    throw UserError(fmt::format("cannot read {} as PNG: {}", path, png.image.message));
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const std::size_t k = 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width()) +
                                 static_cast<std::size_t>(x));
      image.set(x, y, {bytes[k], bytes[k + 1], bytes[k + 2]});
    }
  return image;
}

}  // namespace ondula::io
