"""Times Deepwave's CPU back end on the elastic cases (case.py). Deepwave: CPML layer, float32, shots in one call.

SPDX-License-Identifier: MIT
"""

import case


def main():
    options = case.parse(case.parser(__doc__.splitlines()[0], case.ELASTIC))
    import deepwave
    import numpy
    import torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    n, ndim, shots = options.n, options.ndim, options.shots
    padded = n + 2 * options.width

    def model(values):
        return torch.tensor(values).reshape(n, *[1] * (ndim - 1)).expand([n] * ndim).contiguous()
    lamb, mu = (model(values) for values in zip(*map(case.lame, case.velocity(n))))
    buoyancy = model([1 / case.DENSITY] * n)
    # A force density; Deepwave, too, numbers a component's points by the node half a cell above. Its last axes are always y and x.
    amplitudes = torch.tensor(case.wavelet(options)).reshape(1, 1, -1).expand(shots, 1, -1).contiguous()
    sources = torch.tensor(case.sources(options)).reshape(shots, 1, ndim)
    receivers = torch.tensor(case.receivers(options)).reshape(1, -1, ndim).expand(shots, -1, -1).contiguous()
    rename = dict(zip(options.axes, "zyx"[3 - ndim:]))
    vertical = rename["z"]
    # It refuses a fastest speed under what it finds in float32, which is rounded.
    fastest = case.VELOCITY[1] * (1 + 1e-5)
    name = f"deepwave {deepwave.__version__}" + (", 1 thread" if options.threads == 1 else "")

    def record(start):
        with torch.no_grad():
            result = deepwave.elastic(lamb, mu, buoyancy, options.spacing, options.step, sources={vertical: (amplitudes, sources)},
                                      receivers={vertical: receivers}, accuracy=options.order, pml_width=options.width,
                                      pml_freq=case.FREQUENCY, max_vel=fastest, origin=[0] * ndim, **start)
        if result.info.step_ratio != 1:
            raise SystemExit(f"Deepwave takes {result.info.step_ratio} steps for each of ours: not equal work")
        return getattr(result, f"receiver_amplitudes_{vertical}")

    if options.traces:
        numpy.save(options.traces, numpy.ascontiguousarray(record({})[0].numpy()))
        case.wrote_traces(name, options)
        return

    def noise(deviation):
        return deviation * torch.randn(shots, *[padded] * ndim)
    start = {f"v{rename[a]}_0": noise(case.NOISE) for a in case.velocity_names(options)}
    # Deepwave names a shear stress by the faster axis first.
    start |= {f"sigma{rename[b]}{rename[a]}_0": noise(case.STRESS_NOISE) for a, b in case.stress_names(options)}
    case.measure(name, options, lambda: (0.0, float(record(start).abs().max())))


if __name__ == "__main__":
    main()
