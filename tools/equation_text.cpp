// Reading C++ as far as a body's braces.
// SPDX-License-Identifier: MIT
#include "tools/equation_text.hpp"

#include <algorithm>
#include <sstream>

namespace ondula::tools {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Behind the comment, text or character that begins at `at`; `at` where none does.
std::size_t past_opaque(const std::string& text, std::size_t at) {
  const auto behind = [&](std::size_t found, std::size_t size) {
    return found == std::string::npos ? text.size() : found + size;
  };
  if (text.compare(at, 2, "//") == 0) return behind(text.find('\n', at), 0);
  if (text.compare(at, 2, "/*") == 0) return behind(text.find("*/", at + 2), 2);
  if (text.compare(at, 2, "R\"") == 0 && (at == 0 || !is_letter(text[at - 1]))) {
    const std::size_t open = text.find('(', at);
    if (open == std::string::npos) return text.size();
    const std::string end = ")" + text.substr(at + 2, open - at - 2) + "\"";
    return behind(text.find(end, open), end.size());
  }
  const char quote = text[at];
  // An apostrophe within a number parts its digits.
  if (quote != '"' && (quote != '\'' || (at > 0 && is_letter(text[at - 1])))) return at;
  for (std::size_t k = at + 1; k < text.size(); ++k) {
    if (text[k] == '\\')
      ++k;
    else if (text[k] == quote || text[k] == '\n')
      return k + 1;
  }
  return text.size();
}

/// Behind the brace that closes the first one at or behind `at`.
std::size_t past_body(const std::string& text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    if (const std::size_t next = past_opaque(text, at); next != at) {
      at = next;
      continue;
    }
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at + 1;
    ++at;
  }
  return text.size();
}

std::size_t line_start(const std::string& text, std::size_t at) {
  return at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
}

/// Where the comment lines that end right before `at`, a line's start, begin.
std::size_t comment_start(const std::string& text, std::size_t at) {
  while (at > 0) {
    const std::size_t above = line_start(text, at - 1);
    const std::size_t first = text.find_first_not_of(" \t", above);
    if (text.compare(first, 2, "//") != 0) break;
    at = above;
  }
  return at;
}

std::string joined_blank_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  bool blank = true;  // none at the beginning
  for (std::string line; std::getline(lines, line);) {
    const bool empty = line.find_first_not_of(" \t\r") == std::string::npos;
    if (!empty || !blank) result += line + "\n";
    blank = empty;
  }
  while (result.ends_with("\n\n")) result.pop_back();
  return result;
}

}  // namespace

std::vector<StatedEquation> equations_in(const std::string& text) {
  const std::string word = "EQUATION";
  std::vector<StatedEquation> all;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t next = past_opaque(text, at); next != at) {
      at = next;
      continue;
    }
    const std::size_t open = text.find_first_not_of(" \t", at + word.size());
    const bool starts = text.compare(at, word.size(), word) == 0 && (at == 0 || !is_letter(text[at - 1])) &&
                        open != std::string::npos && text[open] == '(' &&
                        text.find_first_not_of(" \t", line_start(text, at)) == at;
    if (!starts) {
      ++at;
      continue;
    }
    StatedEquation stated;
    stated.begin = line_start(text, at);
    stated.comment = comment_start(text, stated.begin);
    stated.name_from = stated.name_to = std::min(text.find_first_not_of(" \t\r\n", open + 1), text.size());
    while (stated.name_to < text.size() && is_letter(text[stated.name_to])) ++stated.name_to;
    stated.name = text.substr(stated.name_from, stated.name_to - stated.name_from);
    at = past_body(text, open);
    stated.end = std::min(text.find('\n', at), text.size() - 1) + 1;
    all.push_back(stated);
  }
  return all;
}

std::string with_one_equation(const std::string& text, const std::string& chosen, const std::string& name) {
  std::string result = text;
  const std::vector<StatedEquation> all = equations_in(text);
  bool behind = true;  // from the last one to the first
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (one->name == chosen) {
      result.replace(one->name_from, one->name_to - one->name_from, name);
      behind = false;
    } else {
      const std::size_t from = behind ? one->comment : one->begin;
      result.erase(from, one->end - from);
    }
  }
  return joined_blank_lines(result);
}

std::string as_authors_file(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  bool head = true;  // the purpose and the licence of our own file
  for (std::string line; std::getline(lines, line);) {
    head = head && line.starts_with("//");
    if (head || line == "#include \"equations/equations.hpp\"" ||
        line.starts_with("namespace ondula::equations {") || line == "}  // namespace ondula::equations")
      continue;
    result += line == "#include \"compiler/dsl/dsl.hpp\"" ? "#include <ondula/dsl.hpp>" : line;
    result += '\n';
  }
  if (result.find("dsl::") != std::string::npos) {
    const std::string include = "#include <ondula/dsl.hpp>\n";
    if (const std::size_t at = result.find(include); at != std::string::npos)
      result.insert(at + include.size(), "\nusing namespace ondula;\n");
  }
  return joined_blank_lines(result);
}

}  // namespace ondula::tools
