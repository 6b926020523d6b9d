// Which memory variables run within their readers' rows.
// SPDX-License-Identifier: MIT
#include "compiler/passes/windows.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/passes/fuse.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Piece;
using ir::RegionKind;
using ir::Role;

bool reads(const Piece& piece, const std::string& array) {
  bool found = false;
  ir::each_access(piece, [&](Expr e) { found |= e->name == array; });
  return found;
}

class KernelWindows {
 public:
  KernelWindows(const ir::Program& program, ir::Kernel& kernel) : program_(program), kernel_(kernel) {}

  void run() {
    for (std::size_t p = 0; p < kernel_.pieces.size(); ++p) {
      const std::vector<std::size_t> readers = readers_of(p);
      if (!readers.empty()) open(p, readers);
    }
  }

 private:
  int inner() const { return program_.dims() - 1; }

  bool in_inner_layer(const Piece& piece) const {
    return piece.region.kind == RegionKind::strip && piece.region.axis == inner() && !piece.mixed;
  }

  /// The fused and correction pieces in whose rows piece `number` can run; empty where it cannot. They are of
  /// one base, so that every row of the layer is one's and one's only.
  std::vector<std::size_t> readers_of(std::size_t number) const {
    const Piece& piece = kernel_.pieces[number];
    const bool alone = piece.role == Role::alone && piece.lead_axis < 0 && piece.stores.size() == 1;
    if (!alone || !in_inner_layer(piece) || reads_what_others_store(number)) return {};
    const std::string& array = piece.stores[0].array;
    std::vector<std::size_t> result;
    std::set<Role> roles;
    bool apron = false;
    for (std::size_t p = 0; p < kernel_.pieces.size(); ++p) {
      const Piece& reader = kernel_.pieces[p];
      if (p == number || !reads(reader, array)) continue;
      // An apron outside the widened strips comes after them and reads memory.
      if (p > number && reader.region.kind == RegionKind::apron && reader.region.axis == inner()) {
        apron = true;
        continue;
      }
      if (apron) return {};
      if (p < number || !in_inner_layer(reader) || !along_row(reader, array) || reader.base < 0) return {};
      if (!same_points(program_, reader.stores[0].field, piece.stores[0].field)) return {};
      if (!result.empty() && reader.base != kernel_.pieces[result[0]].base) return {};
      roles.insert(reader.role);
      result.push_back(p);
    }
    const bool every_row = result.size() == 2 && roles == std::set<Role>{Role::fused, Role::correction};
    return every_row ? result : std::vector<std::size_t>{};
  }

  bool reads_what_others_store(std::size_t number) const {
    for (std::size_t p = 0; p < kernel_.pieces.size(); ++p) {
      if (p == number) continue;
      for (const ir::Store& store : kernel_.pieces[p].stores) {
        if (reads(kernel_.pieces[number], store.array)) return true;
      }
    }
    return false;
  }

  /// `reader` reads `array` at no other row than its own.
  bool along_row(const Piece& reader, const std::string& array) const {
    bool along = true;
    ir::each_access(reader, [&](Expr e) {
      for (int a = 0; e->name == array && a < inner(); ++a)
        along &= e->offset[static_cast<std::size_t>(a)] == 0;
    });
    return along;
  }

  void open(std::size_t number, const std::vector<std::size_t>& readers) {
    Piece& piece = kernel_.pieces[number];
    piece.lead_axis = inner();
    for (const std::size_t r : readers) {
      Piece& reader = kernel_.pieces[r];
      ir::each_access(reader, [&](Expr e) {
        if (e->name == piece.stores[0].array)
          piece.lead = std::max(piece.lead, std::abs(e->offset[static_cast<std::size_t>(inner())]));
      });
      reader.within.push_back(static_cast<int>(number));
      const std::set<std::string> had(reader.arrays.begin(), reader.arrays.end());
      for (const std::string& name : piece.arrays) {
        if (!had.contains(name)) reader.arrays.push_back(name);
      }
      std::set<std::string> scalars(reader.scalars.begin(), reader.scalars.end());
      scalars.insert(piece.scalars.begin(), piece.scalars.end());
      reader.scalars.assign(scalars.begin(), scalars.end());
    }
  }

  const ir::Program& program_;
  ir::Kernel& kernel_;
};

}  // namespace

ir::KernelSet windows(ir::KernelSet set) {
  if (set.program.dims() < 2) return set;
  for (ir::Kernel& kernel : set.kernels) KernelWindows(set.program, kernel).run();
  return set;
}

}  // namespace ondula::passes
