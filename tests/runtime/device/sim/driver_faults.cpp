// The stand-in driver: faults on demand, what they poison, and that nothing is left behind.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/runtime/device/sim/sim_driver.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

/// A short program that stops at its first error and releases what it made; returns that error.
class Program {
 public:
  explicit Program(const SimDriver& sim) : sim_(sim) {}

  cuda::Result run() {
    const cuda::Result result = work();
    if (capturing_) {
      cuda::Graph graph = nullptr;
      sim_.capture_end(stream_, &graph);
      if (graph != nullptr) sim_.graph_destroy(graph);
    }
    if (exec_ != nullptr) sim_.graph_exec_destroy(exec_);
    if (graph_ != nullptr) sim_.graph_destroy(graph_);
    if (stream_ != nullptr) sim_.stream_destroy(stream_);
    if (host_ != nullptr) sim_.host_free(host_);
    if (memory_ != 0) sim_.free(memory_);
    if (pushed_) sim_.context_pop(nullptr);
    if (context_ != nullptr) sim_.primary_release(0);
    return result;
  }

 private:
  cuda::Result work() {
    cuda::Result r = 0;
    if ((r = sim_.init(0)) != 0) return r;
    if ((r = sim_.primary_retain(&context_, 0)) != 0) return r;
    if ((r = sim_.context_push(context_)) != 0) return r;
    pushed_ = true;
    if ((r = sim_.allocate(&memory_, 400)) != 0) return r;
    if ((r = sim_.host_allocate(&host_, 400, 0)) != 0) return r;
    if ((r = sim_.stream_create(&stream_, 0)) != 0) return r;
    if ((r = sim_.capture_begin(stream_, cuda::capture_thread_local)) != 0) return r;
    capturing_ = true;
    if ((r = sim_.fill_bytes(memory_, 0, 400, stream_)) != 0) return r;
    if ((r = sim_.copy_to_host(host_, memory_, 400, stream_)) != 0) return r;
    capturing_ = false;
    if ((r = sim_.capture_end(stream_, &graph_)) != 0) return r;
    if ((r = sim_.graph_instantiate(&exec_, graph_, 0)) != 0) return r;
    if ((r = sim_.graph_launch(exec_, stream_)) != 0) return r;
    return sim_.stream_synchronize(stream_);
  }

  const SimDriver& sim_;
  cuda::Context context_ = nullptr;
  cuda::DevicePointer memory_ = 0;
  void* host_ = nullptr;
  cuda::Stream stream_ = nullptr;
  cuda::Graph graph_ = nullptr;
  cuda::GraphExec exec_ = nullptr;
  bool capturing_ = false;
  bool pushed_ = false;
};

std::uint64_t objects(const ondula_sim_counts& c) {
  return c.allocations + c.pinned + c.streams + c.events + c.graphs + c.execs + c.modules + c.contexts;
}

}  // namespace

TEST_CASE("cuda-sim driver: a fault at every call of a run, one after another, leaves nothing behind") {
  for (const int mode : {ONDULA_SIM_FAST, ONDULA_SIM_CHECK}) {
    for (const cuda::Result fault : {cuda::result::out_of_memory, cuda::result::launch_failed}) {
      std::uint64_t calls = 0;
      {
        const SimDriver sim({.mode = mode, .context = false});
        CHECK(Program(sim).run() == 0);
        calls = sim.calls();
        CHECK(calls == 20);
      }
      for (std::uint64_t nth = 1; nth <= calls; ++nth) {
        const SimDriver sim({.mode = mode, .context = false});
        sim.fail("*", nth, fault);
        const cuda::Result result = Program(sim).run();
        CAPTURE(nth);
        CHECK((result == fault || nth > 13));  // the rest is releasing
        CHECK(objects(sim.live()) == 0);
        CHECK(Program(sim).run() == 0);
        CHECK(sim.report().empty());
      }
    }
  }
}

TEST_CASE("cuda-sim driver: the nth call of a name fails, once") {
  const SimDriver sim;
  cuda::DevicePointer a = 0;
  sim.fail("cuMemAlloc_v2", 2, cuda::result::out_of_memory);
  CHECK(sim.allocate(&a, 4) == 0);
  CHECK(sim.fill_bytes(a, 0, 4, nullptr) == 0);
  CHECK(sim.failed() == "");
  CHECK(sim.allocate(&a, 4) == cuda::result::out_of_memory);
  CHECK(sim.failed() == "cuMemAlloc_v2");
  CHECK(sim.allocate(&a, 4) == 0);
  CHECK(sim.live().allocations == 2);
}

