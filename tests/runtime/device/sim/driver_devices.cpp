// The stand-in driver: several devices, threads and contexts in one process.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "tests/runtime/device/sim/sim_driver.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

/// Fills and fetches on one device, many times; returns how many values were wrong or calls failed.
int fetch_many(const SimDriver& sim, int device, int rounds) {
  int wrong = 0;
  const auto check = [&](cuda::Result result) { wrong += result == 0 ? 0 : 1; };
  cuda::Context context = nullptr;
  cuda::DevicePointer a = 0;
  cuda::Stream stream = nullptr;
  void* host = nullptr;
  check(sim.primary_retain(&context, device));
  check(sim.context_push(context));
  check(sim.allocate(&a, 64));
  check(sim.stream_create(&stream, cuda::stream_non_blocking));
  check(sim.host_allocate(&host, 64, 0));
  for (int round = 0; round < rounds; ++round) {
    const auto value = static_cast<unsigned char>(round + device);
    check(sim.fill_bytes(a, value, 64, stream));
    check(sim.copy_to_host(host, a, 64, stream));
    check(sim.stream_synchronize(stream));
    wrong += static_cast<unsigned char*>(host)[63] == value ? 0 : 1;
  }
  check(sim.host_free(host));
  check(sim.stream_destroy(stream));
  check(sim.free(a));
  check(sim.context_pop(nullptr));
  check(sim.primary_release(device));
  return wrong;
}

}  // namespace

TEST_CASE("cuda-sim driver: threads with a device each do not disturb one another, in any mode") {
  for (const int mode : sim_modes) {
    const SimDriver sim({.mode = mode, .devices = 2, .context = false});
    REQUIRE(sim.init(0) == 0);
    std::vector<int> wrong(4, -1);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { wrong[t] = fetch_many(sim, t % 2, 200); });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(4, 0));
    CHECK(sim.live().contexts == 0);
    CHECK(sim.report().empty());
  }
}

TEST_CASE("cuda-sim driver: the stack of contexts belongs to its thread") {
  const SimDriver sim({.devices = 2});
  cuda::Context second = nullptr, current = nullptr, popped = nullptr;
  int device = -1;
  REQUIRE(sim.primary_retain(&second, 1) == 0);
  CHECK(sim.context_push(second) == 0);
  CHECK(sim.context_device(&device) == 0);
  CHECK(device == 1);
  std::thread([&] {
    CHECK(sim.context_current(&current) == 0);
    CHECK(current == nullptr);
    CHECK(sim.context_device(&device) == cuda::result::invalid_context);
  }).join();
  CHECK(sim.context_pop(&popped) == 0);
  CHECK(popped == second);
  CHECK(sim.context_current(&current) == 0);
  CHECK(current == sim.context);
  CHECK(sim.context_pop(nullptr) == 0);
  CHECK(sim.context_pop(nullptr) == cuda::result::invalid_context);
}

TEST_CASE("cuda-sim driver: data goes from one device to another, in the order of events") {
  for (const int mode : sim_modes) {
    const SimDriver sim({.mode = mode, .seed = 5, .devices = 2});
    cuda::Context second = nullptr;
    REQUIRE(sim.primary_retain(&second, 1) == 0);
    const cuda::DevicePointer a = sim.allocate_bytes(16);
    const cuda::Stream here = sim.stream();
    const cuda::Event filled = sim.event();
    CHECK(sim.fill_bytes(a, 6, 16, here) == 0);
    CHECK(sim.event_record(filled, here) == 0);
    CHECK(sim.context_push(second) == 0);
    const cuda::DevicePointer b = sim.allocate_bytes(16);
    const cuda::Stream there = sim.stream();
    unsigned char out[16] = {};
    CHECK(sim.event_record(filled, there) == cuda::result::invalid_handle);
    CHECK(sim.stream_wait(there, filled, 0) == 0);
    CHECK(sim.copy_on_device(b, a, 16, there) == 0);
    CHECK(sim.copy_to_host(out, b, 16, there) == 0);
    CHECK(sim.stream_synchronize(there) == 0);
    CHECK(out[15] == 6);
    CHECK(sim.report().empty());
  }
}

