// The device's memory: reuse, the cap, transfers of every size.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "compiler/error.hpp"
#include "runtime/device/cuda/device.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"

namespace ondula::test {
namespace {

std::unique_ptr<cuda::Device> device_of(std::size_t limit = 0, bool poison = false) {
  cuda::DeviceOptions options;
  options.driver = cuda::Driver::open(cuda::stand_in_library());
  options.limit_bytes = limit;
  options.poison = poison;
  options.threads = 1;
  return std::make_unique<cuda::Device>(options);
}

}  // namespace

TEST_CASE(
    "cuda pool: what is given back is handed out again, and goes back to the driver when room is short") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const auto device = device_of(1000);
  void* first = nullptr;
  {
    const device::Buffer a = device->allocate(400), b = device->allocate(300);
    first = a.data();
    CHECK(device->bytes_now() == 700);
    CHECK_THROWS_WITH_AS(device->allocate(400), doctest::Contains("400 bytes more"), RuntimeError);
  }
  CHECK(device->bytes_now() == 0);
  CHECK(device->bytes_peak() == 700);
  CHECK(device->held_bytes() == 700);
  CHECK(driver.live().allocations == 2);
  {
    const device::Buffer again = device->allocate(390);
    CHECK(again.data() == first);
    CHECK(again.bytes() == 390);
    CHECK(driver.live().allocations == 2);
  }
  // 400 and 300 are kept: neither fits, and both have to go for it.
  const device::Buffer large = device->allocate(900);
  CHECK(driver.live().allocations == 1);
  CHECK(device->held_bytes() == 900);
}

TEST_CASE("cuda pool: the driver's own lack of memory empties what is kept before it is told of") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const auto device = device_of();
  {
    const device::Buffer kept = device->allocate(1 << 20);
  }
  CHECK(driver.live().allocations == 1);
  driver.fail("cuMemAlloc_v2", 1, cuda::result::out_of_memory);
  const device::Buffer other = device->allocate(3 << 20);
  CHECK(driver.live().allocations == 1);
  CHECK(device->sound());
}

TEST_CASE("cuda device: bytes go there and back in pieces of every size, beside other work") {
  ONDULA_NEEDS_STAND_IN();
  for (const int mode : {ONDULA_SIM_FAST, ONDULA_SIM_SHUFFLE}) {
    const SimDriver driver(untouched(mode, 4));
    const auto device = device_of();
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{4097}, (std::size_t{4} << 20) + 8, std::size_t{13} << 20}) {
      std::vector<unsigned char> there(bytes), back(bytes);
      std::iota(there.begin(), there.end(), static_cast<unsigned char>(bytes));
      device::Buffer a = device->allocate(bytes + 16), b = device->allocate(bytes + 16);
      device->fill_zero(a);
      device->upload(a, 8, there.data(), bytes);
      const std::vector<unsigned char> sent = there;
      std::fill(there.begin(), there.end(), static_cast<unsigned char>(0x55));
      device->copy(a, b);
      device->download(b, 8, back.data(), bytes);
      CHECK(std::memcmp(back.data(), sent.data(), bytes) == 0);
      CHECK_THROWS_AS(device->download(b, 17, back.data(), bytes), InternalError);
    }
    CHECK(driver.report() == "");
  }
}

TEST_CASE("cuda device: fresh memory is NaN where a test wants it, and nothing is handed out twice") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  const auto device = device_of(0, true);
  {
    device::Buffer a = device->allocate(16);
    unsigned char bytes[16] = {};
    device->download(a, 0, bytes, sizeof bytes);
    for (const unsigned char byte : bytes) CHECK(byte == 0xff);
  }
  CHECK(driver.live().allocations == 0);
}

}  // namespace ondula::test
