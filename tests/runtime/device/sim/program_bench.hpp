// A program's kernels and arrays without an engine: what tests of memory layout and traffic start from.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
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

/// Full arrays filled with noise, halos too, and memory variables that start at 0. Halos are never filled
/// anew, and there are no sources.
class ProgramBench {
 public:
  /// `pitch` > 0: elements from one plane of the slowest axis to the next, in every array; otherwise arrays
  /// lie as the runtime lays them. `count`: sectors, which needs shadow memory of 10 times what is allocated.
  ProgramBench(const ir::CudaProgram& program, std::shared_ptr<sim::Program> kernels,
               const ir::Domain& domain, std::int64_t pitch = 0, bool count = false);

  /// Launches every kernel of a step in its order.
  void step();
  /// Every element of every array of fields, and memory variables, in an order that the pitch does not
  /// change.
  std::map<std::string, std::vector<float>> values() const;
  /// The furthest element from index 0 in any array, for emit::cuda_index_bits.
  std::int64_t largest() const;

  std::int64_t planes = 0;                        ///< that a marching block runs through; 0: as planned
  std::map<std::string, sim::Counters> counters;  ///< by kernel
  std::vector<sim::Finding> findings;

 private:
  struct Array {
    loop::Layout layout;   ///< as the runtime lays it
    std::int64_t shift;    ///< where a plane begins, in elements of `layout`: between two rows' halos
    std::int64_t stretch;  ///< elements that each plane has more
    SparseMemory memory;
  };
  /// Where the array's element `e` is, counted from the one with index 0 on every axis.
  std::int64_t place(const Array& array, std::int64_t e) const;
  float& element(const Array& array, std::int64_t e) const;
  std::int64_t plane_of(const Array& array, std::int64_t e) const;
  Array& add(const loop::ArrayPlan& plan, std::int64_t pitch);
  void fill(const loop::ArrayKey& key, const Array& array) const;
  void launch(const ir::CudaKernel& kernel);
  std::vector<std::byte> arguments(const ir::CudaKernel& kernel, const sim::Kernel& compiled,
                                   std::int64_t marched) const;
  std::byte* pointer(const ir::ArrayArgument& argument) const;
  const Array* find(const ir::ArrayArgument& argument) const;
  std::int64_t stride(const Array& array, int axis) const;

  const ir::CudaProgram& program_;
  std::shared_ptr<sim::Program> kernels_;
  ir::Domain domain_;
  bool count_;
  sim::Shadow shadow_;
  std::map<loop::ArrayKey, Array> arrays_;
  int parity_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace ondula::test
