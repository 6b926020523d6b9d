// The support code's own tests.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace ondula::test;

TEST_CASE("support: differences of arrays are measured as stated") {
  const std::vector<double> reference{3, 4}, values{3, 4.5}, zero{0, 0}, broken{std::nan(""), 9};
  CHECK(max_abs_diff(values, reference) == 0.5);
  CHECK(max_abs(reference) == 4);
  CHECK(relative_l2(values, reference) == 0.1);
  CHECK(relative_l2(zero, zero) == 0);
  CHECK(std::isinf(relative_l2(values, zero)));
  CHECK(difference_db(std::vector<float>{3, 4.004F}, reference) == doctest::Approx(-60).epsilon(1e-4));
  CHECK(std::isnan(max_abs_diff(broken, reference)));
  CHECK(std::isnan(max_abs(broken)));
  CHECK(std::isnan(relative_l2(broken, reference)));
  CHECK_THROWS_AS(max_abs_diff(values, std::vector<double>{1}), std::invalid_argument);
}

TEST_CASE("support: a temporary folder goes with its object") {
  std::filesystem::path path;
  {
    const TemporaryDirectory folder;
    path = folder.path();
    std::ofstream(path / "file") << "text";
    CHECK(std::filesystem::is_regular_file(path / "file"));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("support: outside data that does not exist is nothing") {
  CHECK_FALSE(data_path("no/such/file.npy").has_value());
}
