// Which subexpressions of a CUDA kernel get names.
// SPDX-License-Identifier: MIT
#include "compiler/passes/cuda_lets.hpp"

#include <algorithm>

#include "compiler/passes/lets.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

/// Divisions of `e` count once more, so that what several blocks divide by is divided once.
void divisions(Expr e, Uses& uses, std::set<std::uint32_t>& seen) {
  if (!seen.insert(e->id).second) return;
  if (e->kind == Kind::function && e->name == "div") ++uses[e->id];
  for (const Expr arg : e->args) divisions(arg, uses, seen);
}

}  // namespace

std::string cuda_new_value(const std::string& array) { return "new_" + array; }

void CudaLets::run(ir::CudaKernel& kernel) {
  fixed_.clear();
  direct_.clear();
  for (const ir::CudaBlock& block : kernel.blocks) {
    for (const ir::CudaPiece& piece : block.pieces) {
      for (const ir::CudaStore& store : piece.stores) {
        if (store.keep == ir::CudaKeep::direct) direct_.insert(store.array);
      }
    }
  }
  Lets names(pool_, [this](Expr e) { return fixed(e); });
  Lets::Named outer;
  for (ir::CudaBlock& block : kernel.blocks) {
    Uses uses;
    for (const ir::CudaPiece& piece : block.pieces) {
      for (const ir::CudaStore& store : piece.stores) count_uses(store.value, uses);
    }
    if (block.region < 0) {
      for (const ir::CudaBlock& other : kernel.blocks) {
        std::set<std::uint32_t> seen;
        for (const ir::CudaPiece& piece : other.pieces) {
          for (const ir::CudaStore& store : piece.stores) {
            if (other.region >= 0) divisions(store.value, uses, seen);
          }
        }
      }
    }
    Lets::Named inner = outer;
    Lets::Named& named = block.region < 0 ? outer : inner;
    for (ir::CudaPiece& piece : block.pieces) {
      for (ir::CudaStore& store : piece.stores)
        store.value = names.name(store.value, uses, named, piece.lets);
    }
  }
}

/// False where `e` depends on what changes within the kernel.
bool CudaLets::fixed(Expr e) {
  if (e->kind == Kind::let) return !e->name.starts_with("new_");
  if (e->kind == Kind::field && direct_.contains(e->name)) return false;
  const auto found = fixed_.find(e->id);
  if (found != fixed_.end()) return found->second;
  const bool result = std::all_of(e->args.begin(), e->args.end(), [&](Expr arg) { return fixed(arg); });
  fixed_[e->id] = result;
  return result;
}

}  // namespace ondula::passes
