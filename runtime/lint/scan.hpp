// Finding the operands of an operator, and names, in one line of C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ondula::lint {

/// A part of a line: from an index up to another one.
struct Part {
  std::size_t from = 0, to = 0;
  std::string text;
  bool empty() const { return from == to; }
};

/// The name, number, call or parenthesis that ends before index `at`; empty where there is none.
Part operand_before(const std::string& line, std::size_t at);

/// The same that begins at or behind index `at`, with its sign.
Part operand_after(const std::string& line, std::size_t at);

/// The name around index `at`, with the "std::" before it.
Part name_at(const std::string& line, std::size_t at);

/// What stands between the parenthesis that follows `name` and its partner, split at its own commas and
/// trimmed; empty where there is none on the line.
std::vector<std::string> arguments_after(const std::string& line, std::size_t at);

/// Whether a text is a name of C++.
bool is_identifier(std::string_view text);

}  // namespace ondula::lint
