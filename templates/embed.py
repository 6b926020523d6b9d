"""Writes a C++ file that holds the template files given as string constants."""
import pathlib
import sys

output, *inputs = sys.argv[1:]
lines = ["// Generated from templates/: do not edit.", '#include "templates/templates.hpp"', "", "namespace ondula::templates {"]
for name in inputs:
    path = pathlib.Path(name)
    identifier = path.name.split(".")[0]
    lines.append(f'const char* const {identifier} = R"ondula({path.read_text()})ondula";')
lines.append("}  // namespace ondula::templates")
pathlib.Path(output).write_text("\n".join(lines) + "\n")
