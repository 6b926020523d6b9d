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


def published(root, headers):
    """The name of each header in the folder `ondula`, and its text."""
    names = {header: f"ondula/{Path(header).name}" for header in headers}
    if len(set(names.values())) < len(names):
        sys.exit(f"publish.py: two public headers have one name: {', '.join(sorted(headers))}")
    for header in headers:
        text = (root / header).read_text(encoding="utf-8")

        def renamed(match, header=header):
            if match[1] not in names:
                sys.exit(f"publish.py: {header} is public and includes {match[1]}, which is not")
            return f'#include "{names[match[1]]}"'

        yield Path(header).name, INCLUDE.sub(renamed, text)


def main():
    root, output, headers = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    output.mkdir(parents=True, exist_ok=True)
    for name, text in published(root, headers):
        (output / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
