"""Makes stand-ins for the CUDA libraries that PyPI's torch for Linux is linked with and a run on the CPU never calls.

The torch wheel on PyPI depends on about 3 GB of CUDA libraries; importing it needs their names and symbols, and nothing more as
long as no GPU is used. For each library that torch's own link table names and that is not installed, this compiles one with those
symbols, each of which ends the process if it is ever called.

    python3 stand_ins.py TORCH_LIB_FOLDER

SPDX-License-Identifier: MIT
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path


def readelf(option, library):
    return subprocess.run(["readelf", option, "--wide", str(library)], check=True, capture_output=True, text=True).stdout


def needed(library):
    """The names of the libraries that `library` is linked with."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", library))


def versions_needed(library):
    """{version name: library that must have it}."""
    result, holder = {}, None
    for line in readelf("--version-info", library).splitlines():
        if match := re.search(r"File: (\S+)", line):
            holder = match[1]
        elif (match := re.search(r"Name: (\S+)\s+Flags:", line)) and holder:
            result[match[1]] = holder
    return result


def symbols_of(library):
    """(names it defines, [(name, version or None)] it takes from others)."""
    defined, taken = set(), []
    for line in readelf("--dyn-syms", library).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        name, _, version = fields[7].partition("@")
        if fields[6] != "UND":
            defined.add(name)
        elif fields[4] != "WEAK":
            taken.append((name, version.strip("@") or None))
    return defined, taken


def found_by_loader():
    text = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in text.splitlines() if "=>" in line and "cuda" not in line}


def make(folder, name, symbols):
    """Compiles folder/name with `symbols`, {version or None: set of names}."""
    names = sorted(set().union(*symbols.values()) if symbols else [])
    text = "void abort(void);\n" + "".join(f"void {symbol}(void) {{ abort(); }}\n" for symbol in names)
    script = "".join(f"{version} {{ {' '.join(s + ';' for s in sorted(group))} }};\n"
                     for version, group in sorted(symbols.items(), key=str) if version)
    with tempfile.TemporaryDirectory() as scratch:
        source, map_file = Path(scratch) / "stand_in.c", Path(scratch) / "versions.map"
        source.write_text(text)
        map_file.write_text(script)
        command = ["gcc", "-shared", "-fPIC", "-w", "-fno-builtin", str(source), f"-Wl,-soname,{name}", "-o", str(folder / name)]
        if script:
            command.append(f"-Wl,--version-script={map_file}")
        subprocess.run(command, check=True)


def main():
    folder = Path(sys.argv[1])
    libraries = sorted(folder.glob("*.so"))
    installed = {path.name for path in folder.parent.parent.glob("nvidia/**/*.so*")}
    present = found_by_loader() | installed | {path.name for path in folder.iterdir()}
    missing = {name for library in libraries for name in needed(library)} - present
    tables = {library: symbols_of(library) for library in libraries}
    ours = set().union(*(defined for defined, _ in tables.values()))
    symbols = defaultdict(lambda: defaultdict(set))
    for library, (_, taken) in tables.items():
        holders = versions_needed(library)
        absent = [name for name in needed(library) if name in missing]
        for name, version in taken:
            if version is None and name not in ours and absent:
                symbols[absent[0]][None].add(name)  # a symbol without a version may come from any of them
            elif holders.get(version) in missing:
                symbols[holders[version]][version].add(name)
    for name in sorted(missing):
        make(folder, name, symbols[name])
    print(f"stand-ins for {len(missing)} libraries: {' '.join(sorted(missing))}")


if __name__ == "__main__":
    main()
