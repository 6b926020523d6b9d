"""The cases every peer runs: the same model, sources, receivers and steps, a layer on all faces.

docs/performance.md states them: velocity 1500 to 3000 m/s linear in depth, a 10 Hz Ricker wavelet at 0.1 s, sources at depth 5 (in 3-D
at y = n/2) with x evenly from n/4 to 3n/4, receivers two cells above every 4 cells from 4 to n-4 (in 3-D over the plane).

acoustic3d  constant density. Every code adds w_n (vp dt)^2 to the source's cell and records the field at nodes.
elastic2d, elastic3d  isotropic velocity-stress, vs = 0.56 vp, rho = 2000. Every code adds w_n dt/rho, a vertical force of density w, to
    the vertical velocity at one of that component's own points, half a cell below the node of the same number, before the stresses
    read it; and records the vertical velocity at such points. Sample n is that velocity at (n - 1/2) dt, before the step.

Timed fields start from small random values, so that no part of the grid is zero or denormal. With --traces a script times nothing: it
runs one shot from rest and writes its record, so that compare can hold the codes to the same answer.

SPDX-License-Identifier: MIT
"""

import argparse
import dataclasses
import json
import math
import os
import statistics
import time

VELOCITY = (1500.0, 3000.0)
SHEAR_RATIO, DENSITY = 0.56, 2000.0
FREQUENCY, DELAY = 10.0, 0.1
# Standard deviations of the timed runs' first fields; of stresses some rho vp times that of velocities.
NOISE, STRESS_NOISE = 1e-3, 1e3


@dataclasses.dataclass(frozen=True)
class Case:
    """`n`, `order`, `width` and `steps` are defaults of the options; `check_n` and `check_steps` are those of compare's small shot."""

    axes: str
    spacing: float
    step: float
    n: int
    order: int
    width: int
    steps: int
    check_n: int
    check_steps: int


# The small shots end at 0.22 s and 0.2 s, before a wave from the middle of the grid reaches a layer.
CASES = {
    "acoustic3d": Case("zyx", 20.0, 2e-3, 192, 8, 20, 300, 64, 110),
    "elastic2d": Case("zx", 10.0, 1e-3, 1024, 4, 50, 500, 160, 200),
    "elastic3d": Case("zyx", 20.0, 2e-3, 128, 4, 20, 300, 64, 110),
}
ACOUSTIC = ("acoustic3d",)
ELASTIC = ("elastic2d", "elastic3d")


def add_case_options(result, cases):
    """Options shared with compare; what is left out is filled in by fill_in()."""
    result.add_argument("--case", choices=cases, default=cases[0])
    result.add_argument("--n", type=int, help="cells along each axis, without the layer")
    result.add_argument("--order", type=int)
    result.add_argument("--width", type=int, help="cells of absorbing layer on each face")


def fill_in(options):
    """Gives the options left out their values of the case."""
    for name, value in vars(options).items():
        if value is None and name in ("n", "order", "width", "steps"):
            setattr(options, name, getattr(CASES[options.case], name))


def parser(description, cases):
    """The options every script here takes; `cases` are those it knows."""
    result = argparse.ArgumentParser(description=description)
    add_case_options(result, cases)
    result.add_argument("--steps", type=int)
    result.add_argument("--shots", type=int, default=1)
    result.add_argument("--threads", type=int, default=os.cpu_count())
    result.add_argument("--repeats", type=int, default=3, help="timed calls, after one that is not")
    result.add_argument("--depth", type=int, default=5, help="of the sources, in cells; receivers lie two cells above")
    result.add_argument("--traces", help="time nothing: write the record of shot 0 from rest, (receiver, time), to this .npy file")
    return result


def parse(with_options):
    """The command line's options, with `axes`, `ndim`, `spacing` and `step` of the case; sets the number of threads, which OpenMP
    reads when a peer is imported."""
    options = with_options.parse_args()
    fill_in(options)
    chosen = CASES[options.case]
    options.axes, options.ndim, options.spacing, options.step = chosen.axes, len(chosen.axes), chosen.spacing, chosen.step
    check_limit(options)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    return options


