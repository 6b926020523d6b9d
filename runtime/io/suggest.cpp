// Finds the known name nearest to a misspelt one.
// SPDX-License-Identifier: MIT
#include "runtime/io/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace ondula::io {

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<int> rows((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> int& { return rows[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : 1;
      int best = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) best = std::min(best, at(i - 2, j - 2) + 1);
      at(i, j) = best;
    }
  }
  return at(a.size(), b.size());
}

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  const std::string wanted = lower(name);
  std::string best;
  int best_distance = 0;
  for (const std::string& candidate : known) {
    const int distance = edit_distance(wanted, lower(candidate));
    const int longer = static_cast<int>(std::max(name.size(), candidate.size()));
    // A short name must keep at least one letter, or any two letters would "resemble" it.
    const int allowed = std::min(std::max(2, longer / 3), longer - 1);
    if (distance > allowed) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string list_of(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  std::string text;
  if (const std::string near = nearest(name, known); !near.empty()) {
    text += fmt::format(" Did you mean \"{}\"?", near);
  }
  return text + fmt::format(" Allowed: {}.", known.empty() ? "nothing" : list_of(known));
}

}  // namespace ondula::io
