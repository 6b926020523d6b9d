// The stand-in driver: memory, copies and fills, and what of them is refused.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/runtime/device/sim/sim_driver.hpp"

using namespace ondula;
using namespace ondula::test;

TEST_CASE("cuda-sim driver: copies and fills move the bytes they name, in every mode") {
  for (const int mode : sim_modes) {
    const SimDriver sim({.mode = mode});
    const cuda::DevicePointer a = sim.allocate_bytes(400), b = sim.allocate_bytes(400);
    const cuda::Stream stream = sim.stream();
    float* const in = sim.pinned(100);
    float* const out = sim.pinned(100);
    for (int i = 0; i < 100; ++i) in[i] = static_cast<float>(i);
    CHECK(sim.copy_to_device(a, in, 400, stream) == 0);
    CHECK(sim.fill_bytes(a + 40, 0, 40, stream) == 0);
    CHECK(sim.copy_on_device(b, a, 400, stream) == 0);
    CHECK(sim.copy_to_host(out, b, 400, stream) == 0);
    CHECK(sim.stream_synchronize(stream) == 0);
    for (int i = 0; i < 100; ++i) CHECK(out[i] == (i >= 10 && i < 20 ? 0.0F : static_cast<float>(i)));
    CHECK(sim.report().empty());
  }
}

TEST_CASE("cuda-sim driver: a range past its allocation, and pointers that are none, are refused") {
  const SimDriver sim;
  const cuda::DevicePointer a = sim.allocate_bytes(100);
  std::vector<char> host(200);
  CHECK(sim.copy_to_device(a + 1, host.data(), 100, nullptr) == cuda::result::invalid_value);
  CHECK(sim.copy_to_host(host.data(), a, 101, nullptr) == cuda::result::invalid_value);
  CHECK(sim.copy_on_device(a + 60, a, 41, nullptr) == cuda::result::invalid_value);
  CHECK(sim.fill_bytes(a + 100, 1, 1, nullptr) == cuda::result::invalid_value);
  CHECK(sim.copy_to_device(a, nullptr, 4, nullptr) == cuda::result::invalid_value);
  CHECK(sim.fill_bytes(a + 99, 1, 1, nullptr) == 0);
  CHECK(sim.free(a + 4) == cuda::result::invalid_value);
  CHECK(sim.free(a) == 0);
  CHECK(sim.free(a) == cuda::result::invalid_value);
  CHECK(sim.fill_bytes(a, 1, 1, nullptr) == cuda::result::invalid_value);
  CHECK(sim.host_free(host.data()) == cuda::result::invalid_value);
  cuda::DevicePointer none = 0;
  CHECK(sim.allocate(&none, 0) == cuda::result::invalid_value);
}

TEST_CASE("cuda-sim driver: memory has a limit, on each device its own") {
  const SimDriver sim({.devices = 2, .memory = 1 << 20});
  std::size_t left = 0, all = 0;
  cuda::DevicePointer more = 0;
  const cuda::DevicePointer a = sim.allocate_bytes(700000);
  CHECK(sim.memory_info(&left, &all) == 0);
  CHECK(all == 1 << 20);
  CHECK(left < (1 << 20) - 700000);
  CHECK(sim.allocate(&more, 400000) == cuda::result::out_of_memory);
  cuda::Context other = nullptr;
  CHECK(sim.primary_retain(&other, 1) == 0);
  CHECK(sim.context_push(other) == 0);
  CHECK(sim.allocate(&more, 400000) == 0);
  CHECK(sim.live().bytes == 1100000);
  CHECK(sim.context_pop(nullptr) == 0);
  CHECK(sim.free(a) == 0);
  CHECK(sim.allocate(&more, 1 << 20) == 0);
  CHECK(sim.live().peak_bytes == (1 << 20) + 400000);
}

