"""The case every peer runs: 3-D constant-density acoustics, a layer on all six faces, the same sources, receivers and steps.

docs/performance.md states it: spacing 20 m, 2 ms, velocity 1500 to 3000 m/s linear in depth, a 10 Hz Ricker wavelet at 0.1 s, sources
at depth 5 and y = n/2 with x evenly from n/4 to 3n/4, receivers at depth 3 over the plane every 4 cells from 4 to n-4. Every code adds
w_n (vp dt)^2 to the source's cell. Timed fields start from small random values, so that no part of the grid is zero or denormal.

With --traces a script times nothing: it runs one shot from rest and writes its record, so that compare can hold the codes to the same
answer.

SPDX-License-Identifier: MIT
"""

import argparse
import json
import math
import os
import statistics
import time

SPACING = 20.0
STEP = 2e-3
VELOCITY = (1500.0, 3000.0)
FREQUENCY, DELAY = 10.0, 0.1


def parser(description):
    """The options every script here takes."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--n", type=int, default=192, help="cells along each axis, without the layer")
    result.add_argument("--order", type=int, default=8)
    result.add_argument("--width", type=int, default=20, help="cells of absorbing layer on each face")
    result.add_argument("--steps", type=int, default=300)
    result.add_argument("--shots", type=int, default=1)
    result.add_argument("--threads", type=int, default=os.cpu_count())
    result.add_argument("--repeats", type=int, default=3, help="timed calls, after one that is not")
    result.add_argument("--depth", type=int, default=5, help="of the sources, in cells; receivers lie two cells above")
    result.add_argument("--traces", help="time nothing: write the record of shot 0 from rest, (receiver, time), to this .npy file")
    return result


def parse(with_options):
    """The command line's options; sets the number of threads, which OpenMP reads when a peer is imported."""
    options = with_options.parse_args()
    check_limit(options.order)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    return options


def check_limit(order):
    """Exits unless STEP is stable at this order: past the limit a peer would take finer steps, which is other work."""
    m = order // 2
    symbol = sum(4 * math.factorial(m) ** 2 / (k * k * math.factorial(m - k) * math.factorial(m + k))
                 for k in range(1, m + 1, 2)) * 2
    limit = 2 * SPACING / (VELOCITY[1] * math.sqrt(3 * symbol))
    if STEP > limit:
        raise SystemExit(f"the step {STEP} s is over the limit {limit:.4g} s at order {order}")


def velocity(n):
    """The velocity of each depth."""
    return [VELOCITY[0] + (VELOCITY[1] - VELOCITY[0]) * z / (n - 1) for z in range(n)]


def wavelet(steps):
    def ricker(t):
        a = (math.pi * FREQUENCY * (t - DELAY)) ** 2
        return (1 - 2 * a) * math.exp(-a)
    return [ricker(k * STEP) for k in range(steps)]


def sources(n, shots, depth):
    """(z, y, x) of each shot's source, in cells."""
    xs = [n // 2] if shots == 1 else [round(n / 4 + k * (n / 2) / (shots - 1)) for k in range(shots)]
    return [(depth, n // 2, x) for x in xs]


def receivers(n, depth):
    """(z, y, x) of each receiver, in cells, over sources at `depth`."""
    line = range(4, n - 3, 4)
    return [(depth - 2, y, x) for y in line for x in line]


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
    points = (options.n + 2 * options.width) ** 3
    rates = [points * options.steps * options.shots / s / 1e6 for s in seconds]
    print(json.dumps({"peer": peer, "n": options.n, "order": options.order, "width": options.width, "steps": options.steps,
                      "shots": options.shots, "threads": options.threads, "padded_points": points, "first_s": round(first, 4),
                      "seconds": [round(s, 4) for s in seconds], "padded_mpoints_per_s": [round(rate, 1) for rate in rates],
                      "median": round(statistics.median(rates), 1), "record_max": largest[0]}), flush=True)
