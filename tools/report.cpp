// run.json and the answer of --json.
// SPDX-License-Identifier: MIT
#include "tools/report.hpp"

#include <algorithm>

#include "runtime/domain.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/storage/scratch.hpp"
#include "tools/machine.hpp"

namespace ondula::tools {
namespace {

using Json = nlohmann::ordered_json;

Json offsets_report(const Session& session) {
  Json offsets = Json::object();
  std::vector<std::string> names = session.facts.fields;
  names.insert(names.end(), session.facts.derived.begin(), session.facts.derived.end());
  for (const std::string& name : names) {
    const bool recorded =
        std::any_of(session.survey.shots.begin(), session.survey.shots.end(), [&](const Shot& shot) {
          return std::any_of(shot.receivers.begin(), shot.receivers.end(),
                             [&](const Receiver& receiver) { return receiver.field == name; });
        });
    if (recorded) offsets[name] = session.propagator->time_offset(name);
  }
  return offsets;
}

/// Width and reflection of each face's layer: with "auto" the latter follows from the former, face by face,
/// so that the job keeps the word.
Json layer_report(const Session& session) {
  Json layers = Json::object();
  const Grid& grid = session.job.grid;
  for (std::size_t a = 0; a < grid.axes.size(); ++a) {
    for (std::size_t side = 0; side < 2; ++side) {
      const Face& face = grid.faces[a][side];
      if (face.kind != FaceKind::absorbing || face.width == 0) continue;
      const double reflection = session.survey.absorb.reflection.value_or(ir::layer_reflection(face.width));
      layers[grid.axes[a] + (side == 0 ? "-" : "+")] = {{"width", face.width}, {"reflection", reflection}};
    }
  }
  return layers;
}

Json timings_report(const Timings& timings) {
  return {{"compile", timings.compile},
          {"compiled_cold", timings.compiled},
          {"tuning", timings.tuning},
          {"first", timings.first},
          {"steady", timings.steady},
          {"steps", timings.steps},
          {"keeping", timings.keeping},
          {"backward", timings.backward},
          {"chain", timings.chain},
          {"gpoints_per_s", timings.gpoints_per_s},
          {"padded_gpoints_per_s", timings.padded_gpoints_per_s}};
}

/// CUDA kernels, the shapes of their blocks, and where these come from.
Json shapes_report(const Propagator& propagator) {
  Json shapes = Json::array();
  for (const LaunchShape& own : propagator.launch_shapes())
    shapes.push_back(
        {{"kernel", own.kernel}, {"shape", own.shape}, {"from", own.recorded ? "record" : "table"}});
  return shapes;
}

/// Of a gradient: its plan, what that keeps, and what it ran again.
Json storage_report(const Session& session) {
  const StoragePlan plan = io::storage_plan(session.job.memory);
  const bool states = plan.checkpoints.kind != Checkpoints::Kind::none;
  Json report = {{"keep", plan.keep == Storage::boundary ? "boundary" : "full"},
                 {"steps", tier_text(plan.steps)}};
  if (states) {
    const bool segments = plan.checkpoints.kind == Checkpoints::Kind::segments;
    report["checkpoints"] = {{segments ? "segments" : "slots", plan.checkpoints.count},
                             {"states", tier_text(plan.states)}};
  }
  if (plan.steps == Tier::disk || (states && plan.states == Tier::disk))
    report["scratch"] = storage::scratch_folder(plan.scratch);
  const Estimate& e = session.estimate;
  report["bytes_per_step"] = e.step_bytes;
  report["bytes_per_checkpoint"] = e.state_bytes;
  report["steps_again"] = session.propagator->timings().steps_again;
  return report;
}

}  // namespace

const char* tier_text(Tier tier) {
  return tier == Tier::device ? "device" : tier == Tier::host ? "host" : "disk";
}

Json grid_report(const Session& session) {
  const Grid& grid = session.job.grid;
  const ir::Domain domain = make_domain(grid, session.job.order);
  Json padded = Json::array();
  for (int axis = 0; axis < domain.dims; ++axis) padded.push_back(domain.total(axis));
  return {{"shape", grid.shape},
          {"padded_shape", padded},
          {"points", session.estimate.points},
          {"padded_points", session.estimate.padded_points}};
}

Json limits_report(const Session& session) {
  const Estimate& e = session.estimate;
  const double sampling = points_per_wavelength(session);
  Json cell = Json::object();
  for (std::size_t a = 0; a < e.fastest_cell.size(); ++a) cell[session.job.grid.axes[a]] = e.fastest_cell[a];
  return {{"cfl", e.cfl_limit},   {"dt", e.dt},
          {"fastest", e.fastest}, {"fastest_cell", cell},
          {"slowest", e.slowest}, {"points_per_wavelength", sampling > 0 ? Json(sampling) : Json()}};
}

Json bytes_report(const Session& session) {
  const Estimate& e = session.estimate;
  Json report = {{"device", e.device_bytes},
                 {"host", e.host_bytes + session.picture_bytes},
                 {"disk", session.use_gradient ? e.gradient_disk_bytes : 0},
                 {"shots_at_once", e.shots_at_once}};
  if (e.gradient_device_bytes > 0)
    report["gradient"] = {{"device", e.gradient_device_bytes},
                          {"host", e.gradient_host_bytes},
                          {"disk", e.gradient_disk_bytes},
                          {"history", e.history_bytes},
                          {"checkpoints", e.checkpoint_bytes},
                          {"step", e.step_bytes},
                          {"checkpoint", e.state_bytes},
                          {"steps_again", e.steps_again},
                          {"shots_at_once", e.gradient_shots_at_once}};
  return report;
}

Json run_report(const Session& session, const OutputPlan& plan, const std::vector<std::string>& warnings) {
  Json report;
  report["job"] = io::resolved(session.job);
  if (session.survey.absorb.frequency)
    report["job"]["absorb"]["frequency"] = *session.survey.absorb.frequency;
  if (!session.survey.absorb.velocity) report["job"]["absorb"]["velocity"] = session.estimate.fastest;
  report["job"]["time"]["substeps"] = session.estimate.substeps;
  report["job"]["threads"] = session.job.threads.value_or(threads_available());
  report["layer"] = layer_report(session);
  report["time_offset"] = offsets_report(session);
  report["timings"] = timings_report(session.propagator->timings());
  const std::size_t device = session.propagator->device_bytes_peak();
  const std::size_t resident = memory_peak();
  const TierBytes kept = session.propagator->bytes_peak();
  report["bytes"] = {
      {"device", device}, {"host", resident - std::min(resident, device)}, {"disk", kept.disk}};
  report["bytes_estimated"] = bytes_report(session);
  if (session.use_gradient) {
    report["bytes"]["kept_on_host"] = kept.host;
    report["storage"] = storage_report(session);
  }
  report["resident_peak"] = resident;
  report["substeps"] = session.estimate.substeps;
  report["grid"] = grid_report(session);
  report["limits"] = limits_report(session);
  report["threads"] = session.job.threads.value_or(threads_available());
  if (const Json shapes = shapes_report(*session.propagator); !shapes.empty())
    report["launch_shapes"] = shapes;
  report["versions"] = {{"ondula", jit::ondula_version()}, {"clang", jit::built_clang_version()}};
  report["warnings"] = warnings;
  report["files"] = plan.paths();
  return report;
}

}  // namespace ondula::tools
