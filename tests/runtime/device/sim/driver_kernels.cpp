// The stand-in driver: texts compiled, loaded and launched through its entry points.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/runtime/device/sim/sim_driver.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

const std::string text = R"(
extern "C" __global__ void __launch_bounds__(64) scale(float* a, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * factor;
}
extern "C" __global__ void add(float* to, const float* from, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) to[i] = to[i] + from[i];
}
)";

constexpr int n = 100;

cuda::Result scale(const SimDriver& sim, cuda::Function function, cuda::DevicePointer a, float factor,
                   cuda::Stream stream) {
  int count = n;
  void* arguments[] = {&a, &factor, &count};
  return sim.launch(function, 4, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
}

}  // namespace

TEST_CASE("cuda-sim driver: a kernel is compiled, loaded and launched in every mode") {
  for (const int mode : sim_modes) {
    const SimDriver sim({.mode = mode, .seed = 4});
    const cuda::Function function = sim.kernel(text, "scale");
    const cuda::DevicePointer a = sim.allocate_bytes(n * sizeof(float));
    const cuda::Stream stream = sim.stream();
    std::vector<float> values(n, 3.0F);
    CHECK(sim.copy_to_device(a, values.data(), n * sizeof(float), stream) == 0);
    CHECK(scale(sim, function, a, 2.0F, stream) == 0);
    CHECK(sim.copy_to_host(values.data(), a, n * sizeof(float), stream) == cuda::result::success);
    CHECK(sim.stream_synchronize(stream) == 0);
    CHECK(values == std::vector<float>(n, 6.0F));
    CHECK(sim.report().empty());
  }
}

TEST_CASE("cuda-sim driver: a captured launch keeps its arguments' values, not what they point to") {
  for (const int mode : sim_modes) {
    const SimDriver sim({.mode = mode});
    const cuda::Function function = sim.kernel(text, "scale");
    const cuda::DevicePointer a = sim.allocate_bytes(n * sizeof(float));
    const cuda::Stream stream = sim.stream();
    std::vector<float> in(n, 1.0F), out(n);
    REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
    for (int i = 0; i < 3; ++i) CHECK(scale(sim, function, a, static_cast<float>(i + 1), stream) == 0);
    const cuda::GraphExec exec = sim.captured(stream);
    CHECK(sim.copy_to_device(a, in.data(), n * sizeof(float), stream) == 0);
    for (int round = 0; round < 2; ++round) CHECK(sim.graph_launch(exec, stream) == 0);
    CHECK(sim.copy_to_host(out.data(), a, n * sizeof(float), stream) == 0);
    CHECK(sim.stream_synchronize(stream) == 0);
    CHECK(out == std::vector<float>(n, 36.0F));
    CHECK(sim.report().empty());
  }
}

TEST_CASE("cuda-sim driver: launches of a wrong shape, without arguments or with stale handles are refused") {
  const SimDriver sim;
  const std::vector<char> binary = sim.compile(text);
  cuda::Module module = nullptr;
  cuda::Function function = nullptr, other = nullptr;
  REQUIRE(sim.module_load(&module, binary.data(), 0, nullptr, nullptr) == 0);
  CHECK(sim.module_function(&function, module, "nothing") == cuda::result::not_found);
  REQUIRE(sim.module_function(&function, module, "scale") == 0);
  REQUIRE(sim.module_function(&other, module, "add") == 0);
  cuda::DevicePointer a = sim.allocate_bytes(n * sizeof(float));
  float factor = 1;
  int count = 0;
  void* arguments[] = {&a, &factor, &count};
  const auto launch = [&](unsigned x, unsigned y, unsigned z, unsigned block, unsigned shared,
                          void** values) {
    return sim.launch(function, x, y, z, block, 1, 1, shared, nullptr, values, nullptr);
  };
  CHECK(launch(1, 1, 1, 32, 0, arguments) == 0);
  CHECK(launch(0, 1, 1, 32, 0, arguments) == cuda::result::invalid_value);
  CHECK(launch(1, 65536, 1, 32, 0, arguments) == cuda::result::invalid_value);
  CHECK(launch(1, 1, 1, 1025, 0, arguments) == cuda::result::invalid_value);
  CHECK(launch(1, 1, 1, 65, 0, arguments) == cuda::result::launch_out_of_resources);  // of its bound
  CHECK(launch(1, 1, 1, 32, 60000, arguments) == cuda::result::invalid_value);
  CHECK(sim.function_set(function, 8, 60000) == 0);
  CHECK(launch(1, 1, 1, 32, 60000, arguments) == 0);
  CHECK(launch(1, 1, 1, 32, 0, nullptr) == cuda::result::invalid_value);
  int value = 0;
  CHECK(sim.function_attribute(&value, cuda::function_attribute::max_threads_per_block, function) == 0);
  CHECK(value == 64);
  CHECK(sim.occupancy(&value, other, 1024, 0) == 0);
  CHECK(value == 2);
  CHECK(sim.module_unload(module) == 0);
  CHECK(launch(1, 1, 1, 32, 0, arguments) == cuda::result::invalid_handle);
}

