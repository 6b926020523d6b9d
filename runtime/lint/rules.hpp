// How compiler errors that beginners meet are worded.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/lint/said.hpp"

namespace ondula::lint {

/// A compiler's error at an author's line.
struct Problem {
  const Said* said = nullptr;
  std::string file, line;  ///< where, and the author's line
  std::size_t number = 0, column = 0, begin = 0, end = 0;
  bool inside_header = false;  ///< it was found in a header, and this is the line that led there
  const std::vector<std::string>* vocabulary = nullptr;
};

/// What is told instead of it.
struct Answer {
  std::string id, message;
  std::vector<Edit> fixes;
};

/// The first rule that fits; nothing where the compiler's own words will do.
std::optional<Answer> answer(const Problem& problem);

/// `^` or `**` at a column, where a power is meant.
Answer power_answer(const Problem& problem);

/// A type of C++ in the language's words: "an expression", "a text", "a number", "a time derivative".
std::string kind_of(const std::string& type);

/// The parts of a message between single quotes.
std::vector<std::string> quoted(const std::string& message);

}  // namespace ondula::lint
