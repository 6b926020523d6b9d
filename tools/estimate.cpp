// `ondula estimate`: what a job would need, without running it.
// SPDX-License-Identifier: MIT
#include "tools/estimate.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/error.hpp"
#include "tools/bandwidth.hpp"
#include "tools/report.hpp"
#include "tools/session.hpp"
#include "tools/words.hpp"

namespace ondula::tools {
namespace {

using Json = nlohmann::ordered_json;

/// The time of the steps if memory were the only limit, and the copy it comes from.
struct Prediction {
  double bandwidth = 0;  ///< bytes/s; 0: not measured
  double seconds = 0;
};

Prediction predict(const Session& session) {
  Prediction result;
  if (session.job.backend != Backend::host) return result;
  const Estimate& e = session.estimate;
  result.bandwidth = step_bandwidth(static_cast<std::size_t>(e.padded_points), session.job.dtype,
                                    session.job.threads.value_or(0));
  result.seconds = static_cast<double>(e.padded_points) * e.work_bytes_per_point *
                   static_cast<double>(session.job.steps) * static_cast<double>(session.survey.shots.size()) /
                   result.bandwidth;
  return result;
}

Json answer(const Session& session, const Prediction& prediction, const Warnings& warnings) {
  const Estimate& e = session.estimate;
  Json json;
  json["job"] = io::resolved(session.job);
  json["grid"] = grid_report(session);
  json["limits"] = limits_report(session);
  json["substeps"] = e.substeps;
  json["bytes"] = {{"device", e.device_bytes}, {"host", e.host_bytes + session.picture_bytes}, {"disk", 0}};
  json["time"] = {{"copy_bytes_per_s", prediction.bandwidth},
                  {"bytes_per_point_and_step", e.work_bytes_per_point},
                  {"seconds_at_least", prediction.bandwidth > 0 ? Json(prediction.seconds) : Json()}};
  json["runs"] = e.refusal.empty();
  json["refusal"] = e.refusal;
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

void print(const Session& session, const Prediction& prediction) {
  const Estimate& e = session.estimate;
  const Json grid = grid_report(session);
  fmt::print("grid       {} = {} points; with layers {} points\n",
             extents_text(session.job.grid.axes, session.job.grid.shape), count_text(e.points),
             count_text(e.padded_points));
  fmt::print("speeds     {:.6g} to {:.6g} m/s, the fastest at cell ({})\n", e.slowest, e.fastest,
             cell_text(session));
  fmt::print("step       {:.6g} s; the limit is {:.6g} s (order {}){}\n", session.job.dt, e.cfl_limit,
             session.job.order, e.substeps > 1 ? fmt::format("; it would take {} substeps", e.substeps) : "");
  fmt::print("sampling   {}\n",
             e.points_per_wavelength > 0
                 ? fmt::format("{:.3g} points per wavelength at {:.3g} Hz, where the spectrum ends",
                               e.points_per_wavelength, session.survey.top_frequency)
                 : "unknown: no wavelet");
  fmt::print("device     {}\n", bytes_text(static_cast<double>(e.device_bytes)));
  fmt::print("host       {}\n", bytes_text(static_cast<double>(e.host_bytes + session.picture_bytes)));
  fmt::print("disk       0 B of scratch\n");
  if (prediction.bandwidth > 0) {
    fmt::print(
        "time       an estimate: {} or more for {} shot{} of {} steps, from a copy of {}/s and {:g} bytes "
        "per "
        "point and step\n",
        seconds_text(prediction.seconds), session.survey.shots.size(),
        session.survey.shots.size() == 1 ? "" : "s", session.job.steps, bytes_text(prediction.bandwidth),
        e.work_bytes_per_point);
  } else {
    fmt::print("time       not predicted for the reference\n");
  }
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
  if (!session.estimate.refusal.empty()) throw UserError(session.estimate.refusal);
}

}  // namespace ondula::tools
