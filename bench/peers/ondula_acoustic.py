"""Runs Ondula on the acoustic case (case.py) through its own program, and prints the line the peers print.

    python3 ondula_acoustic.py --program build/tools/ondula --steps 300

The rate comes from run.json (timings.gpoints_per_s, physical points over the time loop), each timed call a process of its own.

SPDX-License-Identifier: MIT
"""

import array
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import case

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "demo.d"))
import npy  # noqa: E402  (the standard library has no reader of .npy files)


def job(options, folder):
    """The job file's content; its model and initial fields are written into `folder`."""
    n = options.n
    vp = array.array("f")
    for value in case.velocity(n):
        vp += array.array("f", [value]) * (n * n)
    npy.write(folder / "vp.npy", npy.Array((n, n, n), vp))
    initial = {}
    if not options.traces:
        # A prime period keeps neighbours in every direction different without a random number a cell.
        generator = random.Random(1)
        noise = array.array("f", [generator.gauss(0, 1e-3) for _ in range(999_983)])
        start = (noise * (n ** 3 // len(noise) + 1))[:n ** 3]
        npy.write(folder / "start.npy", npy.Array((n, n, n), start))
        initial = {"u": str(folder / "start.npy"), "u.previous": str(folder / "start.npy")}
    # A physical source is spread over the cell's volume: this strength leaves w_n (vp dt)^2, what the peers add.
    strength = case.SPACING ** 3
    at = [{"cell": {"z": z, "y": y, "x": x}} for z, y, x in case.receivers(n, options.depth)]
    return {
        "equation": "acoustic",
        "grid": {"axes": ["z", "y", "x"], "shape": [n] * 3, "spacing": [case.SPACING] * 3},
        "time": {"dt": case.STEP, "steps": options.steps, "substeps": 1},
        "order": options.order, "dtype": "float32", "backend": "host",
        "models": {"vp": str(folder / "vp.npy")},
        "initial": initial,
        "absorb": {"width": options.width, "frequency": case.FREQUENCY},
        "wavelet": {"ricker": {"frequency": case.FREQUENCY, "delay": case.DELAY}},
        "sources": [{"shot": shot, "field": "u", "kind": "point", "strength": strength,
                     "at": {"cell": {"z": z, "y": y, "x": x}}}
                    for shot, (z, y, x) in enumerate(case.sources(n, options.shots, options.depth))],
        "receivers": [{"field": "u", "at": at}],
        "memory": {"mode": "none"},
        "output": {"directory": str(folder / "out"), "records": "npy", "pictures": False},
    }


def main():
    parser_options = case.parser(__doc__.splitlines()[0])
    parser_options.add_argument("--program", default=str(ROOT / "build" / "tools" / "ondula"))
    options = case.parse(parser_options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "job.json").write_text(json.dumps(job(options, folder)))
        environment = {**os.environ, "ONDULA_CACHE": str(folder / "cache")}
        command = [options.program, "run", str(folder / "job.json"), "--threads", str(options.threads), "--force", "-q"]

        def propagate():
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)

        if options.traces:
            propagate()
            record = npy.read(folder / "out" / "records_u.npy")
            if record.values.typecode != "f":
                raise SystemExit(f"the record has type {record.values.typecode}, not float32")
            npy.write(Path(options.traces), npy.Array(record.shape[-2:], record.values[:record.shape[-2] * record.shape[-1]]))
            case.wrote_traces("ondula", options)
            return

        def call():
            propagate()
            result = json.loads((folder / "out" / "run.json").read_text())
            seconds = options.n ** 3 * options.steps * options.shots / (result["timings"]["gpoints_per_s"] * 1e9)
            record = npy.read(folder / "out" / "records_u.npy").values
            return seconds, max(map(abs, record))

        case.measure_own("ondula", options, call)


if __name__ == "__main__":
    main()
