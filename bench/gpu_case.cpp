// What the parts of the check of a GPU share: the device, compilers, the time that is left, lines of JSON.
// SPDX-License-Identifier: MIT
#include "bench/gpu_case.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "compiler/error.hpp"

namespace ondula::bench {

GpuCase::GpuCase(Backend backend, int device, double seconds)
    : backend_(backend),
      number_(device),
      end_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                  std::chrono::duration<double>(seconds))) {
  const bool stand_in = backend == Backend::cuda_sim;
  const std::string library = stand_in ? cuda::stand_in_library() : cuda::driver_library();
  if (library.empty()) throw RuntimeError("libondula-cuda-sim.so is missing; ONDULA_CUDA_SIM may name it");
  driver_ = cuda::Driver::open(library);
  cuda::require_device(*driver_, device);
  // The stand-in compiles for itself.
  compiler_ = std::make_shared<jit::CudaCompiler>(jit::CacheOptions{}, jit::Log{},
                                                  driver_->stand_in() ? driver_->path() : "");
}

const cuda::DeviceFacts& GpuCase::facts() const { return cuda::require_device(*driver_, number_); }

jit::CudaArchitecture GpuCase::architecture() const {
  return compiler_->architecture_for(facts().major, facts().minor);
}

double GpuCase::left() const {
  return std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
}

std::size_t GpuCase::l2_bytes() const {
  int bytes = 0;
  const auto& functions = driver_->functions();
  cuda::DeviceNumber device = 0;
  if (functions.device_get.function(&device, number_) != cuda::result::success) return 0;
  if (functions.device_attribute.function(&bytes, cuda::attribute::l2_bytes, device) != cuda::result::success)
    return 0;
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

void print_line(const Json& line) {
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace ondula::bench
