"""What Devito's scripts share: its options, resetting and running an operator, and timing it.

SPDX-License-Identifier: MIT
"""

import dataclasses
import os
import time
from typing import Any

import case


@dataclasses.dataclass
class Problem:
    """A compiled operator that runs from time index `first` on, which is t = 0, and what it reads and writes. `fields` are pairs of a
    time function and the standard deviation of its first values; `shift` is the source's place within
    its cell; receivers lie on nodes."""

    operator: Any
    fields: list
    source: Any
    record: Any
    first: int
    shift: tuple


def parse(description, cases):
    """The options; sets what Devito reads when it is imported."""
    options = case.parse(case.parser(description, cases))
    os.environ.update(DEVITO_LANGUAGE="openmp", DEVITO_LOGGING="ERROR", DEVITO_ARCH="gcc")
    return options


def grid(options):
    """A grid with the layer's cells on each face."""
    import numpy
    from devito import Grid
    padded = options.n + 2 * options.width
    return Grid(shape=(padded,) * options.ndim, extent=(options.spacing * (padded - 1),) * options.ndim, dtype=numpy.float32)


def over_depth(options, values):
    """values[z] as an array that broadcasts over the grid, edge values in the layers."""
    import numpy
    padded = numpy.pad(numpy.array(values), options.width, mode="edge")
    return padded.reshape(-1, *[1] * (options.ndim - 1))


def ramps(options):
    """The profile of Devito's own seismic model, a smooth ramp towards each face, summed over the axes; times 1.5 log(1000)/width."""
    import numpy
    w = options.width
    ramp = numpy.zeros(options.n + 2 * w)
    if w:
        position = 1 - numpy.arange(w) / w
        side = 1.5 * numpy.log(1 / 1e-3) / w * (position - numpy.sin(2 * numpy.pi * position) / (2 * numpy.pi))
        ramp[:w] = side
        ramp[-w:] = side[::-1]
    return sum(ramp.reshape([-1 if a == axis else 1 for a in range(options.ndim)]) for axis in range(options.ndim))


def points(options, grid_, count):
    """(source, record), both sparse functions over the steps."""
    from devito import SparseTimeFunction
    return (SparseTimeFunction(name="src", grid=grid_, npoint=1, nt=options.steps + 2),
            SparseTimeFunction(name="rec", grid=grid_, npoint=count, nt=options.steps + 2))


def main(description, cases, build):
    """Runs build(options), which makes a Problem."""
    options = parse(description, cases)
    import devito
    import numpy

    problem = build(options)
    name = f"devito {devito.__version__}"
    last = problem.first + options.steps
    samples = numpy.zeros((options.steps + 2, 1), dtype=numpy.float32)
    samples[problem.first:last, 0] = case.wavelet(options)

    def metres(cells):
        return options.spacing * (numpy.array(cells) + options.width)
    problem.record.coordinates.data[:] = metres(case.receivers(options))
    shift = options.spacing * numpy.array(problem.shift)
    places = case.sources(options)

    def reset(place, starts):
        for (field, _), start in zip(problem.fields, starts):
            field.data[:] = start
        problem.record.data[:] = 0
        problem.source.data[:] = samples
        problem.source.coordinates.data[:] = metres([place]) + shift

    def apply(**more):
        problem.operator.apply(time_m=problem.first, time_M=last - 1, dt=numpy.float32(options.step), **more)

    if options.traces:
        reset(places[0], [0] * len(problem.fields))
        apply()
        numpy.save(options.traces, numpy.ascontiguousarray(problem.record.data[problem.first:last].T))
        case.wrote_traces(name, options)
        return
    generator = numpy.random.default_rng(1)
    noise = [deviation * generator.standard_normal(field.shape[1:], dtype=numpy.float32) for field, deviation in problem.fields]
    tuned = {}

    def call():
        """Every shot once; the first call of all also tunes the block shape, which Devito keeps."""
        apart, largest = 0.0, 0.0
        for place in places:
            begin = time.perf_counter()
            reset(place, noise)
            apart += time.perf_counter() - begin
            tuning = {} if tuned else {"autotune": "aggressive"}
            apply(**tuning, **tuned)
            if tuning:
                tuned.update(block_shape(problem.operator))
            begin = time.perf_counter()
            largest = max(largest, float(numpy.abs(problem.record.data).max()))
            apart += time.perf_counter() - begin
        return apart, largest

    case.measure(name, options, call)


def block_shape(operator):
    """The block sizes the tuner settled on, as arguments of apply()."""
    tuned = {}
    for state in operator._state.get("autotuning", []):
        tuned = dict(state["tuned"])
    return tuned
