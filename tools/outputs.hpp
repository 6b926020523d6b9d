// The files of a run: their names, known and checked before it starts, and their writing.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/io/atomic_file.hpp"
#include "runtime/propagator.hpp"
#include "tools/session.hpp"

namespace ondula::tools {

/// One file of records or one gather. `shot` -1: all shots in one array.
struct TraceFile {
  std::string path;
  std::string field;
  std::int64_t shot = -1;
};

/// Every file of a run, by absolute path.
struct OutputPlan {
  std::string directory;
  std::vector<TraceFile> records;
  std::vector<TraceFile> gathers;
  std::vector<std::string> models;     ///< one per Session::models
  std::vector<std::string> snapshots;  ///< shots outermost
  std::vector<std::string> gradients;  ///< of `ondula gradient`: arrays and pictures
  std::string run;                     ///< run.json, written last

  std::vector<std::string> paths() const;
};

/// The names that follow from a job:
///  - records_FIELD.npy (shot, receiver, time), or records_FIELD_shot_N.npy (receiver, time) where shots
///    differ in their number of receivers of that field; a job without receivers has the empty record of its
///    equation's first field. As SEG-Y or SU: records_FIELD.segy or .su, of all shots in any case;
///  - shot_N_FIELD.png; snapshot_FIELD_STEP.png, or snapshot_FIELD_STEP_shot_N.png of several shots; NAME.png
///    of every model that is an array;
///  - run.json.
OutputPlan plan_outputs(const Session& session);

/// The fields a job records, in the equation's order, combinations of fields last; of a job without
/// receivers the equation's first.
std::vector<std::string> recorded_fields(const Session& session);
/// The number of a shot's receivers of a field.
std::int64_t receivers_of(const Shot& shot, const std::string& field);

/// Makes the folder, and throws UserError where it cannot be written to, or a planned file is there already
/// and may not be replaced.
void prepare_folder(const OutputPlan& plan, io::Existing existing);

/// Whether a snapshot is taken at a step: every so many, and at 0 where there is an initial state to see.
bool snapshot_wanted(const io::Job& job, std::int64_t step);
/// Draws and writes one.
void write_snapshot(const Session& session, const StepView& view, io::Existing existing);
/// Writes records, gathers and model pictures. Throws Cancelled between files on an interrupt.
void write_results(const Session& session, const OutputPlan& plan, const Records& records,
                   io::Existing existing);

}  // namespace ondula::tools
