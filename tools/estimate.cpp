// `ondula estimate`: what a job would need, without running it.
// SPDX-License-Identifier: MIT
#include "tools/estimate.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/error.hpp"
#include "tools/answered.hpp"
#include "tools/prediction.hpp"
#include "tools/report.hpp"
#include "tools/session.hpp"
#include "tools/words.hpp"

namespace ondula::tools {
namespace {

using Json = nlohmann::ordered_json;

/// Why `ondula run` would refuse, and its exit status then: the step's is the user's fault, memory is not.
const std::string& refusal_of(const Session& session) {
  return session.estimate.refusal.empty() ? session.memory_refusal : session.estimate.refusal;
}

int status_of(const Session& session) { return session.estimate.refusal.empty() ? 4 : 2; }

Json answer(const Session& session, const Prediction& prediction, const Warnings& warnings) {
  const Estimate& e = session.estimate;
  Json json;
  json["job"] = io::resolved(session.job);
  json["grid"] = grid_report(session);
  json["limits"] = limits_report(session);
  json["substeps"] = e.substeps;
  json["bytes"] = bytes_report(session);
  json["time"] = {{"seconds", prediction.seconds},
                  {"copy_bytes_per_s", prediction.copy_bytes_per_s},
                  {"bytes_per_point_and_step", e.work_bytes_per_point},
                  {"kernel_points_per_s", prediction.kernel_points_per_s},
                  {"points_seconds", prediction.points_seconds},
                  {"problem", prediction.problem}};
  const std::string& refusal = refusal_of(session);
  json["runs"] = refusal.empty();
  json["refusal"] = refusal;
  if (!refusal.empty()) {  // as every failure has them
    json["error"] = refusal;
    json["status"] = status_of(session);
  }
  json["warnings"] = warnings.all();
  return json;
}

std::string cell_text(const Session& session) {
  std::string text;
  const auto& axes = session.job.grid.axes;
  for (std::size_t a = 0; a < axes.size(); ++a)
    text += fmt::format("{}{} {}", a == 0 ? "" : ", ", axes[a], session.estimate.fastest_cell[a]);
  return text;
}

void print_time(const Session& session, const Prediction& prediction) {
  if (prediction.copy_bytes_per_s <= 0) {
    fmt::print("time       {}\n", prediction.problem);
    return;
  }
  fmt::print("time       an estimate: {} for {} shot{} of {} steps\n", seconds_text(prediction.seconds),
             session.survey.shots.size(), session.survey.shots.size() == 1 ? "" : "s", session.job.steps);
  fmt::print("           memory: {:g} bytes per point and step; a copy like it runs at {}/s\n",
             session.estimate.work_bytes_per_point, bytes_text(prediction.copy_bytes_per_s));
  if (prediction.kernel_points_per_s > 0) {
    fmt::print("           kernels: {:.3g} Gpoints/s on a small grid with the same share of layers\n",
               1e-9 * prediction.kernel_points_per_s);
    fmt::print("           receivers and sources: {}\n", seconds_text(prediction.points_seconds));
  } else if (!prediction.problem.empty()) {
    fmt::print("           kernels: not measured: {}\n", prediction.problem);
  }
}

std::string at_once(std::int64_t shots) { return shots > 1 ? fmt::format(", {} shots at once", shots) : ""; }

void print_gradient(const Session& session) {
  const Estimate& e = session.estimate;
  const auto text = [](std::size_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  const StoragePlan plan = io::storage_plan(session.job.memory);
  const bool rings = plan.keep == Storage::boundary;
  fmt::print("gradient   {} on the device, {} on the host and {} on disk besides{}\n",
             text(e.gradient_device_bytes), text(e.gradient_host_bytes), text(e.gradient_disk_bytes),
             at_once(e.gradient_shots_at_once));
  fmt::print("           steps: {} bytes each ({}), {} in all, {}\n", e.step_bytes,
             rings ? "rings; the interior is rebuilt" : "all that is needed", text(e.history_bytes),
             tier_text(plan.steps));
  if (e.checkpoint_bytes > 0) {
    fmt::print("           checkpoints: {} bytes each, {} in all, {}; {} steps run again\n", e.state_bytes,
               text(e.checkpoint_bytes), tier_text(plan.states), e.steps_again);
  }
}

void print(const Session& session, const Prediction& prediction) {
  const Estimate& e = session.estimate;
  const Json grid = grid_report(session);
  fmt::print("grid       {} = {} points; with layers {} points\n",
             extents_text(session.job.grid.axes, session.job.grid.shape), count_text(e.points),
             count_text(e.padded_points));
  fmt::print("speeds     {:.6g} to {:.6g} m/s, the fastest at cell ({})\n", e.slowest, e.fastest,
             cell_text(session));
  fmt::print("step       {:.6g} s; the limit is {:.6g} s (order {}){}\n", e.dt, e.cfl_limit,
             session.job.order, e.substeps > 1 ? fmt::format("; {} of them to a sample", e.substeps) : "");
  fmt::print("sampling   {}\n",
             session.survey.top_frequency > 0
                 ? fmt::format("{:.3g} points per wavelength at {:.3g} Hz, where the spectrum ends",
                               points_per_wavelength(session), session.survey.top_frequency)
                 : "unknown: no wavelet");
  fmt::print("device     {}{}\n", bytes_text(static_cast<double>(e.device_bytes)), at_once(e.shots_at_once));
  if (e.gradient_refusal.empty()) {
    print_gradient(session);
  } else {
    fmt::print("gradient   none: {}\n", e.gradient_refusal);
  }
  fmt::print("host       {}\n", bytes_text(static_cast<double>(e.host_bytes + session.picture_bytes)));
  fmt::print("disk       {} of scratch\n", bytes_text(static_cast<double>(e.gradient_disk_bytes)));
  print_time(session, prediction);
}

}  // namespace

void estimate_job(const JobOptions& options) {
  Warnings warnings(!options.voice.quiet);
  const Session session = open_session(options, {}, false, warnings);
  const Prediction prediction = predict(session);
  if (options.voice.json) {
    fmt::print("{}\n", answer(session, prediction, warnings).dump(2));
  } else if (!options.voice.quiet) {
    print(session, prediction);
  }
  const std::string& refusal = refusal_of(session);
  if (refusal.empty()) return;
  if (options.voice.json) throw Answered(refusal, status_of(session));
  if (status_of(session) == 4) throw RuntimeError(refusal);
  throw UserError(refusal);
}

}  // namespace ondula::tools
