// `ondula new`: an equation's file to start from.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "runtime/io/atomic_file.hpp"
#include "tools/options.hpp"

namespace ondula::tools {

struct NewCommand {
  std::string name;
  std::string from;  ///< a built-in equation, or a file, perhaps with :NAME; empty: the commented start
  io::Existing existing = io::Existing::refuse;
  Voice voice;
};

/// Adds the subcommand; returns it.
CLI::App* add_new_command(CLI::App& program, NewCommand& command);

/// Writes NAME.cpp. Throws UserError where NAME is no name, the file exists, or there is nothing to start
/// from.
void start_equation(const NewCommand& command);

}  // namespace ondula::tools
