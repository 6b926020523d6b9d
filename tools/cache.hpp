// `ondula cache`: lists, checks and clears the compiled kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include "tools/options.hpp"

namespace ondula::tools {

struct CacheCommand {
  enum class Action { list, verify, clear, path };
  Action action = Action::list;
  Voice voice;
};

/// Adds the subcommand with its four actions; returns it.
CLI::App* add_cache_command(CLI::App& program, CacheCommand& command);

/// Throws CheckFailed where `verify` found damaged entries (which it has removed).
void manage_cache(const CacheCommand& command);

}  // namespace ondula::tools
