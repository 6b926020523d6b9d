// The job file: what a run is asked to do, as plain data with every default filled in.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/gradient.hpp"
#include "runtime/io/raw.hpp"
#include "runtime/io/segy_model.hpp"
#include "runtime/io/wavelet.hpp"
#include "runtime/misfit.hpp"
#include "runtime/storage/storage_plan.hpp"
#include "runtime/types.hpp"

namespace ondula::io {

/// A position in the grid's axis order: metres in the model's coordinates, or whole cells (0 is the first
/// node).
struct Position {
  std::vector<double> values;
  bool cells = false;
};

/// `count` positions evenly spaced from `from` to `to`, both included.
struct Line {
  Position from;
  Position to;
  std::int64_t count = 1;
};

/// A lattice at one coordinate of `axis`: along each other axis, in the grid's order, count positions evenly
/// spaced from `from` to `to`, both included; the last of those axes varies fastest.
struct Plane {
  int axis = 0;                      ///< index of the grid axis held fixed
  Position at;                       ///< one value: the coordinate on that axis
  Position from;                     ///< one value per other axis
  Position to;                       ///< one value per other axis
  std::vector<std::int64_t> counts;  ///< one per other axis
};

/// One entry of "sources".
struct SourceSpec {
  std::int64_t shot = 0;
  SourceKind kind = SourceKind::point;
  std::string field;               ///< empty for forces and moment rates, which know their field
  std::vector<double> components;  ///< a force's direction; a moment rate's tensor, row by row
  Position at;
  std::optional<WaveletSpec> wavelet;  ///< its own; else the job's
  double strength = 1;
  Scaling scaling = Scaling::physical;
  Interpolation interpolation = Interpolation::sinc;
};

/// One entry of "receivers": points, a line or a plane of one field.
struct ReceiverSpec {
  enum class Layout { points, line, plane };
  std::string field;
  std::vector<double> direction;  ///< of a fibre, one value per axis
  Layout layout = Layout::points;
  std::vector<Position> points;
  bool list = false;  ///< "at" was a list, so that complaints give an index
  Line line;
  Plane plane;
  Interpolation interpolation = Interpolation::sinc;
  std::optional<std::vector<std::int64_t>> shots;  ///< all of them if unset
};

/// "geometry": sources and receivers from the trace headers of a SEG-Y or SU file (expand_geometry turns them
/// into the two lists).
struct GeometrySpec {
  std::string file;
  std::optional<bool> big_endian;                    ///< unset: as the content says
  std::string unit;                                  ///< of positions, "m" or "ft"; empty: as the headers say
  bool depths = false;                               ///< "vertical": "depth": the elevation words hold depths
  std::vector<std::string> horizontal = {"x", "y"};  ///< the headers' axes for the grid's x and y
  SourceSpec source;                                 ///< of every shot, without its place
  bool default_source_field = false;    ///< a point source whose field was left out: the equation's only one
  std::vector<ReceiverSpec> receivers;  ///< one per field, without places; a field left out: the only one
};

/// Where an array on the grid comes from: a number, a .npy file, a raw file, or a SEG-Y or SU file.
struct ModelSpec {
  enum class Kind { number, npy, raw, segy };
  Kind kind = Kind::number;
  double number = 0;
  std::string file;  ///< of the .npy, absolute or relative to the caller's folder if the job came as text
  RawLayout raw;
  SegyModelLayout segy;
  std::string unit;             ///< of the stored values; empty: the parameter's own
  std::optional<double> floor;  ///< in the parameter's own unit, applied after conversion
  std::optional<double> ceiling;
};

/// "memory". With `automatic` a gradient's history is kept in full; limits in bytes per tier (device, host,
/// disk).
struct MemorySpec {
  enum class Mode { automatic, full, boundary, segments, revolve, none };
  Mode mode = Mode::automatic;
  int count = 0;                       ///< segments, or Revolve's states
  Storage inside = Storage::full;      ///< of each step of a stretch: what segments and revolve keep
  Tier steps = Tier::device;           ///< of what is kept of steps
  Tier states = Tier::device;          ///< of checkpoints
  std::optional<std::string> scratch;  ///< folder of Tier::disk; unset: the system's
  std::map<std::string, std::int64_t> limits;
  int shot_batch = 0;  ///< PropagatorOptions::shot_batch
};

/// The plan that the keys stand for.
StoragePlan storage_plan(const MemorySpec& memory);

/// "output.snapshots": pictures of a field every so many steps.
struct SnapshotSpec {
  std::string field;
  std::int64_t every = 1;
};

/// How records are written. SEG-Y is big-endian.
struct RecordFormat {
  enum class Kind { npy, segy, su };
  Kind kind = Kind::npy;
  bool ibm = false;        ///< SEG-Y: IBM floats
  bool big_endian = true;  ///< SU
};

/// "output".
struct OutputSpec {
  std::string directory = "out";
  RecordFormat records;
  bool pictures = true;
  std::optional<SnapshotSpec> snapshots;
};

/// A job with every default filled in. Lists keep the file's order. Paths are absolute where the job came
/// from a file.
struct Job {
  std::string equation;  ///< a built-in name, or the path of a C++ equation file
  Grid grid;             ///< faces included
  double t0 = 0;
  double dt = 0;                ///< s, > 0
  std::int64_t steps = 0;       ///< samples of the record, >= 0
  std::optional<int> substeps;  ///< unset: "auto"
  int order = 8;
  DType dtype = DType::float32;
  Backend backend = Backend::host;
  int device = 0;              ///< which CUDA device
  bool tune = false;           ///< launch shapes are measured
  std::optional<int> threads;  ///< unset: one per core
  Absorb absorb;
  std::vector<std::pair<std::string, ModelSpec>> models;
  std::vector<std::pair<std::string, ModelSpec>> initial;
  std::optional<WaveletSpec> wavelet;
  std::vector<SourceSpec> sources;
  std::vector<ReceiverSpec> receivers;
  std::optional<GeometrySpec> geometry;  ///< instead of sources and receivers
  MemorySpec memory;
  OutputSpec output;
  // Of `gradient` and `born`; a run checks their form and uses none of it.
  std::vector<std::pair<std::string, std::string>> observed;  ///< field and file
  MisfitOptions misfit;
  GradientOptions gradient;
  std::vector<std::pair<std::string, ModelSpec>> born;  ///< parameter and perturbation
};

/// Options of the command line: each beats the job's key. Words are checked as the keys are.
struct Overrides {
  std::optional<std::string> backend;
  std::optional<std::string> dtype;
  std::optional<int> order;
  std::optional<int> dims;  ///< must equal the number of the grid's axes
  std::optional<int> device;
  bool tune = false;  ///< true beats the key
  std::optional<int> threads;
  std::optional<std::string> output;  ///< the output directory, as the shell sees it
};

/// Reads a job. Relative paths in it are relative to `folder`. Throws UserError, naming the key's path, what
/// was found and what is allowed: bad JSON, a key twice, an unknown key (with the nearest known one), a wrong
/// type, range or unit, statements that contradict each other, and keys whose feature this version does not
/// have.
Job parse_job(std::string_view text, const std::string& folder, const Overrides& overrides = {});

/// Reads a job file; the file's name heads every message. Relative paths in it are relative to its folder.
Job read_job(const std::string& file, const Overrides& overrides = {});

/// The job as JSON with every default written out; parse_job of it gives the same job.
nlohmann::ordered_json resolved(const Job& job);

/// The orders of accuracy in space that exist: 2, 4, ... 16.
const std::vector<int>& supported_orders();

}  // namespace ondula::io
