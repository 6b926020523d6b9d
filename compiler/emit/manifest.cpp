// Argument positions and the JSON manifest.
// SPDX-License-Identifier: MIT
#include "compiler/emit/manifest.hpp"

#include <nlohmann/json.hpp>

namespace ondula::emit {

using nlohmann::ordered_json;

ArgumentLayout::ArgumentLayout(const ir::Kernel& kernel, int dims) : dims_(dims) {
  size_ = outer();
  for (const ir::ArrayArgument& array : kernel.arrays) {
    const bool strip = array.kind == ir::ArrayKind::field && array.side >= 0;
    strips_.push_back(strip ? size_ : -1);
    if (strip) size_ += dims_;
  }
  for (const ir::Piece& piece : kernel.pieces) {
    boxes_.push_back(size_);
    size_ += piece.sides() * 2 * dims_;
    const bool base = piece.role == ir::Role::base;
    cores_.push_back(base ? size_ : -1);
    if (base) size_ += 2 * dims_;
    lives_.push_back(piece.mixed ? size_ : -1);
    if (piece.mixed) size_ += 2 * dims_ * (1 + static_cast<int>(piece.stores.size()));
  }
}

std::string manifest(const ir::KernelSet& set, Real real) {
  const ir::Program& program = set.program;
  ordered_json out;
  out["equation"] = program.equation;
  out["direction"] = program.direction;
  out["axes"] = program.axes;
  out["order"] = program.order;
  out["dtype"] = real == Real::float32 ? "float32" : "float64";
  for (const ir::Coefficient& c : program.coefficients)
    out["coefficients"][c.name] = text(c.definition, program.axes);
  for (const ir::Scalar& s : program.scalars) out["scalars"][s.name] = text(s.definition, program.axes);
  static constexpr std::array<const char*, 3> kinds = {"field", "coefficient", "profile"};
  for (const ir::Kernel& kernel : set.kernels) {
    ordered_json k;
    k["name"] = kernel.name;
    for (const ir::ArrayArgument& a : kernel.arrays) {
      k["arrays"].push_back({{"identifier", a.identifier},
                             {"kind", kinds[static_cast<std::size_t>(a.kind)]},
                             {"name", a.name},
                             {"slot", a.slot},
                             {"side", a.side},
                             {"written", a.written}});
    }
    k["scalars"] = kernel.scalars;
    for (std::size_t i = 0; i < kernel.pieces.size(); ++i) {
      const ir::Cost& cost = kernel.costs[i];
      k["pieces"].push_back({{"comment", kernel.pieces[i].comment},
                             {"loads", cost.loads},
                             {"stores", cost.stores},
                             {"flops", cost.flops},
                             {"streams", cost.streams}});
    }
    k["halo"] = kernel.halo;
    out["kernels"].push_back(std::move(k));
  }
  return out.dump(1);
}

}  // namespace ondula::emit
