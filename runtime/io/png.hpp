// PNG files of RGB pictures.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "runtime/io/atomic_file.hpp"
#include "runtime/io/image.hpp"

namespace ondula::io {

/// Writes a picture as an 8-bit RGB PNG, as a whole file or none; the same picture gives the same bytes.
/// Throws as AtomicFile does, and RuntimeError where libpng fails.
void write_png(const std::string& path, const Image& image, Existing existing);

/// Reads a PNG of any kind as RGB. Throws UserError where it is no PNG file.
Image read_png(const std::string& path);

}  // namespace ondula::io
