// Spelling suggestions.
// SPDX-License-Identifier: MIT
#include "runtime/io/suggest.hpp"

#include <doctest/doctest.h>

using namespace ondula::io;

TEST_CASE("edit distance counts insertions, deletions, changes and swaps") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("strength", "strength") == 0);
  CHECK(edit_distance("stength", "strength") == 1);
  CHECK(edit_distance("feild", "field") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest name is suggested, and none where nothing is near") {
  const std::vector<std::string> known = {"frequency", "delay", "z"};
  CHECK(nearest("frequncy", known) == "frequency");
  CHECK(nearest("Delay", known) == "delay");
  CHECK(nearest("zz", known) == "z");
  CHECK(nearest("q", known).empty());
  CHECK(nearest("wavelength", known).empty());
}

TEST_CASE("a suggestion lists what is allowed") {
  CHECK(suggestion("dealy", {"delay", "frequency"}) == " Did you mean \"delay\"? Allowed: delay, frequency.");
  CHECK(suggestion("qqq", {"delay"}) == " Allowed: delay.");
}
