// A text, its memory and its launches: what tests of single kernels on the stand-in's executor start from.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/sim/executor.hpp"
#include "runtime/device/sim/shadow.hpp"

namespace ondula::test {

/// Compiles a text and runs its kernels one at a time. Memory lies 64 bytes from its neighbours at least.
class Bench {
 public:
  Bench(const std::string& text, sim::Mode mode, std::uint64_t seed = 1, sim::Order order = {});

  /// Device memory that holds NaN, nothing of it written.
  std::uint64_t allocate(std::size_t bytes);
  template <class T>
  std::uint64_t array(const std::vector<T>& values) {
    const std::uint64_t address = allocate(values.size() * sizeof(T));
    std::memcpy(reinterpret_cast<void*>(address), values.data(), values.size() * sizeof(T));
    shadow.wrote(address, values.size() * sizeof(T), 0, "the host", findings);
    return address;
  }
  template <class T>
  std::vector<T> read(std::uint64_t address, std::size_t count) const {
    const auto* begin = reinterpret_cast<const T*>(address);
    return {begin, begin + count};
  }

  /// Launches with the arguments given, each of the parameter's own size.
  template <class... A>
  void run(const std::string& kernel, unsigned blocks, unsigned threads, A... arguments) {
    const std::array<void*, sizeof...(A)> pointers = {&arguments...};
    launch(kernel, {blocks, 1, 1}, {threads, 1, 1}, pointers.data(), pointers.size());
  }
  void launch(const std::string& kernel, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
              void* const* arguments, std::size_t count);

  std::shared_ptr<sim::Program> program;
  sim::Shadow shadow;
  sim::RunOptions options;
  sim::Counters counters;
  std::vector<sim::Finding> findings;
  std::uint64_t operation = 0;  ///< of the last launch; each counts one up

 private:
  struct Free {
    void operator()(void* data) const;
  };
  std::vector<std::unique_ptr<void, Free>> memory_;
};

}  // namespace ondula::test
