// `ondula born`: linearised records for a perturbation of the model.
// SPDX-License-Identifier: MIT
#include "tools/born.hpp"

#include <fmt/format.h>

#include "compiler/error.hpp"
#include "runtime/io/job_model.hpp"
#include "runtime/io/suggest.hpp"
#include "tools/job_run.hpp"

namespace ondula::tools {

void linearise_job(const JobOptions& options) {
  JobRun run(options, {.command = "born", .snapshots = false});
  Session& session = run.session();
  const io::Job& job = session.job;
  if (job.born.empty()) {
    throw UserError(fmt::format(
        "{}: born: missing; it holds the perturbation of at least one parameter, in the forms of models: {}",
        options.file, io::list_of(session.facts.parameters)));
  }
  std::map<std::string, std::vector<double>> perturbation;
  for (const auto& [name, spec] : job.born) {
    std::vector<std::string> notes;
    perturbation[name] =
        io::load_perturbation("born." + name, spec, job.grid, session.facts.units.at(name), notes).data;
    run.warnings().add(notes);
  }
  run.prepare();
  run.start_progress();
  const Records records = session.propagator->born(session.survey.shots, perturbation);
  run.stop_progress();
  run.say_compiled();
  run.finish(records);
}

}  // namespace ondula::tools
