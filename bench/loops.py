"""Calibration of the five-bar with its loop: cost against the number of measurements."""

from __future__ import annotations

import time

import numpy as np

import theodolite as th
from table import note
from theodolite.estimation.loss import Loss
from theodolite.estimation.multipliers import solve_with_multipliers
from theodolite.estimation.reduction import reduce
from theodolite.estimation.threads import single_thread

#: Linear means: the time of one more measurement stays within this part from end to end.
LINEAR = 0.2


def fastest(function, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    robot = th.robots.load("fivebar")
    rng = np.random.default_rng(0)
    true = th.perturb(robot, th.ParameterErrors(1e-3, 1e-3), rng)
    noise = th.Noise(1e-4, 1e-4, known=True)
    with single_thread():
        timed(robot, true, noise, rng)


def timed(robot, true, noise, rng) -> None:
    whole = th.simulate(true, th.Frame(), points=15_000, rng=rng, noise=noise)
    found: dict[str, list[tuple[int, float]]] = {"multipliers": [], "elimination": []}
    for count in (15, 150, 1_500, 15_000):
        data = whole.take(np.arange(count))
        problem = th.Frame().problem(robot, data, noise=noise)
        held = solve_with_multipliers(problem.constrained())
        ways = {
            "multipliers": (
                held.iterations,
                lambda p=problem: solve_with_multipliers(p.constrained()),
            ),
            # Solving by elimination takes two to four passes; one is timed.
            "elimination": (1, lambda p=problem: reduce(p, robot.values[:28], Loss())),
        }
        for name, (passes, way) in ways.items():
            seconds = fastest(way, 10 if count < 2_000 else 3) / passes
            found[name].append((count, seconds))
            print(
                f"five-bar, {name:11}, {count:6} measurements: {1e3 * seconds:8.2f} ms per "
                f"iteration, {1e6 * seconds / count:7.1f} us per measurement"
            )
    for name, times in found.items():
        # A fixed cost per iteration and one per measurement, from the two ends.
        (few, short), (many, long) = times[0], times[-1]
        each = (long - short) / (many - few)
        fixed = short - each * few
        worst = max(abs(seconds / (fixed + each * count) - 1) for count, seconds in times)
        verdict = "within" if worst <= LINEAR else "NOT within"
        note(f"five-bar, {name}, a measurement more", f"{1e6 * each:.1f} us")
        print(
            f"{name}: {1e3 * fixed:.1f} ms + {1e6 * each:.1f} us per measurement fits all four to "
            f"{100 * worst:.0f} %, {verdict} {100 * LINEAR:.0f} %"
        )


if __name__ == "__main__":
    main()
