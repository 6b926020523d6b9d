// The table of GPUs, and rooflines from it.
// SPDX-License-Identifier: MIT
#include "runtime/gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "compiler/error.hpp"

namespace ondula {
namespace {

// Multiprocessors, clocks, memory, L2 size and TFLOPS: the maker's document named in each line. A Hopper chip
// has two boost clocks; 1.98 GHz is the one of plain float32 and float64 work, of which its 66.9 TFLOPS are
// 132 x 128 lanes x 2. B200's clock follows from its 75 TFLOPS in the same way, its multiprocessors and L2
// size from "Nvidia's B200: Keeping the CUDA Juggernaut Rolling" (Chips and Cheese), since no data sheet has
// them. L2 reads: V100 and A100 by the Ampere paper's bytes per clock (2048, 5120) at the boost clock; H100
// and H200 by what "Nvidia's H100: Funny L2, and Tons of Bandwidth" (Chips and Cheese) measured on that chip
// (5.5 to 6 TB/s). Where neither exists the roof is left out.
constexpr std::array<Gpu, 8> table = {{
    {"T4", 75, 40, 1.590, 320, 4, 0, 8.1, 0.25,
     "NVIDIA T4 Tensor Core GPU data sheet; NVIDIA Turing GPU Architecture"},
    {"V100", 70, 80, 1.530, 900, 6, 3130, 15.7, 7.8,
     "NVIDIA V100 Tensor Core GPU data sheet (SXM2); NVIDIA Tesla V100 GPU Architecture"},
    {"A100", 80, 108, 1.410, 2039, 40, 7220, 19.5, 9.7,
     "NVIDIA A100 Tensor Core GPU data sheet (80 GB, SXM4); NVIDIA A100 Tensor Core GPU Architecture"},
    {"RTX 4090", 89, 128, 2.520, 1008, 72, 0, 82.6, 1.29, "NVIDIA Ada GPU Architecture"},
    {"H100", 90, 132, 1.980, 3350, 50, 5800, 66.9, 33.5,
     "NVIDIA H100 Tensor Core GPU data sheet (SXM5); NVIDIA H100 Tensor Core GPU Architecture"},
    {"H200", 90, 132, 1.980, 4800, 50, 5800, 66.9, 33.5,
     "NVIDIA H200 Tensor Core GPU data sheet (SXM); chip as H100"},
    {"B200", 100, 148, 1.980, 7700, 126, 0, 75, 37, "NVIDIA HGX B200 data sheet, an eighth of eight GPUs"},
    {"RTX 5090", 120, 170, 2.407, 1792, 96, 0, 104.8, 1.64, "NVIDIA RTX Blackwell GPU Architecture"},
}};

std::string plain(const std::string& name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::span<const Gpu> known_gpus() { return table; }

const Gpu& find_gpu(const std::string& name) {
  std::string names;
  for (const Gpu& gpu : table) {
    if (plain(gpu.name) == plain(name)) return gpu;
    names += (names.empty() ? "" : ", ") + std::string(gpu.name);
  }
  throw UserError(fmt::format("GPU '{}' is not in the table; known are {}", name, names));
}

const Gpu* gpu_of(int capability) {
  const Gpu* nearest = nullptr;
  const auto distance = [&](const Gpu& gpu) { return std::abs(gpu.capability - capability); };
  for (const Gpu& gpu : table) {
    if (gpu.capability / 10 != capability / 10) continue;
    // Of several with one capability the later and larger stands: H200 for 9.0.
    if (nearest == nullptr || distance(gpu) < distance(*nearest) ||
        (distance(gpu) == distance(*nearest) && gpu.multiprocessors >= nearest->multiprocessors))
      nearest = &gpu;
  }
  return nearest;
}

double Roofs::least() const {
  double least = 0;
  for (const double roof : {memory, l2, l1, arithmetic})
    if (roof > 0 && (least == 0 || roof < least)) least = roof;
  return least;
}

Roofs roofs_of(const Gpu& gpu, const PointCost& cost, bool float64) {
  constexpr double warp = 32;
  const auto roof = [](double rate, double work) { return work > 0 ? rate / work : 0; };
  Roofs roofs;
  roofs.memory = roof(memory_share * gpu.memory_gb_s, cost.memory_bytes);
  roofs.l2 = roof(gpu.l2_gb_s, cost.l2_bytes);
  roofs.l1 = roof(gpu.multiprocessors * gpu.clock_ghz * warp, cost.l1_wavefronts);
  roofs.arithmetic = roof(1e3 * (float64 ? gpu.float64_tflops : gpu.float32_tflops), cost.flops);
  return roofs;
}

}  // namespace ondula
