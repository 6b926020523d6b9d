// Showing a line with a caret.
// SPDX-License-Identifier: MIT
#include "tools/excerpt.hpp"

#include <fstream>
#include <regex>

#include "runtime/lint/finding.hpp"

namespace ondula::tools {

std::string excerpt(const std::string& message) {
  static const std::regex place("^([^:\\n]+):([0-9]{1,7})(?::([0-9]{1,5}))?: ");
  std::smatch found;
  if (!std::regex_search(message, found, place)) return "";
  std::ifstream file(found[1]);
  std::string line;
  const std::size_t number = std::stoul(found[2]);
  for (std::size_t k = 0; k < number; ++k) {
    if (!std::getline(file, line)) return "";
  }
  if (line.ends_with('\r')) line.pop_back();
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  std::size_t column = found[3].matched ? std::stoul(found[3]) : 0;
  if (column == 0 || column > line.size()) column = first + 1;
  return lint::excerpt(number, line, column, column, column + 1);
}

}  // namespace ondula::tools
