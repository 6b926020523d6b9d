// `ondula lint`: what is wrong with an equation's file, and what C++ lets slip in it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "tools/options.hpp"

namespace ondula::tools {

struct LintCommand {
  std::string file;
  bool fix = false;
  Voice voice;
};

/// Adds the subcommand; returns it.
CLI::App* add_lint_command(CLI::App& program, LintCommand& command);

/// Throws CheckFailed where something is found, Answered with a failed compile's status where the file is no
/// C++, UserError where it cannot be read.
void lint_file(const LintCommand& command);

}  // namespace ondula::tools
