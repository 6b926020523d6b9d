"""Runs Ondula on the elastic cases (case.py) through its own program, and prints the line the peers print.

    python3 ondula_elastic.py --case elastic3d --program build/tools/ondula --steps 300

SPDX-License-Identifier: MIT
"""

import case
import ondula_program


def job(options, folder):
    """The job's own keys; its models and initial fields are written into `folder`."""
    vp = case.velocity(options.n)
    initial = {}
    if not options.traces:
        velocity = ondula_program.write_noise(folder / "velocity.npy", options, case.NOISE)
        stress = ondula_program.write_noise(folder / "stress.npy", options, case.STRESS_NOISE)
        initial = {f"v.{a}": velocity for a in case.velocity_names(options)} | {f"s.{ab}": stress for ab in case.stress_names(options)}
    # A force is spread over the cell's volume (area): this strength leaves w_n dt/rho, what the peers add.
    strength = options.spacing ** options.ndim

    def at(cells):
        """A point of v.z, which lies half a cell below the node."""
        return {axis: (cell + (0.5 if axis == "z" else 0)) * options.spacing for axis, cell in zip(options.axes, cells)}
    return {
        "equation": "elastic",
        "models": {"vp": ondula_program.write_depths(folder / "vp.npy", options, vp),
                   "vs": ondula_program.write_depths(folder / "vs.npy", options, [case.SHEAR_RATIO * v for v in vp]),
                   "rho": ondula_program.write_depths(folder / "rho.npy", options, [case.DENSITY] * options.n)},
        "initial": initial,
        "sources": [{"shot": shot, "kind": "force", "direction": "z", "strength": strength, "at": at(cells)}
                    for shot, cells in enumerate(case.sources(options))],
        "receivers": [{"field": "v.z", "at": [at(cells) for cells in case.receivers(options)]}],
    }


if __name__ == "__main__":
    ondula_program.main(__doc__.splitlines()[0], case.ELASTIC, "v.z", job)
