// Observed records, read back for the job's own shots and receivers.
// SPDX-License-Identifier: MIT
#include "tools/observed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/error.hpp"
#include "runtime/io/npy.hpp"
#include "runtime/io/segy_geometry.hpp"
#include "runtime/io/suggest.hpp"
#include "tools/outputs.hpp"

namespace ondula::tools {
namespace {

/// One entry of "observed", and what the job models of its field.
struct Wanted {
  const Session& session;
  std::string field, file;
  std::vector<std::int64_t> receivers;  ///< of each shot

  std::string where() const { return "observed." + field; }
  std::int64_t samples() const { return session.job.steps; }
  std::int64_t traces() const {
    std::int64_t sum = 0;
    for (const std::int64_t count : receivers) sum += count;
    return sum;
  }
  bool even() const { return std::set<std::int64_t>(receivers.begin(), receivers.end()).size() == 1; }
};

void require_finite(const Wanted& wanted, const std::string& file, std::int64_t shot, const Traces& traces) {
  const auto wrong = std::find_if_not(traces.data.begin(), traces.data.end(),
                                      [](double value) { return std::isfinite(value); });
  if (wrong == traces.data.end()) return;
  const auto at = wrong - traces.data.begin();
  throw UserError(fmt::format("{}: found {} in {} (shot {}, receiver {}, sample {}); allowed: finite numbers",
                              wanted.where(), *wrong, file, shot, at / traces.samples, at % traces.samples));
}

io::Array read_array(const Wanted& wanted, const std::string& file, const std::vector<std::int64_t>& shape,
                     const char* axes) {
  io::Array array = io::read_npy(file);
  if (array.shape == shape) return array;
  throw UserError(fmt::format("{}: the array in {} has shape {}; the job models {} {}", wanted.where(), file,
                              io::shape_text(array.shape), io::shape_text(shape), axes));
}

std::string file_of_shot(const std::string& file, std::size_t shot) {
  const std::string ending = ".npy";
  return fmt::format("{}_shot_{}{}", file.substr(0, file.size() - ending.size()), shot, ending);
}

std::vector<Traces> read_arrays(const Wanted& wanted) {
  std::vector<Traces> shots;
  const std::int64_t samples = wanted.samples();
  if (!wanted.even()) {
    for (std::size_t s = 0; s < wanted.receivers.size(); ++s) {
      const std::string file = file_of_shot(wanted.file, s);
      io::Array array = read_array(wanted, file, {wanted.receivers[s], samples}, "(receiver, time)");
      shots.push_back({wanted.receivers[s], samples, std::move(array.data)});
      require_finite(wanted, file, static_cast<std::int64_t>(s), shots.back());
    }
    return shots;
  }
  const std::int64_t receivers = wanted.receivers.front();
  const auto count = static_cast<std::int64_t>(wanted.receivers.size());
  const io::Array array =
      read_array(wanted, wanted.file, {count, receivers, samples}, "(shot, receiver, time)");
  auto from = array.data.begin();
  for (std::int64_t s = 0; s < count; ++s) {
    const auto to = from + static_cast<std::ptrdiff_t>(receivers * samples);
    shots.push_back({receivers, samples, {from, to}});
    require_finite(wanted, wanted.file, s, shots.back());
    from = to;
  }
  return shots;
}

void check_layout(const Wanted& wanted, io::TraceReader& reader) {
  const io::TraceLayout& layout = reader.layout();
  const auto shots = wanted.receivers.size();
  if (layout.traces != wanted.traces() || layout.samples != wanted.samples()) {
    throw UserError(fmt::format(
        "{}: {} holds {} traces of {} samples; the job models {} traces ({} shot{}) of {} samples",
        wanted.where(), wanted.file, layout.traces, layout.samples, wanted.traces(), shots,
        shots == 1 ? "" : "s", wanted.samples()));
  }
  const double dt = wanted.session.job.dt;
  if (const double found = reader.interval(); std::abs(found - dt) > 0.501e-6) {
    throw UserError(fmt::format("{}: {} is sampled every {:g} s; the job's time.dt is {:g} s", wanted.where(),
                                wanted.file, found, dt));
  }
}

/// Traces are taken in the file's order; headers that put them elsewhere mean that it is another.
void check_positions(const Wanted& wanted, Warnings& warnings) {
  const Grid& grid = wanted.session.job.grid;
  io::SurveyGeometry geometry;
  try {
    geometry = io::read_survey_geometry(wanted.file, {});
  } catch (const UserError& error) {
    warnings.add(fmt::format("{}: positions are not checked: {}", wanted.where(), error.what()));
    return;
  }
  std::vector<const io::SurveyPoint*> points(static_cast<std::size_t>(geometry.traces), nullptr);
  for (const io::SurveyShot& shot : geometry.shots) {
    for (std::size_t i = 0; i < shot.traces.size(); ++i)
      points[static_cast<std::size_t>(shot.traces[i])] = &shot.receivers[i];
  }
  std::int64_t trace = 0, wrong = 0, first = 0;
  for (const Shot& shot : wanted.session.survey.shots) {
    for (const Receiver& receiver : shot.receivers) {
      if (receiver.field != wanted.field) continue;
      const io::SurveyPoint* point = points[static_cast<std::size_t>(trace)];
      bool here = point != nullptr;
      for (std::size_t a = 0; here && a < grid.axes.size(); ++a) {
        const double found = grid.axes[a] == "z" ? point->z : grid.axes[a] == "y" ? point->y : point->x;
        here = std::abs(found - receiver.position[a]) <= 0.5 * grid.spacing[a];
      }
      if (!here && wrong++ == 0) first = trace;
      ++trace;
    }
  }
  if (wrong > 0) {
    warnings.add(fmt::format(
        "{}: the headers of {} put {} of {} traces over half a cell from the job's receivers, the first of "
        "them trace {}: traces are taken in the file's order, shots outermost",
        wanted.where(), wanted.file, wrong, wanted.traces(), first + 1));
  }
}

std::vector<Traces> read_trace_file(const Wanted& wanted, Warnings& warnings) {
  io::TraceReader reader(wanted.file);
  for (const std::string& note : reader.warnings()) warnings.add(note);
  check_layout(wanted, reader);
  check_positions(wanted, warnings);
  const auto samples = static_cast<std::size_t>(wanted.samples());
  std::vector<Traces> shots;
  std::int64_t trace = 0;
  for (std::size_t s = 0; s < wanted.receivers.size(); ++s) {
    Traces traces{wanted.receivers[s], wanted.samples(), {}};
    traces.data.resize(static_cast<std::size_t>(traces.receivers) * samples);
    for (std::int64_t r = 0; r < traces.receivers; ++r)
      reader.read(trace++, std::span(traces.data).subspan(static_cast<std::size_t>(r) * samples, samples));
    require_finite(wanted, wanted.file, static_cast<std::int64_t>(s), traces);
    shots.push_back(std::move(traces));
  }
  return shots;
}

}  // namespace

Records read_observed(const Session& session, Warnings& warnings) {
  const auto& shots = session.survey.shots;
  Records records(shots.size());
  for (const auto& [field, file] : session.job.observed) {
    Wanted wanted{session, field, file, {}};
    for (const Shot& shot : shots) wanted.receivers.push_back(receivers_of(shot, field));
    if (wanted.traces() == 0) {
      std::vector<std::string> known =
          session.job.receivers.empty() ? std::vector<std::string>{} : recorded_fields(session);
      throw UserError(fmt::format("observed.{}: the job has no receiver of {}; it records: {}", field, field,
                                  known.empty() ? "nothing" : io::list_of(known)));
    }
    std::vector<Traces> read =
        file.ends_with(".npy") ? read_arrays(wanted) : read_trace_file(wanted, warnings);
    for (std::size_t s = 0; s < shots.size(); ++s) {
      if (wanted.receivers[s] > 0) records[s].emplace(field, std::move(read[s]));
    }
  }
  return records;
}

}  // namespace ondula::tools