def check_limit(options):
    """Exits unless the step is stable at this order: past the limit a peer would take finer steps, which is other work."""
    m = options.order // 2
    if options.case in ACOUSTIC:
        symbol = sum(4 * math.factorial(m) ** 2 / (k * k * math.factorial(m - k) * math.factorial(m + k))
                     for k in range(1, m + 1, 2)) * 2
        limit = 2 * options.spacing / (VELOCITY[1] * math.sqrt(options.ndim * symbol))
    else:
        odd = [2 * k - 1 for k in range(1, m + 1)]
        weights = [math.prod(b * b / (b * b - a * a) for b in odd if b != a) / a for a in odd]
        limit = options.spacing / (VELOCITY[1] * math.sqrt(options.ndim) * sum(map(abs, weights)))
    if options.step > limit:
        raise SystemExit(f"the step {options.step} s is over the limit {limit:.4g} s at order {options.order}")


def velocity(n):
    """The velocity of each depth."""
    return [VELOCITY[0] + (VELOCITY[1] - VELOCITY[0]) * z / (n - 1) for z in range(n)]


def lame(vp):
    """(lambda, mu) where the compressional velocity is `vp`."""
    mu = DENSITY * (SHEAR_RATIO * vp) ** 2
    return DENSITY * vp**2 - 2 * mu, mu


def wavelet(options):
    def ricker(t):
        a = (math.pi * FREQUENCY * (t - DELAY)) ** 2
        return (1 - 2 * a) * math.exp(-a)
    return [ricker(k * options.step) for k in range(options.steps)]


def sources(options):
    """(z, y, x) or (z, x) of each shot's source, in cells."""
    n, shots = options.n, options.shots
    xs = [n // 2] if shots == 1 else [round(n / 4 + k * (n / 2) / (shots - 1)) for k in range(shots)]
    return [(options.depth, *[n // 2] * (options.ndim - 2), x) for x in xs]


def receivers(options):
    """(z, y, x) or (z, x) of each receiver, in cells."""
    line = range(4, options.n - 3, 4)
    if options.ndim == 2:
        return [(options.depth - 2, x) for x in line]
    return [(options.depth - 2, y, x) for y in line for x in line]


def velocity_names(options):
    """The vertical component first: ["z", "y", "x"] or ["z", "x"]."""
    return list(options.axes)


def stress_names(options):
    """["zz", "zy", "zx", "yy", "yx", "xx"] or ["zz", "zx", "xx"]."""
    return [a + b for k, a in enumerate(options.axes) for b in options.axes[k:]]


def wrote_traces(peer, options):
    """Says on the line that compare reads that the record is at --traces."""
    print(json.dumps({"peer": peer, "traces": options.traces}), flush=True)


def measure(peer, options, call):
    """Times `repeats` calls after one that is not, and prints one JSON line. `call` returns the seconds inside it that are not
    propagation (resetting fields) and the largest absolute value it recorded."""
    def timed():
        start = time.perf_counter()
        apart, largest = call()
        return time.perf_counter() - start - apart, largest

    measure_own(peer, options, timed)


def measure_own(peer, options, call):
    """As measure(), for a `call` that returns its own seconds of propagation and the largest absolute value it recorded."""
    first = time.perf_counter()
    call()
    first = time.perf_counter() - first
    seconds, largest = zip(*(call() for _ in range(options.repeats)))
    if not all(math.isfinite(value) and value > 0 for value in largest):
        raise SystemExit(f"{peer}: the records' largest values are {largest}")
    points = (options.n + 2 * options.width) ** options.ndim
    rates = [points * options.steps * options.shots / s / 1e6 for s in seconds]
    print(json.dumps({"peer": peer, "case": options.case, "n": options.n, "order": options.order, "width": options.width,
                      "steps": options.steps, "shots": options.shots, "threads": options.threads, "padded_points": points,
                      "first_s": round(first, 4), "seconds": [round(s, 4) for s in seconds],
                      "padded_mpoints_per_s": [round(rate, 1) for rate in rates], "median": round(statistics.median(rates), 1),
                      "record_max": largest[0]}), flush=True)
