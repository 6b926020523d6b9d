// Records as SEG-Y or SU.
// SPDX-License-Identifier: MIT
#include "tools/trace_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/error.hpp"
#include "runtime/jit/clang_library.hpp"
#include "tools/words.hpp"

namespace ondula::tools {
namespace {

io::SurveyPoint survey_point(const Grid& grid, const std::vector<double>& position) {
  io::SurveyPoint point;
  for (std::size_t axis = 0; axis < position.size(); ++axis) {
    double& coordinate = grid.axes[axis] == "z" ? point.z : grid.axes[axis] == "y" ? point.y : point.x;
    coordinate = position[axis];
  }
  return point;
}

/// Revision 1's trace identification: what kind of sensor the field stands for.
int identification_of(const std::string& field) {
  if (field == "pressure") return 11;
  if (field == "v.z") return 12;
  if (field == "v.y") return 13;
  return field == "v.x" ? 14 : 1;
}

std::vector<std::string> header_text(const Session& session, const std::string& field) {
  const io::Job& job = session.job;
  const auto known = session.facts.units.find(field);
  const std::string unit = known == session.facts.units.end() ? "" : known->second;
  return {fmt::format("FIELD {} OF THE EQUATION {}{}", field, session.equation.name,
                      unit.empty() ? "" : ", IN " + unit),
          fmt::format("MODELLED BY ONDULA {} ON A GRID OF {}", jit::ondula_version(),
                      extents_text(job.grid.axes, job.grid.shape)),
          "FIELD RECORD: SHOT NUMBER + 1. LENGTHS IN METRES; ELEVATION -Z, DEPTH Z",
          fmt::format("SAMPLE INTERVAL {} S, FIRST SAMPLE AT {} S", job.dt,
                      job.t0 + session.propagator->time_offset(field))};
}

io::WrittenFile written_file(const Session& session, const TraceFile& file) {
  const io::Job& job = session.job;
  io::WrittenFile written;
  written.path = file.path;
  written.kind =
      job.output.records.kind == io::RecordFormat::Kind::su ? io::TraceFileKind::su : io::TraceFileKind::segy;
  written.ibm = job.output.records.ibm;
  written.big_endian = job.output.records.big_endian;
  written.samples = job.steps;
  written.dt = job.dt;
  written.first_time = job.t0 + session.propagator->time_offset(file.field);
  written.identification = identification_of(file.field);
  written.fineness = *std::min_element(job.grid.spacing.begin(), job.grid.spacing.end());
  written.text = header_text(session, file.field);
  for (const Shot& shot : session.survey.shots) {
    io::WrittenShot traces;
    if (!shot.sources.empty()) traces.source = survey_point(job.grid, shot.sources.front().position);
    for (const Receiver& receiver : shot.receivers) {
      if (receiver.field == file.field) traces.receivers.push_back(survey_point(job.grid, receiver.position));
    }
    written.shots.push_back(std::move(traces));
  }
  return written;
}

}  // namespace

void check_trace_files(const Session& session, const OutputPlan& plan, Warnings& warnings) {
  if (session.job.output.records.kind == io::RecordFormat::Kind::npy) return;
  for (const TraceFile& file : plan.records) {
    std::vector<std::string> notes;
    io::plan_traces(written_file(session, file), notes);
    for (const std::string& note : notes) warnings.add("output.records: " + note);
  }
  for (std::size_t shot = 0; shot < session.survey.shots.size(); ++shot) {
    const std::size_t sources = session.survey.shots[shot].sources.size();
    if (sources == 1) continue;
    warnings.add(fmt::format("output.records: shot {} has {} sources; a trace header has room for one: {}",
                             shot, sources,
                             sources == 0 ? "it says position 0" : "it says the first one's position"));
  }
}

void write_traces(const Session& session, const TraceFile& file, const Records& records,
                  io::Existing existing) {
  io::TraceWriter writer(written_file(session, file), existing);
  for (const auto& shot : records) {
    const auto traces = shot.find(file.field);
    if (traces == shot.end()) continue;
    const auto samples = static_cast<std::size_t>(traces->second.samples);
    for (std::int64_t receiver = 0; receiver < traces->second.receivers; ++receiver)
      writer.write(
          std::span(traces->second.data).subspan(static_cast<std::size_t>(receiver) * samples, samples));
  }
  writer.commit();
}

}  // namespace ondula::tools
