// From a job's statements to what the runtime runs: shots with positions in metres and wavelets in samples.
// SPDX-License-Identifier: MIT
#include "runtime/io/job_resolve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/error.hpp"
#include "runtime/io/geometry.hpp"
#include "runtime/io/job_wavelet_set.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::io {

namespace {

/// The number of shots; refuses gaps.
std::int64_t count_shots(const Job& job) {
  if (job.sources.empty()) return 1;
  std::set<std::int64_t> numbers;
  for (const SourceSpec& source : job.sources) numbers.insert(source.shot);
  const std::int64_t count = *numbers.rbegin() + 1;
  if (static_cast<std::int64_t>(numbers.size()) == count) return count;
  std::int64_t missing = 0;
  while (numbers.count(missing) != 0) ++missing;
  throw UserError(fmt::format(
      "sources: shots are numbered from 0 without gaps; the highest is {}, but no source has the shot {}",
      count - 1, missing));
}

void check_receiver_shots(const Job& job, std::int64_t shots) {
  for (std::size_t i = 0; i < job.receivers.size(); ++i) {
    for (const std::int64_t shot : job.receivers[i].shots.value_or(std::vector<std::int64_t>{})) {
      if (shot < shots) continue;
      throw UserError(
          fmt::format("receivers[{}].shots: found the shot {}; allowed: 0 to {}, the shots of the sources", i,
                      shot, shots - 1));
    }
  }
}

/// Names the first position outside the grid and counts the others.
struct OutsideReport {
  std::string first;
  std::size_t count = 0;
  std::size_t total = 0;

  template <class Where>
  void look(const std::vector<double>& metres, bool cells, const Grid& grid, const Where& where) {
    ++total;
    const auto reason = outside(metres, cells, grid);
    if (!reason) return;
    if (count++ == 0) first = fmt::format("{}: {}", where(), *reason);
  }
  void finish(const char* what) const {
    if (count == 0) return;
    const std::string rest =
        count == 1       ? fmt::format("the other {} {} lie inside", total - 1, what)
        : count == total ? fmt::format("so do the other {}: all {} {} lie outside", count - 1, total, what)
                         : fmt::format("so do {} more of the {} {}", count - 1, total, what);
    throw UserError(total == 1 ? first : fmt::format("{}; {}", first, rest));
  }
};

/// Counts what lies on a free surface where its field is zero: one warning per list, field and face.
class SilentReport {
 public:
  void look(const std::string& field, const std::vector<double>& metres, const Grid& grid) {
    if (const auto face = silent_face(field, metres, grid)) ++counts_[{field, *face}];
  }
  void warn(const char* list, const char* what, const char* effect,
            std::vector<std::string>& warnings) const {
    for (const auto& [key, count] : counts_) {
      warnings.push_back(
          fmt::format("{}: {} of field {} on the free surface {}, where {} is zero: {}; put them at least "
                      "one cell inside",
                      list, count == 1 ? fmt::format("1 {}", what) : fmt::format("{} {}s", count, what),
                      key.first, key.second, key.first, effect));
    }
  }

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> counts_;
};

void add_sources(const Job& job, const std::vector<std::vector<double>>& wavelets, Survey& survey,
                 std::vector<std::string>& warnings) {
  OutsideReport report;
  SilentReport silent;
  std::size_t moments_on_surface = 0;
  for (std::size_t i = 0; i < job.sources.size(); ++i) {
    const SourceSpec& spec = job.sources[i];
    Source source;
    source.field = spec.field;
    source.position = to_metres(spec.at, job.grid);
    report.look(source.position, spec.at.cells, job.grid,
                [&] { return fmt::format("sources[{}].at (shot {})", i, spec.shot); });
    snap_to_grid(source.position, job.grid);
    source.kind = spec.kind;
    source.components = spec.components;
    if (spec.kind == SourceKind::point) silent.look(source.field, source.position, job.grid);
    if (spec.kind == SourceKind::moment_rate && silent_face("u", source.position, job.grid))
      ++moments_on_surface;
    source.wavelet = wavelets[i];
    source.strength = spec.strength;
    source.scaling = spec.scaling;
    source.interpolation = spec.interpolation;
    survey.shots[static_cast<std::size_t>(spec.shot)].sources.push_back(std::move(source));
  }
  report.finish("sources");
  silent.warn("sources", "source", "it radiates little or nothing", warnings);
  if (moments_on_surface > 0) {
    warnings.push_back(
        fmt::format("sources: {} moment-rate source{} on a free surface, where stresses normal to it are "
                    "zero: what of the tensor "
                    "feeds them is lost; put it at least one cell inside",
                    moments_on_surface, moments_on_surface == 1 ? "" : "s"));
  }
}

std::string shots_text(const ReceiverSpec& spec) {
  if (!spec.shots) return "every shot";
  return fmt::format("shot{} {}", spec.shots->size() == 1 ? "" : "s", fmt::join(*spec.shots, ", "));
}

std::string receiver_text(const ReceiverSpec& spec, std::size_t entry, std::size_t index, std::size_t count) {
  std::string place = ".at";
  if (spec.list) place = fmt::format(".at[{}]", index);
  if (spec.layout == ReceiverSpec::Layout::line)
    place = fmt::format(".line, position {} of {}", index, count);
  if (spec.layout == ReceiverSpec::Layout::plane)
    place = fmt::format(".plane, position {} of {}", index, count);
  return fmt::format("receivers[{}]{} ({})", entry, place, shots_text(spec));
}

void add_receivers(const Job& job, Survey& survey, std::vector<std::string>& warnings) {
  OutsideReport report;
  SilentReport silent;
  for (std::size_t entry = 0; entry < job.receivers.size(); ++entry) {
    const ReceiverSpec& spec = job.receivers[entry];
    std::vector<std::vector<double>> positions = expand(spec, job.grid);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const bool cells = spec.layout == ReceiverSpec::Layout::points && spec.points[i].cells;
      report.look(positions[i], cells, job.grid,
                  [&] { return receiver_text(spec, entry, i, positions.size()); });
      snap_to_grid(positions[i], job.grid);
      silent.look(spec.field, positions[i], job.grid);
    }
    const auto add = [&](std::vector<Receiver>& receivers) {
      for (const auto& position : positions)
        receivers.push_back(Receiver{spec.field, position, spec.interpolation, spec.direction});
    };
    if (spec.shots) {
      for (const std::int64_t shot : *spec.shots) add(survey.shots[static_cast<std::size_t>(shot)].receivers);
    } else {
      for (Shot& shot : survey.shots) add(shot.receivers);
    }
  }
  report.finish("receivers");
  silent.warn("receivers", "receiver", "the traces are zero", warnings);
}

