// A job made ready: read, checked against its equation, models loaded, shots resolved, bytes and limits
// known. SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compiler/ir/equation.hpp"
#include "runtime/io/array.hpp"
#include "runtime/io/image.hpp"
#include "runtime/io/job_resolve.hpp"
#include "runtime/io/picture.hpp"
#include "runtime/propagator.hpp"
#include "tools/options.hpp"

namespace ondula::tools {

/// Warnings in the order they came, each once.
class Warnings {
 public:
  /// `print`: also on stderr, as they come, after `before` made room (a progress bar is removed).
  explicit Warnings(bool print, std::function<void()> before = {})
      : print_(print), before_(std::move(before)) {}
  void add(const std::string& text);
  void add(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add(text);
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::mutex mutex_;  // a compiler warns from its own threads
  bool print_;
  std::function<void()> before_;
  std::vector<std::string> all_;
};

/// The picture of a model given as an array.
struct ModelPicture {
  std::string name;
  io::Image picture;
};

/// What a run needs. Kernels are not compiled and fields not allocated yet.
struct Session {
  io::Job job;
  ir::Equation equation;  ///< on the job's axes
  EquationFacts facts;    ///< its names
  io::Survey survey;
  std::vector<ModelPicture> models;
  io::Array shade;  ///< the model snapshots are drawn over; empty where there is none
  std::vector<std::pair<std::string, double>> typical;  ///< one value of each model
  std::unique_ptr<Propagator> propagator;
  Estimate estimate;
  bool use_gradient = false;      ///< the command computes one, and `estimate` is of it
  std::size_t picture_bytes = 0;  ///< of host memory, for the fields of snapshots
  std::string memory_refusal;     ///< why the run would not fit into memory; empty where it would
};

/// What a run wants told while it goes.
struct Hooks {
  std::function<bool()> cancel;
  std::function<void(const Progress&)> progress;
  bool gradient = false;  ///< the bytes are those of a gradient
};

/// Throws UserError where the job, its names, models, positions or memory limits do not allow a run; the
/// stability limit is left in `estimate.refusal`, a want of memory in `memory_refusal`. `pictures`: draw the
/// models the job wants drawn.
Session open_session(const JobOptions& options, const Hooks& hooks, bool pictures, Warnings& warnings);

/// Points per wavelength at the frequency where the wavelets' spectra end, on the coarsest spacing; 0 without
/// a wavelet.
double points_per_wavelength(const Session& session);

/// Where the arrays of a job's grid lie, for pictures.
io::Placement placement(const Grid& grid);

/// A built-in equation by its name, or the one of a C++ file (runtime/equation_file.hpp); UserError with the
/// nearest name.
EquationDefinition equation_of(const std::string& name);

}  // namespace ondula::tools
