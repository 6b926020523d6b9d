// What the commands that compute a job have in common.
// SPDX-License-Identifier: MIT
#include "tools/job_run.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "compiler/error.hpp"
#include "tools/interrupt.hpp"
#include "tools/report.hpp"
#include "tools/trace_records.hpp"
#include "tools/words.hpp"

namespace ondula::tools {

JobRun::JobRun(const JobOptions& options, const JobUse& use)
    : options_(options), warnings_(!options.voice.quiet, [this] {
        if (line_) line_->clear();
      }) {
  if (options.resume) {
    throw UserError("--resume: not supported by this version; run the whole job again, with --force");
  }
  // The bar starts with the first step, since its rate is that of the steps.
  const Hooks hooks{interrupted,
                    [this](const Progress& progress) {
                      if (line_) line_->show(progress);
                    },
                    use.gradient};
  session_ = open_session(options, hooks, true, warnings_);
  if (!use.snapshots && session_.job.output.snapshots) {
    session_.job.output.snapshots.reset();
    warnings_.add(fmt::format("output.snapshots: `ondula {}` takes none", use.command));
  }
  plan_ = plan_outputs(session_);
}

void JobRun::prepare() {
  if (!session_.estimate.refusal.empty()) throw UserError(session_.estimate.refusal);
  if (!session_.memory_refusal.empty()) throw RuntimeError(session_.memory_refusal);
  check_trace_files(session_, plan_, warnings_);
  catch_interrupts();
  prepare_folder(plan_, options_.existing);
  say_what_runs();
}

void JobRun::compile() {
  session_.propagator->compile();
  say_compiled();
}

void JobRun::say_compiled() {
  if (session_.job.backend == Backend::reference) return;
  const Timings& timings = session_.propagator->timings();
  say(timings.compiled
          ? fmt::format("kernels compiled in {}, and kept for the next run", seconds_text(timings.compile))
          : fmt::format("kernels from the cache in {}", seconds_text(timings.compile)));
  if (timings.tuning > 0)
    say(fmt::format("launch shapes measured in {}, and kept for later runs", seconds_text(timings.tuning)));
}

void JobRun::start_progress() { line_.emplace(session_.estimate.points, options_.voice.quiet); }

void JobRun::leave_out(std::chrono::steady_clock::duration time) {
  if (line_) line_->leave_out(time);
}

void JobRun::finish(const Records& records, const nlohmann::ordered_json& more) {
  stop_progress();
  warnings_.add(session_.propagator->warnings());
  write_results(session_, plan_, records, options_.existing);
  nlohmann::ordered_json report = run_report(session_, plan_, warnings_.all());
  report.update(more);
  io::write_text(plan_.run, report.dump(2) + "\n", options_.existing);
  if (options_.voice.json) fmt::print("{}\n", report.dump(2));
  say_what_was();
}

void JobRun::say(const std::string& line) const {
  if (options_.voice.quiet || options_.voice.json) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void JobRun::say_what_runs() const {
  const io::Job& job = session_.job;
  say(fmt::format("{}: {}; order {}, {}, {}; {} shot{} of {} steps", session_.equation.name,
                  extents_text(job.grid.axes, job.grid.shape), job.order, dtype_text(job.dtype),
                  backend_text(job.backend), session_.survey.shots.size(),
                  session_.survey.shots.size() == 1 ? "" : "s", job.steps));
}

void JobRun::say_what_was() const {
  const Timings& timings = session_.propagator->timings();
  if (timings.steady > 0) {
    say(fmt::format("{:.3g} Gpoints/s ({:.3g} with the layers), {} of steps", timings.gpoints_per_s,
                    timings.padded_gpoints_per_s, seconds_text(timings.first + timings.steady)));
  }
  for (const TraceFile& file : plan_.records) say("records   " + path_text(file.path));
  for (const std::string& path : plan_.gradients) {
    if (path.ends_with(".npy")) say("gradient  " + path_text(path));
  }
  auto pictures = plan_.gathers.size() + plan_.models.size() + plan_.snapshots.size();
  for (const std::string& path : plan_.gradients) pictures += path.ends_with(".png") ? 1 : 0;
  if (pictures > 0) say(fmt::format("pictures  {} in {}", pictures, path_text(plan_.directory)));
  say("report    " + path_text(plan_.run));
}

}  // namespace ondula::tools
