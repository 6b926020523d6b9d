"""Times Devito's C and OpenMP back end on the acoustic case (case.py). Devito: its damping layer, float32, shots one after another.

SPDX-License-Identifier: MIT
"""

import os
import time

import case


def operator(options):
    """(the compiled operator, field, source, wavelet's samples, receivers), as Devito's own acoustic examples write it."""
    import numpy
    from devito import Eq, Function, Grid, Operator, SparseTimeFunction, TimeFunction, solve

    n, w = options.n, options.width
    padded = n + 2 * w
    extent = case.SPACING * (padded - 1)
    grid = Grid(shape=(padded,) * 3, extent=(extent,) * 3, dtype=numpy.float32)
    m, damp = Function(name="m", grid=grid), Function(name="damp", grid=grid)
    depth = numpy.pad(numpy.array(case.velocity(n)), w, mode="edge")
    m.data[:] = (1 / depth**2)[:, None, None]
    # The profile of Devito's own seismic model: a smooth ramp towards each face.
    ramp = numpy.zeros(padded)
    position = 1 - numpy.arange(w) / w
    strength = 1.5 * numpy.log(1 / 1e-3) / w / case.SPACING * (position - numpy.sin(2 * numpy.pi * position) / (2 * numpy.pi))
    ramp[:w] = strength
    ramp[padded - w:] = strength[::-1]
    total = ramp[:, None, None] + ramp[None, :, None] + ramp[None, None, :]
    damp.data[:] = total

    receivers = case.receivers(n, options.depth)
    u = TimeFunction(name="u", grid=grid, time_order=2, space_order=options.order)
    source = SparseTimeFunction(name="src", grid=grid, npoint=1, nt=options.steps + 2)
    record = SparseTimeFunction(name="rec", grid=grid, npoint=len(receivers), nt=options.steps + 2)
    record.coordinates.data[:] = case.SPACING * (numpy.array(receivers) + w)
    step = grid.stepping_dim.spacing
    update = Eq(u.forward, solve(m * u.dt2 - u.laplace + damp * u.dt, u.forward))
    built = Operator([update] + source.inject(field=u.forward, expr=source * step**2 / m) + record.interpolate(expr=u))
    # Steps run from 1, which is t = 0: u[1] is the initial state and the wavelet's first sample enters u[2].
    samples = numpy.zeros((options.steps + 2, 1), dtype=numpy.float32)
    samples[1:-1, 0] = case.wavelet(options.steps)
    return built, u, source, samples, record


def main():
    options = case.parse(case.parser(__doc__.splitlines()[0]))
    os.environ.update(DEVITO_LANGUAGE="openmp", DEVITO_LOGGING="ERROR", DEVITO_ARCH="gcc")
    import devito
    import numpy

    built, u, source, samples, record = operator(options)
    name = f"devito {devito.__version__}"
    places = case.sources(options.n, options.shots, options.depth)

    def reset(place, start):
        u.data[:] = start
        record.data[:] = 0
        source.data[:] = samples
        source.coordinates.data[:] = case.SPACING * (numpy.array([place]) + options.width)

    def apply(**more):
        built.apply(time_m=1, time_M=options.steps, dt=numpy.float32(case.STEP), **more)

    if options.traces:
        reset(places[0], 0)
        apply()
        numpy.save(options.traces, numpy.ascontiguousarray(record.data[1:-1].T))
        case.wrote_traces(name, options)
        return
    noise = 1e-3 * numpy.random.default_rng(1).standard_normal(u.shape[1:], dtype=numpy.float32)
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
                tuned.update(block_shape(built))
            begin = time.perf_counter()
            largest = max(largest, float(numpy.abs(record.data).max()))
            apart += time.perf_counter() - begin
        return apart, largest

    case.measure(name, options, call)


def block_shape(built):
    """The block sizes the tuner settled on, as arguments of apply()."""
    tuned = {}
    for state in built._state.get("autotuning", []):
        tuned = dict(state["tuned"])
    return tuned


if __name__ == "__main__":
    main()
