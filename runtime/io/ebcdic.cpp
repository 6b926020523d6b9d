// EBCDIC, in which a SEG-Y file's text header is written.
// SPDX-License-Identifier: MIT
#include "runtime/io/ebcdic.hpp"

#include <cstddef>

namespace ondula::io {

namespace {

unsigned char to_ebcdic(char c) {
  // Letters come in three runs, with gaps between them.
  const auto letter = [](int index, int base) {
    const int gap = index < 9 ? 0 : index < 18 ? 7 : 15;
    return static_cast<unsigned char>(base + index + gap);
  };
  if (c >= 'A' && c <= 'Z') return letter(c - 'A', 0xc1);
  if (c >= 'a' && c <= 'z') return letter(c - 'a', 0x81);
  if (c >= '0' && c <= '9') return static_cast<unsigned char>(0xf0 + (c - '0'));
  constexpr std::string_view marks = " .<(+|&!$*);-/,%_>?:#@'=\"";
  constexpr unsigned char codes[] = {0x40, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0x50, 0x5a, 0x5b,
                                     0x5c, 0x5d, 0x5e, 0x60, 0x61, 0x6b, 0x6c, 0x6d, 0x6e,
                                     0x6f, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f};
  const std::size_t at = marks.find(c);
  return at == std::string_view::npos ? codes[0] : codes[at];
}

}  // namespace

std::string to_ebcdic(std::string_view ascii) {
  std::string text;
  for (const char c : ascii) text += static_cast<char>(to_ebcdic(c));
  return text;
}

}  // namespace ondula::io
