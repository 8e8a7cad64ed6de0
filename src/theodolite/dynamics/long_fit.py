"""Least squares on a long recording: pieces become triangular factors, which are merged in a tree.

The first pass folds each piece into one factor ``[R z]`` for each motor. Whatever the weights of
the motors, the factor of all of them is that of theirs, weighted and stacked, so the data need not
be read again for it. How the residuals are correlated along time is no matter of factors: each
round of weighing reads the data once more.

Memory: a piece of `PIECE_ROWS` rows with its filtered copies, and motors x columns^2 numbers for
each factor. Neither grows with the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drives
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.least_squares import ROUNDS, SETTLED, sandwich
from theodolite.dynamics.pieces import Piece
from theodolite.dynamics.residual_series import ResidualSeries
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.torque_noise import TorqueNoise
from theodolite.estimation.linear import solve_at_zero
from theodolite.estimation.loss import Loss
from theodolite.estimation.merging import Each, in_turn, merge_tree
from theodolite.estimation.reduction import Reduction, triangle
from theodolite.estimation.solver import Solution
from theodolite.estimation.statistics import statistics
from theodolite.estimation.threads import single_thread


@dataclass(frozen=True, eq=False)
class PieceTask:
    """A piece, the columns of its regressor, and values to take residuals at."""

    piece: Piece
    drives: Drives
    only: tuple[str, ...] | None = None
    values: FloatArray | None = None

    def problem(self) -> TorqueProblem:
        piece = self.piece
        return TorqueProblem(piece.dynamics, piece.run(), drives=self.drives, only=self.only)


@dataclass(frozen=True, eq=False)
class MotorFactors:
    """Triangular factors of ``[W -tau]``, one for each motor."""

    #: (motors, columns + 1, columns + 1)
    factors: FloatArray
    #: Sums of squares of the torques, (motors,), and samples.
    squares: FloatArray
    rows: int

    def with_others(self, other: MotorFactors) -> MotorFactors:
        """Both, folded."""
        with single_thread():
            size = self.factors.shape[-1]
            pairs = zip(self.factors, other.factors, strict=True)
            stacked = np.stack([triangle(pair, size) for pair in pairs])
        return MotorFactors(stacked, self.squares + other.squares, self.rows + other.rows)

    def weighted(self, weights: FloatArray) -> Reduction:
        """All motors together at X = 0, each with its weight."""
        size = self.factors.shape[-1]
        with single_thread():
            parts = [w * factor for w, factor in zip(weights, self.factors, strict=True)]
            factor = triangle(parts, size)
        squares = float(factor[:, -1] @ factor[:, -1])
        return Reduction(
            R=factor[:-1, :-1],
            z=factor[:-1, -1],
            cost=squares,
            squares=squares,
            rows=self.rows * len(self.factors),
            sizes=np.empty(0),
            widths=np.empty(0, dtype=np.intp),
        )


def fold_piece(task: PieceTask) -> MotorFactors:
    """The factors of one piece."""
    problem = task.problem()
    motors, size = problem.dynamics.motors, len(problem.parameters) + 1
    factors: list[FloatArray] = [np.zeros((0, size)) for _ in range(motors)]
    squares = np.zeros(motors)
    with single_thread():
        for table in problem.tables():
            factors = [
                triangle([factor, table[:, motor].T], size) for motor, factor in enumerate(factors)
            ]
        squares += (problem.measured() ** 2).sum(axis=0)
    return MotorFactors(np.stack(factors), squares, problem.rows)


def piece_residuals(task: PieceTask) -> ResidualSeries:
    """Sums of the residuals of one piece."""
    assert task.values is not None
    problem = task.problem()
    with single_thread():
        return ResidualSeries.of(problem.predict(task.values) - problem.measured())


def fit_pieces(
    problem: TorqueProblem,
    pieces: Sequence[Piece],
    estimator: Estimator = Estimator.WEIGHTED,
    *,
    only: Sequence[str] | None = None,
    each: Each = in_turn,
    passed: Callable[[int], object] | None = None,
) -> IdentifiedDynamics:
    """What `fit_least_squares` finds in the whole, with the columns of a ``problem`` of excerpts.

    ``passed`` is called with the number of each pass over the data when it is done.
    """
    named = None if only is None else tuple(only)
    task = [PieceTask(piece, problem.drives, named) for piece in pieces]
    folded = merge_tree(each(fold_piece, task), MotorFactors.with_others)
    assert folded is not None
    passes = 1
    if passed is not None:
        passed(passes)

    def solve(weights: FloatArray) -> Solution:
        return solve_at_zero(folded.weighted(weights), problem, Loss())

    def noise_of(solution: Solution) -> TorqueNoise:
        at = [replace(one, values=solution.values) for one in task]
        series = merge_tree(each(piece_residuals, at), ResidualSeries.followed_by)
        assert series is not None
        share = solution.identifiability.rank / problem.dynamics.motors
        return series.noise(folded.squares / folded.rows, share)

    solution = solve(np.ones(problem.dynamics.motors))
    noise = noise_of(solution)
    for _ in range(ROUNDS if estimator.weighs_joints else 0):
        passes += 1
        if passed is not None:
            passed(passes)
        solution = solve(1.0 / noise.long_run)
        problem = problem.weighted(noise.whitening)
        before, noise = noise, noise_of(solution)
        if np.abs(noise.long_run / before.long_run - 1.0).max() < SETTLED:
            break
    if estimator.weighs_joints:
        with single_thread():
            spread = statistics(solution, noise_known=True)
    else:
        spread = sandwich(solution, [factor[:, :-1] for factor in folded.factors], noise)
    return IdentifiedDynamics(
        problem, solution, solution.values, noise, spread, estimator, all_rows=folded.rows
    )
