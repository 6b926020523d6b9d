"""Times Deepwave's CPU back end on the acoustic case (case.py). Deepwave: CPML layer, float32, shots in one call.

SPDX-License-Identifier: MIT
"""

import case


def main():
    options = case.parse(case.parser(__doc__.splitlines()[0]))
    import deepwave
    import torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    n, shots = options.n, options.shots
    padded = n + 2 * options.width
    vp = torch.tensor(case.velocity(n)).reshape(n, 1, 1).expand(n, n, n).contiguous()
    amplitudes = torch.tensor(case.wavelet(options.steps)).reshape(1, 1, -1).expand(shots, 1, -1).contiguous()
    sources = torch.tensor(case.sources(n, shots)).reshape(shots, 1, 3)
    receivers = torch.tensor(case.receivers(n)).reshape(1, -1, 3).expand(shots, -1, -1).contiguous()
    _, ratio = deepwave.common.cfl_condition_n((case.SPACING,) * 3, case.STEP, case.VELOCITY[1])
    if ratio != 1:
        raise SystemExit(f"Deepwave would take {ratio} steps for each of ours: not equal work")
    start = 1e-3 * torch.randn(shots, padded, padded, padded)

    def call():
        with torch.no_grad():
            output = deepwave.scalar(vp, case.SPACING, case.STEP, source_amplitudes=amplitudes, source_locations=sources,
                                     receiver_locations=receivers, wavefield_0=start, wavefield_m1=start,
                                     accuracy=options.order, pml_width=options.width, pml_freq=case.FREQUENCY,
                                     max_vel=case.VELOCITY[1], origin=[0, 0, 0])
        return 0.0, float(output[-1].abs().max())

    case.measure(f"deepwave {deepwave.__version__}", options, call)


if __name__ == "__main__":
    main()
