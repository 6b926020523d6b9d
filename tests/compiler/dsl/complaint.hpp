// What is said of an equation that is wrong at a line its own body marks.
// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <source_location>
#include <string>
#include <vector>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {

/// The line of the mistake in the equation that is being stated; the body sets it just before.
inline unsigned& mistake() {
  static unsigned line = 0;
  return line;
}

/// What the language or a pass says; empty where nothing is wrong.
inline std::string complaint(const EquationDefinition& definition, int dims = 2) {
  mistake() = 0;
  return message_of<UserError>([&] { passes::compile(definition, {.axes = default_axes(dims)}); });
}

/// The complaint names the caller's file, the line marked, the equation, and holds `parts`.
inline void check_complaint(const EquationDefinition& definition, const std::vector<std::string>& parts,
                            int dims = 2, std::source_location here = std::source_location::current()) {
  const std::string message = complaint(definition, dims);
  const std::string file = std::filesystem::path(here.file_name()).filename().string();
  INFO(message);
  CHECK(mistake() > 0);
  check_mentions(message, {file + ":" + std::to_string(mistake()) + ":", "equation " + definition.name()});
  check_mentions(message, parts);
}

}  // namespace ondula::test
