"""Closed loops: implicit derivatives, two ways that agree, and clear refusals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.random_robots import central_differences
from theodolite.errors import InputError
from theodolite.identification.multipliers import solve_with_multipliers
from theodolite.identification.solver import Status, solve
from theodolite.io.product import parse_segment
from theodolite.measure.loop import LoopData, LoopProblem
from theodolite.measure.noise import Noise
from theodolite.model.mechanism import ClosureKind, Loops, Mechanism
from theodolite.reproduce import everett_loops as paper

UNIT = Noise(1.0, 1.0)


def test_printed_positions_lie_on_their_branches() -> None:
    data, _ = paper.measured(pose=False)
    np.testing.assert_allclose(data.positions, paper.ROWS[:, 3:], atol=1e-3)


@pytest.mark.parametrize("pose", [True, False])
def test_implicit_derivatives_equal_central_differences(pose: bool) -> None:
    """The loops are closed anew for every change of a constant."""
    data, values = paper.measured(pose=pose)
    problem = LoopProblem(paper.five_bar(paper.TRUE), data, noise=UNIT)
    values = values + np.random.default_rng(0).uniform(-0.01, 0.01, len(values))

    def residual(x: np.ndarray) -> np.ndarray:
        return np.concatenate([block.residual for block in problem.blocks(x)])

    jacobian = np.concatenate([block.jacobian for block in problem.blocks(values)])
    np.testing.assert_allclose(jacobian, central_differences(residual, values), atol=1e-6)


@pytest.mark.parametrize("pose", [True, False])
def test_both_ways_give_the_same_robot(pose: bool) -> None:
    """Multipliers and elimination, from the nearer start: the same poses at fresh joints."""
    data, true = paper.measured(pose=pose)
    start = paper.five_bar(paper.START, At=paper.START["At"].replace("Tx(.1)", "Tx(6.1)"))
    problem = LoopProblem(start, data, noise=UNIT)
    eliminated = solve(problem)
    assert eliminated.status is Status.CONVERGED
    held = solve_with_multipliers(LoopProblem(start, data, noise=UNIT), data.guess)
    assert held.converged
    assert np.abs(held.multipliers).max() < 1e-10
    loops = Loops.of(start)
    rng = np.random.default_rng(1)
    active = data.active[:10] + rng.uniform(-0.05, 0.05, (10, 3))
    positions = []
    for values in (true, eliminated.values, held.values):
        passive, closed = loops.closed(values, active, data.guess[:10])
        assert closed.all()
        positions.append(loops.tool.motion(values, loops.basis(active, passive)).position)
    np.testing.assert_allclose(positions[1], positions[0], atol=1e-9)
    np.testing.assert_allclose(positions[2], positions[0], atol=1e-9)


def test_cost_is_that_of_the_measurements() -> None:
    """Nothing of the arrow system couples two measurements: twice the data, twice the rows."""
    data, values = paper.measured(pose=True)
    twice = LoopData(*(np.tile(a, (2,) + (1,) * (a.ndim - 1)) for a in vars(data).values()))
    for source, rows in ((data, 90), (twice, 180)):
        problem = LoopProblem(paper.five_bar(paper.TRUE), source, noise=UNIT)
        (block,) = problem.blocks(values)
        assert block.columns.shape == (29, rows)


def test_loops_that_cannot_close_are_refused() -> None:
    data, _ = paper.measured(pose=False)
    short = paper.five_bar(paper.TRUE, A2="Rz(a1) Tx(0.1) Ty(0)", A3="Rz(a2) Tx(0.1) Ty(0)")
    with pytest.raises(InputError, match="no loop of 'five-bar' closes"):
        LoopProblem(short, data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"passive": ("a1",)}, "moved by 'a2'"),
        ({"tool": ("A0", "A9")}, "no segment A9"),
        ({"loops": ()}, "0 closure equations cannot place 3 passive joints"),
    ],
)
def test_mechanisms_are_checked(change: dict, message: str) -> None:
    good = vars(paper.five_bar(paper.TRUE))
    with pytest.raises(InputError, match=message):
        Mechanism(**{**good, **change})


def test_a_four_bar_is_a_parallelogram() -> None:
    """Equal opposite links: the coupler stays parallel to the ground, whatever the crank does."""
    segments = {
        "crank": "Rz(q) Tx(0.3)",
        "coupler": "Rz(a) Tx(0.5)",
        "rocker": "Rz(b) Tx(-0.3)",
        "ground": "Rz(c) Tx(-0.5)",
    }
    mechanism = Mechanism(
        "parallelogram",
        {name: parse_segment(text) for name, text in segments.items()},
        tool=("crank", "coupler"),
        loops=((("crank", "coupler", "rocker", "ground"), ClosureKind.PLANAR),),
        active=("q",),
        passive=("a", "b", "c"),
    )
    loops = Loops.of(mechanism)
    values = np.array([parameter.value for parameter in mechanism.parameters])
    crank = np.linspace(0.3, 2.5, 9)[:, None]
    guess = np.column_stack([-crank, crank, -crank]) + 0.05
    passive, closed = loops.closed(values, crank, guess)
    assert closed.all()
    np.testing.assert_allclose(passive[:, 0], -crank[:, 0], atol=1e-9)
    tip = loops.tool.motion(values, loops.basis(crank, passive)).position
    expected = np.column_stack([0.5 + 0.3 * np.cos(crank), 0.3 * np.sin(crank), 0 * crank])
    np.testing.assert_allclose(tip, expected, atol=1e-9)
