// A job as JSON with every default written out.
// SPDX-License-Identifier: MIT
#include <array>
#include <string>

#include "runtime/backend.hpp"
#include "runtime/io/job.hpp"
#include "runtime/io/job_sections.hpp"

namespace ondula::io {

namespace {

using Json = nlohmann::ordered_json;

/// Whole cell numbers as integers, metres as they are.
Json write_value(double value, bool cell) {
  return cell ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json write_position(const Position& position, const std::vector<std::string>& axes) {
  Json json = Json::object();
  for (std::size_t i = 0; i < axes.size(); ++i)
    json[axes[i]] = write_value(position.values[i], position.cells);
  return position.cells ? Json{{"cell", json}} : json;
}

Json write_grid(const Grid& grid) {
  Json periodic = Json::array();
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    if (grid.faces[axis][0].kind == FaceKind::periodic) periodic.push_back(grid.axes[axis]);
  }
  return Json{{"axes", grid.axes},
              {"shape", grid.shape},
              {"spacing", grid.spacing},
              {"origin", grid.origin},
              {"periodic", periodic}};
}

Json write_absorb(const Grid& grid, const Absorb& absorb) {
  Json widths = Json::object();
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    for (std::size_t side = 0; side < 2; ++side) {
      const Face& face = grid.faces[axis][side];
      const bool layer = face.kind == FaceKind::absorbing || face.kind == FaceKind::rigid;
      if (layer) widths[face_name(grid, axis, side)] = face.kind == FaceKind::rigid ? 0 : face.width;
    }
  }
  const auto or_auto = [](const std::optional<double>& value) { return value ? Json(*value) : Json("auto"); };
  return Json{{"width", widths},
              {"frequency", or_auto(absorb.frequency)},
              {"velocity", or_auto(absorb.velocity)},
              {"reflection", or_auto(absorb.reflection)},
              {"kappa", absorb.kappa}};
}

Json write_free_surface(const Grid& grid) {
  Json faces = Json::array();
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (grid.faces[axis][side].kind == FaceKind::free_surface) faces.push_back(face_name(grid, axis, side));
    }
  }
  return faces;
}

Json write_models(const std::vector<std::pair<std::string, ModelSpec>>& models) {
  Json json = Json::object();
  for (const auto& [name, spec] : models) json[name] = write_model(spec);
  return json;
}

Json write_wavelet(const WaveletSpec& spec) {
  switch (spec.kind) {
    case WaveletKind::file:
      return Json{{"file", spec.file.string()}};
    case WaveletKind::samples:
      return Json{{"samples", spec.samples}};
    case WaveletKind::ricker:
      return Json{{"ricker", Json{{"frequency", spec.frequency}, {"delay", spec.delay}}}};
    case WaveletKind::gabor:
      return Json{{"gabor", Json{{"frequency", spec.frequency},
                                 {"delay", spec.delay},
                                 {"gamma", spec.gamma},
                                 {"phase", spec.phase}}}};
    case WaveletKind::gaussian:
      return Json{{"gaussian",
                   Json{{"frequency", spec.frequency}, {"delay", spec.delay}, {"order", spec.derivative}}}};
    case WaveletKind::ormsby:
      break;
  }
  const auto& f = spec.corners;
  return Json{
      {"ormsby", Json{{"f1", f[0]}, {"f2", f[1]}, {"f3", f[2]}, {"f4", f[3]}, {"delay", spec.delay}}}};
}

const char* word(Interpolation interpolation) {
  return interpolation == Interpolation::sinc ? "sinc" : "linear";
}

const char* kind_word(SourceKind kind) {
  static constexpr std::array<const char*, 3> words = {"point", "force", "moment_rate"};
  return words[static_cast<std::size_t>(kind)];
}

Json write_direction(const std::vector<double>& direction, const Grid& grid) {
  Json json = Json::object();
  for (std::size_t a = 0; a < direction.size(); ++a) json[grid.axes[a]] = direction[a];
  return json;
}

Json write_source(const SourceSpec& source, const Grid& grid) {
  Json json{{"shot", source.shot}, {"kind", kind_word(source.kind)}};
  if (!source.field.empty()) json["field"] = source.field;
  if (source.kind == SourceKind::force) json["direction"] = write_direction(source.components, grid);
  if (source.kind == SourceKind::moment_rate) {
    json["tensor"] = Json::object();
    const std::size_t n = grid.axes.size();
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a; b < n; ++b)
        json["tensor"][grid.axes[a] + grid.axes[b]] = source.components[a * n + b];
    }
  }
  json["at"] = write_position(source.at, grid.axes);
  if (source.wavelet) json["wavelet"] = write_wavelet(*source.wavelet);
  json["strength"] = source.strength;
  json["scaling"] = source.scaling == Scaling::physical ? "physical" : "raw";
  json["interpolation"] = word(source.interpolation);
  return json;
}

Json write_plane(const Plane& plane, const Grid& grid) {
  std::vector<std::string> others = grid.axes;
  others.erase(others.begin() + plane.axis);
  Json counts = Json::object();
  for (std::size_t i = 0; i < others.size(); ++i) counts[others[i]] = plane.counts[i];
  const Json at = write_value(plane.at.values[0], plane.at.cells);
  return Json{{"axis", grid.axes[static_cast<std::size_t>(plane.axis)]},
              {"at", plane.at.cells ? Json{{"cell", at}} : at},
              {"from", write_position(plane.from, others)},
              {"to", write_position(plane.to, others)},
              {"count", counts}};
}

