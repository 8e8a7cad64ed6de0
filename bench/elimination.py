"""Analytical elimination of redundant errors for a 7-axis robot."""

from __future__ import annotations

import time

import numpy as np

import theodolite as th
from table import note
from theodolite.calibration.analytic import Measured, Structure, analytic


def median(function, repeats: int = 100) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


def main() -> None:
    robot = th.convert(th.robots.panda(), th.Convention.GENERALIZED)
    skeleton = robot.chains[0].skeleton(robot.values)
    for measured in Measured:
        found = median(lambda m=measured: Structure.of(skeleton, m))
        whole = median(lambda m=measured: analytic(robot, m))
        numerical = median(
            lambda m=measured: th.identifiable(
                robot, th.Frame() if m is Measured.POSE else th.Position()
            )
        )
        what = f"base parameters of 7 axes, {measured.value}, analytically"
        note(what, f"{whole:.2f} ms", "random configurations", numerical / whole)
        print(
            f"7 axes, {measured.value:8}: combinations {found:.2f} ms, with base parameters "
            f"{whole:.2f} ms; numerically, from random configurations, {numerical:.2f} ms"
        )


if __name__ == "__main__":
    main()
