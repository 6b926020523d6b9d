"""Runs a case (case.py) with Ondula's own program, and prints the line the peers print.

The rate comes from run.json (timings.gpoints_per_s, physical points over the time loop), each timed call a process of its own.

SPDX-License-Identifier: MIT
"""

import array
import json
import math
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


def write_depths(path, options, values):
    """Writes a model that has values[z] at depth z; returns the path as a job states it."""
    model = array.array("f")
    for value in values:
        model += array.array("f", [value]) * options.n ** (options.ndim - 1)
    npy.write(path, npy.Array((options.n,) * options.ndim, model))
    return str(path)


def write_noise(path, options, deviation):
    """Writes a first field of noise; returns the path as a job states it."""
    # A prime period keeps neighbours in every direction different without a random number a cell.
    generator = random.Random(1)
    size = options.n ** options.ndim
    noise = array.array("f", [generator.gauss(0, deviation) for _ in range(min(size, 999_983))])
    npy.write(path, npy.Array((options.n,) * options.ndim, (noise * (size // len(noise) + 1))[:size]))
    return str(path)


def common(options, folder):
    """What the jobs of all cases share."""
    return {
        "grid": {"axes": list(options.axes), "shape": [options.n] * options.ndim, "spacing": [options.spacing] * options.ndim},
        "time": {"dt": options.step, "steps": options.steps, "substeps": 1},
        "order": options.order, "dtype": "float32", "backend": "host",
        "absorb": {"width": options.width, "frequency": case.FREQUENCY},
        "wavelet": {"ricker": {"frequency": case.FREQUENCY, "delay": case.DELAY}},
        "memory": {"mode": "none"},
        "output": {"directory": str(folder / "out"), "records": "npy", "pictures": False},
    }


def main(description, cases, field, job):
    """Runs job(options, folder), which records `field`."""
    parser_options = case.parser(description, cases)
    parser_options.add_argument("--program", default=str(ROOT / "build" / "tools" / "ondula"))
    options = case.parse(parser_options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "job.json").write_text(json.dumps(common(options, folder) | job(options, folder)))
        environment = {**os.environ, "ONDULA_CACHE": str(folder / "cache")}
        command = [options.program, "run", str(folder / "job.json"), "--threads", str(options.threads), "--force", "-q"]

        def propagate():
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
            return npy.read(folder / "out" / f"records_{field}.npy")

        if options.traces:
            record = propagate()
            if record.values.typecode != "f":
                raise SystemExit(f"the record has type {record.values.typecode}, not float32")
            npy.write(Path(options.traces), npy.Array(record.shape[-2:], record.values[:math.prod(record.shape[-2:])]))
            case.wrote_traces("ondula", options)
            return

        def call():
            record = propagate()
            rate = json.loads((folder / "out" / "run.json").read_text())["timings"]["gpoints_per_s"] * 1e9
            return options.n ** options.ndim * options.steps * options.shots / rate, max(map(abs, record.values))

        case.measure_own("ondula", options, call)
