"""How time grows: with samples, parameters and joints, as slopes of logarithms.

    python bench/growth.py [--tiny]

Beside each slope stands what the work itself promises. Also: positions with forty further terms
against geometry alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import theodolite as th
from machine import seconds, slope
from table import note
from theodolite.calibration.model_choice import Model
from theodolite.calibration.simulation import simulate
from theodolite.calibration.term_groups import GROUPS
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import TorqueProblem, random_state
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import reduce
from theodolite.estimation.solver import solve

NOISE = th.Noise(position=5e-5)


def grown(
    what: str, sizes: list[int], work: Callable[[int], Callable[[], object]], *, by: float
) -> None:
    """The slope over some sizes, and the exponent that is expected."""
    found = slope(sizes, [seconds(work(size)) for size in sizes])
    print(f"{what}: time grows as size^{found:.2f}, expected {by:g} at most")
    note(what, f"exponent {found:.2f}", f"expected at most {by:g}")


def measured(robot: th.Robot, points: int) -> th.Dataset:
    rng = np.random.default_rng(0)
    true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng)
    return simulate(true, th.Position(), points=points, rng=rng, noise=NOISE)


def by_samples(size: int) -> Callable[[], object]:
    """Positions of a PUMA."""
    robot = th.robots.puma560()
    problem = th.Position().problem(robot, measured(robot, size), noise=NOISE)
    return lambda: solve(problem)


def arm(joints: int) -> th.Robot:
    """A chain of hinges with crossed axes, in rows of six errors."""
    rows = [
        th.Row(th.Convention.POSE, th.Joint.REVOLUTE, nominal=(0.2, 0.0, 0.1, np.pi / 2, 0.0, 0.0))
        for _ in range(joints)
    ]
    return th.Robot.of("arm", rows)


def by_parameters(joints: int) -> Callable[[], object]:
    """One pass over 2000 positions; parameters grow as joints."""
    robot = arm(joints)
    problem = th.Position().problem(robot, measured(robot, 2000), noise=NOISE)
    values = np.array([parameter.value for parameter in problem.parameters])
    return lambda: reduce(problem, values, Loss())


def by_torques(size: int) -> Callable[[], object]:
    """Torque samples of a UR10e, folded."""
    dynamics = Dynamics(th.robots.load("ur10e"))
    problem = TorqueProblem(
        dynamics, Run.of(random_state(dynamics, size, np.random.default_rng(0)))
    )
    return lambda: reduce(problem, np.zeros(len(problem.parameters)), Loss())


def with_terms(points: int) -> None:
    """Geometry and gains with and without forty further terms."""
    robot = th.robots.irb120()
    bent = Model(robot).with_group("gravity", "gravity", GROUPS["gravity"](robot)).robot
    count = len(bent.parameters) - len(robot.parameters)
    data = measured(robot, points)
    plain = th.Position().problem(robot, data, noise=NOISE, gains=True)
    more = th.Position().problem(bent, data, noise=NOISE, gains=True)
    first, second = seconds(lambda: solve(plain)), seconds(lambda: solve(more))
    print(
        f"{points} positions with gains: {1e3 * first:.1f} ms; with {count} further terms "
        f"{1e3 * second:.1f} ms, {second / first:.1f} times"
    )
    note(
        f"{points} positions, gains",
        f"{1e3 * first:.1f} ms",
        f"{count} further terms",
        second / first,
    )


def main() -> None:
    tiny = "--tiny" in sys.argv[1:]
    scale = 20 if tiny else 1
    counts = [n // scale for n in (2000, 8000, 32_000)]
    grown("positions of a PUMA", counts, by_samples, by=1)
    grown("torque samples of a UR10e", [n // scale for n in (20_000, 80_000)], by_torques, by=1)
    grown("joints, rows of six errors", [3, 6] if tiny else [3, 6, 12], by_parameters, by=2)
    with_terms(200 if tiny else 1000)


if __name__ == "__main__":
    main()