TEST_CASE("cuda-sim driver: pointers tell what they are") {
  const SimDriver sim({.devices = 2});
  cuda::Context other = nullptr;
  REQUIRE(sim.primary_retain(&other, 1) == 0);
  REQUIRE(sim.context_push(other) == 0);
  const cuda::DevicePointer a = sim.allocate_bytes(100);
  const auto host = reinterpret_cast<cuda::DevicePointer>(sim.pinned(10));
  unsigned type = 0;
  int device = -1;
  CHECK(sim.pointer_attribute(&type, cuda::pointer_memory_type, a + 99) == 0);
  CHECK(type == 2);
  CHECK(sim.pointer_attribute(&device, cuda::pointer_device_ordinal, a) == 0);
  CHECK(device == 1);
  CHECK(sim.pointer_attribute(&type, cuda::pointer_memory_type, host) == 0);
  CHECK(type == 1);
  const auto stack = reinterpret_cast<cuda::DevicePointer>(&type);
  CHECK(sim.pointer_attribute(&type, cuda::pointer_memory_type, stack) == cuda::result::invalid_value);
}

TEST_CASE("cuda-sim driver: nothing works before cuInit, without a context, or with another's handles") {
  const SimDriver sim({.devices = 2, .context = false});
  cuda::DevicePointer pointer = 0;
  cuda::Context first = nullptr, second = nullptr;
  int count = 0, version = 0;
  CHECK(sim.device_count(&count) == cuda::result::not_initialized);
  CHECK(sim.allocate(&pointer, 4) == cuda::result::not_initialized);
  CHECK(sim.driver_version(&version) == 0);
  CHECK(version == 13000);
  CHECK(sim.init(0) == 0);
  CHECK(sim.allocate(&pointer, 4) == cuda::result::invalid_context);
  CHECK(sim.primary_retain(&first, 2) == cuda::result::invalid_device);
  CHECK(sim.primary_retain(&first, 0) == 0);
  CHECK(sim.primary_retain(&second, 1) == 0);
  CHECK(sim.context_push(first) == 0);
  const cuda::Stream stream = sim.stream();
  CHECK(sim.context_push(second) == 0);
  pointer = sim.allocate_bytes(4);
  CHECK(sim.fill_bytes(pointer, 0, 4, stream) == cuda::result::invalid_context);
  CHECK(sim.context_pop(&second) == 0);
  CHECK(sim.stream_destroy(stream) == 0);
  CHECK(sim.stream_synchronize(stream) == cuda::result::invalid_handle);
  CHECK(sim.event_query(nullptr) == cuda::result::invalid_handle);
  CHECK(sim.primary_release(0) == 0);
  CHECK(sim.context_synchronize() == 709);  // the current context is gone
  CHECK(sim.primary_release(0) == cuda::result::invalid_context);
}

TEST_CASE("cuda-sim driver: fresh memory is NaN where the mode looks for mistakes") {
  const SimDriver sim({.mode = ONDULA_SIM_SHUFFLE});
  const cuda::DevicePointer a = sim.allocate_bytes(400);
  std::vector<float> host(100);
  CHECK(sim.copy_to_host(host.data(), a, 400, nullptr) == 0);
  CHECK(sim.context_synchronize() == 0);
  for (const float value : host) CHECK(std::isnan(value));
}

TEST_CASE("cuda-sim driver: it counts what lives, and in check mode tells what a context leaves") {
  const SimDriver sim({.mode = ONDULA_SIM_CHECK});
  const cuda::DevicePointer a = sim.allocate_bytes(400);
  const cuda::Event event = sim.event();
  sim.stream();
  sim.pinned(4);
  CHECK(sim.live().allocations == 1);
  CHECK(sim.live().bytes == 400);
  CHECK(sim.live().events == 1);
  CHECK(sim.live().streams == 1);
  CHECK(sim.live().pinned == 1);
  CHECK(sim.live().contexts == 1);
  CHECK(sim.event_destroy(event) == 0);
  CHECK(sim.free(a) == 0);
  CHECK(sim.primary_release(0) == 0);
  CHECK(sim.report() ==
        "the context of device 0 was destroyed with 1 pinned allocations, 1 streams left in it");
  const ondula_sim_counts left = sim.live();
  CHECK(left.streams + left.pinned + left.allocations + left.contexts == 0);
}
