// The stand-in driver: what streams, events and queries promise about order, and nothing more.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/runtime/device/sim/sim_driver.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

constexpr std::uint64_t seeds = 20;

/// The value that memory has in the end, where two streams fill it, the second after `link(sim, first,
/// second)`.
template <class Link>
unsigned char last_fill(std::uint64_t seed, const Link& link) {
  const SimDriver sim({.mode = ONDULA_SIM_SHUFFLE, .seed = seed});
  const cuda::DevicePointer a = sim.allocate_bytes(4);
  const cuda::Stream first = sim.stream(), second = sim.stream();
  CHECK(sim.fill_bytes(a, 1, 4, first) == 0);
  link(sim, first, second);
  CHECK(sim.fill_bytes(a, 2, 4, second) == 0);
  CHECK(sim.context_synchronize() == 0);
  unsigned char value[4] = {};
  CHECK(sim.copy_to_host(value, a, 4, first) == 0);
  CHECK(sim.stream_synchronize(first) == 0);
  return value[0];
}

}  // namespace

TEST_CASE("cuda-sim driver: streams without an event between them run in an order drawn from the seed") {
  const auto nothing = [](const SimDriver&, cuda::Stream, cuda::Stream) {};
  std::set<int> seen;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const unsigned char value = last_fill(seed, nothing);
    seen.insert(value);
    CHECK(last_fill(seed, nothing) == value);
  }
  CHECK(seen == std::set<int>{1, 2});
}

TEST_CASE("cuda-sim driver: an event, or the host's waiting, orders two streams under every seed") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CHECK(last_fill(seed, [](const SimDriver& sim, cuda::Stream first, cuda::Stream second) {
            const cuda::Event event = sim.event();
            CHECK(sim.event_record(event, first) == 0);
            CHECK(sim.stream_wait(second, event, 0) == 0);
            CHECK(sim.event_destroy(event) == 0);
          }) == 2);
    CHECK(last_fill(seed, [](const SimDriver& sim, cuda::Stream first, cuda::Stream) {
            CHECK(sim.stream_synchronize(first) == 0);
          }) == 2);
    CHECK(last_fill(seed, [](const SimDriver& sim, cuda::Stream first, cuda::Stream) {
            const cuda::Event event = sim.event();
            CHECK(sim.event_record(event, first) == 0);
            CHECK(sim.event_synchronize(event) == 0);
          }) == 2);
  }
}

TEST_CASE("cuda-sim driver: a wait holds for the record before it, not for a later one") {
  std::set<int> seen;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    seen.insert(last_fill(seed, [](const SimDriver& sim, cuda::Stream first, cuda::Stream second) {
      const cuda::Event event = sim.event();
      CHECK(sim.stream_wait(second, event, 0) == 0);
      CHECK(sim.event_record(event, first) == 0);
    }));
  }
  CHECK(seen == std::set<int>{1, 2});
}

TEST_CASE("cuda-sim driver: blocking streams and the context's own stream wait for each other") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const SimDriver sim({.mode = ONDULA_SIM_SHUFFLE, .seed = seed});
    const cuda::DevicePointer a = sim.allocate_bytes(4);
    cuda::Stream blocking = nullptr;
    REQUIRE(sim.stream_create(&blocking, 0) == 0);
    unsigned char before = 0, after = 0;
    CHECK(sim.fill_bytes(a, 1, 4, blocking) == 0);
    CHECK(sim.copy_to_host(&before, a, 1, nullptr) == 0);
    CHECK(sim.fill_bytes(a, 2, 4, nullptr) == 0);
    CHECK(sim.copy_to_host(&after, a, 1, blocking) == 0);
    CHECK(sim.stream_synchronize(blocking) == 0);
    CHECK(before == 1);
    CHECK(after == 2);
  }
}

TEST_CASE("cuda-sim driver: queries say not ready until the work has ended, and bring it forward") {
  for (const int mode : {ONDULA_SIM_SHUFFLE, ONDULA_SIM_CHECK}) {
    const SimDriver sim({.mode = mode});
    const cuda::DevicePointer a = sim.allocate_bytes(4);
    const cuda::Stream stream = sim.stream();
    const cuda::Event event = sim.event();
    CHECK(sim.event_query(event) == 0);  // never recorded
    for (int i = 0; i < 5; ++i) CHECK(sim.fill_bytes(a, 1, 4, stream) == 0);
    CHECK(sim.event_record(event, stream) == 0);
    int asked = 1;
    while (sim.event_query(event) == cuda::result::not_ready) REQUIRE(++asked < 100);
    CHECK(asked > 1);
    CHECK(sim.stream_query(stream) == 0);
    CHECK(sim.fill_bytes(a, 1, 4, stream) == 0);
    CHECK(sim.stream_query(stream) == cuda::result::not_ready);
    CHECK(sim.stream_query(stream) == 0);
  }
}

TEST_CASE("cuda-sim driver: a long queue runs by itself") {
  const SimDriver sim({.mode = ONDULA_SIM_SHUFFLE, .seed = 3});
  const cuda::DevicePointer a = sim.allocate_bytes(4);
  const cuda::Stream first = sim.stream(), second = sim.stream();
  for (int i = 0; i < 6000; ++i) REQUIRE(sim.fill_bytes(a, 1, 4, i % 2 == 0 ? first : second) == 0);
  CHECK(sim.stream_query(first) == cuda::result::not_ready);
  CHECK(sim.context_synchronize() == 0);
  CHECK(sim.stream_query(first) == 0);
  CHECK(sim.stream_query(second) == 0);
}

TEST_CASE("cuda-sim driver: events with timing measure, others and unrecorded ones refuse") {
  const SimDriver sim({.mode = ONDULA_SIM_SHUFFLE});
  const cuda::Stream stream = sim.stream();
  cuda::Event from = nullptr, to = nullptr;
  REQUIRE(sim.event_create(&from, 0) == 0);
  REQUIRE(sim.event_create(&to, 0) == 0);
  float milliseconds = -1;
  CHECK(sim.event_elapsed(&milliseconds, from, to) == cuda::result::invalid_handle);
  CHECK(sim.event_record(from, stream) == 0);
  CHECK(sim.event_record(to, stream) == 0);
  CHECK(sim.event_elapsed(&milliseconds, from, to) == cuda::result::not_ready);
  CHECK(sim.event_synchronize(to) == 0);
  CHECK(sim.event_elapsed(&milliseconds, from, to) == 0);
  CHECK(milliseconds >= 0);
  const cuda::Event untimed = sim.event();
  CHECK(sim.event_record(untimed, stream) == 0);
  CHECK(sim.event_synchronize(untimed) == 0);
  CHECK(sim.event_elapsed(&milliseconds, from, untimed) == cuda::result::invalid_handle);
}

TEST_CASE("cuda-sim driver: work of a destroyed stream still runs, and the context waits for it") {
  for (const int mode : sim_modes) {
    const SimDriver sim({.mode = mode});
    const cuda::DevicePointer a = sim.allocate_bytes(4);
    const cuda::Stream stream = sim.stream();
    float* const out = sim.pinned(1);
    CHECK(sim.fill_bytes(a, 0, 4, stream) == 0);
    CHECK(sim.copy_to_host(out, a, 4, stream) == 0);
    CHECK(sim.stream_destroy(stream) == 0);
    CHECK(sim.context_synchronize() == 0);
    CHECK(out[0] == 0);
    CHECK(sim.report().empty());
  }
}
