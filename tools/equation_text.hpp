// The text of an equation's file, taken apart and put together under another name.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ondula::tools {

/// One EQUATION(...) { ... } of a text, by offsets.
struct StatedEquation {
  std::string name;
  std::size_t comment = 0;         ///< where the comment right above begins; `begin` where there is none
  std::size_t begin = 0, end = 0;  ///< from EQUATION to behind the body's line
  std::size_t name_from = 0, name_to = 0;
};

/// All of them, in order. Comments and quoted texts are not looked into.
std::vector<StatedEquation> equations_in(const std::string& text);

/// The text with the equation `chosen` alone, called `name`; of others the comments before it stay, since a
/// derivation may rest on an earlier one.
std::string with_one_equation(const std::string& text, const std::string& chosen, const std::string& name);

/// A built-in equation's text as a file of its own: the language's public header, no namespace.
std::string as_authors_file(const std::string& text);

}  // namespace ondula::tools
