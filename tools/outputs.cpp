// The files of a run.
// SPDX-License-Identifier: MIT
#include "tools/outputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <tuple>

#include "compiler/error.hpp"
#include "runtime/io/npy.hpp"
#include "runtime/io/picture.hpp"
#include "runtime/io/png.hpp"
#include "tools/interrupt.hpp"
#include "tools/trace_records.hpp"

namespace ondula::tools {
namespace {

namespace fs = std::filesystem;

const char* extension(const io::Job& job) {
  if (job.output.records.kind == io::RecordFormat::Kind::npy) return ".npy";
  return job.output.records.kind == io::RecordFormat::Kind::su ? ".su" : ".segy";
}

std::string snapshot_path(const Session& session, std::int64_t shot, std::int64_t step) {
  const io::OutputSpec& output = session.job.output;
  const std::string which = session.survey.shots.size() == 1 ? "" : fmt::format("_shot_{}", shot);
  return fmt::format("{}/snapshot_{}_{}{}.png", output.directory, output.snapshots->field, step, which);
}

void plan_snapshots(const Session& session, OutputPlan& plan) {
  const io::Job& job = session.job;
  if (!job.output.snapshots) return;
  const auto shots = static_cast<std::int64_t>(session.survey.shots.size());
  for (std::int64_t shot = 0; shot < shots; ++shot) {
    for (std::int64_t step = 0; step < job.steps; step += job.output.snapshots->every) {
      if (snapshot_wanted(job, step)) plan.snapshots.push_back(snapshot_path(session, shot, step));
    }
  }
}

/// Positions along the axis on which the receivers spread most, for a gather's horizontal axis.
std::pair<std::string, std::vector<double>> receiver_positions(const Session& session, const Shot& shot,
                                                               const std::string& field) {
  const std::vector<std::string>& axes = session.job.grid.axes;
  std::pair<std::string, std::vector<double>> widest{axes.back(), {}};
  double spread = -1;
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    std::vector<double> along;
    for (const Receiver& receiver : shot.receivers) {
      if (receiver.field == field) along.push_back(receiver.position[axis]);
    }
    const auto [low, high] = std::minmax_element(along.begin(), along.end());
    if (along.empty() || *high - *low <= spread) continue;
    spread = *high - *low;
    widest = {axes[axis], std::move(along)};
  }
  return widest;
}

/// "Shot 3, source at z 20 m, x 4600 m".
std::string shot_title(const Session& session, std::int64_t number) {
  const Shot& shot = session.survey.shots[static_cast<std::size_t>(number)];
  std::string title = fmt::format("Shot {}", number);
  if (shot.sources.size() != 1) return title;
  const std::vector<std::string>& axes = session.job.grid.axes;
  for (std::size_t a = 0; a < axes.size(); ++a)
    title += fmt::format("{} {} {:g} m", a == 0 ? ", source at" : ",", axes[a], shot.sources[0].position[a]);
  return title;
}

const Traces* find_traces(const Records& records, std::size_t shot, const std::string& field) {
  const auto found = records[shot].find(field);
  return found == records[shot].end() ? nullptr : &found->second;
}

void write_records(const Session& session, const TraceFile& file, const Records& records,
                   io::Existing existing) {
  if (session.job.output.records.kind != io::RecordFormat::Kind::npy)
    return write_traces(session, file, records, existing);
  const auto shots = static_cast<std::int64_t>(records.size());
  const std::int64_t first = file.shot < 0 ? 0 : file.shot, last = file.shot < 0 ? shots : file.shot + 1;
  const std::int64_t receivers =
      receivers_of(session.survey.shots[static_cast<std::size_t>(first)], file.field);
  std::vector<std::int64_t> shape{receivers, session.job.steps};
  if (file.shot < 0) shape.insert(shape.begin(), shots);
  io::NpyWriter writer(file.path, shape, session.job.dtype, existing);
  for (std::int64_t shot = first; shot < last; ++shot) {
    if (const Traces* traces = find_traces(records, static_cast<std::size_t>(shot), file.field))
      writer.write(std::span<const double>(traces->data));
  }
  writer.commit();
}

/// Where a free surface bounds a medium of stresses, the wave along it towers over all others: colours then
/// end at eight medians, which leaves reflections a good part of the scale.
double most_medians(const Session& session) {
  const auto free = [](const std::array<Face, 2>& ends) {
    return ends[0].kind == FaceKind::free_surface || ends[1].kind == FaceKind::free_surface;
  };
  const auto& faces = session.job.grid.faces;
  return !session.facts.moments.empty() && std::any_of(faces.begin(), faces.end(), free) ? 8 : 0;
}

void write_gather(const Session& session, const TraceFile& file, const Records& records,
                  io::Existing existing) {
  const Traces* traces = find_traces(records, static_cast<std::size_t>(file.shot), file.field);
  if (traces == nullptr) throw InternalError("no traces of " + file.field);
  io::GatherPicture picture;
  picture.title = shot_title(session, file.shot);
  picture.field = file.field;
  picture.unit = session.facts.units.at(file.field);
  picture.traces = traces->data;
  picture.receivers = traces->receivers;
  picture.samples = traces->samples;
  picture.dt = session.job.dt;
  picture.first_time = session.job.t0 + session.propagator->time_offset(file.field);
  // Geometric spreading: amplitudes fall as 1/sqrt(t) in two dimensions, as 1/t in three, where the direct
  // wave towers so far over the rest that more of it is clipped.
  const std::size_t dims = session.job.grid.axes.size();
  picture.time_power = 0.5 * static_cast<double>(dims - 1);
  picture.clip_percent = dims == 3 ? 97 : 99;
  picture.most_medians = most_medians(session);
  std::tie(picture.position_axis, picture.positions) =
      receiver_positions(session, session.survey.shots[static_cast<std::size_t>(file.shot)], file.field);
  io::write_png(file.path, io::draw_gather(picture), existing);
}

}  // namespace

