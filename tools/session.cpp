// Makes a job ready to run.
// SPDX-License-Identifier: MIT
#include "tools/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "compiler/error.hpp"
#include "equations/equations.hpp"
#include "runtime/backend.hpp"
#include "runtime/equation_file.hpp"
#include "runtime/io/geometry.hpp"
#include "runtime/io/job_geometry.hpp"
#include "runtime/io/job_model.hpp"
#include "runtime/io/suggest.hpp"
#include "runtime/io/wavelet.hpp"
#include "tools/machine.hpp"
#include "tools/words.hpp"

namespace ondula::tools {
namespace {

io::ValueDomain domain_of(ir::Sign sign) {
  if (sign == ir::Sign::positive) return io::ValueDomain::positive;
  return sign == ir::Sign::nonnegative ? io::ValueDomain::nonnegative : io::ValueDomain::any;
}

io::EquationNames names_of(const EquationDefinition& definition, const EquationFacts& known) {
  return {definition.name(), known.parameters, known.sources, known.fields,
          known.initial,     known.derived,    known.forces,  known.moments};
}

PropagatorOptions propagator_options(const io::Job& job, const io::Survey& survey, const Hooks& hooks,
                                     Warnings& warnings) {
  PropagatorOptions options;
  options.t0 = job.t0;
  options.dt = job.dt;
  options.steps = job.steps;
  options.substeps = job.substeps;
  options.order = job.order;
  options.dtype = job.dtype;
  options.backend = job.backend;
  options.device = job.device;
  options.tune = job.tune;
  options.absorb = survey.absorb;
  options.storage = io::storage_plan(job.memory);
  options.shot_batch = job.memory.shot_batch;
  // On the host the estimate is held against it before anything runs.
  const auto limit = job.memory.limits.find("device");
  if (limit != job.memory.limits.end() && runs_cuda(job.backend))
    options.device_bytes_limit = static_cast<std::size_t>(limit->second);
  options.threads = job.threads.value_or(0);
  options.cancel = hooks.cancel;
  options.progress = hooks.progress;
  options.log = [&warnings](const std::string& text) { warnings.add(text); };
  options.compile_later = true;
  return options;
}

void load_models(Session& session, bool pictures, Warnings& warnings) {
  const io::Job& job = session.job;
  for (const ir::Parameter& parameter : session.equation.parameters) {
    for (const auto& [name, spec] : job.models) {
      if (name != parameter.name) continue;
      std::vector<std::string> notes;
      io::Array values = io::load_model("models." + name, spec, job.grid, parameter.unit, notes);
      warnings.add(notes);
      io::check_model("models." + name, values, job.grid, parameter.unit, domain_of(parameter.sign));
      session.typical.emplace_back(name, values.data.front());
      if (values.shape.empty()) {
        session.propagator->set_model(name, values.data.front());
        continue;
      }
      session.propagator->set_model(name, values.data);
      if (pictures && job.output.pictures) {
        session.models.push_back(
            {name, io::draw_model({"Model", name, parameter.unit, values, placement(job.grid)})});
      }
      if (pictures && job.output.snapshots && session.shade.data.empty()) session.shade = std::move(values);
    }
  }
}

void load_initial(Session& session, Warnings& warnings) {
  const io::Job& job = session.job;
  std::int64_t nodes = 1;
  for (const std::int64_t n : job.grid.shape) nodes *= n;
  for (const auto& [name, spec] : job.initial) {
    std::string unit;
    for (const ir::Field& field : session.equation.fields) {
      if (name == field.name || name == field.name + ".previous") unit = field.unit;
    }
    std::vector<std::string> notes;
    io::Array values = io::load_model("initial." + name, spec, job.grid, unit, notes);
    warnings.add(notes);
    io::check_model("initial." + name, values, job.grid, unit, io::ValueDomain::any);
    if (values.shape.empty()) values.data.resize(static_cast<std::size_t>(nodes), values.data.front());
    session.propagator->set_initial(name, values.data);
  }
}

void warn_of_physics(const Session& session, Warnings& warnings) {
  const io::Job& job = session.job;
  if (auto text =
          io::sampling_warning(session.estimate.slowest, session.survey.top_frequency, job.grid.spacing))
    warnings.add(*text);
  const double frequency = session.survey.dominant_frequency > 0
                               ? session.survey.dominant_frequency
                               : session.survey.absorb.frequency.value_or(0);
  if (auto text = io::layer_warning(job.grid, session.estimate.fastest, frequency)) warnings.add(*text);
}

void check_limit(const io::Job& job, const std::string& tier, std::size_t needed, const std::string& what) {
  const auto limit = job.memory.limits.find(tier);
  if (limit == job.memory.limits.end() || static_cast<std::int64_t>(needed) <= limit->second) return;
  throw UserError(fmt::format(
      "memory.limits.{}: found {}; the run needs {} there ({}). Raise the limit, or ask for a smaller grid, "
      "thinner layers or float32",
      tier, bytes_text(static_cast<double>(limit->second)), bytes_text(static_cast<double>(needed)), what));
}

/// The estimate itself needs the stability limit, and that takes memory where the model varies.
void require_memory_for_limit(const Propagator& propagator) {
  const std::size_t needed = propagator.limit_bytes(), available = memory_available();
  if (available == 0 || needed <= available) return;
  throw RuntimeError(fmt::format(
      "finding the stability limit of this model takes {} of memory, of which this machine has {} left; ask "
      "for a smaller grid",
      bytes_text(static_cast<double>(needed)), bytes_text(static_cast<double>(available))));
}

/// Makes the estimate that of a gradient: more on the device, the observed records on the host.
void expect_gradient(Session& session) {
  Estimate& estimate = session.estimate;
  if (session.job.memory.mode == io::MemorySpec::Mode::none) return;  // the command says what is wrong
  if (!estimate.gradient_refusal.empty()) throw UserError(estimate.gradient_refusal);
  std::size_t observed = 0;
  for (const Shot& shot : session.survey.shots) {
    for (const Receiver& receiver : shot.receivers) {
      for (const auto& [field, file] : session.job.observed)
        observed +=
            receiver.field == field ? sizeof(double) * static_cast<std::size_t>(session.job.steps) : 0;
    }
  }
  const std::size_t host = observed + estimate.gradient_host_bytes;
  estimate.host_bytes += host;
  estimate.peak_bytes += host;
  if (estimate.gradient_device_bytes > estimate.device_bytes) {
    // Only the host's device is in the same memory.
    if (!runs_cuda(session.job.backend))
      estimate.peak_bytes += estimate.gradient_device_bytes - estimate.device_bytes;
    estimate.device_bytes = estimate.gradient_device_bytes;
    estimate.shots_at_once = estimate.gradient_shots_at_once;
  }
}

/// Of what a gradient keeps, the part that the device holds altogether.
std::size_t kept_on_device(const Session& session) {
  const Estimate& e = session.estimate;
  const StoragePlan plan = io::storage_plan(session.job.memory);
  return (plan.steps == Tier::device ? e.history_bytes : 0) +
         (plan.states == Tier::device ? e.checkpoint_bytes : 0);
}

/// Before anything large is allocated. `available`: bytes before the models were read.
void check_memory(Session& session, std::size_t available, Warnings& warnings) {
  const std::size_t device = session.estimate.device_bytes;
  const std::size_t host = session.estimate.host_bytes + session.picture_bytes;
  const std::size_t both = session.estimate.peak_bytes + session.picture_bytes;
  check_limit(session.job, "device", device,
              session.estimate.history_bytes > 0 && device == session.estimate.gradient_device_bytes
                  ? fmt::format("fields, coefficients and layers, forward and back, and {} of history",
                                bytes_text(static_cast<double>(kept_on_device(session))))
                  : "fields, coefficients and layers");
  const bool gradient = session.use_gradient;
  check_limit(session.job, "host", host,
              gradient && session.estimate.gradient_host_bytes > 0
                  ? fmt::format("models, records and {} of steps and checkpoints",
                                bytes_text(static_cast<double>(session.estimate.gradient_host_bytes)))
                  : "models, records and snapshots");
  if (gradient)
    check_limit(session.job, "disk", session.estimate.gradient_disk_bytes, "steps and checkpoints");
  if (available == 0 || both <= available) return;
  const std::string text =
      fmt::format("the run needs {} of memory, of which this machine has {} left",
                  bytes_text(static_cast<double>(both)), bytes_text(static_cast<double>(available)));
  const auto& limits = session.job.memory.limits;
  if (limits.contains("device") && limits.contains("host")) {
    warnings.add(text);
    return;
  }
  session.memory_refusal = text +
                           "; ask for a smaller grid, fewer receivers or float32, or state what it may take "
                           "in memory.limits, \"device\" and \"host\" both";
}

}  // namespace

void Warnings::add(const std::string& text) {
  const std::lock_guard<std::mutex> alone(mutex_);
  for (const std::string& old : all_) {
    if (old == text) return;
  }
  all_.push_back(text);
  if (!print_) return;
  if (before_) before_();
  fmt::print(stderr, "warning: {}\n", text);
}

double points_per_wavelength(const Session& session) {
  const double top = session.survey.top_frequency;
  const std::vector<double>& spacing = session.job.grid.spacing;
  return top > 0 ? session.estimate.slowest / (top * *std::max_element(spacing.begin(), spacing.end())) : 0;
}

io::Placement placement(const Grid& grid) { return {grid.axes, grid.spacing, grid.origin}; }

EquationDefinition equation_of(const std::string& text) {
  EquationFileOptions options;
  // A command may ask for its equation several times.
  options.log = [](const std::string& warnings) {
    static std::set<std::string> told;
    if (told.insert(warnings).second) fmt::print(stderr, "{}", warnings);
  };
  if (is_equation_path(text)) return load_equation(text, options);
  std::vector<std::string> known;
  for (const EquationDefinition& definition : equations::all()) {
    if (definition.name() == text) return definition;
    known.push_back(definition.name());
  }
  throw UserError(fmt::format("equation: found \"{}\".{} (a file of your own is named by its path, mine.cpp)",
                              text, io::suggestion(text, known)));
}

Session open_session(const JobOptions& options, const Hooks& hooks, bool pictures, Warnings& warnings) {
  const std::size_t available = memory_available();
  Session session;
  session.job = io::read_job(options.file, options.overrides);
  const io::Job& job = session.job;
  const EquationDefinition definition = equation_of(job.equation);
  session.equation = definition.instantiate(job.grid.axes);
  session.facts = facts(definition, job.grid.axes);
  std::vector<std::string> notes;
  const io::EquationNames names = names_of(definition, session.facts);
  io::expand_geometry(session.job, names, notes);
  io::check_names(job, names);
  session.survey = io::resolve_survey(job, notes);
  warnings.add(notes);
  session.propagator = std::make_unique<Propagator>(definition, job.grid,
                                                    propagator_options(job, session.survey, hooks, warnings));
  load_models(session, pictures, warnings);
  load_initial(session, warnings);
  require_memory_for_limit(*session.propagator);
  session.estimate = session.propagator->estimate(session.survey.shots);
  session.use_gradient = hooks.gradient;
  if (hooks.gradient) expect_gradient(session);
  if (job.output.snapshots) {
    // A field arrives padded and is cut to the grid, both in double.
    session.picture_bytes =
        sizeof(double) * (static_cast<std::size_t>(session.estimate.points + session.estimate.padded_points) +
                          session.shade.data.size());
  }
  warn_of_physics(session, warnings);
  check_memory(session, available, warnings);
  return session;
}

}  // namespace ondula::tools
