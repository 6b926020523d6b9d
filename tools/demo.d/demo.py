"""Runs the demonstration jobs listed in demos.json beside this file, and reports pictures, records, speed, edge reflections, and gradients
with the memory they took.

In a job, @DATA@ stands for the folder of outside data and @OUT@ for the folder the demo writes to. An entry of demos.json:

    {"job": "marmousi.json",             the job file, beside this file
     "title": "...",                     what it shows, one line
     "needs": ["marmousi/vp.npy"],       files under @DATA@ without which it is left out
     "before": [["basin", "-o", ...]],   arguments of the program, run first (to make a model)
     "edges": {"cells": 200,             compare one shot with that of a model grown by so many cells at every absorbing face,
               "shot": 0,                over the samples before `seconds`: what differs came from the edges
               "seconds": 2.0,
               "limit_db": -60}}

or, of a gradient, instead of "edges":

     "observed": {"vp": "..."},          the models whose records the job's are compared with
     "memories": {"boundary": {...}},    a gradient for each value of the job's `memory`, under these names
     "agree": 1e-5}                      how far they may differ from the first: largest difference over largest value

SPDX-License-Identifier: MIT
"""

import argparse
import copy
import json
import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import npy

HERE = Path(__file__).resolve().parent


class DemoError(Exception):
    """A demonstration that did not end as it should; the text says which and why."""


class Demo:
    """One entry of demos.json, with the folders and the program it runs in."""

    def __init__(self, entry, options, environment):
        self.entry, self.options, self.environment = entry, options, environment
        self.name = Path(entry["job"]).stem
        self.folder = options.output / self.name

    def fill(self, text):
        """Puts the folders for their marks."""
        return text.replace("@DATA@", str(self.options.data)).replace("@OUT@", str(self.options.output))

    def program(self, *arguments):
        """Runs the program, its progress left on the terminal; DemoError if it fails."""
        command = [str(self.options.program), *arguments]
        status = subprocess.run(command, env=self.environment, check=False).returncode
        if status != 0:
            raise DemoError(f"{' '.join(command)} ended with status {status}")

    def run_job(self, job, label, command="run"):
        """Writes the job, runs it into a folder of its own, and returns (folder, run.json's content, seconds). A labelled one runs
        without a word."""
        folder = self.folder if label == "" else self.options.output / f"{self.name}-{label}"
        job.setdefault("output", {})["directory"] = str(folder)
        path = self.options.output / f"{folder.name}.json"
        path.write_text(json.dumps(job, indent=2) + "\n")
        start = time.monotonic()
        self.program(command, str(path), "--force", *(["-q"] if label else []))
        return folder, json.loads((folder / "run.json").read_text()), time.monotonic() - start

    def run(self):
        """Runs the job, once more for a moment in a second process, and the edge comparison; prints the report."""
        print(f"\n{self.entry['title']}", flush=True)
        for arguments in self.entry.get("before", []):
            self.program(*[self.fill(argument) for argument in arguments])
        job = json.loads(self.fill((HERE / self.entry["job"]).read_text()))
        if "memories" in self.entry:
            self.run_gradients(job)
            return
        folder, result, seconds = self.run_job(copy.deepcopy(job), "")
        print_files(folder)
        timings = result["timings"]
        print(f"  speed      {timings['gpoints_per_s']:.3f} Gpoints/s, {timings['padded_gpoints_per_s']:.3f} with the layers; "
              f"{seconds:.1f} s in all", flush=True)
        again = self.run_job(short_job(job), "cached")[1]["timings"]
        cold = f"{timings['compile']:.3f} s" if timings["compiled_cold"] else "kernels of an earlier job"
        print(f"  compile    {cold}; {again['compile']:.3f} s from the cache, in a second process", flush=True)
        if "edges" in self.entry:
            self.compare_edges(job, folder)

    def run_gradients(self, job):
        """Models what is to be observed, then the gradient with each memory; DemoError where two differ too much."""
        observed = copy.deepcopy(job)
        observed["models"].update({name: self.fill(path) for name, path in self.entry["observed"].items()})
        observed["output"] = {"records": "npy", "pictures": False}
        records = self.run_job(observed, "observed")[0]
        field = job["receivers"][0]["field"]
        first = None
        for label, memory in self.entry["memories"].items():
            asked = {**copy.deepcopy(job), "memory": memory, "observed": {field: str(records / f"records_{field}.npy")}}
            folder, result, seconds = self.run_job(asked, label, "gradient")
            for picture in sorted(folder.glob("gradient_*.png")):
                print(f"  {label:10} {shown(picture)}; {seconds:.1f} s in all")
            held, storage = result["bytes"], result["storage"]
            print(f"             held: device {megabytes(held['device'])}, host {megabytes(held['kept_on_host'])}, disk "
                  f"{megabytes(held['disk'])}; kept of a step {storage['bytes_per_step'] / 1e3:.1f} kB, steps run again "
                  f"{storage['steps_again']}", flush=True)
            gradient = {path.name: npy.read(path) for path in sorted(folder.glob("gradient_*.npy"))}
            if first is None:
                first = gradient
            elif (apart := largest_difference(first, gradient)) <= self.entry["agree"]:
                print(f"             {apart:.1e} of the largest value from the first", flush=True)
            else:
                raise DemoError(f"{self.name}: the gradients differ by {apart:.1e} of the largest value")

    def compare_edges(self, job, folder):
        """Prints how far the edges are from silent; DemoError where that is over the limit."""
        edges = self.entry["edges"]
        larger = self.run_job(self.larger_job(job), "larger")[0]
        field = job["receivers"][0]["field"]
        here = npy.read(folder / f"records_{field}.npy").block(edges["shot"])
        there = npy.read(larger / f"records_{field}.npy").block(0)
        samples = min(here.shape[1], int(edges["seconds"] / job["time"]["dt"]))
        largest = difference = 0.0
        for trace in range(here.shape[0]):
            a, b = here.block(trace).values[:samples], there.block(trace).values[:samples]
            largest = max(largest, max(map(abs, b)))
            difference = max(difference, max(abs(x - y) for x, y in zip(a, b)))
        if not (largest > 0 and math.isfinite(difference)):
            raise DemoError(f"{self.name}: the records compared at the edges are empty or not finite")
        level = 20 * math.log10(max(difference / largest, 1e-30))
        held = level <= edges["limit_db"]
        print(f"  edges      {level:.1f} dB: shot {edges['shot']} against a model {edges['cells']} cells larger, first "
              f"{edges['seconds']} s, largest difference over largest value; the limit, {edges['limit_db']} dB, is "
              f"{'held' if held else 'NOT held'}", flush=True)
        if not held:
            raise DemoError(f"{self.name}: reflections from the edges")

    def larger_job(self, job):
        """The job with its model grown at every face that absorbs, and the compared shot alone."""
        edges, grid = self.entry["edges"], job["grid"]
        larger = copy.deepcopy(job)
        before, after = ([0 if axis + sign in job.get("free_surface", []) or axis in grid.get("periodic", [])
                          else edges["cells"] for axis in grid["axes"]] for sign in "-+")
        origin = grid.get("origin", [0.0] * len(grid["axes"]))
        larger["grid"]["shape"] = [b + n + a for b, n, a in zip(before, grid["shape"], after)]
        larger["grid"]["origin"] = [o - b * h for o, b, h in zip(origin, before, grid["spacing"])]
        for name, model in job["models"].items():
            if isinstance(model, str):
                path = self.options.output / f"{self.name}-larger-{name}.npy"
                npy.write(path, npy.pad_edges(npy.read(model), before, after))
                larger["models"][name] = str(path)
        larger["sources"] = [{**source, "shot": 0} for source in job["sources"] if source["shot"] == edges["shot"]]
        larger["time"]["steps"] = min(job["time"]["steps"], int(edges["seconds"] / job["time"]["dt"]))
        larger["output"] = {"records": "npy", "pictures": False}
        return larger