TEST_CASE("cuda-sim driver: a caller's context and stream are told from one another") {
  const SimDriver sim;
  cuda::Context mine = nullptr, of_stream = nullptr;
  REQUIRE(sim.context_create(&mine, 0, 0) == 0);
  CHECK(mine != sim.context);
  const cuda::Stream stream = sim.stream();
  CHECK(sim.context_set(sim.context) == 0);
  CHECK(sim.stream_context(stream, &of_stream) == 0);
  CHECK(of_stream == mine);
  CHECK(sim.context_destroy(mine) == 0);
  CHECK(sim.stream_synchronize(stream) == cuda::result::invalid_handle);
  CHECK(sim.context_destroy(sim.context) == cuda::result::invalid_context);  // primary
}

TEST_CASE("cuda-sim driver: a graph may span two devices, and is not launched when one is gone") {
  const SimDriver sim({.mode = ONDULA_SIM_CHECK, .devices = 2});
  cuda::Context second = nullptr;
  REQUIRE(sim.primary_retain(&second, 1) == 0);
  const cuda::DevicePointer a = sim.allocate_bytes(16);
  const cuda::Stream here = sim.stream();
  const cuda::Event fork = sim.event();
  unsigned char* const out = reinterpret_cast<unsigned char*>(sim.pinned(4));
  REQUIRE(sim.context_push(second) == 0);
  const cuda::DevicePointer b = sim.allocate_bytes(16);
  const cuda::Stream there = sim.stream();
  const cuda::Event join = sim.event();
  REQUIRE(sim.context_pop(nullptr) == 0);
  REQUIRE(sim.capture_begin(here, cuda::capture_thread_local) == 0);
  CHECK(sim.fill_bytes(a, 8, 16, here) == 0);
  CHECK(sim.event_record(fork, here) == 0);
  REQUIRE(sim.context_push(second) == 0);
  CHECK(sim.stream_wait(there, fork, 0) == 0);
  CHECK(sim.copy_on_device(b, a, 16, there) == 0);
  CHECK(sim.event_record(join, there) == 0);
  REQUIRE(sim.context_pop(nullptr) == 0);
  CHECK(sim.stream_wait(here, join, 0) == 0);
  CHECK(sim.copy_to_host(out, b, 16, here) == 0);
  const cuda::GraphExec exec = sim.captured(here);
  CHECK(sim.graph_launch(exec, here) == 0);
  CHECK(sim.stream_synchronize(here) == 0);
  CHECK(out[15] == 8);
  CHECK(sim.report().empty());
  CHECK(sim.primary_reset(1) == 0);
  CHECK(sim.graph_launch(exec, here) == cuda::result::invalid_handle);
}

TEST_CASE("cuda-sim driver: a capture is ended by the thread that began it, unless it is relaxed") {
  const SimDriver sim;
  const cuda::Stream stream = sim.stream();
  cuda::Graph graph = nullptr;
  const auto end_elsewhere = [&] {
    cuda::Result result = 0;
    std::thread([&] {
      CHECK(sim.context_push(sim.context) == 0);
      sim.allocate_bytes(4);  // a capture in thread-local mode forbids it to its own thread only
      result = sim.capture_end(stream, &graph);
    }).join();
    return result;
  };
  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  CHECK(end_elsewhere() == 908);
  CHECK(sim.capture_end(stream, &graph) == 0);
  constexpr int relaxed = 2;
  REQUIRE(sim.capture_begin(stream, relaxed) == 0);
  sim.allocate_bytes(4);
  CHECK(end_elsewhere() == 0);
  CHECK(graph != nullptr);
}
