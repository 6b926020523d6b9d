// What errors say, for tests that check their words.
// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "compiler/error.hpp"

namespace ondula::test {

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The message of the error of kind E that `action` throws; empty if it throws none.
template <class E, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

/// What a UserError says; a failed check and "" where none comes.
template <class Action>
std::string refusal(const Action& action) {
  std::string message = message_of<UserError>(action);
  if (message.empty()) FAIL_CHECK("nothing was refused");
  return message;
}

/// Every part must occur in the text.
inline void check_mentions(const std::string& text, const std::vector<std::string>& parts) {
  INFO(text);
  for (const std::string& part : parts) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
}

}  // namespace ondula::test
