// CUDA text as tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

namespace ondula::sim {

/// A word, a number, a string or one character.
struct Token {
  std::string text;
  std::size_t at = 0;  ///< where it begins in the whole text
  bool word() const { return std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_'; }
  bool is(const char* other) const { return text == other; }
};
using Tokens = std::vector<Token>;

/// The end of the comment, string or character that begins at `at`; `at` where none does.
std::size_t skip_quoted(const std::string& text, std::size_t at);

/// The tokens of [begin, end) of a text, comments left out.
Tokens tokens_of(const std::string& text, std::size_t begin, std::size_t end);

/// The index after the bracket that closes the one at `open`; the number of tokens where none does.
std::size_t past_closing(const Tokens& tokens, std::size_t open, const char* left, const char* right);

/// Whether token i is an opening round bracket.
bool opens(const Tokens& tokens, std::size_t i);

/// The pieces between commas of the tokens from `begin` up to `end`, which hold no bracket at either end.
std::vector<Tokens> split(const Tokens& tokens, std::size_t begin, std::size_t end);

/// The tokens' texts with blanks between.
std::string joined(const Tokens& tokens);

/// Whether one of the tokens from `begin` up to `end` is this word.
bool holds(const Tokens& tokens, std::size_t begin, std::size_t end, const char* word);

}  // namespace ondula::sim
