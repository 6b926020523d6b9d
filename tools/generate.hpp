// `ondula generate`: standalone kernel sources.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/io/atomic_file.hpp"
#include "tools/options.hpp"

namespace CLI {
class App;
}

namespace ondula::tools {

/// What `generate` was asked for.
struct GenerateCommand {
  std::string equation;
  int dims = 2;
  int order = 8;
  std::string dtype = "float32";
  std::string backend = "host";
  std::string arch;
  std::string prefix;
  std::string directory;
  Voice voice;
  io::Existing existing = io::Existing::refuse;
};

/// Adds the command and its options.
CLI::App* add_generate_command(CLI::App& program, GenerateCommand& command);

/// Writes the sources and prints their paths. Throws UserError for an option that cannot be, for files in the
/// way that may not be written over, and for what these sources cannot express.
void generate_sources(const GenerateCommand& command);

}  // namespace ondula::tools
