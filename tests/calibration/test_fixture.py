"""The orientation fixture: exact without noise, honest with it, clear about bad fixtures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import theodolite as th
from tests.random_robots import central_differences
from theodolite.errors import InputError
from theodolite.estimation.solver import solve
from theodolite.estimation.statistics import statistics
from theodolite.model.rotations import exp
from theodolite.reproduce import everett_fixture as paper


def touches(targets: np.ndarray, rng: np.random.Generator, repeats: int = 3) -> th.Touches:
    """Exact touches from random directions; the fixture at a random place."""
    n = len(targets) * repeats
    turns = exp(rng.uniform(-2, 2, (n, 3)))
    fixture, shift, pointer = exp(rng.uniform(-2, 2, (1, 3)))[0], rng.uniform(-1, 1, 3), np.ones(3)
    target = np.tile(np.arange(len(targets)), repeats)
    tips = targets[target] @ fixture.T + shift
    return th.Touches(turns, pointer - np.einsum("nij,nj->ni", turns, tips), target, targets)


@pytest.mark.parametrize("flat", [True, False])
def test_exact_touches_give_the_exact_fixture(flat: bool, rng: np.random.Generator) -> None:
    for _ in range(20):
        targets = rng.uniform(-0.2, 0.2, (5, 3))
        if flat:
            targets = targets * [1.0, 1.0, 0.0] @ exp(rng.uniform(-2, 2, (1, 3)))[0].T + 0.3
        problem = th.FixtureProblem(touches(targets, rng))
        solution = solve(problem)
        assert solution.status.good
        assert solution.identifiability.rank == 9
        assert problem.errors(solution.values)["position"].max() < 1e-12
        np.testing.assert_allclose(solution.values[:3], np.ones(3), atol=1e-12)


def test_jacobian_equals_central_differences(rng: np.random.Generator) -> None:
    problem = th.FixtureProblem(touches(rng.uniform(-0.2, 0.2, (4, 3)), rng), noise=1.0)
    values = np.array([p.value for p in problem.parameters]) + rng.uniform(-0.3, 0.3, 9)

    def residual(x: np.ndarray) -> np.ndarray:
        return np.concatenate([block.residual for block in problem.blocks(x)])

    jacobian = np.concatenate([block.jacobian for block in problem.blocks(values)])
    np.testing.assert_allclose(jacobian, central_differences(residual, values), atol=1e-8)


def test_the_printed_matrices_are_reproduced() -> None:
    """Eqs. 84 and 88, for negative angles, to the printed digits."""
    np.testing.assert_allclose(paper.wanted()[0], [0.7803301, -0.5732233, 0.25, -2.0], atol=1e-4)
    turns, shifts = paper.exact(paper.square(10.0))
    np.testing.assert_allclose(turns[1][0], [0.7803301, 0.6229137, -0.0553495], atol=1e-6)
    np.testing.assert_allclose(shifts[3], [7.552853, -18.11831, 14.91298], atol=1e-5)


def test_least_squares_beats_the_reports_method() -> None:
    """1000 independent runs gave .742 by zeros and .461 by least squares; here 300."""
    errors = paper.mean_errors(10.0, 300, np.random.default_rng(5))
    for name, mean, spread in (("zeros", 0.742, 0.379), ("least squares", 0.461, 0.195)):
        standard_error = spread * np.hypot(1 / np.sqrt(300), 1 / np.sqrt(1000))
        assert errors[name][0] == pytest.approx(mean, abs=3 * standard_error)
    repeated = paper.mean_errors(10.0, 30, np.random.default_rng(6), repeats=20)
    assert repeated["least squares"][0] < 0.12


def test_intervals_hold(rng: np.random.Generator) -> None:
    """White noise on the touched positions: 95 % intervals contain the pointer and the shift."""
    targets = paper.square(0.2)
    inside = []
    for _ in range(150):
        exact = touches(targets, rng, repeats=4)
        noisy = exact.positions + 1e-4 * rng.standard_normal(exact.positions.shape)
        problem = th.FixtureProblem(th.Touches(exact.rotations, noisy, exact.target, targets))
        solution = solve(problem)
        widths = statistics(solution, noise_known=False).half_widths()
        order = list(solution.identifiability.base)
        inside += [abs(solution.values[i] - 1.0) <= widths[order.index(i)] for i in range(3)]
    assert 0.91 <= np.mean(inside) <= 0.985


@pytest.mark.parametrize(
    ("targets", "used", "message"),
    [
        (np.outer(np.arange(4.0), [1, 2, 3]), [0, 1, 2, 3], "one line"),
        (np.eye(4, 3), [0, 1, 2, 2], "only 3 different targets"),
        (np.eye(4, 3), [0, 1, 2, 4], "does not have"),
    ],
)
def test_bad_fixtures_are_refused(targets: np.ndarray, used: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        th.Touches(np.tile(np.eye(3), (4, 1, 1)), np.zeros((4, 3)), np.array(used), targets)


@pytest.mark.parametrize("name", ["puma560", "panda", "fourbar", "h4"])
def test_a_turned_tool_stays_where_it_is(name: str) -> None:
    robot = th.robots.load(name)
    turn = Rotation.from_rotvec([0.3, -1.2, 0.7]).as_matrix()
    motors = robot.random_motors(5, np.random.default_rng(0))
    before, after = (m.motion(m.values, motors) for m in (robot, robot.with_tool_turned(turn)))
    np.testing.assert_allclose(after.position, before.position, atol=1e-12)
    np.testing.assert_allclose(after.rotation, before.rotation @ turn, atol=1e-12)


def test_targets_stay_where_they_are_when_the_tool_is_turned() -> None:
    robot = th.robots.load("puma560").with_targets([th.Target("a", (0.1, 0.2, -0.3))])
    turn = Rotation.from_rotvec([0.3, -1.2, 0.7]).as_matrix()
    motors = robot.random_motors(5, np.random.default_rng(0))
    before, after = (m.motion(m.values, motors) for m in (robot, robot.with_tool_turned(turn)))
    np.testing.assert_allclose(after.position, before.position, atol=1e-12)
