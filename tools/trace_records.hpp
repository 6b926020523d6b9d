// Records as SEG-Y or SU: what of a job goes into the headers, and the writing.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/io/atomic_file.hpp"
#include "runtime/io/segy_writer.hpp"
#include "tools/outputs.hpp"
#include "tools/session.hpp"

namespace ondula::tools {

/// Before the run: warns of what the format of the records loses, and throws UserError where it cannot hold
/// them. Nothing where they are .npy.
void check_trace_files(const Session& session, const OutputPlan& plan, Warnings& warnings);

/// Writes one field's records of all shots.
void write_traces(const Session& session, const TraceFile& file, const Records& records,
                  io::Existing existing);

}  // namespace ondula::tools
