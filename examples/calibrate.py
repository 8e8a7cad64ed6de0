"""A whole calibration in Python: simulate, ask what is identifiable, identify, save, prove."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import theodolite as th


def main() -> float:
    rng = np.random.default_rng(1)
    robot, method = th.robots.puma560(), th.Position()

    # A robot with errors, and measurements of it.
    true = th.perturb(robot, th.ParameterErrors(length=3e-3, angle=6e-3), rng)
    data = th.simulate(true, method, points=80, rng=rng, noise=th.Noise(position=5e-5))

    known = th.identifiable(robot, method)
    print(f"{known.rank} parameters, for instance {known.sentences()[0]}")

    result = th.identify(robot, data, method)
    print(result.status.value)
    for name in ("theta2", "d3"):
        estimate = result.estimate(name)
        print(
            f"{name} = {estimate.identified:.6f} +- {estimate.interval:.6f} {estimate.unit.value}"
        )

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "calibrated.toml"
        th.write_robot(result.robot, file)
        calibrated = th.read_robot(file)

    error = float(th.compare(calibrated, true, method.gauge, rng).mean())
    print(f"mean error at fresh configurations: {1e3 * error:.4f} mm")
    return error


if __name__ == "__main__":
    main()
