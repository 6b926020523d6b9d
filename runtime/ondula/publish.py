#!/usr/bin/env python3
"""Writes the installed headers: each public header under its own name in one folder, its includes rewritten to match.

Usage: publish.py ROOT OUTPUT_FOLDER HEADER... with headers relative to ROOT. A public header that includes one of Ondula's that is
not public ends the build: internals must not leak into an installation.
SPDX-License-Identifier: MIT
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def main():
    root, output, headers = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    names = {header: f"ondula/{Path(header).name}" for header in headers}
    if len(set(names.values())) < len(names):
        sys.exit(f"publish.py: two public headers have one name: {', '.join(sorted(headers))}")
    output.mkdir(parents=True, exist_ok=True)
    for header in headers:
        text = (root / header).read_text(encoding="utf-8")

        def renamed(match, header=header):
            if match[1] not in names:
                sys.exit(f"publish.py: {header} is public and includes {match[1]}, which is not")
            return f'#include "{names[match[1]]}"'

        (output / Path(header).name).write_text(INCLUDE.sub(renamed, text), encoding="utf-8")


main()
