// The objects of a text that is compiled in parts, as one payload.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ondula::jit {

/// One payload of all objects: a single object is its own, several come with a table of their sizes before.
std::vector<std::byte> joined_parts(const std::vector<std::vector<std::byte>>& objects);

/// The objects within a payload. Throws InternalError where its table is damaged.
std::vector<std::span<const std::byte>> split_parts(std::span<const std::byte> payload);

}  // namespace ondula::jit
