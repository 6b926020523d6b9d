"""Times Devito's C and OpenMP back end on the acoustic case (case.py). Devito: its damping layer, float32, shots one after another.

SPDX-License-Identifier: MIT
"""

import case
import devito_run


def build(options):
    """The problem as Devito's own acoustic examples write it."""
    from devito import Eq, Function, Operator, TimeFunction, solve

    grid = devito_run.grid(options)
    m, damp = Function(name="m", grid=grid), Function(name="damp", grid=grid)
    m.data[:] = 1 / devito_run.over_depth(options, case.velocity(options.n))**2
    damp.data[:] = devito_run.ramps(options) / options.spacing

    u = TimeFunction(name="u", grid=grid, time_order=2, space_order=options.order)
    source, record = devito_run.points(options, grid, len(case.receivers(options)))
    step = grid.stepping_dim.spacing
    update = Eq(u.forward, solve(m * u.dt2 - u.laplace + damp * u.dt, u.forward))
    operator = Operator([update] + source.inject(field=u.forward, expr=source * step**2 / m) + record.interpolate(expr=u))
    # Steps run from 1, which is t = 0: u[1] is the initial state and the wavelet's first sample enters u[2].
    return devito_run.Problem(operator, [(u, case.NOISE)], source, record, 1, (0,) * options.ndim)


if __name__ == "__main__":
    devito_run.main(__doc__.splitlines()[0], case.ACOUSTIC, build)
