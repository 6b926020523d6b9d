// `ondula run`: models the shots of a job.
// SPDX-License-Identifier: MIT
#include "tools/run.hpp"

#include "tools/job_run.hpp"

namespace ondula::tools {

void run_job(const JobOptions& options) {
  JobRun run(options, {.command = "run"});
  Session& session = run.session();
  run.prepare();
  run.compile();
  if (session.job.output.snapshots) {
    session.propagator->on_step(session.job.output.snapshots->every, [&](const StepView& view) {
      const auto begin = std::chrono::steady_clock::now();
      write_snapshot(session, view, options.existing);
      run.leave_out(std::chrono::steady_clock::now() - begin);
    });
  }
  run.start_progress();
  const Records records = session.propagator->forward(session.survey.shots);
  run.finish(records);
}

}  // namespace ondula::tools
