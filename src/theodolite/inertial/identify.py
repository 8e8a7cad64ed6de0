"""Identification of inertial and drive parameters from torques, and what it is worth.

Ordinary least squares first; then each joint weighs by its own residual [Renaud2006, eqs. 23-27],
as often as it takes. Physically consistent parameters are the nearest ones for which every link
could be a body: its pseudo-inertia is positive definite, rotors and friction are not negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.identification.identifiability import Identifiability
from theodolite.identification.solver import Solution, solve
from theodolite.identification.statistics import Statistics, statistics
from theodolite.measure.recording import Filtered
from theodolite.measure.torque import TorqueProblem
from theodolite.model.dynamics import INERTIAL, Drive, Tree

FRICTION = (Drive.ROTOR, Drive.VISCOUS, Drive.COULOMB, Drive.OFFSET)
#: Rounds of weighing, and when the weights are settled.
ROUNDS = 10
SETTLED = 1e-3
#: A base parameter whose relative standard deviation is above this is not supported by the data.
ESSENTIAL = 0.3
#: Smallest eigenvalue of a pseudo-inertia (kg, kg m, kg m2), so that simulators accept it.
POSITIVE = 1e-6
#: Pull towards the prior, as part of the mean eigenvalue of the normal matrix.
PRIOR_WEIGHT = 1e-6
#: Friction may come out slightly negative; this much is an inverted torque (N m, N m s/rad).
INVERTED = 0.2


@dataclass(frozen=True, eq=False)
class Dynamic:
    """Identified dynamics."""

    dynamics: Tree
    drives: tuple[Drive, ...]
    #: All columns; parameters that are regrouped are zero, unless they are consistent ones.
    values: FloatArray
    identifiability: Identifiability
    statistics: Statistics
    #: Standard deviation of each joint's residual, N m.
    sigmas: FloatArray
    rows: int
    consistent: bool = False

    @property
    def relative_deviations(self) -> FloatArray:
        """Relative standard deviation of each base parameter, percent."""
        values = self.values[self.identifiability.base]
        safe = np.where(values == 0, np.nan, np.abs(values))
        return 100.0 * self.statistics.standard_errors / safe

    def doubts(self) -> list[str]:
        """Friction that would drive the joint: a torque with the wrong sign, or the wrong joint."""
        found = []
        names = [parameter.name for parameter in self.identifiability.parameters]
        values = dict(zip(names, self.values, strict=True))
        for name, value in values.items():
            number = name.lstrip("fvc")
            if name.startswith("fv") and value < 0 and values.get(f"fc{number}", 0.0) < -INVERTED:
                found.append(
                    f"the torque of joint {number} looks inverted, or is of another joint: its "
                    "friction is negative"
                )
        return found


def identify_dynamics(
    dynamics: Tree,
    data: Filtered,
    *,
    drives: Sequence[Drive] = FRICTION,
    weighted: bool = True,
) -> Dynamic:
    """Base parameters by ordinary or weighted least squares."""
    sigmas = np.ones(dynamics.motors)
    problem = TorqueProblem(dynamics, data.state, data.torques, drives=drives)
    solution = solve(problem)
    for _ in range(ROUNDS if weighted else 0):
        off = problem.predicted(solution.values) - data.torques
        # Unbiased for each joint by itself: it sees about its part of the parameters.
        share = solution.identifiability.rank / dynamics.motors
        found = np.sqrt((off**2).sum(axis=0) / max(len(off) - share, 1.0))
        settled = np.abs(found / sigmas - 1.0).max() < SETTLED
        sigmas = found
        if settled:
            break
        problem = TorqueProblem(
            dynamics, data.state, data.torques, drives=drives, sigmas=np.maximum(sigmas, 1e-9)
        )
        solution = solve(problem)
    return _result(dynamics, tuple(drives), solution, sigmas, len(data.torques))


def _result(
    dynamics: Tree,
    drives: tuple[Drive, ...],
    solution: Solution,
    sigmas: FloatArray,
    rows: int,
) -> Dynamic:
    return Dynamic(
        dynamics,
        drives,
        solution.values,
        solution.identifiability,
        statistics(solution, noise_known=False),
        sigmas,
        rows,
    )


def essential(found: Dynamic, data: Filtered) -> Dynamic:
    """Without parameters that the data do not support, the worst first."""
    problem = TorqueProblem(
        found.dynamics, data.state, data.torques, drives=found.drives, sigmas=found.sigmas
    )
    solution = solve(problem)
    while True:
        deviations = statistics(solution, noise_known=False).standard_errors
        base = solution.identifiability.base
        relative = deviations / np.maximum(np.abs(solution.values[base]), 1e-300)
        worst = int(np.argmax(relative))
        if relative[worst] <= ESSENTIAL or len(base) <= 1:
            return _result(found.dynamics, found.drives, solution, found.sigmas, found.rows)
        known = solution.identifiability.without(base[[worst]])
        columns = solution.reduction.R[:, known.base]
        origin = solution.reduction.z - solution.reduction.R @ solution.values
        values = np.zeros(len(solution.values))
        values[known.base] = -np.linalg.lstsq(columns, origin, rcond=None)[0]
        reduction = solution.reduction.moved(values - solution.values)
        solution = Solution(
            values, solution.status, solution.trace, reduction, known, solution.loss
        )


def consistent(found: Dynamic, data: Filtered, prior: FloatArray | None = None) -> Dynamic:
    """The nearest parameters that bodies could have: a semidefinite programme on the factor R."""
    cp = _cvxpy()
    problem = TorqueProblem(
        found.dynamics, data.state, data.torques, drives=found.drives, sigmas=found.sigmas
    )
    solution = solve(problem)
    R = solution.reduction.R
    target = R @ solution.values - solution.reduction.z
    size = R.shape[1]
    prior = _light_bodies(found) if prior is None else prior
    scale = np.sqrt(PRIOR_WEIGHT * float((R**2).sum()) / size)
    x = cp.Variable(size)
    cost = cp.sum_squares(R @ x - target) + cp.sum_squares(scale * (x - prior))
    constraints = []
    for first in _bodies(found):
        pseudo = cp.bmat(_pseudo_inertia([x[first + k] for k in range(10)]))
        constraints.append(pseudo >> POSITIVE * np.eye(4))
    signed = [*INERTIAL, Drive.OFFSET.value]
    for index, (symbol, _) in enumerate(found.dynamics.columns(found.drives)):
        if symbol not in signed:
            constraints.append(x[index] >= 0)
    cp.Problem(cp.Minimize(cost), constraints).solve(solver=cp.CLARABEL)
    if x.value is None:
        raise InputError(
            "no consistent parameters were found",
            remedy="Look at the weighted ones for what is wrong",
        )
    values = np.asarray(x.value, dtype=np.float64)
    return Dynamic(
        found.dynamics,
        found.drives,
        values,
        found.identifiability,
        found.statistics,
        found.sigmas,
        found.rows,
        consistent=True,
    )


def _cvxpy() -> Any:
    try:
        import cvxpy
    except ImportError as error:
        raise InputError(
            "consistent parameters need cvxpy and clarabel",
            remedy="Install theodolite[consistent]",
        ) from error
    return cvxpy


def _pseudo_inertia(body: Any) -> list[list[Any]]:
    """The matrix that is positive definite for every body, of numbers or of unknowns."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, m = body
    return [
        [(yy + zz - xx) / 2, -xy, -xz, mx],
        [-xy, (xx + zz - yy) / 2, -yz, my],
        [-xz, -yz, (xx + yy - zz) / 2, mz],
        [mx, my, mz, m],
    ]


