// EBCDIC, in which a SEG-Y file's text header is written.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace ondula::io {

/// ASCII text in EBCDIC (code page 037). What is no letter, digit, space or common mark becomes a space.
std::string to_ebcdic(std::string_view ascii);

}  // namespace ondula::io
