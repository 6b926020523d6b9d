// Kernels: what the emitters print. A Kernel sweeps the grid once; its pieces run in order on each row.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/program.hpp"

namespace ondula::ir {

/// What an array argument holds.
enum class ArrayKind { field, coefficient, profile };

/// One array argument. `slot` tells the arrays of a field with two apart: 0 now, 1 the one written (which of
/// a second-order field holds the previous level before). Strip arrays come once for each side of their axis.
struct ArrayArgument {
  std::string identifier;  ///< as printed among the kernel's arguments
  std::string local;       ///< as printed inside pieces: without the side
  std::string name;        ///< field, coefficient or profile
  ArrayKind kind = ArrayKind::field;
  int slot = 0;
  int axis = -1;      ///< strip axis of a memory variable; axis of a profile
  int side = -1;      ///< of a strip array: 0 minus, 1 plus
  bool half = false;  ///< profile sampled at half cells
  bool written = false;
  bool indexed_by_axes() const { return kind != ArrayKind::profile; }
};

/// name = value, once per point.
struct Let {
  std::string name;
  Expr value;
};

/// array[point] = value, where `field` lives; elsewhere in the piece's box the array keeps what it holds.
struct Store {
  std::string array;
  Expr value;
  std::string field;  ///< the Program's field the array holds
};

/// How a piece shares a row with others. A base piece has fused variants that do its work and one axis's
/// layer correction in one pass over the row; corrections are for the rows where another axis took the fused
/// variant.
enum class Role { alone, base, fused, correction };

/// Straight-line work at each point of one region; a strip or apron is run on its minus and its plus side.
/// Expressions are binary: add, sub, mul, fma, div functions over lets, symbols, constants and accesses; an
/// access is a field, coefficient or profile node named by its argument's identifier, with `offset` in array
/// cells.
struct Piece {
  std::string comment;
  Location location;  ///< the author's line it comes from
  Region region;
  Role role = Role::alone;
  int base = -1;  ///< fused and correction: index of their base piece
  /// Along this axis the piece runs `lead` cells ahead of the others of its sweep, because a later piece
  /// reads that far ahead what it writes; -1: it keeps step. No tile may then cut what it writes. Along the
  /// innermost axis it is no pass of its own: it runs in the rows of the pieces that name it in `within`.
  int lead_axis = -1;
  int lead = 0;
  std::vector<int> within;  ///< pieces that run a vector ahead in this one's rows
  /// Where the piece acts: its region within the live ranges of its stores' fields. Where these differ
  /// (`mixed`: components half a cell apart) its box is the smallest that holds them all, and each store
  /// keeps to its own; strips are those of nodes and half cells together, beyond their own the profiles are
  /// 0.
  bool mixed = false;
  std::string live_field;  ///< of the first store; of all of them where not mixed
  std::vector<Let> lets;
  std::vector<Store> stores;
  std::vector<std::string> arrays;   ///< local names used
  std::vector<std::string> scalars;  ///< symbols used
  int sides() const { return region.kind == RegionKind::live ? 1 : 2; }
};

/// visit(node) for every field and coefficient that `e` reads, as often as it does.
template <class F>
void each_access(Expr e, const F& visit) {
  if (e->kind == Kind::field || e->kind == Kind::coefficient) visit(e);
  for (const Expr arg : e->args) each_access(arg, visit);
}

/// The same for all that a piece computes.
template <class F>
void each_access(const Piece& piece, const F& visit) {
  for (const Let& let : piece.lets) each_access(let.value, visit);
  for (const Store& store : piece.stores) each_access(store.value, visit);
}

/// Work per point, counted on the lowered text: for `explain` and the roofline.
struct Cost {
  int loads = 0;  ///< distinct array reads
  int stores = 0;
  int flops = 0;    ///< a fused multiply-add counts 2
  int streams = 0;  ///< arrays that move through memory once per sweep, reads and writes counted apart
};

struct Kernel {
  std::string name;
  std::vector<ArrayArgument> arrays;
  std::vector<std::string> scalars;  ///< run-time scalars, in argument order
  std::vector<Piece> pieces;
  HalfCells halo{};         ///< widest reach of any access, in cells per axis
  std::vector<Cost> costs;  ///< of each piece
};

/// One entry of the step: run a kernel, or one of the Program's other operations.
struct Stage {
  int kernel = -1;     ///< index into kernels, or
  int operation = -1;  ///< index into program.operations
};

/// All kernels of one direction, and the order of one step.
struct KernelSet {
  Program program;  ///< after hoist: coefficients and scalars the runtime evaluates
  std::vector<Kernel> kernels;
  std::vector<Stage> stages;
};

/// How many cells away along its axis any kernel reads a memory variable.
int strip_reach(const KernelSet& set, const Field& field);

std::string dump(const KernelSet& set);

/// Checks the invariants of kernels and stages; throws InternalError naming `pass`, the kernel and what is
/// wrong.
void verify(const KernelSet& set, const std::string& pass);

}  // namespace ondula::ir
