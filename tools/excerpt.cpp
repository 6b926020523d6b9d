// Showing a line with a caret.
// SPDX-License-Identifier: MIT
#include "tools/excerpt.hpp"

#include <fmt/format.h>

#include <fstream>
#include <regex>

namespace ondula::tools {

std::string excerpt(const std::string& message) {
  static const std::regex place("^([^:\\n]+):([0-9]{1,7})(?::([0-9]{1,5}))?: ");
  std::smatch found;
  if (!std::regex_search(message, found, place)) return "";
  std::ifstream file(found[1]);
  std::string line;
  const int number = std::stoi(found[2]);
  for (int k = 0; k < number; ++k) {
    if (!std::getline(file, line)) return "";
  }
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  std::size_t at = found[3].matched ? static_cast<std::size_t>(std::stoi(found[3])) : 0;
  at = at == 0 || at > line.size() ? first : at - 1;
  // Tabs stay, so that the caret stands where a terminal puts the character.
  std::string below = line.substr(0, at);
  for (char& c : below) c = c == '\t' ? c : ' ';
  return fmt::format("{:>5} | {}\n      | {}^\n", number, line, below);
}

}  // namespace ondula::tools
