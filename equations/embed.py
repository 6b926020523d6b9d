#!/usr/bin/env python3
"""Writes the texts of the built-in equations into a C++ file, for `ondula new --from`.

Usage: embed.py OUTPUT.cpp SOURCE...
SPDX-License-Identifier: MIT
"""

import sys
from pathlib import Path


def main():
    output, *sources = sys.argv[1:]
    lines = ["// Generated from equations/: do not edit.", '#include "equations/texts.hpp"', "",
             "namespace ondula::equations {", "const std::vector<std::string>& texts() {",
             "  static const std::vector<std::string> all = {"]
    lines += [f'    R"ondula({Path(source).read_text(encoding="utf-8")})ondula",' for source in sources]
    lines += ["  };", "  return all;", "}", "}  // namespace ondula::equations"]
    Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
