"""Standard parameters that bodies can have: the nearest to the data, and less so to a prior.

Base parameters say all that torques show, but a simulator wants every link's mass, centre and
inertia. Physically consistent ones fit the data best among those that bodies could have: each
link's pseudo-inertia P is positive definite, rotors and friction are not negative. What the data
leave open is drawn to a prior P0 by the distance between mass distributions

    tr(P P0^-1) - log det(P P0^-1) - 4        [Lee, Wensing & Park 2020]

which no choice of frames or units changes, and which keeps P inside: no link becomes a needle. It
is a semidefinite programme on the triangular factor.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drive
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.inertia import INERTIAL, is_body, pseudo_inertia
from theodolite.dynamics.result import BodyStatus, IdentifiedDynamics
from theodolite.errors import InputError, MissingExtraError

#: Smallest radius of the balls that stand for an unknown prior, as part of the robot's reach.
SMALLEST_BALL = 0.1
#: Weight of the prior against the data, in squares of standard deviations.
PRIOR_WEIGHT = 1.0
#: Torques count for at most this many standard deviations each, in the mean: the solver works with
#: eight digits, and exact data would leave none of them to the prior.
MOST_DEVIATIONS = 1e5


def fit_consistent(
    result: IdentifiedDynamics, prior: FloatArray | None = None
) -> IdentifiedDynamics:
    """Parameters that bodies can have, near to the data and, much less, to a prior.

    Bodies of the prior that could not exist, or have no mass, are replaced by balls. Where the
    solver fails, the result stays what it was, and its ``body_status`` says so.
    """
    cp = load_cvxpy()
    R, target = _weighted_data(result)
    balls = _Balls.of(result)
    # In units of the balls' mass, so that the size of the robot does not matter to the solver.
    x = cp.Variable(R.shape[1])
    cost = cp.sum_squares(balls.mass * R @ x - target)
    for first, P0 in _prior_bodies(result, prior, balls):
        P = cp.bmat(pseudo_inertia([x[first + k] for k in range(10)]))
        cost += PRIOR_WEIGHT * (cp.trace(balls.mass * np.linalg.inv(P0) @ P) - cp.log_det(P))
    positive = {drive.value for drive in Drive if drive.never_negative}
    signs = [
        x[place] >= 0
        for place, (symbol, _) in enumerate(result.problem.symbols)
        if symbol in positive
    ]
    programme = cp.Problem(cp.Minimize(cost), signs)
    failed = replace(result, estimator=Estimator.CONSISTENT, body_status=BodyStatus.SOLVER_FAILED)
    try:
        with warnings.catch_warnings():
            # The status says the same.
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            programme.solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return failed
    if x.value is None:
        return failed
    values = balls.mass * np.asarray(x.value, dtype=np.float64)
    if impossible_bodies(values, result.problem.symbols):
        return failed
    accurate = programme.status == cp.OPTIMAL
    return replace(
        failed,
        values=values,
        standard=True,
        consistent=True,
        body_status=BodyStatus.SOLVED if accurate else BodyStatus.INACCURATE,
    )


def is_consistent(result: IdentifiedDynamics) -> bool:
    """Could bodies have these parameters?"""
    return not impossible_bodies(result.values, result.problem.symbols)


def impossible_bodies(values: FloatArray, symbols: Sequence[tuple[str, str]]) -> list[str]:
    """Suffixes of the bodies that could not exist, of values with their symbols and suffixes."""
    return [
        symbols[first][1]
        for first in body_columns(symbols)
        if not is_body(values[first : first + 10])
    ]


def body_columns(symbols: Sequence[tuple[str, str]]) -> list[int]:
    """Where the ten columns of each body begin."""
    starts = [place for place, (symbol, _) in enumerate(symbols) if symbol == INERTIAL[0]]
    for first in starts:
        if tuple(symbol for symbol, _ in symbols[first : first + 10]) != INERTIAL:
            raise InputError(
                "physically consistent bodies need all ten parameters of each link in the model"
            )
    return starts


def load_cvxpy() -> Any:
    """The modelling library, or an error that says how to install it."""
    missing = MissingExtraError("fitting consistent bodies", "consistent")
    try:
        cvxpy: Any = import_module("cvxpy")
    except ImportError as error:
        raise missing from error
    if cvxpy.CLARABEL not in cvxpy.installed_solvers():
        raise missing
    return cvxpy


def _weighted_data(result: IdentifiedDynamics) -> tuple[FloatArray, FloatArray]:
    """Triangular factor and right-hand side, weakened where the data are all but exact."""
    reduction = result.solution.reduction
    target = reduction.R @ result.solution.values - reduction.z
    deviations = float(np.linalg.norm(target)) / np.sqrt(reduction.rows)
    weaker = min(1.0, MOST_DEVIATIONS / deviations) if deviations else 1.0
    return weaker * reduction.R, weaker * target


def _prior_bodies(
    result: IdentifiedDynamics, prior: FloatArray | None, balls: _Balls
) -> list[tuple[int, FloatArray]]:
    """Where each body's columns begin, and its prior pseudo-inertia."""
    symbols = result.problem.symbols
    bodies = []
    for first in body_columns(symbols):
        if prior is not None and is_body(prior[first : first + 10]):
            P0 = np.array(pseudo_inertia(prior[first : first + 10]))
        else:
            P0 = balls.pseudo_inertia(symbols[first][1])
        bodies.append((first, P0))
    return bodies


@dataclass(frozen=True)
class _Balls:
    """Balls that stand for bodies of which nothing is known, half as large as their links."""

    mass: float
    #: m, by suffix, and the smallest.
    radii: dict[str, float]
    smallest: float

    @staticmethod
    def of(result: IdentifiedDynamics) -> _Balls:
        """As heavy as the torques suggest.

        All of them at half of the reach take the largest rms torque, by gravity and the usual
        acceleration together.
        """
        dynamics, runs = result.dynamics, result.problem.runs
        lengths: dict[str, float] = {}
        for link in dynamics.links:
            if link.parent >= 0:
                name = str(dynamics.links[link.parent].name)
                length = np.linalg.norm(link.position) + np.linalg.norm(link.after_position)
                lengths[name] = max(lengths.get(name, 0.0), float(length))
        reach = sum(lengths.values()) or 1.0
        smallest = SMALLEST_BALL * reach
        torque = _rms(np.concatenate([run.torques for run in runs])).max()
        turning = _rms(np.concatenate([run.state.qdd for run in runs])).max()
        lever = (np.linalg.norm(dynamics.gravity) + reach * turning) * reach / 2
        heavy = float(torque / lever) if torque and lever else 1.0
        return _Balls(
            heavy / len(dynamics.links),
            {name: max(length / 2, smallest) for name, length in lengths.items()},
            smallest,
        )

    def pseudo_inertia(self, suffix: str) -> FloatArray:
        """Of the ball of a link, about its frame's origin."""
        radius = self.radii.get(suffix, self.smallest)
        return self.mass * np.diag([radius**2 / 5] * 3 + [1.0])


def _rms(series: FloatArray) -> FloatArray:
    return np.sqrt(np.mean(series**2, axis=0))


#: The earlier name.
consistent = fit_consistent
