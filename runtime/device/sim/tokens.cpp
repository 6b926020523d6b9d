// Splitting CUDA text into tokens.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/tokens.hpp"

#include <algorithm>

namespace ondula::sim {
namespace {

bool part_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::size_t skip_quoted(const std::string& text, std::size_t at) {
  const auto after = [&](std::size_t found, std::size_t length) {
    return found == std::string::npos ? text.size() : found + length;
  };
  if (text.compare(at, 2, "//") == 0) return after(text.find('\n', at), 0);
  if (text.compare(at, 2, "/*") == 0) return after(text.find("*/", at + 2), 2);
  if (text[at] != '"' && text[at] != '\'') return at;
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != text[at] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

Tokens tokens_of(const std::string& text, std::size_t begin, std::size_t end) {
  Tokens tokens;
  for (std::size_t at = begin; at < end;) {
    const std::size_t past = skip_quoted(text, at);
    if (past > at) {
      if (text[at] != '/') tokens.push_back({text.substr(at, past - at), at});
      at = past;
    } else if (part_of_word(text[at])) {
      std::size_t stop = at;
      while (stop < end && part_of_word(text[stop])) ++stop;
      tokens.push_back({text.substr(at, stop - at), at});
      at = stop;
    } else {
      if (std::isspace(static_cast<unsigned char>(text[at])) == 0 && text[at] != '\\')
        tokens.push_back({std::string(1, text[at]), at});
      ++at;
    }
  }
  return tokens;
}

std::size_t past_closing(const Tokens& tokens, std::size_t open, const char* left, const char* right) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].is(left)) ++depth;
    if (tokens[i].is(right) && --depth == 0) return i + 1;
  }
  return tokens.size();
}

bool opens(const Tokens& tokens, std::size_t i) { return i < tokens.size() && tokens[i].is("("); }

std::vector<Tokens> split(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::vector<Tokens> pieces(1);
  int depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{")) ++depth;
    if (tokens[i].is(")") || tokens[i].is("]") || tokens[i].is("}")) --depth;
    if (depth == 0 && tokens[i].is(","))
      pieces.emplace_back();
    else
      pieces.back().push_back(tokens[i]);
  }
  return pieces;
}

std::string joined(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens) text += (text.empty() ? "" : " ") + token.text;
  return text;
}

bool holds(const Tokens& tokens, std::size_t begin, std::size_t end, const char* word) {
  return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                     tokens.begin() + static_cast<std::ptrdiff_t>(std::min(end, tokens.size())),
                     [&](const Token& token) { return token.is(word); });
}

}  // namespace ondula::sim
