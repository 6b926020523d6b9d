// The part of CUDA's runtime that generated sources use, on the CPU: a launch runs its threads one after the
// other. SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned along_x = 1, unsigned along_y = 1, unsigned along_z = 1)
      : x(along_x), y(along_y), z(along_z) {}
};

inline dim3 gridDim, blockDim, blockIdx, threadIdx;

inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
using cudaStream_t = struct stand_in_stream*;

inline const char* cudaGetErrorString(cudaError_t) { return "an error of the stand-in"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }

inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 3;
  return cudaSuccess;
}

/// Fresh memory holds NaN, so that what nobody wrote is seen.
inline cudaError_t cudaMalloc(void** block, std::size_t bytes) {
  *block = std::malloc(bytes);
  if (*block == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*block, 0xff, bytes);
  return cudaSuccess;
}

inline cudaError_t cudaFree(void* block) {
  std::free(block);
  return cudaSuccess;
}

inline cudaError_t cudaMemset(void* block, int value, std::size_t bytes) {
  std::memset(block, value, bytes);
  return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

/// What kernel<<<grid, block, shared, stream>>> stands for; called with the kernel's arguments.
template <class Kernel>
struct StandInLaunch {
  Kernel* kernel;
  dim3 grid, block;

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    gridDim = grid;
    blockDim = block;
    for (unsigned b = 0; b < grid.x * grid.y * grid.z; ++b) {
      blockIdx = {b % grid.x, b / grid.x % grid.y, b / (grid.x * grid.y)};
      for (unsigned t = 0; t < block.x * block.y * block.z; ++t) {
        threadIdx = {t % block.x, t / block.x % block.y, t / (block.x * block.y)};
        kernel(arguments...);
      }
    }
  }
};

template <class Kernel>
StandInLaunch<Kernel> stand_in_launch(Kernel* kernel, dim3 grid, dim3 block, int, cudaStream_t) {
  return {kernel, grid, block};
}
