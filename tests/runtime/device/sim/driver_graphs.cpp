// The stand-in driver: streams captured into graphs, what is refused meanwhile, graphs launched again.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/runtime/device/sim/sim_driver.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

constexpr cuda::Result illegal_state = 401, merge = 902, unmatched = 903, unjoined = 904, isolation = 905,
                       implicit = 906, captured_event = 907;

/// The capture of a stream that has lost it ends with "invalidated" and no graph.
void check_lost(const SimDriver& sim, cuda::Stream stream) {
  cuda::Graph graph = nullptr;
  CHECK(sim.capture_end(stream, &graph) == cuda::result::stream_capture_invalidated);
  CHECK(graph == nullptr);
  int status = -1;
  CHECK(sim.stream_capturing(stream, &status) == 0);
  CHECK(status == 0);
}

}  // namespace

TEST_CASE("cuda-sim driver: a captured graph does nothing until it is launched, then again with other data") {
  for (const int mode : sim_modes) {
    const SimDriver sim({.mode = mode});
    const cuda::DevicePointer a = sim.allocate_bytes(40), b = sim.allocate_bytes(40);
    const cuda::Stream stream = sim.stream();
    float* const in = sim.pinned(10);
    float* const out = sim.pinned(10);
    out[0] = -1;
    REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
    CHECK(sim.copy_to_device(a, in, 40, stream) == 0);
    CHECK(sim.copy_on_device(b, a, 40, stream) == 0);
    CHECK(sim.copy_to_host(out, b, 40, stream) == 0);
    const cuda::GraphExec exec = sim.captured(stream);
    CHECK(sim.context_synchronize() == 0);
    CHECK(out[0] == -1);
    for (int round = 1; round < 4; ++round) {
      for (int i = 0; i < 10; ++i) in[i] = static_cast<float>(10 * round + i);
      CHECK(sim.graph_launch(exec, stream) == 0);
      CHECK(sim.stream_synchronize(stream) == 0);
      for (int i = 0; i < 10; ++i) CHECK(out[i] == static_cast<float>(10 * round + i));
    }
    CHECK(sim.graph_exec_destroy(exec) == 0);
    CHECK(sim.live().graphs + sim.live().execs == 0);
    CHECK(sim.report().empty());
  }
}

TEST_CASE("cuda-sim driver: branches of a capture fork and join by events, under every seed") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SimDriver sim({.mode = seed % 2 == 0 ? ONDULA_SIM_SHUFFLE : ONDULA_SIM_CHECK, .seed = seed});
    const cuda::DevicePointer a = sim.allocate_bytes(8);
    const cuda::Stream main = sim.stream(), side = sim.stream();
    const cuda::Event fork = sim.event(), join = sim.event();
    unsigned char* const out = reinterpret_cast<unsigned char*>(sim.pinned(2));
    REQUIRE(sim.capture_begin(main, cuda::capture_thread_local) == 0);
    CHECK(sim.fill_bytes(a, 1, 8, main) == 0);
    CHECK(sim.event_record(fork, main) == 0);
    CHECK(sim.stream_wait(side, fork, 0) == 0);
    int status = 0;
    CHECK(sim.stream_capturing(side, &status) == 0);
    CHECK(status == 1);
    CHECK(sim.fill_bytes(a, 2, 4, side) == 0);
    CHECK(sim.fill_bytes(a + 4, 3, 4, main) == 0);
    CHECK(sim.event_record(join, side) == 0);
    CHECK(sim.stream_wait(main, join, 0) == 0);
    CHECK(sim.copy_to_host(out, a, 8, main) == 0);
    const cuda::GraphExec exec = sim.captured(main);
    for (int round = 0; round < 3; ++round) CHECK(sim.graph_launch(exec, main) == 0);
    CHECK(sim.stream_synchronize(main) == 0);
    CHECK(out[0] == 2);
    CHECK(out[7] == 3);
    CHECK(sim.report().empty());
  }
}

TEST_CASE("cuda-sim driver: a graph launched in two streams follows its own last launch") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SimDriver sim({.mode = ONDULA_SIM_CHECK, .seed = seed});
    const cuda::DevicePointer a = sim.allocate_bytes(4);
    const cuda::Stream first = sim.stream(), second = sim.stream();
    REQUIRE(sim.capture_begin(first, cuda::capture_thread_local) == 0);
    CHECK(sim.fill_bytes(a, 7, 4, first) == 0);
    const cuda::GraphExec exec = sim.captured(first);
    CHECK(sim.graph_launch(exec, first) == 0);
    CHECK(sim.graph_launch(exec, second) == 0);
    CHECK(sim.context_synchronize() == 0);
    CHECK(sim.report().empty());
  }
}

TEST_CASE("cuda-sim driver: a graph launched into a capture becomes part of it") {
  const SimDriver sim;
  const cuda::DevicePointer a = sim.allocate_bytes(4);
  const cuda::Stream stream = sim.stream();
  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  CHECK(sim.fill_bytes(a, 1, 2, stream) == 0);
  const cuda::GraphExec inner = sim.captured(stream);
  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  CHECK(sim.fill_bytes(a, 9, 4, stream) == 0);
  CHECK(sim.graph_launch(inner, stream) == 0);
  CHECK(sim.fill_bytes(a, 2, 1, stream) == 0);
  const cuda::GraphExec outer = sim.captured(stream);
  CHECK(sim.graph_launch(outer, stream) == 0);
  unsigned char out[4] = {};
  CHECK(sim.copy_to_host(out, a, 4, stream) == 0);
  CHECK(sim.stream_synchronize(stream) == 0);
  CHECK(std::vector<int>(out, out + 4) == std::vector<int>{2, 1, 9, 9});
}

