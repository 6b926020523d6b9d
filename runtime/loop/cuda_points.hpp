// Sources and receivers on a CUDA device: tables of taps whose addresses stay from shot to shot.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/points.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/device/cuda/device.hpp"

namespace ondula::loop {

/// Device memory that grows when asked for more and never moves otherwise.
class CudaTable {
 public:
  /// Room for `bytes`; whether the address changed.
  bool reserve(cuda::Device& device, std::size_t bytes);
  template <class T>
  void upload(cuda::Device& device, const std::vector<T>& values) {
    if (!values.empty()) device.upload(buffer_, 0, values.data(), values.size() * sizeof(T));
  }
  cuda::DevicePointer address() const { return cuda::address(buffer_); }

 private:
  device::Buffer buffer_;
};

/// What an injection, or the records of a field, do at each step. `groups` and `taps` are capacities: tables
/// are filled up with groups that have no tap.
struct CudaTaps {
  CudaTable cells, first, weight, of;  ///< of: a tap's source, or a receiver's place in the record
  std::int64_t groups = 0;
  std::int64_t taps = 0;
};

/// How many of everything a shot's points are: injected parts of sources and their taps, parts of receivers
/// and theirs.
struct PointCounts {
  std::size_t sources = 0, source_taps = 0;
  std::size_t rows = 0, row_taps = 0;
};

class CudaPoints {
 public:
  CudaPoints(cuda::Device& device, DType dtype) : device_(device), dtype_(dtype) {}

  /// One deposit: operation `operation` adds `samples` of source `source` to the entries, in order.
  struct Deposit {
    int operation = 0;
    int source = 0;
    std::vector<device::Weighted> to;
  };
  /// One reading of a field: row `place` of the record.
  struct Pickup {
    std::string field;
    std::int64_t place = 0;
    std::vector<device::Weighted> from;
  };

  /// About what set() allocates, where no two taps of sources meet in one cell.
  static std::size_t bytes(DType dtype, const PointCounts& counts);

  /// Takes a shot's points; `rows` readings in all. Returns whether launches made for the points before must
  /// be made anew.
  bool set(const std::vector<Deposit>& deposits, std::size_t sources, const std::vector<Pickup>& pickups,
           std::size_t rows);

  /// By operation, and by field.
  const std::map<int, CudaTaps>& injections() const { return injections_; }
  const std::map<std::string, CudaTaps>& records() const { return records_; }
  /// The lengths of a step's row of samples, and of a record's row.
  std::int64_t sources() const { return sources_; }
  std::int64_t rows() const { return rows_; }

 private:
  bool fill_injection(CudaTaps& taps, const std::vector<const Deposit*>& deposits);
  bool fill_record(CudaTaps& taps, const std::vector<const Pickup*>& pickups);
  bool reserve(CudaTaps& taps, std::size_t groups, std::size_t count, std::size_t weight_bytes,
               std::size_t of_bytes, bool of_taps);
  void upload_weights(CudaTaps& taps, const std::vector<double>& weights, bool wide);

  cuda::Device& device_;
  DType dtype_;
  std::map<int, CudaTaps> injections_;
  std::map<std::string, CudaTaps> records_;
  std::int64_t sources_ = 0, rows_ = 0;
};

}  // namespace ondula::loop
