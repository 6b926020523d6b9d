// lower: pieces, their roles, and that a fused row does the very operations of base and correction.
// SPDX-License-Identifier: MIT
#include "compiler/passes/lower.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/expand.hpp"
#include "compiler/passes/fuse.hpp"
#include "compiler/passes/hoist.hpp"
#include "compiler/passes/materialize.hpp"
#include "tests/compiler/passes/stages.hpp"
#include "tests/compiler/passes/values.hpp"

namespace ondula::test {

EQUATION(displacement, "derivatives nested along two axes") {
  auto k = parameter("k", "m^2/s^2", positive);
  auto v = vector("v", "m");
  evolve(dtt(v) = k * grad(div(v)) + force(v));
}

namespace {

using ir::Kind;
using ir::Role;

ir::KernelSet lowered(const ir::Program& absorbed, passes::Fusion fusion = passes::Fusion::statement) {
  const ir::Program expanded = passes::expand(absorbed);
  const auto step = passes::dependences(expanded);
  const ir::Program hoisted = passes::materialize(passes::hoist(expanded), step);
  return passes::lower(hoisted, passes::fuse(hoisted, step, fusion));
}

/// What arrays hold at the point of the update after some pieces ran there; elsewhere, and before, made up.
class Point {
 public:
  explicit Point(const ir::Program& program) { around_.program = &program; }

  void run(const ir::Piece& piece) {
    Surroundings around = around_;
    around.field = [this](const ir::Node& e) {
      const auto found = arrays_.find(e.name);
      const bool here = e.offset == ir::HalfCells{};
      return here && found != arrays_.end() ? found->second : made_up(e.name, e.offset);
    };
    for (const ir::Let& let : piece.lets) around.lets[let.name] = value(let.value, around);
    // As printed: each store is complete before the next value is computed.
    for (const ir::Store& store : piece.stores) arrays_[store.array] = value(store.value, around);
  }

  const std::map<std::string, double>& arrays() const { return arrays_; }

 private:
  Surroundings around_;
  std::map<std::string, double> arrays_;
};

}  // namespace

TEST_CASE("lower: a fused row leaves the bits of its base and correction, run one after the other") {
  int fused_pieces = 0;
  for_each_program([&](const ir::Program& absorbed) {
    const ir::KernelSet set = lowered(absorbed);
    for (const ir::Kernel& kernel : set.kernels) {
      for (const ir::Piece& fused : kernel.pieces) {
        if (fused.role != Role::fused) continue;
        ++fused_pieces;
        const auto correction = std::find_if(kernel.pieces.begin(), kernel.pieces.end(), [&](const auto& p) {
          return p.role == Role::correction && p.base == fused.base && p.region == fused.region;
        });
        REQUIRE(correction != kernel.pieces.end());
        Point together(set.program), apart(set.program);
        together.run(fused);
        apart.run(kernel.pieces[static_cast<std::size_t>(fused.base)]);
        apart.run(*correction);
        CHECK(together.arrays() == apart.arrays());
      }
    }
  });
  CHECK(fused_pieces > 20);
}

TEST_CASE("lower: base pieces are complete, fused and corrections name them, and only strips are fused") {
  for_each_program([](const ir::Program& absorbed) {
    for (const ir::Kernel& kernel : lowered(absorbed).kernels) {
      for (const ir::Piece& piece : kernel.pieces) {
        CHECK(piece.location.line > 0);
        if (piece.role == Role::fused || piece.role == Role::correction) {
          REQUIRE(piece.base >= 0);
          const ir::Piece& base = kernel.pieces.at(static_cast<std::size_t>(piece.base));
          CHECK(base.role == Role::base);
          CHECK(base.region.kind == ir::RegionKind::live);
          CHECK(piece.region.kind == ir::RegionKind::strip);
        } else {
          CHECK(piece.base == -1);
        }
        if (absorbed.dims() == 1) CHECK(piece.role == Role::alone);
      }
    }
  });
}

TEST_CASE("lower: corrections run in the order of the axes, after the plain update they correct") {
  for_each_program([](const ir::Program& absorbed) {
    for (const ir::Kernel& kernel : lowered(absorbed).kernels) {
      std::map<std::string, int> axis_of;  // last axis that corrected a field
      std::set<std::string> plain;
      for (const ir::Piece& piece : kernel.pieces) {
        if (piece.role == Role::fused) continue;
        for (const ir::Store& store : piece.stores) {
          if (piece.region.kind == ir::RegionKind::live) {
            CHECK(plain.insert(store.array).second);
            continue;
          }
          if (!plain.contains(store.array)) continue;
          CHECK(piece.region.axis >= axis_of[store.array]);
          axis_of[store.array] = piece.region.axis;
        }
      }
    }
  });
}

TEST_CASE("lower: the halo is the widest reach of any access") {
  for (const int order : {2, 8, 16}) {
    for (int dims = 1; dims <= 3; ++dims) {
      const ir::KernelSet acoustic = lowered(absorbed_program(equations::acoustic(), dims, order));
      const ir::KernelSet density = lowered(absorbed_program(equations::acoustic_density(), dims, order));
      for (int axis = 0; axis < dims; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        CHECK(acoustic.kernels.back().halo[a] == order / 2);
        // The outer half cell and the inner one together reach 2M - 1 cells.
        CHECK(density.kernels.back().halo[a] == order - 1);
      }
    }
  }
}

TEST_CASE("A16, F5: only levels that are allocated are read: slots 0 and 1 of second order, 0 of first") {
  for_each_program([](const ir::Program& absorbed) {
    const ir::KernelSet set = lowered(absorbed);
    for (const ir::Kernel& kernel : set.kernels) {
      for (const ir::ArrayArgument& array : kernel.arrays) {
        if (array.kind != ir::ArrayKind::field) continue;
        CHECK(array.slot >= 0);
        CHECK(array.slot <= set.program.field(array.name).time_order - 1);
      }
    }
  });
}

TEST_CASE("lower: layers around derivatives nested along two axes are refused with the author's line") {
  const std::string line = displacement().instantiate(default_axes(2)).evolutions[0].location.text();
  CHECK_THROWS_WITH_AS(
      lowered(absorbed_program(displacement(), 2, 4)),
      doctest::Contains((line + ": equation displacement: derivatives along two axes").c_str()), UserError);
  CHECK_NOTHROW(lowered(absorbed_program(displacement(), 1, 4)));
}

TEST_CASE("lower: costs count what the text holds") {
  const ir::KernelSet set = lowered(absorbed_program(equations::acoustic(), 2, 2));
  const ir::Kernel& kernel = set.kernels.back();
  const auto base = std::find_if(kernel.pieces.begin(), kernel.pieces.end(),
                                 [](const auto& p) { return p.role == Role::base; });
  REQUIRE(base != kernel.pieces.end());
  const ir::Cost& cost = kernel.costs[static_cast<std::size_t>(base - kernel.pieces.begin())];
  CHECK(cost.loads == 7);  // five taps, the step before, the coefficient
  CHECK(cost.stores == 1);
  CHECK(cost.streams == 4);
}

}  // namespace ondula::test