def short_job(job):
    """The same kernels for a few steps, with nothing to look at."""
    short = copy.deepcopy(job)
    short["time"]["steps"] = min(10, job["time"]["steps"])
    short["output"] = {"records": "npy", "pictures": False}
    return short


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


def largest_difference(one, other):
    """Over the arrays of one gradient, the largest difference from another's over the largest value; infinite where either is empty
    or not finite."""
    worst = 0.0
    for name, array in one.items():
        largest = max(map(abs, array.values))
        apart = max(abs(a - b) for a, b in zip(array.values, other[name].values))
        worst = max(worst, apart / largest if largest > 0 and math.isfinite(apart / largest) else math.inf)
    return worst if one else math.inf


def print_files(folder):
    """Where to look: the first picture of each kind, and the records with their shapes."""
    pictures = sorted(folder.glob("*.png"))
    for kind in sorted({path.stem.split("_")[0] for path in pictures}):
        of_kind = [path for path in pictures if path.stem.split("_")[0] == kind]
        others = f" and {len(of_kind) - 1} more" if len(of_kind) > 1 else ""
        print(f"  pictures   {shown(of_kind[0])}{others}")
    for path in sorted(folder.glob("records_*.npy")):
        shape = " x ".join(map(str, npy.read(path).shape))
        print(f"  records    {shown(path)} ({shape}: shot, receiver, time)")
    for path in sorted(folder.glob("records_*.segy")):
        print(f"  records    {shown(path)} (SEG-Y)")
    sys.stdout.flush()


def shown(path):
    """A path as short as it can be said here."""
    return min(str(path), os.path.relpath(path), key=len)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--data", default="")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", help="run the one demonstration of this name")
    options = parser.parse_args()
    # A job's paths are relative to the job, which lies in there.
    options.output = options.output.resolve()
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    # A cache of its own, empty at first: the compile time printed is a cold one.
    environment = {**os.environ, "ONDULA_CACHE": str(options.output / "cache")}

    failures = []
    for entry in json.loads((HERE / "demos.json").read_text()):
        demo = Demo(entry, options, environment)
        if options.only and demo.name != options.only:
            continue
        absent = [name for name in entry.get("needs", []) if not (options.data and (Path(options.data) / name).is_file())]
        if absent:
            print(f"\n{entry['title']}\n  left out: no {absent[0]} in ONDULA_DATA ('{options.data}')", flush=True)
            continue
        try:
            demo.run()
        except (DemoError, OSError, ValueError, KeyError) as error:
            failures.append(f"{demo.name}: {error!r}" if isinstance(error, KeyError) else str(error))
            print(f"  failed: {failures[-1]}", flush=True)
    print(f"\nEverything is in {shown(options.output)}" if not failures else f"\n{len(failures)} demonstrations failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
