"""Times Deepwave's CPU back end on the acoustic case (case.py). Deepwave: CPML layer, float32, shots in one call.

SPDX-License-Identifier: MIT
"""

import case


def main():
    options = case.parse(case.parser(__doc__.splitlines()[0], case.ACOUSTIC))
    import deepwave
    import numpy
    import torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    n, shots = options.n, options.shots
    padded = n + 2 * options.width
    vp = torch.tensor(case.velocity(n)).reshape(n, 1, 1).expand(n, n, n).contiguous()
    # Deepwave subtracts amplitude (v dt)^2 from the source's cell; the others add it.
    amplitudes = -torch.tensor(case.wavelet(options)).reshape(1, 1, -1).expand(shots, 1, -1).contiguous()
    sources = torch.tensor(case.sources(options)).reshape(shots, 1, 3)
    receivers = torch.tensor(case.receivers(options)).reshape(1, -1, 3).expand(shots, -1, -1).contiguous()
    _, ratio = deepwave.common.cfl_condition_n((options.spacing,) * 3, options.step, case.VELOCITY[1])
    if ratio != 1:
        raise SystemExit(f"Deepwave would take {ratio} steps for each of ours: not equal work")
    name = f"deepwave {deepwave.__version__}" + (", 1 thread" if options.threads == 1 else "")

    def record(start):
        with torch.no_grad():
            return deepwave.scalar(vp, options.spacing, options.step, source_amplitudes=amplitudes, source_locations=sources,
                                   receiver_locations=receivers, wavefield_0=start, wavefield_m1=start,
                                   accuracy=options.order, pml_width=options.width, pml_freq=case.FREQUENCY,
                                   max_vel=case.VELOCITY[1], origin=[0, 0, 0])[-1]

    if options.traces:
        numpy.save(options.traces, numpy.ascontiguousarray(record(None)[0].numpy()))
        case.wrote_traces(name, options)
        return
    noise = 1e-3 * torch.randn(shots, padded, padded, padded)
    case.measure(name, options, lambda: (0.0, float(record(noise).abs().max())))


if __name__ == "__main__":
    main()