Json write_receiver(const ReceiverSpec& receiver, const Grid& grid) {
  Json json{{"field", receiver.field}};
  if (!receiver.direction.empty()) json["direction"] = write_direction(receiver.direction, grid);
  switch (receiver.layout) {
    case ReceiverSpec::Layout::points:
      if (receiver.list) {
        json["at"] = Json::array();
        for (const Position& point : receiver.points) json["at"].push_back(write_position(point, grid.axes));
      } else {
        json["at"] = write_position(receiver.points.front(), grid.axes);
      }
      break;
    case ReceiverSpec::Layout::line:
      json["line"] = Json{{"from", write_position(receiver.line.from, grid.axes)},
                          {"to", write_position(receiver.line.to, grid.axes)},
                          {"count", receiver.line.count}};
      break;
    case ReceiverSpec::Layout::plane:
      json["plane"] = write_plane(receiver.plane, grid);
      break;
  }
  json["interpolation"] = word(receiver.interpolation);
  json["shots"] = receiver.shots ? Json(*receiver.shots) : Json("all");
  return json;
}

Json write_geometry(const GeometrySpec& spec, const Grid& grid) {
  Json json{{"segy", spec.file}};
  if (spec.big_endian) json["endian"] = *spec.big_endian ? "big" : "little";
  if (!spec.unit.empty()) json["unit"] = spec.unit;
  json["vertical"] = spec.depths ? "depth" : "elevation";
  json["horizontal"] = spec.horizontal;
  SourceSpec source = spec.source;
  source.at = Position{std::vector<double>(grid.axes.size(), 0.0), true};
  json["source"] = write_source(source, grid);
  for (const char* key : {"shot", "at"}) json["source"].erase(key);
  if (spec.default_source_field) json["source"].erase("field");
  json["receiver"] = Json::array();
  for (const ReceiverSpec& receiver : spec.receivers) {
    Json entry = Json::object();
    if (!receiver.field.empty()) entry["field"] = receiver.field;
    entry["interpolation"] = word(receiver.interpolation);
    json["receiver"].push_back(entry);
  }
  return json;
}

Json write_output(const OutputSpec& output) {
  Json json{{"directory", output.directory},
            {"records", write_record_format(output.records)},
            {"pictures", output.pictures},
            {"snapshots", false}};
  if (output.snapshots)
    json["snapshots"] = Json{{"field", output.snapshots->field}, {"every", output.snapshots->every}};
  return json;
}

Json write_mesh(const Grid& grid) {
  Json json = Json::object();
  for (const std::string& axis : grid.axes) json[axis] = 1;
  json["shots"] = 1;
  return json;
}

}  // namespace

Json write_model(const ModelSpec& spec) {
  Json json = Json::object();
  switch (spec.kind) {
    case ModelSpec::Kind::number:
      json["value"] = spec.number;
      break;
    case ModelSpec::Kind::npy:
      json["npy"] = spec.file;
      break;
    case ModelSpec::Kind::raw:
      json["raw"] = spec.raw.path;
      json["dtype"] = spec.raw.dtype;
      json["endian"] = spec.raw.endian;
      json["shape"] = spec.raw.shape;
      json["axes"] = spec.raw.axes;
      break;
    case ModelSpec::Kind::segy:
      json["segy"] = spec.segy.path;
      if (spec.segy.big_endian) json["endian"] = *spec.segy.big_endian ? "big" : "little";
      if (!spec.segy.axes.empty()) json["axes"] = spec.segy.axes;
      if (!spec.segy.spacing.empty()) json["spacing"] = spec.segy.spacing;
      break;
  }
  const bool bare = spec.unit.empty() && !spec.floor && !spec.ceiling;
  if (bare && spec.kind == ModelSpec::Kind::number) return json["value"];
  if (bare && spec.kind == ModelSpec::Kind::npy) return json["npy"];
  if (!spec.unit.empty()) json["unit"] = spec.unit;
  if (spec.floor) json["floor"] = *spec.floor;
  if (spec.ceiling) json["ceiling"] = *spec.ceiling;
  return json;
}

nlohmann::ordered_json resolved(const Job& job) {
  Json json = Json::object();
  json["equation"] = job.equation;
  json["grid"] = write_grid(job.grid);
  json["time"] = Json{{"dt", job.dt},
                      {"steps", job.steps},
                      {"substeps", job.substeps ? Json(*job.substeps) : Json("auto")},
                      {"t0", job.t0}};
  json["order"] = job.order;
  json["dtype"] = job.dtype == DType::float64 ? "float64" : "float32";
  json["backend"] = backend_name(job.backend);
  json["device"] = job.device;
  json["tune"] = job.tune;
  json["threads"] = job.threads ? Json(*job.threads) : Json("auto");
  json["models"] = write_models(job.models);
  json["absorb"] = write_absorb(job.grid, job.absorb);
  json["free_surface"] = write_free_surface(job.grid);
  json["initial"] = write_models(job.initial);
  if (job.wavelet) json["wavelet"] = write_wavelet(*job.wavelet);
  if (job.geometry) {
    json["geometry"] = write_geometry(*job.geometry, job.grid);
  } else {
    json["sources"] = Json::array();
    for (const SourceSpec& source : job.sources) json["sources"].push_back(write_source(source, job.grid));
    json["receivers"] = Json::array();
    for (const ReceiverSpec& receiver : job.receivers)
      json["receivers"].push_back(write_receiver(receiver, job.grid));
  }
  json["memory"] = write_memory(job.memory);
  json["output"] = write_output(job.output);
  write_inverse(job, json);
  json["mesh"] = write_mesh(job.grid);
  return json;
}

}  // namespace ondula::io
