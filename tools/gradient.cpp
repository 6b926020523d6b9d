// `ondula gradient`: the misfit of a job against observed records, and its derivatives.
// SPDX-License-Identifier: MIT
#include "tools/gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/error.hpp"
#include "runtime/io/npy.hpp"
#include "runtime/io/picture.hpp"
#include "runtime/io/png.hpp"
#include "runtime/misfit.hpp"
#include "tools/interrupt.hpp"
#include "tools/job_run.hpp"
#include "tools/observed.hpp"

namespace ondula::tools {
namespace {

/// An array of the gradient: what it is called, its file, and its picture's.
struct ArrayFile {
  std::string name, path, picture;
};

struct GradientFiles {
  std::vector<ArrayFile> models, initial;
  std::string wavelet;
};

GradientFiles plan_gradient(JobRun& run) {
  GradientFiles files;
  const Session& session = run.session();
  const GradientOptions& asked = session.job.gradient;
  const auto uniform = [&](const std::string& name) {
    const auto& all = session.equation.parameters;
    return std::any_of(all.begin(), all.end(),
                       [&](const ir::Parameter& p) { return p.name == name && p.uniform; });
  };
  const auto add = [&](const std::string& part, const std::string& name) {
    const std::string stem = fmt::format("{}/gradient_{}{}", run.plan().directory, part, name);
    const bool drawn = session.job.output.pictures && !uniform(name);
    ArrayFile file{name, stem + ".npy", drawn ? stem + ".png" : ""};
    run.plan().gradients.push_back(file.path);
    if (!file.picture.empty()) run.plan().gradients.push_back(file.picture);
    return file;
  };
  for (const std::string& name : session.facts.parameters) {
    const auto& some = asked.parameters;
    if (some.empty() || std::find(some.begin(), some.end(), name) != some.end())
      files.models.push_back(add("", name));
  }
  if (asked.initial) {
    for (const std::string& name : session.facts.initial) files.initial.push_back(add("initial_", name));
  }
  if (asked.wavelets) {
    files.wavelet = run.plan().directory + "/gradient_wavelet.npy";
    run.plan().gradients.push_back(files.wavelet);
  }
  return files;
}

void check_job(const JobOptions& options, const io::Job& job) {
  if (job.observed.empty()) {
    throw UserError(fmt::format(
        "{}: observed: missing; it names the file of observed records of each field to compare: {{\"u\": "
        "\"records_u.npy\"}}",
        options.file));
  }
  if (job.memory.mode == io::MemorySpec::Mode::none) {
    throw UserError(fmt::format(
        "{}: memory.mode: found \"none\", which keeps no history, and a gradient needs one; allowed: "
        "\"auto\", \"full\", \"boundary\", \"segments\", \"revolve\"",
        options.file));
  }
}

/// The derivative with respect to every sample of the run, also where a source's own list ends before.
std::size_t pad_wavelets(Session& session) {
  auto length = static_cast<std::size_t>(session.job.steps);
  for (const Shot& shot : session.survey.shots) {
    for (const Source& source : shot.sources) length = std::max(length, source.wavelet.size());
  }
  for (Shot& shot : session.survey.shots) {
    for (Source& source : shot.sources) source.wavelet.resize(length, 0.0);
  }
  return length;
}

void write_array(const Session& session, const ArrayFile& file, const std::vector<double>& values,
                 const std::string& title, io::Existing existing) {
  stop_if_interrupted();
  const bool uniform = values.size() == 1;
  const io::Array array{uniform ? std::vector<std::int64_t>{1} : session.job.grid.shape, values};
  io::write_npy(file.path, array, session.job.dtype, existing);
  if (file.picture.empty()) return;
  const std::string base = file.name.substr(0, file.name.find(".previous"));
  const std::string& unit = session.facts.units.at(base);
  io::ModelPicture picture{
      title, "dJ/d " + file.name,         unit.empty() || unit == "1" ? "" : "per " + unit,
      array, placement(session.job.grid), true};
  io::write_png(file.picture, io::draw_model(picture), existing);
}

/// One row per entry of the job's sources, in its order, as a wavelet file has them.
void write_wavelets(const Session& session, const std::string& path, const Gradient& gradient,
                    std::size_t length, io::Existing existing) {
  const io::Job& job = session.job;
  std::vector<std::size_t> taken(session.survey.shots.size(), 0);
  io::Array rows{{static_cast<std::int64_t>(job.sources.size()), static_cast<std::int64_t>(length)}, {}};
  for (const io::SourceSpec& source : job.sources) {
    const auto shot = static_cast<std::size_t>(source.shot);
    const std::vector<double>& row = gradient.wavelets.at(shot).at(taken[shot]++);
    rows.data.insert(rows.data.end(), row.begin(), row.end());
  }
  io::write_npy(path, rows, job.dtype, existing);
}

RecordTimes times_of(const Session& session) {
  RecordTimes times{session.job.t0, session.job.dt, {}};
  for (const auto& [field, file] : session.job.observed)
    times.offsets[field] = session.propagator->time_offset(field);
  return times;
}

}  // namespace

void differentiate_job(const JobOptions& options) {
  JobRun run(options, {.command = "gradient", .gradient = true, .snapshots = false});
  Session& session = run.session();
  const io::Job& job = session.job;
  check_job(options, job);
  const MisfitFunction misfit = misfit_against(read_observed(session, run.warnings()), session.survey.shots,
                                               job.misfit, times_of(session));
  const GradientFiles files = plan_gradient(run);
  run.prepare();
  const std::size_t length = job.gradient.wavelets ? pad_wavelets(session) : 0;
  GradientOptions asked = job.gradient;
  asked.records = true;
  run.start_progress();
  const Gradient gradient = session.propagator->gradient(session.survey.shots, misfit, asked);
  run.stop_progress();
  run.say_compiled();
  for (const ArrayFile& file : files.models)
    write_array(session, file, gradient.models.at(file.name), "Gradient", options.existing);
  for (const ArrayFile& file : files.initial)
    write_array(session, file, gradient.initial.at(file.name), "Gradient, initial state", options.existing);
  if (!files.wavelet.empty()) write_wavelets(session, files.wavelet, gradient, length, options.existing);
  run.say(fmt::format("misfit    {:.9g}", gradient.misfit));
  run.finish(gradient.records, {{"misfit", {{"total", gradient.misfit}, {"shots", gradient.shot_misfits}}}});
}

}  // namespace ondula::tools
