// Which line of the text an address of checked code belongs to.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace ondula::sim {

/// By offset in an object's .text: from there on, code of this line; 0: of no line of the file asked for.
using Lines = std::map<std::uint64_t, unsigned>;

/// Reads the line table (DWARF 4) of a relocatable object, as far as it is of the file called `name`. Empty
/// where there is none or it cannot be read: a line is a help, and nothing rests on it.
Lines read_lines(std::span<const std::byte> object, const std::string& name);

/// The line of an offset, or 0.
unsigned line_at(const Lines& lines, std::uint64_t offset);

}  // namespace ondula::sim
