// Tests of the table of GPUs and of rooflines.
// SPDX-License-Identifier: MIT
#include "runtime/gpus.hpp"

#include <doctest/doctest.h>

#include <string>

#include "compiler/error.hpp"

using namespace ondula;

TEST_CASE("gpus: names are found however they are written, others are refused") {
  CHECK(find_gpu("h200").capability == 90);
  CHECK(find_gpu("RTX-4090").capability == 89);
  CHECK_THROWS_WITH_AS(
      find_gpu("Z9"),
      "GPU 'Z9' is not in the table; known are T4, V100, A100, RTX 4090, H100, H200, B200, RTX 5090",
      UserError);
  CHECK(std::string(gpu_of(90)->name) == "H200");
  CHECK(std::string(gpu_of(86)->name) == "RTX 4090");
  CHECK(std::string(gpu_of(121)->name) == "RTX 5090");
  CHECK(gpu_of(50) == nullptr);
}

TEST_CASE("gpus: figures are consistent: FLOPS are multiprocessors times clock times lanes") {
  for (const Gpu& gpu : known_gpus()) {
    CAPTURE(gpu.name);
    const double lanes = 1e3 * gpu.float32_tflops / (2 * gpu.multiprocessors * gpu.clock_ghz);
    const double expected = gpu.capability == 75 || gpu.capability == 70 || gpu.capability == 80 ? 64 : 128;
    CHECK(lanes == doctest::Approx(expected).epsilon(0.005));
    CHECK(gpu.memory_gb_s > 100);
    CHECK((gpu.l2_gb_s == 0 || gpu.l2_gb_s > gpu.memory_gb_s));
  }
}

TEST_CASE("gpus: the acoustic kernel's roofs on an H200 are those of its traffic") {
  const Roofs roofs = roofs_of(find_gpu("H200"), {50, 16, 54, 30}, false);
  CHECK(roofs.memory == doctest::Approx(270));
  CHECK(roofs.l2 == doctest::Approx(107.4).epsilon(0.01));
  CHECK(roofs.l1 == doctest::Approx(132 * 1.98 * 32 / 30));
  CHECK(roofs.arithmetic == doctest::Approx(1338));
  CHECK(roofs.least() == roofs.l2);
  CHECK(roofs_of(find_gpu("RTX 5090"), {50, 16, 54, 30}, false).l2 == 0);
  CHECK(roofs_of(find_gpu("RTX 5090"), {50, 16, 54, 30}, false).least() == doctest::Approx(100.8));
}
