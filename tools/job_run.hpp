// What the commands that compute a job have in common: opening, checking, files, progress, the report.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/options.hpp"
#include "tools/outputs.hpp"
#include "tools/progress.hpp"
#include "tools/session.hpp"

namespace ondula::tools {

/// What of a job a command takes.
struct JobUse {
  std::string command;    ///< for messages: "gradient"
  bool gradient = false;  ///< its memory is a gradient's
  bool snapshots = true;  ///< else the job's are left out, with a warning
};

/// A job from its file to run.json. In order: open (the constructor), `plan` filled by whoever adds files,
/// prepare, compile where the command needs the forward kernels alone, the computation between
/// start_progress and stop_progress, finish.
class JobRun {
 public:
  /// Opens the job and plans its files. Throws as open_session does, and UserError for --resume.
  JobRun(const JobOptions& options, const JobUse& use);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  Session& session() { return session_; }
  OutputPlan& plan() { return plan_; }
  const JobOptions& options() const { return options_; }
  Warnings& warnings() { return warnings_; }

  /// The last checks before anything is computed or written: limits, memory, files in the way. From here on
  /// an interrupt stops the command. Throws UserError, RuntimeError.
  void prepare();
  /// Compiles or loads the forward kernels, and says so in one line.
  void compile();
  /// Says where the kernels came from: for commands that compile while they compute.
  void say_compiled();
  /// A line on stdout, unless that is wanted quiet or as JSON.
  void say(const std::string& line) const;
  void start_progress();
  void stop_progress() { line_.reset(); }
  /// Seconds that the progress' rate is not to count.
  void leave_out(std::chrono::steady_clock::duration time);
  /// Writes records and run.json, the report with what `more` holds, and says what there is.
  void finish(const Records& records, const nlohmann::ordered_json& more = nlohmann::ordered_json::object());

 private:
  void say_what_runs() const;
  void say_what_was() const;

  const JobOptions& options_;
  std::optional<ProgressLine> line_;
  Warnings warnings_;
  Session session_;
  OutputPlan plan_;
};

}  // namespace ondula::tools
