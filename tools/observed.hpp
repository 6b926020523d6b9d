// Observed records: any file that a run writes, read back for the job's own shots and receivers.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/types.hpp"
#include "tools/session.hpp"

namespace ondula::tools {

/// Reads the job's "observed", shot by shot: a .npy of (shot, receiver, time); where shots differ in their
/// number of receivers of the field, NAME_shot_N.npy of (receiver, time) beside the file NAME.npy that the
/// job states; or a SEG-Y or SU file with the traces of every shot one after the other. Adds warnings of
/// trace headers that lie elsewhere than the job's receivers. Throws UserError where a field is not recorded
/// by the job, a file cannot be read, its shape is not what the job models (both are named), its sampling
/// differs, or a value is not finite.
Records read_observed(const Session& session, Warnings& warnings);

}  // namespace ondula::tools
