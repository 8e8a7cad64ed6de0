"""95 % intervals contain the truth 95 % of the time: every method, target count, noise and size.

Parallel robots have their cells for the methods that are theirs alone, one robot with legs that
slide and one with arms that turn.

Robots are drawn from their tolerances, which is what the intervals assume; a second study draws
errors that have nothing to do with them. The quick version runs each method a few times and pools;
``-m study`` runs every cell by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import theodolite as th
from tests.calibration.sizes import grown
from tests.quick import some_of
from theodolite.calibration.catalogue import METHODS, method_named
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.loss import Loss, Shape
from theodolite.estimation.solver import Change, solve

TARGETS = (("a", (0.05, 0.02, 0.10)), ("b", (-0.05, 0.04, 0.10)), ("c", (0.0, -0.06, 0.12)))
#: Parts of the reach for lengths; radians; pixels.
SENSOR, JOINT, PIXEL = 5e-5, 1e-4, 0.1
#: Methods for parallel robots alone, and robots for them: 6 legs that slide, 4 arms that turn.
PARALLEL = ("implicit", "inverse")
PARALLEL_ROBOTS = ("gough", "h4")
SERIAL = [name for name in METHODS if name not in PARALLEL]
KINDS, SIZES = ("sensor", "joint", "both"), (0.01, 1.0, 100.0)
#: What of each method is compared: enough points for the errors to be small, few for the time.
POINTS = {"plane": 120, "plane-known": 120, "camera": 20, "frame-link": 20}


def noise_of(kind: str, length: float) -> th.Noise:
    """Known noise of sensor, joints or both; a sensor is never quite without."""
    sensor = 1.0 if kind != "joint" else 0.1
    return th.Noise(
        position=sensor * SENSOR * length,
        orientation=sensor * SENSOR,
        joint=0.0 if kind == "sensor" else JOINT,
        slide=0.0 if kind == "sensor" else JOINT * length,
        pixel=sensor * PIXEL,
        known=True,
    )


def robot_for(robot_name: str, name: str, targets: int, size: float) -> th.Robot | th.Mechanism:
    robot = th.robots.load(robot_name)
    if targets > 1 and name == "position":
        robot = robot.with_targets([th.Target(*target) for target in TARGETS[:targets]])
    robot = grown(robot, size)
    # Tighter than by default: robots drawn from them are far enough from nominal for anyone, and
    # near enough for what one set of base parameters says to be said by another.
    return robot.with_tolerances({p.name: 0.2 * p.tolerance for p in robot.parameters})


def drawn(
    robot: th.Robot | th.Mechanism,
    known: Identifiability,
    rng: np.random.Generator,
    *,
    prior: bool,
) -> th.Robot | th.Mechanism:
    """A robot whose base parameters are off as the prior says, or by something else.

    Only base parameters are off, each by what all errors that it stands for add up to: relations
    are exact for small errors alone, and tolerances of base and tool are not small.
    """
    tolerances = np.array([parameter.tolerance for parameter in known.parameters])
    errors = tolerances * rng.standard_normal(len(tolerances))
    sums = errors[known.base] + known.relations @ errors[known.regrouped]
    if not prior:
        sums = 0.2 * tolerances[known.base] * rng.uniform(-1.0, 1.0, known.rank)
    names = {parameter.name for parameter in robot.parameters}
    off = {known.parameters[index].name: e for index, e in zip(known.base, sums, strict=True)}
    return robot.with_values(
        {
            p.name: p.value + off[p.name]
            for p in robot.parameters
            if p.name in off and p.name in names
        }
    )


def hits(
    name: str,
    *,
    targets: int,
    kind: str,
    size: float,
    runs: int,
    prior: bool,
    robot_name: str = "puma560",
) -> Iterator[bool]:
    """For every base parameter of every run: is the truth within the interval?"""
    robot, method = robot_for(robot_name, name, targets, size), method_named(name)
    nominal = th.identifiable(robot, method)
    own = {parameter.name for parameter in robot.parameters}
    for seed in range(runs):
        rng = np.random.default_rng([seed, targets, int(prior)])
        true = drawn(robot, nominal, rng, prior=prior)
        noise = noise_of(kind, robot.reach())
        data = th.simulate(
            true,
            method,
            points=POINTS.get(name, 40),
            rng=rng,
            noise=noise,
            per_set=2 if name == "frame-link" else 3,
        )
        result = th.identify(
            robot,
            data,
            method,
            noise=noise,
            gains=False,
            terms="none",
            hold_out=0.0,
            start="nominal",
        )
        known = result.identifiability
        truth = stood_for(robot, true, method, known, nominal, rng)
        for estimate in result.estimates:
            if estimate.name in own and estimate.interval is not None:
                yield bool(abs(estimate.identified - truth[estimate.name]) <= estimate.interval)


def stood_for(
    robot: th.Robot | th.Mechanism,
    true: th.Robot | th.Mechanism,
    method: th.Method,
    known: Identifiability,
    nominal: Identifiability,
    rng: np.random.Generator,
) -> dict[str, float]:
    """The values of the chosen base parameters that make the robot the true one.

    Where others were chosen than those that are off, they are fitted to exact measurements.
    """
    if set(known.base) == set(nominal.base):
        return dict(zip((p.name for p in true.parameters), true.values, strict=True))
    exact = method.observe(true, POINTS.get(method.name, 40), rng, per_set=3)
    # So little noise that no tolerance pulls.
    noise = replace(noise_of("sensor", 1e-6 * robot.reach()), orientation=1e-6 * SENSOR)
    problem = method.problem(robot, exact, noise=noise)
    fitted = solve(problem, free=known.base, change=Change.ALL, noise_known=True)
    lengths = {"position": robot.reach(), "joint stroke": robot.reach()}
    for what, errors in problem.errors(fitted.values).items():
        assert errors.max() < 1e-9 * lengths.get(what, 1.0)
    return {p.name: value for p, value in zip(problem.parameters, fitted.values, strict=True)}


CELLS = [
    (name, targets, kind, size)
    for name, targets, kind, size in product(SERIAL, (1, 3), KINDS, SIZES)
    if (targets == 1 or name == "position")
]
PARALLEL_CELLS = list(product(PARALLEL, PARALLEL_ROBOTS, KINDS, SIZES))


@pytest.mark.parametrize("name", SERIAL)
def test_intervals_hold_for_every_method(name: str) -> None:
    """A few runs with sensor and joint noise: far from 95 % would show."""
    found = list(hits(name, targets=1, kind="both", size=1.0, runs=3, prior=True))
    assert 0.88 <= np.mean(found) <= 1.0, f"{np.mean(found):.3f} of {len(found)}"


def test_intervals_hold_for_a_parallel_robot() -> None:
    """The same of a small one; `test_parallel.py` weighs the covariances of larger ones."""
    found = list(
        hits("inverse", targets=1, kind="both", size=1.0, runs=3, prior=True, robot_name="delta")
    )
    assert 0.88 <= np.mean(found) <= 1.0, f"{np.mean(found):.3f} of {len(found)}"


@pytest.mark.parametrize("kind", some_of(KINDS, ["both"]))
def test_targets_of_one_configuration_share_its_joint_error(kind: str) -> None:
    """Three reflectors on a flange move together when a joint is misread."""
    found = list(hits("position", targets=3, kind=kind, size=1.0, runs=25, prior=True))
    assert 0.93 <= np.mean(found) <= 0.97, f"{np.mean(found):.3f} of {len(found)}"


def test_intervals_hold_for_errors_that_no_tolerance_foresaw() -> None:
    found = [
        hit
        for name in ("position", "position-link", "plane")
        for hit in hits(name, targets=1, kind="sensor", size=1.0, runs=8, prior=False)
    ]
    assert 0.93 <= np.mean(found) <= 0.98, f"{np.mean(found):.3f} of {len(found)}"


@pytest.mark.study
@pytest.mark.parametrize(("name", "targets", "kind", "size"), CELLS)
def test_intervals_hold_in_every_cell(name: str, targets: int, kind: str, size: float) -> None:
    found = list(hits(name, targets=targets, kind=kind, size=size, runs=60, prior=True))
    assert 0.93 <= np.mean(found) <= 0.97, f"{np.mean(found):.3f} of {len(found)}"


@pytest.mark.study
@pytest.mark.parametrize(("name", "robot_name", "kind", "size"), PARALLEL_CELLS)
def test_intervals_hold_in_every_cell_of_parallel_robots(
    name: str, robot_name: str, kind: str, size: float
) -> None:
    """More runs: an H4 has 21 parameters, whose hits scatter by 0.8 % over 60."""
    found = list(
        hits(name, targets=1, kind=kind, size=size, runs=150, prior=True, robot_name=robot_name)
    )
    assert 0.93 <= np.mean(found) <= 0.97, f"{np.mean(found):.3f} of {len(found)}"


@pytest.mark.parametrize("shape", [Shape.HUBER, Shape.CAUCHY])
def test_intervals_of_robust_losses_hold_with_outliers(shape: Shape) -> None:
    """One measurement in ten is a millimetre off."""
    robot, method = th.robots.puma560(), th.Position()
    base = th.identifiable(robot, method).identifiable
    inside = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng, only=base)
        data = th.simulate(true, method, points=100, rng=rng, noise=th.Noise(position=5e-5))
        positions = data.positions.copy()
        positions[rng.permutation(100)[:10]] += 1e-3 * rng.standard_normal((10, 1, 3))
        result = th.identify(
            robot,
            replace(data, positions=positions),
            method,
            gains=False,
            terms="none",
            hold_out=0.0,
            loss=Loss(shape),
        )
        truth = dict(zip((p.name for p in true.parameters), true.values, strict=True))
        inside += [
            abs(estimate.identified - truth[estimate.name]) <= estimate.interval
            for estimate in result.estimates
            if estimate.interval is not None
        ]
    assert 0.92 <= np.mean(inside) <= 0.98, f"{np.mean(inside):.3f} of {len(inside)}"
