"""Base parameters by least squares on torques.

Ordinary least squares first; then each joint weighs by its own residual [Renaud2006, eqs. 23-27],
repeated until the weights settle. Residuals of different joints may be correlated, and single
samples may be wrong: then whole samples are made white together, or weigh less the further off they
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.dynamics.torque import RegressorProblem, TorqueProblem
from theodolite.dynamics.torque_noise import TorqueNoise, estimate_noise
from theodolite.errors import InputError
from theodolite.estimation.linear import solve_linear, without
from theodolite.estimation.loss import Loss, Shape
from theodolite.estimation.reduction import triangle
from theodolite.estimation.solver import Solution
from theodolite.estimation.statistics import Statistics, statistics
from theodolite.estimation.threads import single_thread

#: Rounds of weighing, and the relative change of the deviations at which they have settled.
ROUNDS = 20
SETTLED = 1e-3
#: Equations for each parameter, at least: with fewer, residuals say little about the noise.
FEWEST_EQUATIONS = 4
#: A base parameter whose relative standard deviation is above this is not supported by the data:
#: its 95 % interval reaches from 0.4 to 1.6 times its value.
ESSENTIAL = 0.3


def fit_least_squares(
    problem: TorqueProblem, estimator: Estimator = Estimator.WEIGHTED
) -> IdentifiedDynamics:
    """The base parameters, and their uncertainty, with the weights of an estimator."""
    check_length(problem, problem.dynamics.motors)
    # At first without any load; then with that of the parameters found before.
    problem = problem.stored().under_load(np.zeros(len(problem.parameters)))
    loss = Loss(Shape.HUBER) if estimator is Estimator.ROBUST else Loss()
    solution = solve_linear(problem)
    noise = _residual_noise(problem, solution, estimator)
    for _ in range(ROUNDS if estimator.weighs_joints or problem.loaded else 0):
        if estimator.weighs_joints:
            problem = problem.weighted(noise.whitening)
        problem = problem.under_load(solution.values)
        solution = solve_linear(problem, loss=loss)
        before, noise = noise, _residual_noise(problem, solution, estimator)
        if np.abs(noise.long_run / before.long_run - 1.0).max() < SETTLED:
            break
    if not estimator.weighs_joints:
        spread = _sandwich(problem, solution, noise)
        return IdentifiedDynamics(problem, solution, solution.values, noise, spread, estimator)
    with single_thread():
        spread = statistics(solution, noise_known=True)
    return IdentifiedDynamics(problem, solution, solution.values, noise, spread, estimator)


def check_length(problem: RegressorProblem, per_sample: int) -> None:
    """Refuse runs with too few equations for the parameters."""
    equations = problem.rows * per_sample
    needed = FEWEST_EQUATIONS * len(problem.parameters)
    if equations < needed:
        raise InputError(
            f"too short: {equations} equations are left after the low-pass filter for "
            f"{len(problem.parameters)} parameters",
            where=problem.runs[0].name,
            allowed=f"{needed} or more",
            remedy="Record for longer, or raise the cut-off",
        )


def _residual_noise(
    problem: TorqueProblem, solution: Solution, estimator: Estimator
) -> TorqueNoise:
    measured = problem.measured()
    # Unbiased for each joint by itself: it sees about its share of the parameters.
    share = solution.identifiability.rank / problem.dynamics.motors
    return estimate_noise(
        problem.predict(solution.values) - measured,
        measured,
        share,
        between_joints=estimator.correlates_joints,
        robust=estimator is Estimator.ROBUST,
    )


def _sandwich(problem: TorqueProblem, solution: Solution, noise: TorqueNoise) -> Statistics:
    """Uncertainty of unweighted least squares whose joints have noise of their own.

    ``A^-1 (sum of s_j^2 W_j'W_j) A^-1`` with ``A = W'W``, from triangular factors.
    """
    size, motors = len(problem.parameters), problem.dynamics.motors
    factors: list[FloatArray] = [np.zeros((0, size)) for _ in range(motors)]
    with single_thread():
        for block in problem.blocks(np.zeros(size)):
            rows = block.jacobian.reshape(motors, -1, size)
            factors = [
                triangle([factor, part], size) for factor, part in zip(factors, rows, strict=True)
            ]
    return sandwich(solution, factors, noise)


def sandwich(solution: Solution, factors: Sequence[FloatArray], noise: TorqueNoise) -> Statistics:
    """The same from the triangular factor of each motor's rows."""
    base = solution.identifiability.base
    with single_thread():
        inverse = np.linalg.pinv(solution.reduction.R[:, base])
        spread = np.concatenate(
            [s * factor[:, base] for s, factor in zip(noise.long_run, factors, strict=True)]
        )
        half = inverse @ inverse.T @ spread.T
        plain = statistics(solution, noise_known=False)
    return replace(plain, covariance=half @ half.T)


def keep_essential(
    result: IdentifiedDynamics, relative_deviation: float = ESSENTIAL
) -> IdentifiedDynamics:
    """Without parameters whose relative standard deviation is above a limit, the worst first.

    For weighted results. Intervals do not account for the choice.
    """
    solution = result.solution
    with single_thread():
        while True:
            base = solution.identifiability.base
            spread = statistics(solution, noise_known=True)
            relative = spread.standard_errors / np.maximum(np.abs(solution.values[base]), 1e-300)
            worst = int(np.argmax(relative))
            if relative[worst] <= relative_deviation or len(base) <= 1:
                break
            solution = without(solution, int(base[worst]))
    return replace(
        result,
        solution=solution,
        values=solution.values,
        statistics=spread,
        estimator=Estimator.ESSENTIAL,
    )
