// The parts of the job parser, one function per section of the file; used by job.cpp only.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <vector>

#include "runtime/io/job.hpp"
#include "runtime/io/job_reader.hpp"

namespace ondula::io {

/// What the sections share: the folder that relative paths start from, and the keys found whose feature does
/// not exist yet, which are reported together once the form of the whole file is known to be right.
struct ParseContext {
  std::string folder;
  std::vector<std::string> unsupported;

  /// Notes a key that this version cannot honour; `why` (may be empty) says what it can.
  void refuse_later(const Node& node, const std::string& why = "");
  /// A path of the file, absolute where `folder` is.
  std::string path(const Node& node) const;
};

/// "grid": axes, shape, spacing, origin, periodic (whose faces it marks).
Grid parse_grid(const Node& node);
/// "free_surface" and "absorb": faces and the layer's profile. Either may be absent.
void parse_faces(const std::optional<Node>& free_surface, const std::optional<Node>& absorb, Job& job);
/// "time".
void parse_time(const Node& node, Job& job);
/// One value of "models" or "initial".
ModelSpec parse_model(const Node& node, const Grid& grid, ParseContext& context);
/// "wavelet", of the job or of a source.
WaveletSpec parse_wavelet(const Node& node, const ParseContext& context);
/// "at": a position in metres or {"cell": ...}, of the grid axes `axes` only (all of them, or a plane's
/// others).
Position parse_position(const Node& node, const std::vector<std::string>& axes, const Grid& grid);
/// One source.
SourceSpec parse_source(const Node& node, const Grid& grid, ParseContext& context);
/// One receiver entry.
ReceiverSpec parse_receiver(const Node& node, const Grid& grid);
/// "geometry".
GeometrySpec parse_geometry(const Node& node, const Grid& grid, bool job_wavelet, ParseContext& context);
/// "output.records".
RecordFormat parse_record_format(const Node& node);
/// "output.records" with every default written out.
nlohmann::ordered_json write_record_format(const RecordFormat& format);
/// The name of a field: "u", "v.z", "s.xx", "pressure".
std::string parse_field(const Node& node);
/// A size in bytes: a whole number, or text with a unit ("8 GiB", "500 MB").
std::int64_t parse_bytes(const Node& node);
/// "memory".
MemorySpec parse_memory(const Node& node, ParseContext& context);
/// "memory" with every default written out.
nlohmann::ordered_json write_memory(const MemorySpec& memory);
/// "output".
OutputSpec parse_output(const Node& node, ParseContext& context);
/// [low, high] in Hz, 0 <= low < high.
std::array<double, 2> parse_band(const Node& node);
/// A list of names; `what` says of what.
std::vector<std::string> parse_names(const Node& node, const std::string& what);
/// "observed", "misfit", "gradient" and "born".
void parse_inverse(const Node& root, Job& job, ParseContext& context);
/// The same keys with every default written out.
void write_inverse(const Job& job, nlohmann::ordered_json& json);
/// One value of "models", "initial" or "born" with every default written out.
nlohmann::ordered_json write_model(const ModelSpec& spec);
/// Checks the form of the keys whose feature comes later (invert, mesh), and notes those that ask for
/// something.
void parse_later(const Node& root, const Grid& grid, ParseContext& context);

/// The name of a face: "z-", "x+".
std::string face_name(const Grid& grid, std::size_t axis, std::size_t side);

}  // namespace ondula::io
