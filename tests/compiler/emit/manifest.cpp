// The manifest and the argument layout tell the same story as the text.
// SPDX-License-Identifier: MIT
#include "compiler/emit/manifest.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"

namespace ondula::test {
namespace {

ir::KernelSet kernels(const EquationDefinition& equation, int dims, int order) {
  return passes::compile(equation, {default_axes(dims), order, false, false}).kernels;
}

}  // namespace

TEST_CASE("manifest: positions of integer arguments are all different and within the size") {
  for (const EquationDefinition& equation : equations::all()) {
    for (int dims = 1; dims <= 3; ++dims) {
      for (const ir::Kernel& kernel : kernels(equation, dims, 8).kernels) {
        const emit::ArgumentLayout layout(kernel, dims);
        std::set<int> taken;
        const auto take = [&](int first, int count) {
          for (int i = first; i < first + count; ++i) {
            CHECK(taken.insert(i).second);
            CHECK(i < layout.size());
          }
        };
        take(0, layout.outer());
        for (std::size_t a = 0; a < kernel.arrays.size(); ++a) {
          if (layout.strip(a) >= 0) take(layout.strip(a), dims);
        }
        for (std::size_t p = 0; p < kernel.pieces.size(); ++p) {
          for (int side = 0; side < kernel.pieces[p].sides(); ++side) take(layout.box(p, side), 2 * dims);
          if (layout.core(p) >= 0) take(layout.core(p), 2 * dims);
          const int stores = static_cast<int>(kernel.pieces[p].stores.size());
          if (layout.lives(p) >= 0) take(layout.lives(p), 2 * dims * (1 + stores));
        }
        CHECK(static_cast<int>(taken.size()) == layout.size());
      }
    }
  }
}

TEST_CASE("manifest: names arrays, scalars, coefficients and the work per point") {
  const ir::KernelSet set = kernels(equations::acoustic(), 3, 8);
  const auto manifest = nlohmann::json::parse(emit::manifest(set, emit::Real::float32));
  CHECK(manifest["equation"] == "acoustic");
  CHECK(manifest["order"] == 8);
  CHECK(manifest["dtype"] == "float32");
  CHECK(manifest["axes"] == nlohmann::json({"z", "y", "x"}));
  CHECK(manifest["coefficients"].size() == set.program.coefficients.size());
  CHECK(manifest["kernels"].size() == set.kernels.size());
  const auto& main = manifest["kernels"].back();
  CHECK(main["halo"] == nlohmann::json({4, 4, 4}));
  bool found = false;
  for (const auto& piece : main["pieces"]) {
    if (piece["comment"] != "u") continue;
    found = true;
    CHECK(piece["stores"] == 1);
    CHECK(piece["loads"] == 27);   // 25 taps of u, u of the step before, vp
    CHECK(piece["streams"] == 4);  // u, u of the step before, vp; the new u
  }
  CHECK(found);
}

}  // namespace ondula::test
