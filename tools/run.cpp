// `ondula run`: models the shots of a job.
// SPDX-License-Identifier: MIT
#include "tools/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "compiler/error.hpp"
#include "tools/interrupt.hpp"
#include "tools/outputs.hpp"
#include "tools/progress.hpp"
#include "tools/report.hpp"
#include "tools/session.hpp"
#include "tools/trace_records.hpp"
#include "tools/words.hpp"

namespace ondula::tools {
namespace {

/// The bar starts with the first step, since its rate is that of the steps.
class RunProgress {
 public:
  explicit RunProgress(bool quiet) : quiet_(quiet) {}
  void start(std::int64_t points) { line_.emplace(points, quiet_); }
  void show(const Progress& progress) {
    if (line_) line_->show(progress);
  }
  void leave_out(std::chrono::steady_clock::duration time) {
    if (line_) line_->leave_out(time);
  }
  void clear() {
    if (line_) line_->clear();
  }
  void stop() { line_.reset(); }

 private:
  bool quiet_;
  std::optional<ProgressLine> line_;
};

void say(const JobOptions& options, const std::string& line) {
  if (options.voice.quiet || options.voice.json) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// Compiles or loads the kernels, and says so in one line.
void compile(const JobOptions& options, Session& session) {
  session.propagator->compile();
  if (session.job.backend != Backend::host) return;
  const Timings& timings = session.propagator->timings();
  say(options, timings.compiled ? fmt::format("kernels compiled in {}, and kept for the next run",
                                              seconds_text(timings.compile))
                                : fmt::format("kernels from the cache in {}", seconds_text(timings.compile)));
}

void say_what_runs(const JobOptions& options, const Session& session) {
  const io::Job& job = session.job;
  say(options, fmt::format("{}: {}; order {}, {}, {}; {} shot{} of {} steps", session.equation.name,
                           extents_text(job.grid.axes, job.grid.shape), job.order, dtype_text(job.dtype),
                           backend_text(job.backend), session.survey.shots.size(),
                           session.survey.shots.size() == 1 ? "" : "s", job.steps));
}

void say_what_was(const JobOptions& options, const Session& session, const OutputPlan& plan) {
  const Timings& timings = session.propagator->timings();
  if (timings.steady > 0) {
    say(options, fmt::format("{:.3g} Gpoints/s ({:.3g} with the layers), {} of steps", timings.gpoints_per_s,
                             timings.padded_gpoints_per_s, seconds_text(timings.first + timings.steady)));
  }
  for (const TraceFile& file : plan.records) say(options, "records   " + path_text(file.path));
  const auto pictures = plan.gathers.size() + plan.models.size() + plan.snapshots.size();
  if (pictures > 0) say(options, fmt::format("pictures  {} in {}", pictures, path_text(plan.directory)));
  say(options, "report    " + path_text(plan.run));
}

}  // namespace

void run_job(const JobOptions& options) {
  if (options.resume) {
    throw UserError("--resume: not supported by this version; run the whole job again, with --force");
  }
  RunProgress progress(options.voice.quiet);
  Warnings warnings(!options.voice.quiet, [&progress] { progress.clear(); });
  Session session = open_session(options, {interrupted, [&progress](const Progress& p) { progress.show(p); }},
                                 true, warnings);
  if (!session.estimate.refusal.empty()) throw UserError(session.estimate.refusal);
  if (!session.memory_refusal.empty()) throw RuntimeError(session.memory_refusal);
  const OutputPlan plan = plan_outputs(session);
  check_trace_files(session, plan, warnings);
  prepare_folder(plan, options.existing);
  catch_interrupts();
  say_what_runs(options, session);
  compile(options, session);
  if (session.job.output.snapshots) {
    session.propagator->on_step(session.job.output.snapshots->every, [&](const StepView& view) {
      const auto begin = std::chrono::steady_clock::now();
      write_snapshot(session, view, options.existing);
      progress.leave_out(std::chrono::steady_clock::now() - begin);
    });
  }
  progress.start(session.estimate.points);
  const Records records = session.propagator->forward(session.survey.shots);
  progress.stop();
  warnings.add(session.propagator->warnings());
  write_results(session, plan, records, options.existing);
  const nlohmann::ordered_json report = run_report(session, plan, warnings.all());
  io::write_text(plan.run, report.dump(2) + "\n", options.existing);
  if (options.voice.json) fmt::print("{}\n", report.dump(2));
  say_what_was(options, session, plan);
}

}  // namespace ondula::tools
