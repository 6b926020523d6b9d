// Steps on a CUDA device: graphs of many steps, and what flows in and out of them while they run.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/ir/points.hpp"
#include "runtime/device/cuda/device.hpp"
#include "runtime/loop/cuda_points.hpp"
#include "runtime/loop/cuda_step.hpp"
#include "runtime/loop/watch.hpp"

namespace ondula::loop {

/// One copy on the device.
struct CudaCopy {
  cuda::DevicePointer to = 0, from = 0;
  std::size_t bytes = 0;
};

/// What changes from step to step of a run with a history; steps are counted from the run's first.
class CudaSlots {
 public:
  virtual ~CudaSlots() = default;
  /// Puts the addresses of a step's slots into its launches.
  virtual void bind(CudaStep& step, std::int64_t number) const = 0;
  /// What is copied after a step that left the present to `parity`.
  virtual std::vector<CudaCopy> copies(std::int64_t number, int parity) const = 0;
  /// Steps that are enqueued at once, at most.
  virtual std::int64_t most() const { return std::numeric_limits<std::int64_t>::max(); }
  /// Around the enqueueing of so many steps.
  virtual void begin(std::int64_t /*number*/, std::int64_t /*count*/) const {}
  virtual void end(std::int64_t /*number*/, std::int64_t /*count*/) const {}
};

/// The wavelets of the shots that run, and where their record's places go.
struct CudaSeries {
  std::int64_t shots = 1;
  std::vector<std::vector<double>> sources;  ///< samples of each
  std::vector<std::size_t> receivers;        ///< whose sample a place of the record adds to, in order
  std::size_t count = 0;                     ///< of receivers
};

/// Runs steps in chunks, two at most under way: while one is computed the samples of the next go up and the
/// records of the one before come down, on streams of their own. The host waits for the chunk before the
/// last.
class CudaStepper {
 public:
  /// `alternate`: the present changes places with every step. `graphs`: steps are captured.
  CudaStepper(cuda::Device& device, const cuda::LoadedModule& module, DType dtype, bool alternate,
              bool graphs);
  ~CudaStepper();

  /// Room for chunks of steps of which every `every`-th is sampled, in rows of so many. Returns whether
  /// addresses changed: then the launches have to be made again.
  bool reserve(std::int64_t every, std::int64_t sources, std::int64_t rows);
  /// What reserve() and the constructor allocate.
  static std::size_t bytes(DType dtype, std::int64_t every, std::int64_t sources, std::int64_t rows);
  void set_series(CudaSeries series);
  /// The launches of a step from either parity; graphs of others are dropped.
  void set_steps(std::array<CudaStep, 2> steps);

  /// Steps first to first + count - 1 from `parity`; returns the parity after them.
  int run(std::int64_t first, std::int64_t count, std::int64_t every, int parity, const Watch& watch,
          const CudaSlots* slots = nullptr);
  /// Waits for what is under way and tells it.
  void finish(const Watch& watch);
  /// Waits for what is under way and forgets it.
  void drop();

  cuda::DevicePointer clock() const { return cuda::address(clock_); }
  cuda::DevicePointer samples() const { return samples_.address(); }
  cuda::DevicePointer record() const { return record_.address(); }
  /// Samples that one chunk holds.
  std::int64_t chunk_samples() const { return chunk_rows_; }

 private:
  struct Half {
    cuda::OwnedPinned samples, record;
    cuda::OwnedEvent fed, computed, done;
    bool pending = false;
    bool recorded = false;
    std::int64_t first = 0, rows = 0, every = 1;
  };

  /// A stretch of steps without a pause: what its graph depends on, and the number of its first step.
  struct Block {
    std::int64_t count = 0, every = 1;
    int parity = 0;
    bool recorded = false;
    const CudaSlots* slots = nullptr;
    std::int64_t number = 0;
    std::int64_t phase = 0;  ///< steps since the last sampled one
    int parity_after(std::int64_t steps, bool alternate) const {
      return alternate && steps % 2 != 0 ? 1 - parity : parity;
    }
  };
  /// Shots, steps, parity, recorded, every, phase, and the addresses of slots that it uses, in order.
  using GraphKey = std::tuple<std::int64_t, std::int64_t, int, bool, std::int64_t, std::int64_t,
                              std::vector<cuda::DevicePointer>>;

  void set_clock(std::int64_t step, std::int64_t record, std::int64_t samples);
  void feed(Half& half, std::int64_t place, std::int64_t first, std::int64_t count);
  void fetch(Half& half, std::int64_t place);
  void run_block(const Block& block);
  GraphKey key_of(const Block& block);
  cuda::GraphExec graph_of(const Block& block);
  void enqueue(const CudaStep& step, std::int64_t offset, std::int64_t row, cuda::Stream stream) const;
  void collect(Half& half, const Watch& watch);
  cuda::OwnedGraphExec captured(const Block& block);
  void each_step(const Block& block, cuda::Stream stream);

  cuda::Device& device_;
  std::shared_ptr<cuda::Session> session_;
  bool wide_;
  bool alternate_, graphs_;
  cuda::Function set_clock_ = nullptr;
  device::Buffer clock_;
  CudaTable samples_, record_;
  std::int64_t chunk_ = 0;                          // steps
  std::int64_t chunk_rows_ = 0;                     // of the record
  std::int64_t sources_ = 0, rows_ = 0;             // lengths of a row
  std::size_t samples_room_ = 0, record_room_ = 0;  // bytes of pinned halves
  std::int64_t samples_end_ = 0;                    // steps that have samples
  CudaSeries series_;
  std::array<CudaStep, 2> steps_;
  std::map<GraphKey, cuda::OwnedGraphExec> execs_;  ///< none yet: met once
  cuda::OwnedStream up_, down_;
  std::array<Half, 2> halves_;
  std::size_t next_ = 0;
  std::vector<double> told_;
};

}  // namespace ondula::loop
