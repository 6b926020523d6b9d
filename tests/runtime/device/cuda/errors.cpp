// What the CUDA device says of a driver that refuses, of a lost context, and of what it does not do.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "compiler/error.hpp"
#include "runtime/device/cuda/device.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"

namespace ondula::test {
namespace {

std::unique_ptr<cuda::Device> device_of(std::size_t limit = 0) {
  cuda::DeviceOptions options;
  options.driver = cuda::Driver::open(cuda::stand_in_library());
  options.limit_bytes = limit;
  options.threads = 1;
  return std::make_unique<cuda::Device>(options);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a driver that does not start: the status, its name and what it means") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const std::array<std::pair<int, const char*>, 5> meanings = {
      {{cuda::result::no_device, "no NVIDIA GPU is in this machine"},
       {cuda::result::stub_library, "stub for linking"},
       {cuda::result::system_driver_mismatch, "not of the same version as the kernel module"},
       {cuda::result::system_not_ready, "the system is not ready"},
       {cuda::result::unknown, "nvidia-smi may tell more"}}};
  for (const auto& [status, meaning] : meanings) {
    driver.fail("cuInit", 1, status);
    const std::string problem = cuda::inspect_driver(cuda::stand_in_library()).problem;
    CAPTURE(problem);
    CHECK(holds(problem, fmt::format("cuInit failed with {} CUDA_ERROR_", status)));
    CHECK(holds(problem, meaning));
  }
  driver.fail("cuInit", 1, cuda::result::no_device);
  CHECK_THROWS_WITH_AS(cuda::Driver::open(cuda::stand_in_library()), doctest::Contains("no CUDA device"),
                       RuntimeError);
  CHECK(cuda::inspect_driver(cuda::stand_in_library()).usable);
}

TEST_CASE("a driver that fails while its devices are looked at: the call and its status") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  for (const char* call : {"cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName",
                           "cuDeviceTotalMem_v2", "cuDeviceGetAttribute"}) {
    driver.fail(call, 1, cuda::result::invalid_value);
    const cuda::DriverStatus status = cuda::inspect_driver(cuda::stand_in_library());
    CHECK(holds(status.problem, fmt::format("{} failed with 1 CUDA_ERROR_INVALID_VALUE", call)));
    CHECK(!status.usable);
  }
}

TEST_CASE("cuda device: kernels of the host, and copies past a buffer's end, are refused") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const auto device = device_of();
  CHECK(holds(device->name(), "CUDA device 0, cuda-sim"));
  CHECK(!device->host_memory());
  CHECK_THROWS_WITH_AS(device->launch({}), doctest::Contains("a launch of host kernels"), InternalError);
  device::Buffer a = device->allocate(16), b = device->allocate(8), empty = device->allocate(0);
  CHECK_THROWS_AS(device->scatter_add(a, DType::float32, {}, 1), InternalError);
  CHECK_THROWS_AS(device->gather(a, DType::float32, {}), InternalError);
  CHECK_THROWS_WITH_AS(device->copy(a, b), doctest::Contains("16 bytes at 0 in a buffer of 8"),
                       InternalError);
  const std::uint64_t calls = driver.calls();
  device->copy(empty, b);
  device->fill_zero(empty);
  CHECK(driver.calls() == calls);
}

TEST_CASE("cuda device: after an error that loses the context nothing reaches the driver any more") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const auto device = device_of();
  device::Buffer buffer = device->allocate(64);
  driver.fail("cuMemsetD8Async", 1, cuda::result::illegal_address);
  CHECK_THROWS_WITH_AS(device->fill_zero(buffer), doctest::Contains("What was on the device is lost"),
                       cuda::DeviceError);
  CHECK(!device->sound());
  CHECK(driver.live().contexts == 0);
  const std::uint64_t calls = driver.calls();
  try {
    device->fill_zero(buffer);
    FAIL("a dead device took work");
  } catch (const cuda::DeviceError& error) {
    CHECK(error.code() == cuda::result::invalid_context);
    CHECK(holds(error.what(), "was lost to this run by an earlier error: CUDA device 0"));
    CHECK(holds(error.what(), "cuMemsetD8Async("));
    CHECK(holds(error.what(), "failed with 700 CUDA_ERROR_ILLEGAL_ADDRESS"));
  }
  buffer = device::Buffer();
  CHECK(driver.calls() == calls);
}

TEST_CASE("cuda device: what gives things back meets a lost context, which the next call tells of") {
  ONDULA_NEEDS_STAND_IN();
  for (const char* call : {"cuMemFree_v2", "cuCtxPushCurrent_v2"}) {
    CAPTURE(call);
    const SimDriver driver(untouched());
    const auto session = std::make_shared<cuda::Session>(cuda::Driver::open(cuda::stand_in_library()), 0);
    cuda::DevicePointer pointer = 0;
    {
      const cuda::Scope scope(*session);
      session->call(session->functions().allocate, &pointer, std::size_t{64});
    }
    driver.fail(call, 1, cuda::result::launch_failed);
    cuda::OwnedMemory(session, pointer);
    CHECK(!session->alive());
    CHECK(driver.live().contexts == 0);
    CHECK_THROWS_WITH_AS(cuda::Scope{*session}, doctest::Contains((std::string(call) + "(").c_str()),
                         cuda::DeviceError);
  }
}

TEST_CASE("cuda device: a driver without memory names the run's own limit too") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const auto device = device_of(1 << 20);
  driver.fail("cuMemAlloc_v2", 1, cuda::result::out_of_memory);
  driver.fail("cuMemAlloc_v2", 2, cuda::result::out_of_memory);
  CHECK_THROWS_WITH_AS(device->allocate(1000), doctest::Contains("(the run's limit is 1048576 bytes)"),
                       RuntimeError);
  CHECK(device->sound());
  CHECK(device->allocate(1000).bytes() == 1000);
}

TEST_CASE("cuda: arguments of calls are shown so that they can be read") {
  const char *const none = nullptr, *const name = "kernel";
  const void* const nowhere = nullptr;
  CHECK(cuda::any_argument_text(none) == "null");
  CHECK(cuda::any_argument_text(name) == "\"kernel\"");
  CHECK(cuda::any_argument_text(nowhere) == "null");
  CHECK(cuda::any_argument_text(-3) == "-3");
  CHECK(cuda::any_argument_text(std::size_t{4096}) == "4096");
  CHECK(cuda::any_argument_text(std::uint64_t{0x7f0000000000}) == "0x7f0000000000");
}

}  // namespace ondula::test
