// What a GPU's memory gives: the driver's copy, and a kernel of three reads and one in-place write.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>

#include "bench/gpu_parts.hpp"
#include "compiler/emit/cuda_manifest.hpp"

namespace ondula::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* pattern_text = R"(
extern "C" __global__ void __launch_bounds__(256) ondula_pattern(float* w, const float* a, const float* b, int count) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) w[i] = __fmaf_rn(b[i], 0.25f, a[i]) - w[i];
}
)";

/// The least seconds of one of `count` enqueued at once, over five rounds after one that is not counted.
double best_seconds(cuda::Device& device, int count, const std::function<void()>& enqueue) {
  double best = 1e300;
  for (int round = 0; round < 6; ++round) {
    device.synchronize();
    const auto begin = Clock::now();
    for (int k = 0; k < count; ++k) enqueue();
    device.synchronize();
    if (round > 0) best = std::min(best, seconds_since(begin) / count);
  }
  return best;
}

}  // namespace

void measure_copy(const GpuCase& gpu, bool quick) {
  cuda::DeviceOptions options;
  options.driver = gpu.driver();
  options.number = gpu.number();
  cuda::Device device(options);
  const cuda::Scope scope(*device.session());
  std::size_t free = 0, total = 0;
  device.session()->call(gpu.driver()->functions().memory_info, &free, &total);
  const std::size_t most = quick ? 1U << 22U : 1U << 28U;  // 16 MiB or 1 GiB an array
  const std::size_t count = std::min(most, free / (4 * sizeof(float)) / 256 * 256);
  const std::size_t bytes = count * sizeof(float);
  std::array<device::Buffer, 3> arrays;
  for (device::Buffer& array : arrays) {
    array = device.allocate(bytes);
    device.fill_zero(array);
  }
  const int launches = quick ? 3 : 20;
  const double copy = best_seconds(device, launches, [&] { device.copy(arrays[0], arrays[1]); });

  jit::KernelSource source;
  source.text = pattern_text;
  source.equation = "pattern";
  const auto module = device.load(*gpu.compiler()->compile(source, gpu.architecture()));
  cuda::KernelLaunch launch;
  launch.function = module->function("ondula_pattern");
  launch.block = {256, 1, 1};
  launch.grid = {static_cast<std::uint32_t>((count + 255) / 256), 1, 1};
  for (const device::Buffer& array : arrays) launch.add(cuda::address(array));
  launch.add(static_cast<std::int32_t>(count));
  const double pattern = best_seconds(device, launches, [&] { device.enqueue(launch, device.stream()); });
  print_line({{"part", "copy"},
              {"array_bytes", bytes},
              {"copy_gb_s", 2e-9 * static_cast<double>(bytes) / copy},
              {"pattern_gb_s", 4e-9 * static_cast<double>(bytes) / pattern}});
}

}  // namespace ondula::bench