TEST_CASE("cuda-sim driver: a graph of unloaded kernels is not launched") {
  const SimDriver sim;
  const std::vector<char> binary = sim.compile(text);
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  REQUIRE(sim.module_load(&module, binary.data(), 0, nullptr, nullptr) == 0);
  REQUIRE(sim.module_function(&function, module, "scale") == 0);
  const cuda::DevicePointer a = sim.allocate_bytes(n * sizeof(float));
  const cuda::Stream stream = sim.stream();
  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  CHECK(scale(sim, function, a, 1.0F, stream) == 0);
  const cuda::GraphExec exec = sim.captured(stream);
  CHECK(sim.module_unload(module) == 0);
  CHECK(sim.graph_launch(exec, stream) == cuda::result::invalid_handle);
}

TEST_CASE("cuda-sim driver: a device takes cubins of its own kind, PTX of earlier ones, and no other image") {
  const SimDriver sim({.capability = 86});
  cuda::Module module = nullptr;
  const auto load = [&](const std::string& architecture) {
    const std::vector<char> binary = sim.compile(text, architecture);
    return sim.module_load(&module, binary.data(), 0, nullptr, nullptr);
  };
  CHECK(load("sm_86") == 0);
  CHECK(load("sm_80") == 0);
  CHECK(load("sm_89") == cuda::result::no_binary_for_gpu);
  CHECK(load("sm_75") == cuda::result::no_binary_for_gpu);
  CHECK(load("compute_75") == 0);
  CHECK(load("compute_90") == cuda::result::no_binary_for_gpu);
  CHECK(sim.module_load(&module, "not an image", 0, nullptr, nullptr) == cuda::result::invalid_image);
  std::vector<char> damaged = sim.compile(text, "sm_86");
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  CHECK(sim.module_load(&module, damaged.data(), 0, nullptr, nullptr) == cuda::result::invalid_image);
}

TEST_CASE("cuda-sim driver: a driver older than the toolkit refuses its binaries") {
  const SimDriver sim;
  sim.configure(-1, -1, 0, 12040, -1);
  const std::vector<char> binary = sim.compile(text);
  cuda::Module module = nullptr;
  CHECK(sim.module_load(&module, binary.data(), 0, nullptr, nullptr) ==
        cuda::result::unsupported_ptx_version);
  sim.old_driver(35);
  CHECK(sim.module_load(&module, binary.data(), 0, nullptr, nullptr) == 35);
  sim.old_driver(0);
  CHECK(sim.module_load(&module, binary.data(), 0, nullptr, nullptr) == 0);
}

TEST_CASE("cuda-sim driver: launches, threads and sectors are counted by kernel") {
  const SimDriver sim;
  sim.count_sectors(1);
  const cuda::Function function = sim.kernel(text, "scale");
  const cuda::DevicePointer a = sim.allocate_bytes(n * sizeof(float));
  CHECK(sim.fill_bytes(a, 0, n * sizeof(float), nullptr) == 0);
  CHECK(scale(sim, function, a, 2.0F, nullptr) == 0);
  CHECK(scale(sim, function, a, 2.0F, nullptr) == 0);
  ondula_sim_kernel counted[2] = {};
  CHECK(sim.counters(counted, 2) == 1);
  CHECK(std::string(counted[0].name) == "scale");
  CHECK(counted[0].launches == 2);
  CHECK(counted[0].threads == 256);
  CHECK(counted[0].sectors_read == 26);  // 400 bytes from a multiple of 256: 13 sectors of 32
  CHECK(counted[0].sectors_written == 26);
  sim.clear_counters();
  CHECK(sim.counters(counted, 2) == 0);
}

TEST_CASE("cuda-sim driver: kernels that race across streams, or touch another device's memory, are found") {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const bool event : {false, true}) {
      const SimDriver sim({.mode = ONDULA_SIM_CHECK, .seed = seed});
      const cuda::Function function = sim.kernel(text, "scale");
      const cuda::DevicePointer a = sim.allocate_bytes(n * sizeof(float));
      const cuda::Stream first = sim.stream(), second = sim.stream();
      const cuda::Event filled = sim.event();
      CHECK(sim.fill_bytes(a, 0, n * sizeof(float), first) == 0);
      CHECK(sim.stream_synchronize(first) == 0);
      CHECK(scale(sim, function, a, 2.0F, first) == 0);
      CHECK(sim.event_record(filled, first) == 0);
      if (event) CHECK(sim.stream_wait(second, filled, 0) == 0);
      CHECK(scale(sim, function, a, 2.0F, second) == 0);
      CHECK(sim.context_synchronize() == (event ? 0 : cuda::result::launch_failed));
      CHECK((sim.report().find("race") != std::string::npos) == !event);
    }
  }
  const SimDriver sim({.mode = ONDULA_SIM_CHECK, .devices = 2});
  const cuda::Function function = sim.kernel(text, "scale");
  cuda::Context other = nullptr;
  REQUIRE(sim.primary_retain(&other, 1) == 0);
  REQUIRE(sim.context_push(other) == 0);
  const cuda::DevicePointer a = sim.allocate_bytes(n * sizeof(float));
  REQUIRE(sim.context_pop(nullptr) == 0);
  CHECK(scale(sim, function, a, 2.0F, nullptr) == 0);
  CHECK(sim.context_synchronize() == cuda::result::illegal_address);
}
