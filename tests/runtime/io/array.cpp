// Strided views against plain indexing.
// SPDX-License-Identifier: MIT
#include "runtime/io/array.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace ondula;
using namespace ondula::io;

TEST_CASE("E11: Fortran order, a slice of step 2 and a negative stride equal the contiguous copy") {
  std::vector<float> memory(60);
  std::iota(memory.begin(), memory.end(), 0.0F);
  const auto element = [](const Array& array, std::int64_t i, std::int64_t j) {
    return array.data[static_cast<std::size_t>(i * array.shape[1] + j)];
  };

  const Array fortran = contiguous(StridedView<float>{memory.data(), {5, 12}, {1, 5}});
  const Array step = contiguous(StridedView<float>{memory.data(), {3, 6}, {24, 2}});
  const Array reversed = contiguous(StridedView<float>{memory.data() + 59, {5, 12}, {-12, -1}});
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 12; ++j) {
      CHECK(element(fortran, i, j) == memory[static_cast<std::size_t>(i + 5 * j)]);
      CHECK(element(reversed, i, j) == memory[static_cast<std::size_t>(59 - 12 * i - j)]);
      if (i < 3 && j < 6) CHECK(element(step, i, j) == memory[static_cast<std::size_t>(24 * i + 2 * j)]);
    }
}

TEST_CASE("array: views of rank 0, of an empty axis and of three axes are copied whole") {
  const double one = 7.0;
  CHECK(contiguous(StridedView<double>{&one, {}, {}}).data == std::vector<double>{7.0});
  CHECK(contiguous(StridedView<double>{&one, {3, 0}, {0, 0}}).data.empty());
  std::vector<int> memory(24);
  std::iota(memory.begin(), memory.end(), 0);
  const Array swapped = contiguous(StridedView<int>{memory.data(), {4, 2, 3}, {1, 12, 4}});
  CHECK(swapped.data[0] == 0);
  CHECK(swapped.data[1 * 6 + 1 * 3 + 2] == 12 + 8 + 1);
}

TEST_CASE("array: a view whose strides do not match its rank is refused") {
  const double one = 1.0;
  CHECK_THROWS_AS(contiguous(StridedView<double>{&one, {1, 1}, {1}}), UserError);
}

TEST_CASE("array: a negative extent and an overflowing product are refused") {
  CHECK_THROWS_AS(element_count(std::vector<std::int64_t>{3, -1}), UserError);
  CHECK_THROWS_AS(element_count(std::vector<std::int64_t>{1LL << 40, 1LL << 40}), UserError);
  CHECK(element_count(std::vector<std::int64_t>{1LL << 40, 1LL << 40, 0}) == 0);
}
