// Reading and writing NumPy's .npy files (format versions 1.0 to 3.0).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "runtime/io/array.hpp"
#include "runtime/io/atomic_file.hpp"
#include "runtime/io/number_format.hpp"
#include "runtime/types.hpp"

namespace ondula::io {

/// What the header of a .npy file says.
struct NpyHeader {
  NumberFormat format;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::int64_t data_offset = 0;  ///< bytes before the first number
};

/// Reads a .npy file piece by piece, so that an array larger than memory can be passed through.
class NpyReader {
 public:
  /// Opens the file and reads its header. Throws UserError where it cannot be opened, is no .npy file, holds
  /// what is not a real number (objects, complex numbers, strings, records), or has another byte count than
  /// its header says.
  explicit NpyReader(std::string path);
  /// What the header says.
  const NpyHeader& header() const noexcept { return header_; }
  /// The next out.size() numbers in the file's own order. Throws UserError past the end of the array.
  void read(std::span<double> out);

 private:
  std::string path_;
  std::ifstream stream_;
  NpyHeader header_;
  std::int64_t left_ = 0;
};

/// Writes a .npy file of float32 or float64 piece by piece, in C order, little-endian, as a whole file or
/// none.
class NpyWriter {
 public:
  /// Starts a file of the given shape. Throws as AtomicFile does.
  NpyWriter(const std::string& path, std::vector<std::int64_t> shape, DType dtype, Existing existing);
  /// The next numbers in C order, rounded to the file's type. Throws InternalError past the shape's count.
  void write(std::span<const float> values);
  void write(std::span<const double> values);
  /// Publishes the file. Throws InternalError where numbers are missing, and as AtomicFile does.
  void commit();

 private:
  template <class To, class From>
  void append(std::span<const From> values);

  AtomicFile file_;
  DType dtype_;
  std::int64_t left_;
};

/// Reads a whole .npy file of any real or integer type to float64 in C order (Fortran order is transposed).
/// Throws as NpyReader does.
Array read_npy(const std::string& path);

/// Writes an array as float32 or float64. Throws as NpyWriter does.
void write_npy(const std::string& path, const Array& array, DType dtype, Existing existing);

/// Writes C-ordered numbers of the given shape in their own type. Throws UserError where the count does not
/// fit.
void write_npy(const std::string& path, std::span<const std::int64_t> shape, std::span<const float> values,
               Existing existing);
void write_npy(const std::string& path, std::span<const std::int64_t> shape, std::span<const double> values,
               Existing existing);

}  // namespace ondula::io