std::int64_t receivers_of(const Shot& shot, const std::string& field) {
  return std::count_if(shot.receivers.begin(), shot.receivers.end(),
                       [&](const Receiver& receiver) { return receiver.field == field; });
}

std::vector<std::string> recorded_fields(const Session& session) {
  std::vector<std::string> known = session.facts.fields, fields;
  known.insert(known.end(), session.facts.derived.begin(), session.facts.derived.end());
  for (const std::string& name : known) {
    const bool recorded = std::any_of(session.survey.shots.begin(), session.survey.shots.end(),
                                      [&](const Shot& shot) { return receivers_of(shot, name) > 0; });
    if (recorded) fields.push_back(name);
  }
  if (fields.empty()) fields.push_back(session.equation.fields.front().name);
  return fields;
}

std::vector<std::string> OutputPlan::paths() const {
  std::vector<std::string> all;
  for (const auto* list : {&records, &gathers}) {
    for (const TraceFile& file : *list) all.push_back(file.path);
  }
  all.insert(all.end(), models.begin(), models.end());
  all.insert(all.end(), snapshots.begin(), snapshots.end());
  all.insert(all.end(), gradients.begin(), gradients.end());
  all.push_back(run);
  return all;
}

OutputPlan plan_outputs(const Session& session) {
  OutputPlan plan;
  const io::Job& job = session.job;
  plan.directory = job.output.directory;
  const auto shots = static_cast<std::int64_t>(session.survey.shots.size());
  for (const std::string& field : recorded_fields(session)) {
    std::set<std::int64_t> counts;
    for (const Shot& shot : session.survey.shots) counts.insert(receivers_of(shot, field));
    const bool together = job.output.records.kind != io::RecordFormat::Kind::npy || counts.size() == 1;
    if (together) plan.records.push_back({plan.directory + "/records_" + field + extension(job), field, -1});
    for (std::int64_t shot = 0; shot < shots; ++shot) {
      if (!together) {
        plan.records.push_back(
            {fmt::format("{}/records_{}_shot_{}.npy", plan.directory, field, shot), field, shot});
      }
      const bool seen = receivers_of(session.survey.shots[static_cast<std::size_t>(shot)], field) > 0;
      if (job.output.pictures && job.steps > 0 && seen)
        plan.gathers.push_back({fmt::format("{}/shot_{}_{}.png", plan.directory, shot, field), field, shot});
    }
  }
  for (const ModelPicture& model : session.models)
    plan.models.push_back(fmt::format("{}/{}.png", plan.directory, model.name));
  plan_snapshots(session, plan);
  plan.run = plan.directory + "/run.json";
  return plan;
}

void prepare_folder(const OutputPlan& plan, io::Existing existing) {
  std::error_code error;
  for (const std::string& path : plan.paths()) {
    if (!fs::exists(fs::symlink_status(path, error))) continue;
    if (fs::is_directory(path, error)) throw UserError(fmt::format("{} is a directory", path));
    if (existing == io::Existing::refuse) {
      throw UserError(
          fmt::format("{} exists already; use --force to replace it, or name another folder with -o", path));
    }
  }
  fs::create_directories(plan.directory, error);
  if (error) {
    throw UserError(
        fmt::format("output.directory: cannot make the folder {}: {}", plan.directory, error.message()));
  }
  if (!fs::is_directory(plan.directory, error))
    throw UserError(fmt::format("output.directory: {} is not a folder", plan.directory));
  if (access(plan.directory.c_str(), W_OK | X_OK) != 0) {
    throw UserError(
        fmt::format("output.directory: cannot write to {}: {}", plan.directory, std::strerror(errno)));
  }
}

bool snapshot_wanted(const io::Job& job, std::int64_t step) {
  return job.output.snapshots && step % job.output.snapshots->every == 0 &&
         (step > 0 || !job.initial.empty());
}

void write_snapshot(const Session& session, const StepView& view, io::Existing existing) {
  const io::Job& job = session.job;
  if (!snapshot_wanted(job, view.step)) return;
  const std::string& field = job.output.snapshots->field;
  io::SnapshotPicture picture;
  picture.title = shot_title(session, view.shot);
  picture.field = field;
  picture.unit = session.facts.units.at(field);
  picture.values = {job.grid.shape, view.field(field)};
  picture.most_medians = most_medians(session);
  picture.placement = placement(job.grid);
  picture.time = view.time + session.propagator->time_offset(field);
  if (!session.shade.data.empty()) picture.model = &session.shade;
  io::write_png(snapshot_path(session, view.shot, view.step), io::draw_snapshot(picture), existing);
}

void write_results(const Session& session, const OutputPlan& plan, const Records& records,
                   io::Existing existing) {
  for (const TraceFile& file : plan.records) {
    stop_if_interrupted();
    write_records(session, file, records, existing);
  }
  for (const TraceFile& file : plan.gathers) {
    stop_if_interrupted();
    write_gather(session, file, records, existing);
  }
  for (std::size_t i = 0; i < plan.models.size(); ++i) {
    stop_if_interrupted();
    io::write_png(plan.models[i], session.models[i].picture, existing);
  }
}

}  // namespace ondula::tools
