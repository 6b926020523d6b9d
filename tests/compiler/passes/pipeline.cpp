// pipeline: order of the passes, listings only where something changed, verification between passes.
// SPDX-License-Identifier: MIT
#include "compiler/passes/pipeline.hpp"

#include <doctest/doctest.h>

#include "compiler/error.hpp"
#include "equations/equations.hpp"

namespace ondula::test {

TEST_CASE("pipeline: passes run in their order, each timed, and list what they changed") {
  const passes::Compilation compilation =
      passes::compile(equations::acoustic(), {default_axes(2), 4, false, true});
  std::vector<std::string> names;
  for (const passes::PassRecord& pass : compilation.passes) {
    names.push_back(pass.name);
    CHECK(pass.seconds >= 0);
  }
  CHECK(names == std::vector<std::string>{"check", "discretize_time", "surface", "absorb", "expand",
                                          "dependences", "hoist", "materialize", "fuse", "lower", "windows"});
  for (const passes::PassRecord& pass : compilation.passes) {
    // One coefficient array leaves materialize nothing to drop.
    const bool transforms = pass.name != "check" && pass.name != "surface" && pass.name != "dependences" &&
                            pass.name != "materialize" && pass.name != "fuse";
    CAPTURE(pass.name);
    CHECK(pass.listing.empty() == !transforms);
  }
  for (const passes::PassRecord& pass :
       passes::compile(equations::acoustic(), {default_axes(2), 4, false, false}).passes) {
    CHECK(pass.listing.empty());
  }
}

TEST_CASE("pipeline: the same equation and options give the same kernels, others do not") {
  const auto listing = [](int order, bool stretched) {
    return ir::dump(
        passes::compile(equations::acoustic(), {default_axes(3), order, stretched, false}).kernels);
  };
  CHECK(listing(8, false) == listing(8, false));
  CHECK(listing(8, false) != listing(8, true));
  CHECK(listing(8, false) != listing(10, false));
}

TEST_CASE("pipeline: the verifier names pass, equation and fault") {
  passes::Compilation compilation =
      passes::compile(equations::acoustic(), {default_axes(1), 2, false, false});
  ir::Program broken = compilation.physical;
  broken.operations.push_back(ir::Update{"u", 1, broken.pool->field("u", 2), false, {ir::Region{}}, {}});
  CHECK_THROWS_WITH_AS(ir::verify(broken, "absorb"),
                       "after pass absorb: equation acoustic: u is read at time level 2, kept are -1 to 1",
                       InternalError);
  broken.operations.back() = ir::Update{"u", 1, broken.pool->field("u", 0), false, {}, {}};
  CHECK_THROWS_WITH_AS(ir::verify(broken, "fuse"),
                       "after pass fuse: equation acoustic: an update of u without a region", InternalError);
}

}  // namespace ondula::test
