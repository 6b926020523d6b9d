// A program's kernels and arrays without an engine: what tests of memory layout and traffic start from.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/dsl/dsl.hpp"
#include "compiler/emit/cuda_launch.hpp"
#include "compiler/ir/cuda.hpp"
#include "compiler/ir/domain.hpp"
#include "runtime/device/sim/executor.hpp"
#include "runtime/device/sim/shadow.hpp"
#include "runtime/loop/arrays.hpp"

namespace ondula::test {

/// The forward kernels of `equation`, for default axes and float32 unless `target` says otherwise.
ir::CudaProgram cuda_program(const EquationDefinition& equation, int dims, int order,
                             const ir::CudaTarget& target);

/// Zeros from a mapping that takes memory only where it is touched.
class SparseMemory {
 public:
  /// Throws std::bad_alloc where so many addresses cannot be had.
  explicit SparseMemory(std::size_t bytes);
  SparseMemory(SparseMemory&& other) noexcept;
  SparseMemory& operator=(SparseMemory&&) = delete;
  ~SparseMemory();
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

/// How a ProgramBench lays its arrays and runs its launches.
struct BenchOptions {
  /// > 0: elements from one plane of the slowest axis to the next, in every array; otherwise arrays lie as
  /// the runtime lays them.
  std::int64_t pitch = 0;
  sim::Mode mode = sim::Mode::fast;
  bool count = false;  ///< sectors
  /// The only part of full arrays that holds something: 1 now, 0.5 before, 0 in coefficients; profiles are
  /// not filled. Without it all of them hold noise.
  std::optional<ir::Box> window;
  int multiprocessors = 1;
  std::int64_t planes = 0;  ///< that a marching block runs through; 0: as planned
};

/// Arrays that take memory only where they are touched, halos filled once for all, memory variables 0 at
/// first; no sources.
class ProgramBench {
 public:
  ProgramBench(const ir::CudaProgram& program, std::shared_ptr<sim::Program> kernels,
               const ir::Domain& domain, BenchOptions options = {});

  /// Launches every kernel of a step in its order.
  void step();
  /// Launches some blocks of one kernel, all of them where none is named.
  void launch(const ir::CudaKernel& kernel, const std::vector<std::uint64_t>& blocks = {});
  emit::CudaLaunch plan(const ir::CudaKernel& kernel) const;
  /// The field's entry at a point of the padded grid: of the level now, or of the one before or next.
  float value(const std::string& field, int slot, const ir::Extents& index) const;
  /// Every element of every array of fields, and memory variables, in an order that the pitch does not
  /// change.
  std::map<std::string, std::vector<float>> values() const;
  /// The furthest element from index 0 in any array, for emit::cuda_index_bits.
  std::int64_t largest() const;

  std::map<std::string, sim::Counters> counters;  ///< by kernel
  std::vector<sim::Finding> findings;

 private:
  struct Array {
    loop::Layout layout;   ///< as the runtime lays it
    std::int64_t shift;    ///< where a plane begins, in elements of `layout`: between two rows' halos
    std::int64_t stretch;  ///< elements that each plane has more
    std::int64_t before;   ///< planes before the one of index 0; < 0 where the array begins later
    SparseMemory memory;
    std::uint64_t begin() const;  ///< where element 0 is
  };
  /// body(e, count) for runs of elements that lie side by side.
  template <class F>
  void each_run(const Array& array, const F& body) const;
  /// Where the array's element `e` is, and the one with index 0 on every axis, which may not exist.
  std::int64_t place(const Array& array, std::int64_t e) const;
  static std::int64_t origin(const Array& array);
  float& element(const Array& array, std::int64_t e) const;
  std::int64_t plane_of(const Array& array, std::int64_t e) const;
  Array& add(const loop::ArrayPlan& plan);
  void fill(const loop::ArrayKey& key, const Array& array);
  void fill_window(const loop::ArrayKey& key, const Array& array);
  void wrote(const Array& array, std::int64_t e, std::int64_t count);
  std::vector<std::byte> arguments(const ir::CudaKernel& kernel, const sim::Kernel& compiled,
                                   std::int64_t marched) const;
  std::byte* pointer(const ir::ArrayArgument& argument) const;
  const Array* find(const ir::ArrayArgument& argument) const;
  std::int64_t stride(const Array& array, int axis) const;

  const ir::CudaProgram& program_;
  std::shared_ptr<sim::Program> kernels_;
  ir::Domain domain_;
  BenchOptions options_;
  sim::Shadow shadow_;
  std::map<loop::ArrayKey, Array> arrays_;
  int parity_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace ondula::test
