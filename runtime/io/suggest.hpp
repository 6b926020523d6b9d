// Finds the known name nearest to a misspelt one.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ondula::io {

/// The least number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `name`, or an empty string where none is near: at most a third of the longer one's
/// letters (at least two) may differ. Case is ignored; the first of equally near names wins.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

/// The names joined by ", ".
std::string list_of(const std::vector<std::string>& names);

/// " Did you mean "x"? Allowed: a, b." for an unknown name; the question is left out where nothing is near.
std::string suggestion(std::string_view name, const std::vector<std::string>& known);

}  // namespace ondula::io
