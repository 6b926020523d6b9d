// Counting work and traffic.
// SPDX-License-Identifier: MIT
#include "compiler/passes/cuda_figures.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

/// The taps of one array on one plane of the slowest axis.
using Plane = std::set<std::pair<int, int>>;  // (row, column) offsets

class Counter {
 public:
  Counter(const ir::KernelSet& set, const ir::CudaKernel& kernel, const ir::CudaTarget& target)
      : kernel_(kernel), target_(target), dims_(set.program.dims()) {}

  ir::CudaFigures run() {
    std::set<std::string> written;
    for (const ir::CudaBlock& block : kernel_.blocks) {
      if (block.region >= 0 && kernel_.strip_axis < 0) continue;
      for (const ir::CudaPiece& piece : block.pieces) {
        for (const ir::Let& let : piece.lets) walk(let.value);
        for (const ir::CudaStore& store : piece.stores) {
          walk(store.value);
          written.insert(store.array);
        }
      }
    }
    figures_.stores = static_cast<int>(written.size());
    traffic();
    return figures_;
  }

 private:
  void walk(Expr e) {
    if (!seen_.insert(e->id).second) return;
    if (e->kind == Kind::field || e->kind == Kind::coefficient) access(*e);
    if (e->kind == Kind::function && e->name != "neg") figures_.flops += e->name == "fma" ? 2 : 1;
    for (const Expr arg : e->args) walk(arg);
  }

  void access(const ir::Node& e) {
    const int plane = dims_ == 3 ? e.offset[0] : 0;
    const int row = dims_ == 3 ? e.offset[1] : dims_ == 2 ? e.offset[0] : 0;
    const int column = e.offset[static_cast<std::size_t>(dims_ - 1)];
    for (const ir::CudaQueue& queue : kernel_.queues) {
      ir::HalfCells at = e.offset;
      at[0] = 0;
      if (queue.array != e.name || queue.column != at) continue;
      planes_[e.name][queue.last].insert({row, column});
      return;
    }
    planes_[e.name][plane].insert({row, column});
  }

  void traffic() {
    const auto element = static_cast<double>(target_.element_bytes);
    figures_.dram_bytes = element * static_cast<double>(planes_.size() + figures_.stores);
    figures_.l2_bytes = element * figures_.stores;
    const double lines = element / 4;  // wavefronts of one warp's aligned elements
    figures_.l1_wavefronts = lines * figures_.stores;
    for (const auto& [array, planes] : planes_) {
      for (const auto& [plane, taps] : planes) {
        figures_.loads += static_cast<int>(taps.size());
        figures_.l2_bytes += 32 * static_cast<double>(sectors(taps)) / kernel_.threads();
        for (const auto& [row, column] : taps)
          figures_.l1_wavefronts += column % (128 / target_.element_bytes) == 0 ? lines : lines + 1;
      }
    }
  }

  /// Sectors of 32 bytes that a block's threads touch through `taps`.
  std::size_t sectors(const Plane& taps) const {
    std::set<std::pair<int, int>> touched;
    const int per_sector = 32 / target_.element_bytes;
    for (const auto& [row, column] : taps) {
      for (int y = 0; y < kernel_.block[1]; ++y) {
        const int first = floor_div(column, per_sector);
        const int last = floor_div(column + kernel_.block[0] - 1, per_sector);
        for (int s = first; s <= last; ++s) touched.insert({y + row, s});
      }
    }
    return touched.size();
  }

  static int floor_div(int a, int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

  const ir::CudaKernel& kernel_;
  const ir::CudaTarget& target_;
  int dims_;
  ir::CudaFigures figures_;
  std::set<std::uint32_t> seen_;
  std::map<std::string, std::map<int, Plane>> planes_;
};

}  // namespace

ir::CudaFigures cuda_figures(const ir::KernelSet& set, const ir::CudaKernel& kernel,
                             const ir::CudaTarget& target) {
  return Counter(set, kernel, target).run();
}

}  // namespace ondula::passes