TEST_CASE("cuda-sim driver: calls that a capture forbids return 900, and the capture is lost") {
  const SimDriver sim;
  const cuda::DevicePointer a = sim.allocate_bytes(4);
  const cuda::Stream stream = sim.stream(), other = sim.stream();
  const cuda::Event event = sim.event();
  cuda::DevicePointer more = 0;
  void* host = nullptr;
  const std::vector<std::function<cuda::Result()>> calls = {[&] { return sim.stream_synchronize(stream); },
                                                            [&] { return sim.stream_query(stream); },
                                                            [&] { return sim.context_synchronize(); },
                                                            [&] { return sim.allocate(&more, 4); },
                                                            [&] { return sim.free(a); },
                                                            [&] { return sim.host_allocate(&host, 4, 0); },
                                                            [&] { return sim.event_query(event); },
                                                            [&] { return sim.stream_synchronize(other); }};
  for (const auto& call : calls) {
    REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
    CHECK(sim.fill_bytes(a, 1, 4, stream) == 0);
    CHECK(call() == cuda::result::stream_capture_unsupported);
    CHECK(sim.fill_bytes(a, 1, 4, stream) == cuda::result::stream_capture_invalidated);
    check_lost(sim, stream);
  }
  CHECK(sim.free(a) == 0);
}

TEST_CASE("cuda-sim driver: captures that do not end as they should give no graph") {
  const SimDriver sim;
  const cuda::DevicePointer a = sim.allocate_bytes(4);
  const cuda::Stream stream = sim.stream(), side = sim.stream();
  const cuda::Event event = sim.event();
  cuda::Graph graph = nullptr;
  CHECK(sim.capture_end(stream, &graph) == illegal_state);
  CHECK(sim.capture_begin(nullptr, cuda::capture_thread_local) == cuda::result::stream_capture_unsupported);
  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  CHECK(sim.capture_begin(stream, cuda::capture_thread_local) == illegal_state);
  CHECK(sim.event_record(event, stream) == 0);
  CHECK(sim.event_synchronize(event) == captured_event);
  check_lost(sim, stream);

  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  CHECK(sim.event_record(event, stream) == 0);
  CHECK(sim.stream_wait(side, event, 0) == 0);
  CHECK(sim.fill_bytes(a, 1, 4, side) == 0);
  CHECK(sim.capture_end(stream, &graph) == unjoined);
  CHECK(sim.stream_wait(side, event, 0) == captured_event);

  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  CHECK(sim.event_record(event, stream) == 0);
  CHECK(sim.stream_wait(side, event, 0) == 0);
  CHECK(sim.capture_end(side, &graph) == unmatched);
  check_lost(sim, stream);
}

TEST_CASE("cuda-sim driver: a capture is kept apart from uncaptured work, other captures and stream 0") {
  const SimDriver sim;
  const cuda::DevicePointer a = sim.allocate_bytes(4);
  const cuda::Stream stream = sim.stream(), side = sim.stream();
  const cuda::Event event = sim.event(), unused = sim.event();
  CHECK(sim.event_record(event, side) == 0);
  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  CHECK(sim.stream_wait(stream, unused, 0) == 0);
  CHECK(sim.stream_wait(stream, event, 0) == isolation);
  check_lost(sim, stream);

  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  REQUIRE(sim.capture_begin(side, cuda::capture_thread_local) == 0);
  CHECK(sim.event_record(event, side) == 0);
  CHECK(sim.stream_wait(stream, event, 0) == merge);
  check_lost(sim, stream);
  check_lost(sim, side);

  cuda::Stream blocking = nullptr;
  REQUIRE(sim.stream_create(&blocking, 0) == 0);
  REQUIRE(sim.capture_begin(blocking, cuda::capture_thread_local) == 0);
  CHECK(sim.fill_bytes(a, 1, 4, nullptr) == implicit);
  check_lost(sim, blocking);
  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  CHECK(sim.fill_bytes(a, 1, 4, nullptr) == 0);
  CHECK(sim.graph_exec_destroy(sim.captured(stream)) == 0);
}

TEST_CASE("cuda-sim driver: copies of a graph to freed memory are found when it is launched") {
  const SimDriver sim({.mode = ONDULA_SIM_CHECK});
  const cuda::DevicePointer a = sim.allocate_bytes(4);
  const cuda::Stream stream = sim.stream();
  REQUIRE(sim.capture_begin(stream, cuda::capture_thread_local) == 0);
  CHECK(sim.fill_bytes(a, 1, 4, stream) == 0);
  const cuda::GraphExec exec = sim.captured(stream);
  CHECK(sim.free(a) == 0);
  CHECK(sim.graph_launch(exec, stream) == 0);
  CHECK(sim.stream_synchronize(stream) == cuda::result::illegal_address);
  CHECK(sim.report().find("which are not allocated") != std::string::npos);
}
