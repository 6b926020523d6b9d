// Listing and invariants of kernels.
// SPDX-License-Identifier: MIT
#include "compiler/ir/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "compiler/error.hpp"

namespace ondula::ir {
namespace {

/// What every kernel must keep, whatever device runs it.
class KernelVerifier {
 public:
  KernelVerifier(const Kernel& kernel, const std::string& pass) : kernel_(kernel), pass_(pass) {}

  void run() const {
    require(kernel_.costs.size() == kernel_.pieces.size(), "as many costs as pieces");
    for (std::size_t p = 0; p < kernel_.pieces.size(); ++p) piece(p);
  }

 private:
  void require(bool condition, const std::string& what) const {
    if (!condition)
      throw InternalError(fmt::format("after pass {}: kernel {}: broken: {}", pass_, kernel_.name, what));
  }

  /// A base follows its fused variants and precedes its corrections; strips belong to their axis; a piece
  /// reads what it stores only where it stores it; every array and scalar it uses is an argument.
  void piece(std::size_t number) const {
    const Piece& p = kernel_.pieces[number];
    const bool refers = p.role == Role::fused || p.role == Role::correction;
    require(refers == (p.base >= 0), p.comment + ": a base for fused pieces and corrections only");
    if (refers) {
      const auto base = static_cast<std::size_t>(p.base);
      require(base < kernel_.pieces.size() && kernel_.pieces[base].role == Role::base,
              p.comment + ": its base is one");
      require(p.role == Role::fused ? number < base : number > base,
              p.comment + ": fused, base, correction in order");
      require(p.region.kind == RegionKind::strip, p.comment + ": fused pieces and corrections act on strips");
    }
    if (p.lead_axis >= 0) {
      require(p.role == Role::alone && p.region.kind == RegionKind::strip && p.region.axis == p.lead_axis,
              p.comment + ": a piece that runs ahead stands alone, on strips of that axis");
    }
    for (const int w : p.within) {
      require(w >= 0 && static_cast<std::size_t>(w) < kernel_.pieces.size(),
              p.comment + ": what runs within it is a piece");
      const Piece& inner = kernel_.pieces[static_cast<std::size_t>(w)];
      require(
          p.region == inner.region && inner.lead_axis == inner.region.axis && inner.stores.size() == 1,
          p.comment + ": what runs within it runs ahead along the axis of its strips, and stores one array");
    }
    require(!p.stores.empty(), p.comment + ": it stores something");
    std::set<std::string> stored;
    for (const Store& store : p.stores) {
      require(stored.insert(store.array).second, p.comment + ": each array is stored once");
      require(written(store.array), p.comment + ": " + store.array + " is an argument that may be written");
    }
    for (const Let& let : p.lets) expression(p, let.value, stored);
    for (const Store& store : p.stores) expression(p, store.value, stored);
  }

  bool written(const std::string& local) const {
    return std::any_of(kernel_.arrays.begin(), kernel_.arrays.end(),
                       [&](const ArrayArgument& a) { return a.local == local && a.written; });
  }

  void expression(const Piece& p, Expr e, const std::set<std::string>& stored) const {
    if (e->kind == Kind::field || e->kind == Kind::coefficient || e->kind == Kind::profile) {
      const bool known = std::find(p.arrays.begin(), p.arrays.end(), e->name) != p.arrays.end();
      require(known, p.comment + ": " + e->name + " is listed");
      require(e->kind != Kind::field || !stored.contains(e->name) || e->offset == HalfCells{},
              p.comment + ": " + e->name + " is read beside where it is stored");
    }
    if (e->kind == Kind::symbol) {
      const bool known =
          std::find(kernel_.scalars.begin(), kernel_.scalars.end(), e->name) != kernel_.scalars.end();
      require(known, p.comment + ": scalar " + e->name + " is an argument");
    }
    for (const Expr arg : e->args) expression(p, arg, stored);
  }

  const Kernel& kernel_;
  const std::string& pass_;
};

}  // namespace

int strip_reach(const KernelSet& set, const Field& field) {
  int reach = 0;
  const auto axis = static_cast<std::size_t>(field.strip_axis);
  for (const Kernel& kernel : set.kernels) {
    for (const ArrayArgument& a : kernel.arrays) {
      if (a.kind != ArrayKind::field || a.name != field.name) continue;
      for (const Piece& piece : kernel.pieces) {
        each_access(piece, [&](Expr e) {
          if (e->name == a.local) reach = std::max(reach, std::abs(e->offset[axis]));
        });
      }
    }
  }
  return reach;
}

void verify(const KernelSet& set, const std::string& pass) {
  for (const Kernel& kernel : set.kernels) KernelVerifier(kernel, pass).run();
  for (const Stage& stage : set.stages) {
    const bool one = (stage.kernel >= 0) != (stage.operation >= 0);
    const bool known = stage.kernel < static_cast<int>(set.kernels.size()) &&
                       stage.operation < static_cast<int>(set.program.operations.size());
    if (!one || !known)
      throw InternalError("after pass " + pass + ": a stage that is neither kernel nor operation");
  }
}

std::string dump(const KernelSet& set) {
  std::string out;
  for (const Kernel& kernel : set.kernels) {
    out += fmt::format("kernel {}\n", kernel.name);
    for (std::size_t i = 0; i < kernel.pieces.size(); ++i) {
      const Piece& piece = kernel.pieces[i];
      const Cost& cost = kernel.costs[i];
      out += fmt::format("  piece {}: {} loads, {} stores, {} flops", piece.comment, cost.loads, cost.stores,
                         cost.flops);
      if (piece.lead_axis >= 0) {
        out += fmt::format(", {} cells of {} ahead", piece.lead,
                           set.program.axes[static_cast<std::size_t>(piece.lead_axis)]);
      }
      out += '\n';
      for (const Let& let : piece.lets)
        out += fmt::format("    {} = {}\n", let.name, lowered_text(let.value, set.program.axes));
      for (const Store& store : piece.stores) {
        out += fmt::format("    {}' = {}\n", store.array, lowered_text(store.value, set.program.axes));
      }
    }
  }
  return out;
}

}  // namespace ondula::ir
