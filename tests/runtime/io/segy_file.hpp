// SEG-Y and SU files built byte by byte for tests, in either byte order, with any word set to anything.
// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/io/segy.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ondula::segy_test {

using test::check_mentions;
using test::refusal;

/// A header: words by their first byte, from 1 as the standard counts.
class Words {
 public:
  Words(std::size_t bytes, int first, bool big) : bytes_(bytes, '\0'), first_(first), big_(big) {}
  Words& set16(int byte, int value) { return put(byte, static_cast<std::uint32_t>(value), 2); }
  Words& set32(int byte, std::int64_t value) { return put(byte, static_cast<std::uint32_t>(value), 4); }
  Words& set_float(int byte, float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return put(byte, bits, 4);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Words& put(int byte, std::uint32_t value, int width) {
    for (int i = 0; i < width; ++i) {
      const int shift = 8 * (big_ ? width - 1 - i : i);
      bytes_[static_cast<std::size_t>(byte - first_ + i)] = static_cast<char>(value >> shift & 0xff);
    }
    return *this;
  }
  std::string bytes_;
  int first_;
  bool big_;
};

/// A file in the making. Trace headers say `samples` and 2000 µs, coordinates as `header` sets them.
struct FileText {
  bool big = true;
  bool su = false;
  int format = 5;
  int width = 4;
  int samples = 4;
  int traces = 3;
  std::function<void(Words&)> binary = [](Words&) {};
  std::function<void(Words&, int)> header = [](Words&, int) {};
  /// The bits of a sample.
  std::function<std::uint32_t(int, int)> sample = [](int trace, int i) {
    const auto value = static_cast<float>(1.5 * trace - 0.25 * i);
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits;
  };

  std::string bytes() const {
    std::string all;
    if (!su) {
      Words file(400, 3201, big);
      file.set16(3217, 2000).set16(3221, samples).set16(3225, format).set16(3255, 1);
      binary(file);
      all = std::string(3200, ' ') + file.bytes();
    }
    for (int trace = 0; trace < traces; ++trace) {
      Words words(240, 1, big);
      words.set32(9, 1).set32(13, trace + 1).set16(29, 1).set16(115, samples).set16(117, 2000);
      header(words, trace);
      all += words.bytes();
      for (int i = 0; i < samples; ++i) {
        Words item(static_cast<std::size_t>(width), 1, big);
        const std::uint32_t bits = sample(trace, i);
        if (width == 4) item.set32(1, static_cast<std::int32_t>(bits));
        if (width == 2) item.set16(1, static_cast<int>(bits));
        all += width == 1 ? std::string(1, static_cast<char>(bits)) : item.bytes();
      }
    }
    return all;
  }
};

/// A file on disk for as long as the object lives.
class FileOnDisk {
 public:
  explicit FileOnDisk(const std::string& bytes, const std::string& name = "traces.segy")
      : path_((folder_.path() / name).string()) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  explicit FileOnDisk(const FileText& text, const std::string& name = "")
      : FileOnDisk(text.bytes(), name.empty() ? (text.su ? "traces.su" : "traces.segy") : name) {}
  const std::string& path() const { return path_; }

 private:
  ondula::test::TemporaryDirectory folder_;
  std::string path_;
};

/// All texts in one.
inline std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return all;
}

/// One trace.
inline std::vector<double> samples_of(io::TraceReader& reader, std::int64_t trace) {
  std::vector<double> samples(static_cast<std::size_t>(reader.layout().samples));
  reader.read(trace, samples);
  return samples;
}

}  // namespace ondula::segy_test
