// The options that commands share: which job, what beats its keys, and how to talk.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/io/atomic_file.hpp"
#include "runtime/io/job.hpp"

namespace CLI {
class App;
}

namespace ondula::tools {

/// How a command talks.
struct Voice {
  bool json = false;   ///< one JSON object on stdout, nothing else there
  bool quiet = false;  ///< silent but for errors
};

/// What `run` and `estimate` were asked for.
struct JobOptions {
  std::string file;
  io::Overrides overrides;
  Voice voice;
  io::Existing existing = io::Existing::refuse;
  bool resume = false;
};

/// What `explain` was asked for.
struct EquationOptions {
  std::string equation;
  int dims = 2;
  int order = 8;
  std::string dtype = "float32";
  double kappa = 1;
  bool text = false;                  ///< the kernels' text alone
  std::string direction = "forward";  ///< or "adjoint": the step backwards, of gradients
  std::string memory = "full";        ///< or "boundary": the adjoint rebuilds the interior
  std::vector<std::int64_t> shape;    ///< of a grid whose bytes are told; empty: none
  int width = 20;                     ///< of its layers, cells
  std::string backend = "host";
  bool shots = false;  ///< CUDA kernels that take several shots at once
  std::string arch;    ///< what CUDA kernels are compiled for: "sm_90"
  std::string gpu;     ///< whose roofline is shown; empty: one of the architecture
};

/// Adds JOB and the options that beat its keys. `writes`: with -o and --resume too.
void add_job_options(CLI::App& command, JobOptions& options, bool writes);

/// Adds --json, where the command has a machine-readable answer.
void add_json_option(CLI::App& command, Voice& voice);

/// Adds EQ and what its kernels depend on.
void add_equation_options(CLI::App& command, EquationOptions& options);

}  // namespace ondula::tools
