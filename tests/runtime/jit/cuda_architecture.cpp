// Tests of architecture names, and of what is compiled for which device and driver.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cuda_architecture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "compiler/error.hpp"
#include "tests/support/messages.hpp"

using namespace ondula;
using jit::CudaArchitecture;
using jit::CudaVersion;

namespace {

const std::vector<int> nvrtc13 = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

std::string driver_refusal(CudaArchitecture architecture, CudaVersion nvrtc, CudaVersion driver) {
  return ondula::test::message_of<RuntimeError>([&] { jit::require_loadable(architecture, nvrtc, driver); });
}

}  // namespace

TEST_CASE("cuda: architectures are read and written back") {
  for (const char* name : {"sm_75", "sm_90", "sm_90a", "sm_100f", "sm_121", "compute_120"})
    CHECK(jit::parse_architecture(name).text() == name);
  CHECK(jit::parse_architecture("12.1") == CudaArchitecture{12, 1, "", false});
  CHECK(jit::parse_architecture("9.0a").text() == "sm_90a");
  CHECK(jit::parse_architecture("sm_120").number() == 120);
  for (const char* wrong :
       {"", "sm_", "sm_9", "90", "sm_9.0", "sm_90b", "SM_90", "sm_1234", "9.", ".0", "9.01", "sm_90 "}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(jit::parse_architecture(wrong), UserError);
  }
  CHECK_THROWS_WITH_AS(
      jit::parse_architecture("hopper"),
      "CUDA architecture: found 'hopper'; allowed: sm_XX for a cubin (sm_90, sm_90a), compute_XX "
      "for PTX, or a compute capability (9.0)",
      UserError);
}

TEST_CASE("C16: a device NVRTC does not know gets PTX, one too old an error listing the range") {
  CHECK(jit::choose_architecture(9, 0, nvrtc13).text() == "sm_90");
  CHECK(jit::choose_architecture(12, 1, nvrtc13).text() == "sm_121");
  CHECK(jit::choose_architecture(99, 0, nvrtc13).text() == "compute_121");
  CHECK(jit::choose_architecture(10, 1, nvrtc13).text() == "compute_100");
  CHECK_THROWS_WITH_AS(jit::choose_architecture(2, 1, nvrtc13),
                       "the device has compute capability 2.1; this NVRTC compiles for sm_75, sm_80, sm_86, "
                       "sm_87, sm_88, sm_89, "
                       "sm_90, sm_100, sm_103, sm_110, sm_120, sm_121, and newer devices by PTX. An older "
                       "CUDA toolkit serves this "
                       "one: set CUDA_HOME to it (12.x for compute capability 5.0 to 7.0)",
                       UserError);
  CHECK_THROWS_AS(jit::choose_architecture(7, 0, nvrtc13), UserError);
  CHECK_THROWS_WITH_AS(jit::require_supported({7, 0, "", false}, std::vector<int>{75, 80}, {13, 0}),
                       "CUDA architecture sm_70: NVRTC 13.0 compiles for sm_75, sm_80", UserError);
}

TEST_CASE(
    "C17: a cubin loads on any driver of its major version, and a refusal names both versions and the fix") {
  const CudaArchitecture cubin{9, 0, "", false}, ptx{9, 0, "", true};
  CHECK(CudaVersion::from_number(12040) == CudaVersion{12, 4});
  CHECK(driver_refusal(cubin, {13, 2}, CudaVersion::from_number(13000)).empty());
  CHECK(driver_refusal(cubin, {12, 9}, CudaVersion::from_number(13000)).empty());
  CHECK(driver_refusal(ptx, {13, 0}, {13, 0}).empty());
  CHECK(driver_refusal(cubin, {13, 0}, CudaVersion::from_number(12040)) ==
        "the driver supports CUDA up to 12.4, and the kernels (sm_90) were compiled by NVRTC 13.0, which "
        "needs a "
        "driver for CUDA 13.0 or newer. Either update the driver, or set CUDA_HOME to a CUDA 12.x toolkit");
  CHECK(driver_refusal(ptx, {13, 2}, {13, 0}).find("which needs a driver for CUDA 13.2 or newer") !=
        std::string::npos);
}
