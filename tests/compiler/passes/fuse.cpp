// fuse: what is done in one pass over a row, and that nothing is lost, doubled or reordered.
// SPDX-License-Identifier: MIT
#include "compiler/passes/fuse.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/passes/expand.hpp"
#include "compiler/passes/footprint.hpp"
#include "compiler/passes/hoist.hpp"
#include "tests/compiler/passes/stages.hpp"

namespace ondula::test {
namespace {

using passes::Fusion;

struct Fused {
  ir::Program program;
  std::vector<passes::Sweep> sweeps;
  const ir::Update& update(int index) const {
    return std::get<ir::Update>(program.operations[static_cast<std::size_t>(index)]);
  }
};

Fused fused(const ir::Program& absorbed, Fusion fusion) {
  const ir::Program expanded = passes::expand(absorbed);
  Fused result{passes::hoist(expanded), {}};
  for (const auto& entry : passes::fuse(result.program, passes::dependences(expanded, true), fusion)) {
    if (entry.operation < 0) result.sweeps.push_back(entry.sweep);
  }
  return result;
}

/// The plain updates of each group, by name.
std::set<std::set<std::string>> plain_groups(const Fused& fused) {
  std::set<std::set<std::string>> result;
  for (const passes::Sweep& sweep : fused.sweeps) {
    for (const std::vector<int>& group : sweep.groups) {
      std::set<std::string> names;
      for (const int index : group) {
        if (fused.update(index).regions[0].kind == ir::RegionKind::live)
          names.insert(fused.update(index).field);
      }
      if (!names.empty()) result.insert(names);
    }
  }
  return result;
}

}  // namespace

TEST_CASE(
    "fuse: normal stresses, which share their loads, are done together; velocities and shear stresses "
    "alone") {
  for (const int order : {2, 4, 8, 16}) {
    const auto groups = plain_groups(fused(absorbed_program(equations::elastic(), 3, order), Fusion::loads));
    CHECK(groups == std::set<std::set<std::string>>{
                        {"v.z"}, {"v.y"}, {"v.x"}, {"s.zz", "s.yy", "s.xx"}, {"s.zy"}, {"s.zx"}, {"s.yx"}});
  }
  CHECK(plain_groups(fused(absorbed_program(equations::elastic(), 2, 8), Fusion::statement)) ==
        std::set<std::set<std::string>>{{"v.z", "v.x"}, {"s.zz", "s.zx", "s.xx"}});
}

TEST_CASE("fuse: every update is in one group of its sweep, and all of a group share region and lead") {
  for (const Fusion fusion : {Fusion::points, Fusion::loads, Fusion::statement}) {
    for_each_program([&](const ir::Program& absorbed) {
      const Fused result = fused(absorbed, fusion);
      for (const passes::Sweep& sweep : result.sweeps) {
        std::vector<int> seen;
        for (const std::vector<int>& group : sweep.groups) {
          for (const int index : group) {
            seen.push_back(index);
            CHECK(result.update(index).regions == result.update(group[0]).regions);
            CHECK(sweep.lead(index) == sweep.lead(group[0]));
          }
        }
        std::sort(seen.begin(), seen.end());
        CHECK(seen == sweep.updates);
      }
    });
  }
}

TEST_CASE("fuse: no update passes another that it depends on, and within a group all meet at one point") {
  for (const Fusion fusion : {Fusion::loads, Fusion::statement}) {
    for_each_program([&](const ir::Program& absorbed) {
      const Fused result = fused(absorbed, fusion);
      for (const passes::Sweep& sweep : result.sweeps) {
        std::vector<std::pair<int, std::size_t>> order;  // update, group
        for (std::size_t g = 0; g < sweep.groups.size(); ++g) {
          for (const int index : sweep.groups[g]) order.emplace_back(index, g);
        }
        for (std::size_t j = 0; j < order.size(); ++j) {
          const passes::Footprint later(result.program, result.update(order[j].first));
          for (std::size_t i = 0; i < j; ++i) {
            const passes::Footprint earlier(result.program, result.update(order[i].first));
            const passes::Coupling coupling = passes::coupling(earlier, later);
            if (order[i].first > order[j].first) CHECK(coupling == passes::Coupling::free);
            if (order[i].second == order[j].second) CHECK(coupling <= passes::Coupling::pointwise);
          }
        }
      }
    });
  }
}

TEST_CASE("fuse: an axis's memory variables are computed with the corrections that use them") {
  const Fused result = fused(absorbed_program(equations::elastic(), 3, 4), Fusion::loads);
  int memory = 0;
  for (const passes::Sweep& sweep : result.sweeps) {
    for (const std::vector<int>& group : sweep.groups) {
      if (result.update(group[0]).regions[0].kind != ir::RegionKind::strip) continue;
      const bool own = result.program.field(result.update(group[0]).field).strip_axis >= 0;
      CHECK(own);
      CHECK(result.update(group.back()).accumulate);
      memory += own ? 1 : 0;
    }
  }
  CHECK(memory == 9 + 9);
}

}  // namespace ondula::test
