// Naming subexpressions.
// SPDX-License-Identifier: MIT
#include "compiler/passes/cuda_lets.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

void count(Expr e, std::map<std::uint32_t, int>& uses) {
  if (++uses[e->id] > 1) return;
  for (const Expr arg : e->args) count(arg, uses);
}

/// Divisions of `e` count once more, so that what several blocks divide by is divided once.
void divisions(Expr e, std::map<std::uint32_t, int>& uses, std::set<std::uint32_t>& seen) {
  if (!seen.insert(e->id).second) return;
  if (e->kind == Kind::function && e->name == "div") ++uses[e->id];
  for (const Expr arg : e->args) divisions(arg, uses, seen);
}

}  // namespace

std::string cuda_new_value(const std::string& array) { return "new_" + array; }

void CudaLets::run(ir::CudaKernel& kernel) {
  count_ = 0;
  fixed_.clear();
  direct_.clear();
  for (const ir::CudaBlock& block : kernel.blocks) {
    for (const ir::CudaPiece& piece : block.pieces) {
      for (const ir::CudaStore& store : piece.stores) {
        if (store.keep == ir::CudaKeep::direct) direct_.insert(store.array);
      }
    }
  }
  Named outer;
  for (ir::CudaBlock& block : kernel.blocks) {
    Uses uses;
    for (const ir::CudaPiece& piece : block.pieces) {
      for (const ir::CudaStore& store : piece.stores) count(store.value, uses);
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
    Named inner = outer;
    Named& named = block.region < 0 ? outer : inner;
    for (ir::CudaPiece& piece : block.pieces) {
      for (ir::CudaStore& store : piece.stores) store.value = lettered(store.value, uses, named, piece.lets);
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

Expr CudaLets::lettered(Expr e, const Uses& uses, Named& named, std::vector<ir::Let>& lets) {
  if (e->kind != Kind::function) return e;
  const auto found = named.find(e->id);
  if (found != named.end()) return found->second;
  std::vector<Expr> args;
  std::size_t length = 0;
  for (const Expr arg : e->args) {
    args.push_back(lettered(arg, uses, named, lets));
    length += ir::text(args.back()).size();
  }
  constexpr std::size_t line = 64;
  if (length > line) {
    for (Expr& arg : args) {
      if (arg->kind == Kind::function && ir::text(arg).size() > line / 2) arg = let(arg, lets);
    }
  }
  Expr result = pool_.function(e->name, std::move(args));
  if (!fixed(e)) return result;
  if (uses.at(e->id) > 1 && e->name != "neg") result = let(result, lets);
  named[e->id] = result;
  return result;
}

Expr CudaLets::let(Expr value, std::vector<ir::Let>& lets) {
  const std::string name = fmt::format("t{}", count_++);
  lets.push_back({name, value});
  return pool_.let(name);
}

}  // namespace ondula::passes
