"""Runs Ondula on the acoustic case (case.py) through its own program, and prints the line the peers print.

    python3 ondula_acoustic.py --program build/tools/ondula --steps 300

SPDX-License-Identifier: MIT
"""

import case
import ondula_program


def job(options, folder):
    """The job's own keys; its model and initial fields are written into `folder`."""
    initial = {}
    if not options.traces:
        start = ondula_program.write_noise(folder / "start.npy", options, case.NOISE)
        initial = {"u": start, "u.previous": start}
    # A physical source is spread over the cell's volume: this strength leaves w_n (vp dt)^2, what the peers add.
    strength = options.spacing ** options.ndim

    def at(cells):
        return {"cell": dict(zip(options.axes, cells))}
    return {
        "equation": "acoustic",
        "models": {"vp": ondula_program.write_depths(folder / "vp.npy", options, case.velocity(options.n))},
        "initial": initial,
        "sources": [{"shot": shot, "field": "u", "kind": "point", "strength": strength, "at": at(cells)}
                    for shot, cells in enumerate(case.sources(options))],
        "receivers": [{"field": "u", "at": [at(cells) for cells in case.receivers(options)]}],
    }


if __name__ == "__main__":
    ondula_program.main(__doc__.splitlines()[0], case.ACOUSTIC, "u", job)
