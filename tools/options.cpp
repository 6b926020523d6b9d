// The options that commands share.
// SPDX-License-Identifier: MIT
#include "tools/options.hpp"

#include <CLI/CLI.hpp>

namespace ondula::tools {

namespace {

/// An option of later versions: refused by name, whatever its value.
void add_later_option(CLI::App& command, const std::string& name, const std::string& what) {
  command.add_option_function<std::string>(
      name, [name](const std::string&) { throw CLI::ValidationError(name, "not supported by this version"); },
      what + " (not in this version)");
}

}  // namespace

void add_json_option(CLI::App& command, Voice& voice) {
  command.add_flag("--json", voice.json, "print one JSON object on stdout and nothing else there");
}

void add_job_options(CLI::App& command, JobOptions& options, bool writes) {
  io::Overrides& beats = options.overrides;
  command.add_option("JOB", options.file, "the job file (docs/job.md)")->required();
  command.add_option("--dims", beats.dims, "check that the job has so many axes");
  command.add_option("--order", beats.order, "accuracy of the stencils: 2, 4, ... 16");
  command.add_option("--dtype", beats.dtype, "float32 or float64");
  command.add_option("--backend", beats.backend, "host, reference, cuda or cuda-sim");
  command.add_option("--threads", beats.threads, "threads of the host backend");
  command.add_option("--device", beats.device, "which CUDA device: 0, 1, ...");
  command.add_flag("--tune", beats.tune,
                   "measure the shapes of CUDA kernels' blocks first, and keep the fastest");
  add_later_option(command, "--arch", "the architecture to generate for");
  add_later_option(command, "--timeout", "seconds after which the command gives up");
  add_json_option(command, options.voice);
  command.add_flag("-q,--quiet", options.voice.quiet, "say nothing but errors");
  command.add_flag_callback(
      "--force", [&options] { options.existing = io::Existing::replace; },
      writes ? "replace files that exist" : "accepted, so that a run's options fit; nothing is written");
  if (!writes) return;
  command.add_option("-o,--output", beats.output, "the folder to write to");
  command.add_flag("--resume", options.resume, "continue an interrupted run (not in this version)");
}

void add_equation_options(CLI::App& command, EquationOptions& options) {
  command
      .add_option(
          "EQ", options.equation,
          "an equation's name (`ondula list`), or a C++ file that states one: mine.cpp, mine.cpp:NAME")
      ->required();
  command.add_option("--dims", options.dims, "1, 2 or 3")->capture_default_str();
  command.add_option("--order", options.order, "accuracy of the stencils: 2, 4, ... 16")
      ->capture_default_str();
  command.add_option("--dtype", options.dtype, "float32 or float64")->capture_default_str();
  command
      .add_option("--direction", options.direction,
                  "forward, or adjoint: the step backwards, what it keeps of the forward run, and why")
      ->capture_default_str();
  command
      .add_option("--memory", options.memory,
                  "of the adjoint: full, or boundary: the step that rebuilds the interior, and its rings")
      ->capture_default_str();
  command
      .add_option("--shape", options.shape,
                  "of the adjoint: also the bytes kept on a grid of this shape, for example 134,384")
      ->delimiter(',');
  command.add_option("--width", options.width, "cells of layer on every face of that grid")
      ->capture_default_str();
  command.add_option("--kappa", options.kappa, "stretching of the layer; 1 is none")->capture_default_str();
  command.add_flag("--text", options.text, "print the generated text alone");
  command.add_option("--backend", options.backend, "host or cuda")->capture_default_str();
  command.add_flag("--shots", options.shots,
                   "CUDA kernels that take several shots at once, as small grids have");
  command.add_option("--arch", options.arch,
                     "the architecture of CUDA kernels, for example sm_90 (the default)");
  command.add_option("--gpu", options.gpu, "whose roofline is shown, for example \"H200\"");
  command.add_flag_callback(
      "--json", [] { throw CLI::ValidationError("--json", "not supported by this version of explain"); },
      "one JSON object (not in this version)");
}

}  // namespace ondula::tools
