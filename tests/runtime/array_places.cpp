// Where the elements of a caller's array stand: in any order, and within what can be counted.
// SPDX-License-Identifier: MIT
#include "runtime/array_places.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "compiler/error.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

ConstArrayView view(std::vector<std::int64_t> shape, std::vector<std::int64_t> strides = {}) {
  static const double value = 0;
  return {&value, std::move(shape), DType::float64, MemoryKind::host, std::move(strides)};
}

std::vector<std::int64_t> places_of(const ConstArrayView& array) {
  std::vector<std::int64_t> result;
  ArrayPlaces("x", array).each([&](std::int64_t number, std::int64_t place) {
    CHECK(number == static_cast<std::int64_t>(result.size()));
    result.push_back(place);
  });
  return result;
}

}  // namespace

TEST_CASE("arrays of the caller's: places in C order, whatever the strides") {
  CHECK(places_of(view({2, 3})) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  CHECK(places_of(view({2, 3}, {1, 2})) == std::vector<std::int64_t>{0, 2, 4, 1, 3, 5});
  CHECK(places_of(view({2, 2}, {-5, 1})) == std::vector<std::int64_t>{0, 1, -5, -4});
  CHECK(places_of(view({2, 1, 2}, {4, most, 2})) == std::vector<std::int64_t>{0, 2, 4, 6});
  CHECK(places_of(view({})) == std::vector<std::int64_t>{0});
  CHECK(ArrayPlaces("x", view({3, 2}, {-7, 2})).lowest() == -14);
  CHECK(ArrayPlaces("x", view({3, 2}, {-7, 2})).highest() == 2);
  CHECK(ArrayPlaces("x", view({3, 2}, {-7, 2})).run_axis() == -1);
  CHECK(ArrayPlaces("x", view({})).run_axis() == 0);
}

TEST_CASE("arrays of the caller's: without elements there is nothing to refuse, however long another axis") {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{0, most}, {most, most, 0}, {3, 0}}) {
    const ArrayPlaces places("x", {nullptr, shape});
    CHECK(places.count() == 0);
    places.require_distinct("x");
  }
}

TEST_CASE("arrays of the caller's: more than memory can hold is refused, not counted modulo 2^64") {
  constexpr std::int64_t half = std::int64_t{1} << 32;
  for (const ConstArrayView& array :
       {view({half, half}), view({most, 2}), view({half, half, half, half}), view({2}, {most}),
        view({3}, {std::numeric_limits<std::int64_t>::min()}), view({1 << 20, 2}, {most >> 10, 1})}) {
    CHECK(holds(message_of<UserError>([&] { ArrayPlaces("x", array); }), "is larger than any memory"));
  }
}

}  // namespace ondula::test
