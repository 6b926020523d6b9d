// What the tuner measured for one CUDA program on one device, and its bytes beside the cache's entries.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiler/passes/cuda_schedule.hpp"

namespace ondula::jit {

/// What a record holds for, and for nothing else.
struct TuningSubject {
  /// The key of the program's cache entry at the table's shapes: of its text (type, index width and table
  /// included), options, architecture, NVRTC and Ondula.
  std::string program;
  std::string device;  ///< the driver's name of it
  int multiprocessors = 0;
  std::string driver;  ///< the newest CUDA that the driver supports, "13.0"
  std::string grid;    ///< the class of its size, as grid_class() says
  friend bool operator==(const TuningSubject&, const TuningSubject&) = default;
};

/// One shape of one kernel.
struct TunedCandidate {
  passes::CudaShape shape;
  double seconds = 0;   ///< of one launch, the median over rounds; 0 where it was not timed
  std::string refused;  ///< why it was not; empty where it was
};

/// A kernel's candidates, the table's first, and which of them is the one to take.
struct TunedKernel {
  std::string name;
  std::size_t chosen = 0;
  std::vector<TunedCandidate> candidates;
};

struct TuningRecord {
  TuningSubject subject;
  std::string equation, architecture, nvrtc, created;  ///< for whoever reads it
  std::vector<TunedKernel> kernels;

  /// The chosen shapes.
  passes::CudaShapes shapes() const;
};

/// Version of the record's layout and of what the tuner does; part of every key.
inline constexpr unsigned tuning_format = 1;

/// The name of the record's file in the cache: 32 hexadecimal digits.
std::string tuning_key(const TuningSubject& subject);

/// One line of JSON with a checksum over all the rest.
std::string encode_record(const TuningRecord& record);

/// The inverse. Throws InternalError saying what is damaged. Whether the shapes fit is for the tuner to see.
TuningRecord decode_record(std::span<const std::byte> file);

/// Padded points of each axis in powers of two: "z 128, x 512" for 128 to 255 and 512 to 1023.
std::string grid_class(const std::vector<std::string>& axes, const std::vector<std::int64_t>& totals);

}  // namespace ondula::jit
