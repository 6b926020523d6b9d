// How many shots run at once: by points, memory, what a launch counts, and evenly.
// SPDX-License-Identifier: MIT
#include "runtime/shot_batch.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "compiler/emit/cuda_launch.hpp"

namespace ondula::test {
namespace {

/// A small 2-D survey on a large device with room for all.
BatchQuestion question() {
  BatchQuestion q;
  q.shots = 30;
  q.most = 65535;
  q.points = 174 * 424;
  q.multiprocessors = 132;
  q.room = std::size_t{1} << 36;
  q.bytes = [](std::int64_t shots) { return static_cast<std::size_t>(shots) << 20; };
  return q;
}

}  // namespace

TEST_CASE("shots at once: small grids share a launch, one that fills the device has it for itself") {
  BatchQuestion q = question();
  CHECK(shots_at_once(q) == 30);
  q.points = 1'000'000;
  CHECK(shots_at_once(q) == 5);  // 132 multiprocessors, 16 times 2048 threads each
  q.points = 200 * 200 * 200;
  CHECK(shots_at_once(q) == 1);
  q = question();
  q.multiprocessors = 0;  // no device that is known
  CHECK(shots_at_once(q) == 1);
}

TEST_CASE("shots at once: a number that was asked for is the most, whatever the grid; batches are even") {
  BatchQuestion q = question();
  q.points = 200 * 200 * 200;
  for (const auto& [asked, expected] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {4, 4}, {7, 6}, {29, 15}, {30, 30}, {99, 30}}) {
    q.asked = asked;
    CHECK(shots_at_once(q) == expected);
  }
  q.most = 8;
  CHECK(shots_at_once(q) == 8);
}

TEST_CASE("shots at once: as many as fit") {
  BatchQuestion q = question();
  for (std::size_t room : {0, 1, 2, 3, 7, 10, 29, 30, 31}) {
    q.room = room << 20;
    std::int64_t fitting = 1;
    for (std::int64_t n = 2; n <= q.shots; ++n)
      if (q.bytes(n) + q.bytes(n) / 32 <= q.room) fitting = n;
    const std::int64_t batch = shots_at_once(q);
    CHECK(batch <= fitting);
    CHECK((q.shots + batch - 1) / batch == (q.shots + fitting - 1) / fitting);
  }
}

TEST_CASE("shots at once: points are those of the batch that has most") {
  const std::vector<loop::PointCounts> shots = {{1, 10, 5, 50}, {2, 20, 0, 0}, {0, 0, 9, 90}};
  CHECK(points_at_once(shots, 1).rows == 9);
  CHECK(points_at_once(shots, 2).sources == 3);
  CHECK(points_at_once(shots, 2).rows == 9);
  CHECK(points_at_once(shots, 3).row_taps == 140);
  CHECK(points_at_once({}, 1).rows == 0);
}

TEST_CASE("shots at once: a launch counts as many as its blocks can be numbered") {
  ir::Domain plane;
  plane.dims = 2;
  plane.shape = {1000, 1000, 1};
  CHECK(emit::cuda_most_shots(plane) == 65535);
  ir::Domain cube;
  cube.dims = 3;
  cube.shape = {100, 300, 100};  // in strips of 8 rows at the least: 64 of them are counted
  CHECK(emit::cuda_most_shots(cube) == 65535 / 64);
}

}  // namespace ondula::test
