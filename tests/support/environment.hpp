// What a test run was given: outside data, and whether whole matrices are asked for.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace ondula::test {

/// The path of `name` ("marmousi/vp.npy") inside the folder ONDULA_DATA names; nothing where either does not
/// exist.
std::optional<std::filesystem::path> data_path(const std::string& name);

/// True where ONDULA_FULL is 1 (`tools/test --full`): run whole option matrices, not a cover by pairs.
bool full_matrices();

}  // namespace ondula::test
