// Reading and writing NumPy's .npy files (format versions 1.0 to 3.0).
// SPDX-License-Identifier: MIT
#include "runtime/io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <utility>

#include "compiler/error.hpp"
#include "runtime/io/npy_header.hpp"

namespace ondula::io {

namespace {

constexpr std::int64_t piece = 1 << 18;  // numbers decoded at once: bounds the memory beside the result

/// The C-ordered data of an array stored with its first axis fastest.
std::vector<double> from_fortran_order(std::span<const std::int64_t> shape,
                                       const std::vector<double>& stored) {
  StridedView<double> view{
      stored.data(), {shape.begin(), shape.end()}, std::vector<std::int64_t>(shape.size())};
  std::exclusive_scan(shape.begin(), shape.end(), view.strides.begin(), std::int64_t{1}, std::multiplies<>());
  return contiguous(view).data;
}

std::vector<std::byte> little_endian_bytes(const void* data, std::size_t count, std::size_t width) {
  std::vector<std::byte> bytes(count * width);
  if (!bytes.empty()) std::memcpy(bytes.data(), data, bytes.size());
  if constexpr (std::endian::native == std::endian::big)
    for (std::size_t k = 0; k < count; ++k)
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(k * width),
                   bytes.begin() + static_cast<std::ptrdiff_t>((k + 1) * width));
  return bytes;
}

template <class T>
void write_whole(const std::string& path, std::span<const std::int64_t> shape, std::span<const T> values,
                 DType dtype, Existing existing) {
  if (element_count(shape) != static_cast<std::int64_t>(values.size()))
    throw UserError(fmt::format("{}: shape {} needs {} numbers, {} were given", path, shape_text(shape),
                                element_count(shape), values.size()));
  NpyWriter writer(path, {shape.begin(), shape.end()}, dtype, existing);
  writer.write(values);
  writer.commit();
}

}  // namespace

NpyReader::NpyReader(std::string path) : path_(std::move(path)), stream_(path_, std::ios::binary) {
  std::error_code error;
  if (std::filesystem::is_directory(path_, error))
    throw UserError(fmt::format("cannot read {}: it is a directory, not a .npy file", path_));
  if (!stream_) throw UserError(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
  header_ = parse_npy_header(stream_, path_);
  left_ = element_count(header_.shape);
  const std::int64_t expected = left_ * header_.format.bytes;
  stream_.seekg(0, std::ios::end);
  const std::int64_t found = static_cast<std::int64_t>(stream_.tellg()) - header_.data_offset;
  if (found != expected)
    throw UserError(
        fmt::format("{} is {}: its header says {} {}, which takes {} bytes after the header; found {}", path_,
                    found < expected ? "truncated" : "longer than its header says",
                    dtype_name(header_.format), shape_text(header_.shape), expected, found));
  stream_.seekg(header_.data_offset);
}

void NpyReader::read(std::span<double> out) {
  if (static_cast<std::int64_t>(out.size()) > left_)
    throw UserError(fmt::format("{}: {} numbers asked for, {} are left of {}", path_, out.size(), left_,
                                shape_text(header_.shape)));
  std::vector<std::byte> bytes;
  while (!out.empty()) {
    const std::size_t count = std::min<std::size_t>(out.size(), piece);
    bytes.resize(count * static_cast<std::size_t>(header_.format.bytes));
    if (!stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
      throw RuntimeError(fmt::format("reading {} failed: {}", path_, std::strerror(errno)));
    decode(bytes, header_.format, out.first(count));
    out = out.subspan(count);
    left_ -= static_cast<std::int64_t>(count);
  }
}

NpyWriter::NpyWriter(const std::string& path, std::vector<std::int64_t> shape, DType dtype, Existing existing)
    : file_(path, existing), dtype_(dtype), left_(element_count(shape)) {
  const std::string header = npy_header_text(shape, dtype);
  file_.write(std::as_bytes(std::span(header.data(), header.size())));
}

template <class To, class From>
void NpyWriter::append(std::span<const From> values) {
  if (static_cast<std::int64_t>(values.size()) > left_)
    throw InternalError(
        fmt::format("{}: {} numbers written, {} are left", file_.path(), values.size(), left_));
  left_ -= static_cast<std::int64_t>(values.size());
  std::vector<To> rounded;
  while (!values.empty()) {
    const auto part = values.first(std::min<std::size_t>(values.size(), piece));
    rounded.resize(part.size());
    std::transform(part.begin(), part.end(), rounded.begin(),
                   [](From value) { return static_cast<To>(value); });
    file_.write(little_endian_bytes(rounded.data(), rounded.size(), sizeof(To)));
    values = values.subspan(part.size());
  }
}

void NpyWriter::write(std::span<const float> values) {
  dtype_ == DType::float32 ? append<float>(values) : append<double>(values);
}

void NpyWriter::write(std::span<const double> values) {
  dtype_ == DType::float32 ? append<float>(values) : append<double>(values);
}

void NpyWriter::commit() {
  if (left_ != 0)
    throw InternalError(fmt::format("{}: committed with {} numbers missing", file_.path(), left_));
  file_.commit();
}

Array read_npy(const std::string& path) {
  NpyReader reader(path);
  Array array{reader.header().shape, {}};
  array.data.resize(static_cast<std::size_t>(element_count(array.shape)));
  reader.read(array.data);
  if (reader.header().fortran_order && array.shape.size() > 1)
    array.data = from_fortran_order(array.shape, array.data);
  return array;
}

void write_npy(const std::string& path, const Array& array, DType dtype, Existing existing) {
  write_whole(path, array.shape, std::span<const double>(array.data), dtype, existing);
}

void write_npy(const std::string& path, std::span<const std::int64_t> shape, std::span<const float> values,
               Existing existing) {
  write_whole(path, shape, values, DType::float32, existing);
}

void write_npy(const std::string& path, std::span<const std::int64_t> shape, std::span<const double> values,
               Existing existing) {
  write_whole(path, shape, values, DType::float64, existing);
}

}  // namespace ondula::io
