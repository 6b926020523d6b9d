// `ondula check`: an equation's own tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/options.hpp"

namespace ondula::tools {

/// What `check` was asked for.
struct CheckCommand {
  std::string equation;
  std::optional<int> dims;  ///< all that the equation has if unset
  int order = 8;
  std::string dtype = "float64";
  std::string backend = "host";
  std::vector<std::string> models;  ///< "vp=2500": the value that random models lie around
  Voice voice;
};

/// Adds the command and its options.
CLI::App* add_check_command(CLI::App& program, CheckCommand& command);

/// Runs the tests and prints a line for each. Throws CheckFailed where one fails, UserError for an option
/// that cannot be.
void check_equation(const CheckCommand& command);

}  // namespace ondula::tools
