#!/usr/bin/env python3
"""Writes the DSL's headers, as they are installed, into a C++ file, for equations that are compiled by the running program.

Usage: embed_headers.py ROOT OUTPUT.cpp HEADER... with headers relative to ROOT, which include no other of Ondula's.
SPDX-License-Identifier: MIT
"""

import sys
from pathlib import Path

from publish import published


def main():
    root, output, headers = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    lines = ["// Generated from the DSL's headers: do not edit.", '#include "runtime/jit/dsl_headers.hpp"', "",
             "namespace ondula::jit {", "const std::vector<ClangLibrary::Header>& dsl_headers() {",
             "  static const std::vector<ClangLibrary::Header> headers = {"]
    for name, text in published(root, headers):
        lines.append(f'    {{"ondula/{name}", R"ondula({text})ondula"}},')
    lines += ["  };", "  return headers;", "}", "}  // namespace ondula::jit"]
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
