// Sums by key: the bits of an ordered map's.
// SPDX-License-Identifier: MIT
#include "runtime/weight_sums.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "tests/verification/setup.hpp"

using namespace ondula;
using namespace ondula::test;

TEST_CASE("Weights are summed in the order they come, key by key, as often as one likes") {
  Random random(8);
  WeightSums sums;
  std::vector<WeightSums::Entry> found;
  for (const int count : {0, 1, 3000, 40000, 20}) {
    CAPTURE(count);
    std::map<std::int64_t, double> wanted;
    for (int i = 0; i < count; ++i) {
      // Few keys that are far apart, many that are neighbours.
      const double u = random.uniform();
      const auto key = static_cast<std::int64_t>(u < 0.1 ? 1e17 * u : 6000 * random.uniform());
      const double weight = random.normal() * std::pow(10.0, 10 * random.uniform());
      sums.add(key, weight);
      wanted[key] += weight;
    }
    for (const std::int64_t key : {std::int64_t{7000}, std::int64_t{1} << 61}) {
      sums.add(key, 1.5);
      sums.add(key, -1.5);
    }
    sums.take(found);
    REQUIRE(found.size() == wanted.size());
    std::size_t i = 0;
    for (const auto& [key, weight] : wanted) {
      REQUIRE(found[i].key == key);
      REQUIRE(found[i++].weight == weight);
    }
  }
}