void check_name(const std::string& where, const std::string& name, const std::vector<std::string>& known,
                const EquationNames& names, const char* what) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw UserError(fmt::format("{}: the equation {} has no {} \"{}\".{}", where, names.equation, what, name,
                              suggestion(name, known)));
}

void check_source(const SourceSpec& source, std::size_t index, const EquationNames& names) {
  const std::string where = fmt::format("sources[{}]", index);
  if (source.kind == SourceKind::point) {
    check_name(where + ".field", source.field, names.sources, names, "source term for");
    return;
  }
  const bool force = source.kind == SourceKind::force;
  const auto& takers = force ? names.forces : names.moments;
  if (takers.empty()) {
    throw UserError(fmt::format("{}.kind: the equation {} takes no {}; allowed: \"point\", on {}", where,
                                names.equation, force ? "force" : "moment rate", list_of(names.sources)));
  }
  if (!source.field.empty())
    check_name(where + ".field", source.field, takers, names, force ? "force on" : "moment rate on");
}

}  // namespace

Survey resolve_survey(const Job& job, std::vector<std::string>& warnings) {
  Survey survey;
  survey.absorb = job.absorb;
  const std::int64_t shots = count_shots(job);
  check_receiver_shots(job, shots);
  survey.shots.resize(static_cast<std::size_t>(shots));
  if (job.sources.empty() && job.initial.empty()) {
    warnings.emplace_back("sources: none, and no initial state either; every record will be zero");
  }
  if (job.receivers.empty()) warnings.emplace_back("receivers: none; the run records no traces");
  const WaveletSet wavelets = resolve_wavelets(job, warnings);
  add_sources(job, wavelets.samples, survey, warnings);
  add_receivers(job, survey, warnings);
  survey.dominant_frequency = wavelets.dominant_frequency;
  survey.top_frequency = wavelets.top_frequency;
  if (!survey.absorb.frequency && wavelets.dominant_frequency > 0)
    survey.absorb.frequency = wavelets.dominant_frequency;
  return survey;
}

void check_names(const Job& job, const EquationNames& names) {
  for (const auto& [name, spec] : job.models)
    check_name("models." + name, name, names.parameters, names, "parameter");
  for (const std::string& parameter : names.parameters) {
    const auto has = [&](const auto& model) { return model.first == parameter; };
    if (std::any_of(job.models.begin(), job.models.end(), has)) continue;
    throw UserError(
        fmt::format("models.{}: missing; the equation {} needs a model of each of its parameters: {}",
                    parameter, names.equation, list_of(names.parameters)));
  }
  for (const auto& [name, spec] : job.initial)
    check_name("initial." + name, name, names.initial, names, "state");
  for (std::size_t i = 0; i < job.sources.size(); ++i) {
    check_source(job.sources[i], i, names);
  }
  for (std::size_t i = 0; i < job.receivers.size(); ++i) {
    std::vector<std::string> known = names.receivers;
    known.insert(known.end(), names.derived.begin(), names.derived.end());
    check_name(fmt::format("receivers[{}].field", i), job.receivers[i].field, known, names, "field");
  }
  for (const std::string& name : job.gradient.parameters)
    check_name("gradient.parameters", name, names.parameters, names, "parameter");
  for (const auto& [name, spec] : job.born)
    check_name("born." + name, name, names.parameters, names, "parameter");
  for (const auto& [field, file] : job.observed) {
    std::vector<std::string> known = names.receivers;
    known.insert(known.end(), names.derived.begin(), names.derived.end());
    check_name("observed." + field, field, known, names, "field");
  }
  if (job.output.snapshots) {
    check_name("output.snapshots.field", job.output.snapshots->field, names.receivers, names, "field");
  }
}

}  // namespace ondula::io
