// CUDA kernels before they are printed: what each thread does, in which order blocks run, and the arguments.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <vector>

#include "compiler/ir/kernel.hpp"

namespace ondula::ir {

/// What the text of a CUDA program depends on besides the equation. Grid sizes, dt and device numbers do not
/// enter.
struct CudaTarget {
  int sm = 80;            ///< compute capability, major * 10 + minor
  int element_bytes = 4;  ///< of the working type: 4 or 8
  int index_bits = 32;    ///< 32 only where every linear index is proven to fit (cuda_launch.hpp), else 64
  /// A launch takes steps of several shots, each with its own copy of fields and memory variables, all over
  /// the same coefficients: the shot is blockIdx.z, in 3-D without its strip_bits lowest bits.
  bool shots = false;
};

/// The live entries along one axis of `field` and of all fields that live on the same entries.
struct CudaRange {
  int axis = 0;
  std::string field;  ///< stands for the others
};

/// Strips or aprons of one axis, for nodes or half cells: both sides.
struct CudaRegion {
  RegionKind kind = RegionKind::strip;
  int axis = 0;
  bool half = false;
  std::string beyond;  ///< a field whose strips go on beyond the faces as it does; empty: up to them
  friend bool operator==(const CudaRegion&, const CudaRegion&) = default;
};

/// One column of an array, kept in registers from plane to plane: entries first .. last along the marched
/// axis around the point, `column` away from it in the plane.
struct CudaQueue {
  std::string array;
  HalfCells column{};
  int first = 0;
  int last = 0;
  int size() const { return last - first + 1; }
};

/// Where a stored value goes: `carried` values stay in a register until all corrections are added.
enum class CudaKeep { carried, strip, direct };

struct CudaStore {
  std::string array;  ///< local name
  Expr value;
  CudaKeep keep = CudaKeep::carried;
  std::vector<int> guards;  ///< ranges that the point must lie in, as indices
};

/// The lets and stores of one piece, in order.
struct CudaPiece {
  std::string comment;
  Location location;
  std::vector<Let> lets;
  std::vector<CudaStore> stores;
};

/// Pieces under one condition: everywhere in the kernel's box (region -1), or in one of its regions.
struct CudaBlock {
  int region = -1;
  std::vector<CudaPiece> pieces;
  std::vector<std::string> strips;  ///< local names of the strip arrays used
};

/// One argument, in the order of the kernel's signature. Integers have the width of the target's index.
struct CudaArgument {
  /// array: pointer to the entry at index 0 of every axis; stride, strip_stride: elements from entry to entry
  /// along `axis`; box: begin (end 0) or end of the points threads run over; live: the same of one range;
  /// region: begin or end of one side; close: end of the minus side or begin of the plus side of all regions
  /// of `axis`; planes: that one block marches through; scalar; scalars: pointer to all of them; shot_stride:
  /// elements from shot to shot of full arrays (axis -1), or of the strips of `axis`; strip_bits: of
  /// blockIdx.z those that number y-strips.
  enum class Kind {
    array,
    stride,
    strip_stride,
    box,
    live,
    region,
    close,
    planes,
    scalar,
    scalars,
    shot_stride,
    strip_bits
  };
  Kind kind = Kind::array;
  std::string name;
  int array = -1;  ///< array, strip_stride: index into the sweep's Kernel::arrays
  int axis = -1;
  int item = -1;  ///< live: range; region: region
  int side = 0;   ///< region, close
  int end = 0;    ///< box, live, region
};

/// Work and traffic per interior point, predicted from the text: for `explain`, the manifest and the
/// roofline.
struct CudaFigures {
  int flops = 0;  ///< a fused multiply-add counts 2
  int loads = 0;  ///< distinct array reads left after the register queues
  int stores = 0;
  double dram_bytes = 0;     ///< each array once per sweep
  double l2_bytes = 0;       ///< what a block's L1 cannot keep: one block at a time
  double l1_wavefronts = 0;  ///< per warp of 32 points: 1 where its elements fill whole lines, else 2
};

struct CudaKernel {
  std::string name;
  int sweep = -1;                  ///< index into the set's kernels
  int strip_axis = -1;             ///< >= 0: runs over the strips of this axis only
  bool march = false;              ///< through planes of the slowest axis, with queues
  std::array<int, 2> block{1, 1};  ///< threads along the innermost axis and the one before
  int min_blocks = 1;              ///< per multiprocessor, for the launch bounds
  int rows_per_strip = 1;          ///< tiles of rows that one y-strip of blocks holds, before it goes on to z
  bool shape_given = false;        ///< the five above are a caller's, not the table's
  /// Along the innermost axis threads start on a whole line of `line` entries, those before the first point
  /// idle: for boxes that begin some cells beyond the grid.
  bool aligned = false;
  static constexpr int line = 32;
  std::vector<CudaRange> ranges;
  std::vector<CudaRegion> regions;
  std::vector<CudaQueue> queues;
  std::vector<CudaBlock> blocks;
  std::vector<CudaStore> stores;  ///< of carried values, after all blocks; `value` unused
  std::vector<CudaArgument> arguments;
  CudaFigures figures;
  int threads() const { return block[0] * block[1]; }
};

/// All kernels of one direction, and the order of one step: a stage's kernel counts `kernels`.
struct CudaProgram {
  KernelSet set;
  CudaTarget target;
  std::vector<CudaKernel> kernels;
  std::vector<Stage> stages;
};

}  // namespace ondula::ir
