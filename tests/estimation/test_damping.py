"""When a step is taken, damped or not worth another try; how often the problem is seen."""

from __future__ import annotations

import numpy as np
import pytest

from tests.estimation.problems import Residual, SmallProblem, decay, linear, parameters
from theodolite.arrays import FloatArray
from theodolite.errors import InfeasibleError
from theodolite.estimation.descent import FIRST_DAMPING, WELL_PREDICTED, Status
from theodolite.estimation.loss import Loss, Shape
from theodolite.estimation.solver import Change, solve

T = np.linspace(0, 4, 25)


def arctangent(size: float) -> Residual:
    """size atan x, three times: full steps from beyond 1.39 lead ever farther away."""

    def residual(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        ones = np.ones((3, 1))
        return size * np.arctan(x[0]) * ones, size / (1 + x[0] ** 2) * ones[:, :, None]

    return residual


@pytest.mark.parametrize("size", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("start", [1.45, 3.0])
def test_steps_that_lead_away_are_damped(size: float, start: float) -> None:
    small = SmallProblem(arctangent(size), parameters([start]))
    found = solve(small, change=Change.ALL)
    assert found.status is Status.CONVERGED
    assert found.values[0] == pytest.approx(0.0, abs=1e-6)
    dampings = np.array([line.damping for line in found.trace[1:]])
    assert dampings[0] > 0
    powers = np.log10(dampings[dampings > 0] / FIRST_DAMPING)
    np.testing.assert_allclose(powers, np.round(powers), atol=1e-9)
    costs = [line.cost for line in found.trace]
    assert costs == sorted(costs, reverse=True)


def test_damping_falls_faster_once_a_step_keeps_its_promise() -> None:
    """For one parameter, damping d leaves 1 / (1 + d) of the cost as what the step promises."""
    found = solve(SmallProblem(arctangent(1.0), parameters([1.45])), change=Change.ALL)
    lines = found.trace
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        gain = (before.cost - line.cost) / (before.cost / (1 + line.damping))
        kept = line.damping / (100 if gain > WELL_PREDICTED else 10)
        assert after.damping == pytest.approx(kept if kept > FIRST_DAMPING else 0.0)
    dampings = [line.damping for line in lines[1:]]
    assert dampings[:6] == pytest.approx([0.1, 0.01, 1e-3, 1e-4, 1e-6, 0.0])


def test_a_second_order_path_that_leads_away_is_not_followed() -> None:
    """x^2 - 1 from 0.4: the step leads to 1.45, the second-order path to 0.07.

    The residual there is 1.10 and -0.99. It was -0.84 before.
    """

    def parabola(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.full((3, 1), x[0] ** 2 - 1), np.full((3, 1, 1), 2 * x[0])

    small = SmallProblem(parabola, parameters([0.4]))
    found = solve(small, change=Change.ALL)
    step = (1 - 0.4**2) / (2 * 0.4)
    path = [0.4 + step, 0.4 + step - step**2 / (2 * 0.4)]
    assert all(any(x[0] == pytest.approx(there) for x in small.seen) for there in path)
    assert found.trace[1].damping > 0
    costs = [line.cost for line in found.trace]
    assert costs == sorted(costs, reverse=True)
    assert found.values[0] == pytest.approx(1.0)


def weak(noise: float, rng: np.random.Generator) -> SmallProblem:
    """Data that say little beside the prior: x is hardly seen."""
    a = 0.01 * noise * rng.standard_normal(50)
    return SmallProblem(
        linear(a[:, None], noise * rng.standard_normal(50)), parameters([0.0], [1.0])
    )


@pytest.mark.parametrize("noise", [0.1, 1.0, 10.0])
def test_a_prior_counts_in_what_a_step_gains(noise: float, rng: np.random.Generator) -> None:
    """A linear problem keeps its promise, whatever the prior's part: two looks and no more."""
    small = weak(noise, rng)
    found = solve(small, change=Change.ALL, start=np.array([5.0]))
    assert found.iterations == 1
    assert found.trace[1].damping == 0.0
    assert abs(found.values[0]) < 1.0
    assert len(small.seen) == 2


def test_a_linear_problem_is_seen_twice(rng: np.random.Generator) -> None:
    A, b = rng.standard_normal((20, 3)), rng.standard_normal(20)
    small = SmallProblem(linear(A, b), parameters([0.0] * 3))
    solve(small, change=Change.ALL)
    assert len(small.seen) == 2


@pytest.mark.parametrize(("offset", "steps"), [(9e-4, 0), (1.1e-3, 1)])
@pytest.mark.parametrize("noise", [1.0, 0.01])
def test_a_thousandth_of_a_standard_error_is_no_step(
    offset: float, steps: int, noise: float
) -> None:
    """One observation of x beside others that say only how large the noise is."""
    J = np.zeros((5, 1))
    J[0] = 1.0
    b = noise * np.array([offset, 1.0, -1.0, 1.0, -1.0])
    small = SmallProblem(linear(J, b), parameters([0.0]))
    found = solve(small, change=Change.ALL, noise_known=noise == 1.0)
    assert found.iterations == steps
    assert found.status is Status.CONVERGED


@pytest.mark.parametrize(("offset", "again"), [(0.09, False), (0.11, True), (0.4, True)])
@pytest.mark.parametrize("noise", [1.0, 1e-3, 0.1, 5.0])
def test_a_tenth_of_a_standard_error_is_not_worth_another_try(
    offset: float, again: bool, noise: float
) -> None:
    """The derivative has the wrong sign, so no step helps."""
    J = np.zeros((5, 1, 1))
    J[0] = -1.0
    rest = noise * np.array([1.0, -1.0, 1.0, -1.0])

    def wrong(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.append(x - noise * offset, rest)[:, None], J

    small = SmallProblem(wrong, parameters([0.0]))
    solve(small, change=Change.ALL, noise_known=noise == 1.0, max_iterations=1)
    damped = [x for x in small.seen if 0 < abs(x[0]) < 0.9 * noise * offset]
    # Steps are probed at a tenth of their length. Damped by ten or more, they are shorter still.
    assert (min(abs(x[0]) for x in damped) < 0.07 * noise * offset) == again


def test_a_step_towards_the_solution_needs_no_damping(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((2, 200))
    start = (a @ b) / (a @ a)
    J = (a + 0.2 * (a * start - b))[:, None, None]
    small = SmallProblem(
        lambda x: ((a * x[0] - b)[:, None], J), parameters([start]), constraint=True
    )
    found = solve(small, change=Change.ALL)
    assert 1 <= found.iterations <= 3
    assert all(line.damping == 0.0 for line in found.trace)


@pytest.mark.parametrize("unit", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(
    ("slope", "gain", "taken"),
    [(1.3, -0.5, True), (1.3, -0.9, True), (1.3, -1.5, False), (1.8, -0.5, False)],
)
def test_a_costly_step_is_taken_if_little_pulls_after_it(
    slope: float, gain: float, taken: bool, unit: float
) -> None:
    """The derivative of (1 + a x, b x) is stated as (1, 0): the step is -1 and promises 1.

    It gains 2 a - a^2 - b^2, and what the next step promises is (1 - a)^2: 0.09 or 0.64.
    """
    aside = np.sqrt(2 * slope - slope**2 - gain)

    def residual(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        r = np.array([1 + slope * x[0], aside * x[0]])
        return unit * r[:, None], unit * np.array([[[1.0]], [[0.0]]])

    small = SmallProblem(residual, parameters([0.0]), constraint=True)
    found = solve(small, change=Change.ALL, max_iterations=1)
    assert (found.trace[1].damping == 0.0) == taken
    assert (found.values[0] == pytest.approx(-1.0)) == taken


def test_each_line_of_the_trace_is_told_once() -> None:
    told = []
    small = SmallProblem(decay(T, 2.0 * np.exp(-0.7 * T) + 0.3), parameters([1.0, 1.5, 0.0]))
    found = solve(small, change=Change.ALL, progress=told.append)
    assert len(told) > 2
    assert tuple(told) == found.trace[1:]


def test_known_noise_decides_what_is_well_determined() -> None:
    """Known to 0.4 of its tolerance with noise 1; with noise 2 it would be to 0.66."""
    column = np.sqrt(1 / 0.4**2 - 1)
    J = np.array([[column], [0.0]])
    small = SmallProblem(linear(J, np.array([10 * column, 0.0])), parameters([0.0], [1.0]))
    found = solve(small, change=Change.ALL, noise_known=True)
    first = 10 * (1 - 0.4**2)
    assert found.prior.tolerances[0] == pytest.approx(first)
    assert found.values[0] == pytest.approx(10 * column**2 / (column**2 + first**-2))


def doubled(limit: float = np.inf) -> SmallProblem:
    """a + d / 2 - 2.2 in place of a exponential's height; a must stay below a limit."""

    def residual(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        if x[0] > limit:
            raise InfeasibleError("a is too large")
        r, J = decay(T, 2.2 * np.exp(-0.8 * T) + 0.5, 0.01)(np.array([x[0] + x[3] / 2, *x[1:3]]))
        return r, np.concatenate([J, J[:, :, :1] / 2], axis=2)

    return SmallProblem(residual, parameters([1.8, 0.9, 0.6, 0.5], [0.2, 0.3, 0.2, 0.2]))


def test_base_parameters_begin_where_the_relations_put_them() -> None:
    small = doubled()
    # All parameters are moved first, as d does not start at its nominal value.
    solve(small, start=np.array([1.8, 0.9, 0.6, 0.55]))
    sums = [x[0] + x[3] / 2 for x in small.seen]
    back = next(i for i, x in enumerate(small.seen) if i and x[3] == 0.5)
    assert sums[back] == pytest.approx(sums[back - 1], rel=1e-9)
    assert abs(small.seen[back - 1][3] - 0.5) > 0.01


def test_base_parameters_alone_find_the_same_with_fewer_passes() -> None:
    direct, roundabout = doubled(), doubled()
    found = solve(direct)
    expected = solve(roundabout, start=np.array([1.8, 0.9, 0.6, 0.5 + 1e-9]))
    assert all(x[3] == 0.5 for x in direct.seen)
    assert any(x[3] != 0.5 for x in roundabout.seen[2:])
    assert len(direct.seen) < len(roundabout.seen)
    assert found.values == pytest.approx(expected.values, abs=1e-8)
    assert found.cost_of_all <= expected.cost_of_all


def disputed(third: float, others: FloatArray) -> SmallProblem:
    """Each of three parameters is measured alone: 1, 2 and a third; others show the noise.

    The structure says that x2 is x0 again, so x0 and x1 are the base parameters.
    """
    J, b = np.eye(3 + len(others), 3), np.concatenate([[1.0, 2.0, third], others])
    return SmallProblem(linear(J, b), parameters([0.0] * 3), matrix=np.eye(3)[:, [0, 1, 0]])


@pytest.mark.parametrize("noise", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("lost", "direct"), [(0.09, True), (0.11, False)])
def test_base_parameters_alone_may_lose_a_tenth_of_the_noise(
    noise: float, lost: float, direct: bool
) -> None:
    """What x2 would explain is lost. Eight rows less two parameters have squares of 6 noise^2."""
    other = noise * np.sqrt((6 - lost**2) / 5)
    small = disputed(noise * lost, other * np.ones(5))
    found = solve(small)
    assert all(x[2] == 0.0 for x in small.seen) == direct
    assert found.cost_of_all == pytest.approx(5 * other**2)
    np.testing.assert_allclose(found.values, [1.0, 2.0, 0.0], atol=1e-9)


@pytest.mark.parametrize(("third", "looks"), [(0.5, 1), (3.0, 2)])
def test_relations_that_lead_to_a_better_start_are_believed(third: float, looks: int) -> None:
    """All end at 1, 2 and the third. The relations say that x0 alone would be at 1 + third.

    That costs 2 third^2 where it all began with 1 + 4 + third^2.
    """
    small = disputed(third, 1e-3 * np.ones(5))
    found = solve(small)
    assert any(x == pytest.approx([1.0 + third, 2.0, 0.0]) for x in small.seen)
    assert sum(not x.any() for x in small.seen) == looks
    np.testing.assert_allclose(found.values, [1.0, 2.0, 0.0], atol=1e-9)


def test_where_the_relations_do_not_reach_they_begin_anew() -> None:
    """All together reach 2.2 with a below 1.94; a alone would have to be 1.95."""
    small = doubled(limit=1.94)
    found = solve(small)
    assert found.values[3] == 0.5
    assert found.values[0] == pytest.approx(1.94, abs=1e-3)
    starts = [i for i, x in enumerate(small.seen) if (x == [1.8, 0.9, 0.6, 0.5]).all()]
    assert len(starts) >= 2


def test_the_solution_is_possible() -> None:
    assert solve(doubled(limit=1.94)).values[0] <= 1.94


def test_with_other_weights_the_same_parameters_change() -> None:
    """As many times as the weights are estimated anew, the search goes on where it ended."""
    small = doubled()
    first = solve(small)
    begun = len(small.seen)
    again = solve(small, before=first)
    np.testing.assert_array_equal(again.changed, first.changed)
    np.testing.assert_allclose(again.values, first.values, atol=1e-9)
    assert all(x == pytest.approx(first.values, abs=1e-6) for x in small.seen[begun:])


def test_reweighting_ends_when_the_scale_settles(rng: np.random.Generator) -> None:
    """Clean data: the second scale is the first to a thousandth, and the third is not tried."""
    A, b = np.ones((400, 1)), rng.standard_normal(400)
    small = SmallProblem(linear(A, b), parameters([0.0]))
    found = solve(small, loss=Loss(Shape.HUBER), change=Change.ALL)
    assert found.loss.scale == pytest.approx(1.0, abs=0.1)
    assert len(small.seen) <= 20
