// The stand-in driver finds faults on the host's side: planted ones, under every seed.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/runtime/device/sim/sim_driver.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

/// What every case needs: two streams, device and host memory, an event.
struct Parts {
  const SimDriver& sim;
  cuda::DevicePointer a, b;
  cuda::Stream first, second;
  cuda::Event event;
  float* in;
  float* out;

  explicit Parts(const SimDriver& driver)
      : sim(driver),
        a(sim.allocate_bytes(40)),
        b(sim.allocate_bytes(40)),
        first(sim.stream()),
        second(sim.stream()),
        event(sim.event()),
        in(sim.pinned(10)),
        out(sim.pinned(10)) {}
};

/// Runs `program` in check mode under several seeds, ends everything, and compares: `found` is part of every
/// report, or nothing is reported where it is empty.
void check_found(const std::string& found, const std::function<void(Parts&)>& program) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const SimDriver sim({.mode = ONDULA_SIM_CHECK, .seed = seed});
    Parts parts(sim);
    program(parts);
    const cuda::Result result = sim.context_synchronize();
    const std::string report = sim.report();
    CAPTURE(seed);
    CAPTURE(report);
    CHECK((result != 0) == !found.empty());
    if (found.empty())
      CHECK(report.empty());
    else
      CHECK(report.find(found) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("cuda-sim driver: a buffer reused before its copy ended is found") {
  check_found("a buffer was reused too early", [](Parts& p) {
    p.in[0] = 1;
    CHECK(p.sim.copy_to_device(p.a, p.in, 40, p.first) == 0);
    p.in[0] = 2;
  });
  check_found("", [](Parts& p) {
    p.in[0] = 1;
    CHECK(p.sim.copy_to_device(p.a, p.in, 40, p.first) == 0);
    CHECK(p.sim.stream_synchronize(p.first) == 0);
    p.in[0] = 2;
  });
}

TEST_CASE("cuda-sim driver: a missing event between two streams is found") {
  const auto with = [](bool event) {
    return [event](Parts& p) {
      CHECK(p.sim.fill_bytes(p.a, 1, 40, p.first) == 0);
      CHECK(p.sim.stream_synchronize(p.first) == 0);
      CHECK(p.sim.fill_bytes(p.a, 0, 40, p.first) == 0);
      CHECK(p.sim.event_record(p.event, p.first) == 0);
      if (event) CHECK(p.sim.stream_wait(p.second, p.event, 0) == 0);
      CHECK(p.sim.copy_on_device(p.b, p.a, 40, p.second) == 0);
    };
  };
  check_found("race", with(false));
  check_found("", with(true));
}

TEST_CASE("cuda-sim driver: an event recorded too early orders nothing, although the seed may run it so") {
  check_found("race", [](Parts& p) {
    CHECK(p.sim.event_record(p.event, p.first) == 0);
    CHECK(p.sim.fill_bytes(p.a, 0, 40, p.first) == 0);
    CHECK(p.sim.stream_wait(p.second, p.event, 0) == 0);
    CHECK(p.sim.fill_bytes(p.a, 1, 40, p.second) == 0);
  });
}

TEST_CASE("cuda-sim driver: branches of a graph that are not joined before a use are found") {
  const auto with = [](bool joined) {
    return [joined](Parts& p) {
      const cuda::Event join = p.sim.event();
      REQUIRE(p.sim.capture_begin(p.first, cuda::capture_thread_local) == 0);
      CHECK(p.sim.event_record(p.event, p.first) == 0);
      CHECK(p.sim.stream_wait(p.second, p.event, 0) == 0);
      CHECK(p.sim.fill_bytes(p.a, 0, 40, p.second) == 0);
      CHECK(p.sim.event_record(join, p.second) == 0);
      if (joined) CHECK(p.sim.stream_wait(p.first, join, 0) == 0);
      CHECK(p.sim.fill_bytes(p.a, 1, 40, p.first) == 0);
      if (!joined) CHECK(p.sim.stream_wait(p.first, join, 0) == 0);
      const cuda::GraphExec exec = p.sim.captured(p.first);
      CHECK(p.sim.graph_launch(exec, p.first) == 0);
    };
  };
  check_found("race", with(false));
  check_found("", with(true));
}

TEST_CASE("cuda-sim driver: what a missing synchronisation leaves unread is NaN, always") {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const SimDriver sim({.mode = ONDULA_SIM_CHECK, .seed = seed});
    const Parts p(sim);
    p.out[0] = 5;
    CHECK(sim.fill_bytes(p.a, 0, 40, p.first) == 0);
    CHECK(sim.copy_to_host(p.out, p.a, 40, p.first) == 0);
    CHECK(sim.fill_bytes(p.b, 0, 40, p.second) == 0);
    CHECK(sim.stream_synchronize(p.second) == 0);  // the wrong one
    CHECK(std::isnan(p.out[0]));
    CHECK(sim.stream_synchronize(p.first) == 0);
    CHECK(p.out[0] == 0);
  }
}

TEST_CASE("cuda-sim driver: a host that writes where a copy is to write is found") {
  check_found("the host wrote to the destination", [](Parts& p) {
    CHECK(p.sim.fill_bytes(p.a, 0, 40, p.first) == 0);
    CHECK(p.sim.copy_to_host(p.out, p.a, 40, p.first) == 0);
    p.out[9] = 3;
  });
}

TEST_CASE("cuda-sim driver: host memory that is gone before its copy ended is found") {
  const auto mapped = [] {
    void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return memory;
  };
  check_found("is gone", [&](Parts& p) {
    void* const memory = mapped();
    CHECK(p.sim.copy_to_device(p.a, memory, 40, p.first) == 0);
    munmap(memory, 4096);
  });
  check_found("is gone", [&](Parts& p) {
    void* const memory = mapped();
    CHECK(p.sim.fill_bytes(p.a, 0, 40, p.first) == 0);
    CHECK(p.sim.copy_to_host(memory, p.a, 40, p.first) == 0);
    munmap(memory, 4096);
  });
}

TEST_CASE("cuda-sim driver: two streams' copies over one host buffer are found unless ordered") {
  const auto with = [](bool event) {
    return [event](Parts& p) {
      CHECK(p.sim.fill_bytes(p.a, 0, 40, p.first) == 0);
      CHECK(p.sim.copy_to_host(p.out, p.a, 40, p.first) == 0);
      CHECK(p.sim.event_record(p.event, p.first) == 0);
      if (event) CHECK(p.sim.stream_wait(p.second, p.event, 0) == 0);
      const cuda::Result result = p.sim.copy_to_device(p.b, p.out, 40, p.second);
      CHECK(result == (event ? 0 : cuda::result::launch_failed));
    };
  };
  check_found("both use it", with(false));
  check_found("", with(true));
}
