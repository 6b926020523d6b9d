"""Times Devito's C and OpenMP back end on the elastic cases (case.py). Devito: its damping mask, float32, shots one after another.

SPDX-License-Identifier: MIT
"""

import case
import devito_run


def build(options):
    """The problem as Devito's own elastic examples write it."""
    from devito import Eq, Function, Operator, TensorTimeFunction, VectorTimeFunction, diag, div, grad, solve

    grid = devito_run.grid(options)
    # Shear moduli are averaged harmonically to the points of shear stresses, as the other codes do it.
    lam = Function(name="lam", grid=grid, space_order=options.order)
    mu = Function(name="mu", grid=grid, space_order=options.order, avg_mode="harmonic")
    b = Function(name="b", grid=grid, space_order=options.order)
    damp = Function(name="damp", grid=grid, space_order=options.order)
    for function, values in zip((lam, mu), zip(*map(case.lame, case.velocity(options.n)))):
        function.data_with_halo[:] = 1  # a harmonic mean beyond the grid divides by it
        function.data[:] = devito_run.over_depth(options, values)
    b.data_with_halo[:] = 1 / case.DENSITY
    damp.data[:] = 1 - devito_run.ramps(options) / options.spacing

    v = VectorTimeFunction(name="v", grid=grid, time_order=1, space_order=options.order)
    s = TensorTimeFunction(name="s", grid=grid, time_order=1, space_order=options.order)
    strain = grad(v.forward) + grad(v.forward).transpose(inner=False)
    update_v = Eq(v.forward, damp * solve(v.dt - b * div(s), v.forward))
    update_s = Eq(s.forward, damp * solve(s.dt - lam * diag(div(v.forward)) - mu * strain, s.forward))
    source, record = devito_run.points(options, grid, len(case.receivers(options)))
    step = grid.stepping_dim.spacing
    force = source.inject(field=v[0].forward, expr=source * step / case.DENSITY)
    operator = Operator([update_v] + force + [update_s] + record.interpolate(expr=on_own_points(v[0])), subs=grid.spacing_map)
    fields = [(component, case.NOISE) for component in v]
    fields += [(s[i, j], case.STRESS_NOISE) for i in range(options.ndim) for j in range(i, options.ndim)]
    # Devito, too, lets v[0] lie half a cell below its node, and injects by position.
    return devito_run.Problem(operator, fields, source, record, 0, (0.5,) + (0,) * (options.ndim - 1))


def on_own_points(field):
    """The field as an indexed object: Devito averages a staggered field to the nodes before it interpolates, but leaves this alone, so
    that a receiver on a node reads the value half a cell below it."""
    return field.indexify()


if __name__ == "__main__":
    devito_run.main(__doc__.splitlines()[0], case.ELASTIC, build)