TEST_CASE("cuda-sim driver: a lost device stays lost until the context's last reference is gone") {
  const SimDriver sim({.devices = 2});
  cuda::Context again = nullptr, other = nullptr;
  REQUIRE(sim.primary_retain(&again, 0) == 0);
  CHECK(again == sim.context);
  const cuda::DevicePointer a = sim.allocate_bytes(4);
  const cuda::Stream stream = sim.stream();
  sim.fail("cuMemsetD8Async", 1, cuda::result::unknown);
  CHECK(sim.fill_bytes(a, 0, 4, stream) == cuda::result::unknown);
  CHECK(sim.stream_synchronize(stream) == cuda::result::unknown);
  CHECK(sim.primary_retain(&again, 0) == cuda::result::unknown);
  CHECK(sim.free(a) == cuda::result::unknown);
  CHECK(sim.live().allocations == 0);  // it is freed all the same
  CHECK(sim.primary_retain(&other, 1) == 0);
  CHECK(sim.context_push(other) == 0);
  sim.allocate_bytes(4);
  CHECK(sim.context_pop(nullptr) == 0);
  CHECK(sim.primary_release(0) == 0);
  CHECK(sim.context_synchronize() == cuda::result::unknown);
  CHECK(sim.primary_release(0) == 0);
  CHECK(sim.live().streams == 0);
  CHECK(sim.primary_retain(&again, 0) == 0);
  CHECK(sim.context_push(again) == 0);
  CHECK(sim.context_synchronize() == 0);
}

TEST_CASE("cuda-sim driver: an error's text is the driver's, or the finding behind it") {
  const SimDriver sim({.mode = ONDULA_SIM_CHECK});
  const char* text = nullptr;
  CHECK(sim.error_name(cuda::result::launch_failed, &text) == 0);
  CHECK(std::string(text) == "CUDA_ERROR_LAUNCH_FAILED");
  CHECK(sim.error_string(cuda::result::launch_failed, &text) == 0);
  CHECK(std::string(text) == "unspecified launch failure");
  CHECK(sim.error_name(12345, &text) == cuda::result::invalid_value);
  const cuda::DevicePointer a = sim.allocate_bytes(4);
  float* const in = sim.pinned(1);
  CHECK(sim.copy_to_device(a, in, 4, nullptr) == 0);
  in[0] = 1;
  CHECK(sim.context_synchronize() == cuda::result::launch_failed);
  CHECK(sim.error_string(cuda::result::launch_failed, &text) == 0);
  CHECK(std::string(text).find("a buffer was reused too early") != std::string::npos);
}

TEST_CASE("cuda-sim driver: no device, and a reset, are as on a fresh machine") {
  const SimDriver sim({.devices = 0, .context = false});
  CHECK(sim.init(0) == cuda::result::no_device);
  int count = 0;
  CHECK(sim.device_count(&count) == cuda::result::not_initialized);
  sim.reset();
  CHECK(sim.init(0) == 0);
  CHECK(sim.device_count(&count) == 0);
  CHECK(count == 1);
  CHECK(sim.calls() == 2);
}

TEST_CASE("cuda-sim driver: the environment says what it is, and cuInit refuses what has no meaning") {
  const SimDriver sim({.context = false});
  const char* text = nullptr;
  setenv("ONDULA_SIM_DEVICES", "3", 1);
  setenv("ONDULA_SIM_MEMORY", "2 MiB", 1);
  sim.reset();
  CHECK(sim.init(0) == 0);
  int count = 0;
  std::size_t bytes = 0;
  CHECK(sim.device_count(&count) == 0);
  CHECK(count == 3);
  CHECK(sim.device_memory(&bytes, 2) == 0);
  CHECK(bytes == 2 << 20);
  setenv("ONDULA_SIM_MODE", "slow", 1);
  sim.reset();
  CHECK(sim.init(0) == cuda::result::invalid_value);
  CHECK(sim.error_string(cuda::result::invalid_value, &text) == 0);
  CHECK(std::string(text) == "ONDULA_SIM_MODE is 'slow'; allowed are fast, shuffle and check");
  for (const char* name : {"ONDULA_SIM_DEVICES", "ONDULA_SIM_MEMORY", "ONDULA_SIM_MODE"}) unsetenv(name);
}