def _light_bodies(found: Dynamic) -> FloatArray:
    """A prior of small balls: one kilogram, about ten centimetres."""
    prior = np.zeros(len(found.values))
    for first in _bodies(found):
        prior[[first, first + 3, first + 5]], prior[first + 9] = 0.01, 1.0
    return prior


def _bodies(found: Dynamic) -> list[int]:
    """Where the ten columns of each body begin."""
    columns = found.dynamics.columns(found.drives)
    return [index for index, (symbol, _) in enumerate(columns) if symbol == INERTIAL[0]]


def is_consistent(found: Dynamic) -> bool:
    """Could bodies have these parameters?"""
    for first in _bodies(found):
        pseudo = np.array(_pseudo_inertia(found.values[first : first + 10]))
        if np.linalg.eigvalsh(pseudo)[0] <= 0:
            return False
    return True


@dataclass(frozen=True)
class TorqueError:
    """Error of predicted torques on a recording, relative to the torques."""

    total: float
    joints: tuple[float, ...]


def torque_error(found: Dynamic, data: Filtered) -> TorqueError:
    """||predicted - measured|| / ||measured||, in all and for each joint."""
    problem = TorqueProblem(found.dynamics, data.state, data.torques, drives=found.drives)
    off = problem.predicted(found.values) - data.torques
    return TorqueError(
        float(np.linalg.norm(off) / np.linalg.norm(data.torques)),
        tuple((np.linalg.norm(off, axis=0) / np.linalg.norm(data.torques, axis=0)).tolist()),
    )
