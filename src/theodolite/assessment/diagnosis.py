"""Is a robot still what its calibration says, and if not, what has changed?

With whitened residuals r of fresh measurements, their derivatives J, the covariance C of the
calibration and noise one, an unchanged robot has r ~ N(0, V), V = I + J C J'. Under a single cause
that changes some parameters by amounts of usual size S, r ~ N(0, V + J_h S J_h'). The evidence of a
cause is the logarithm of the ratio of the two densities at r: it weighs how well a cause fits
against how much else it could have explained. The largest evidence is compared with that of
unchanged robots that are drawn, so that the rate of false alarms is what was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.cross_validation import nominal_values
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import CalibrationProblem, Method
from theodolite.calibration.noise import Noise
from theodolite.compensation.uncertainty import Uncertainty
from theodolite.errors import InputError
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group, Parameter, Unit
from theodolite.model.robot import Robot

#: Usual sizes of what happens to robots: radians, metres, parts of a gain; of a tool exchanged.
TURNED, SHIFTED, SLIPPED, EXCHANGED = 3e-3, 2e-3, 2e-3, 0.05
#: Unchanged robots that are drawn for the rate of false alarms.
DRAWN = 4000
#: A cause whose effect on the measurements is smaller than this, in noises, is not seen.
UNSEEN = 1e-6
#: Configurations among which the next measurements are looked for, and how many are proposed.
CANDIDATES, PROPOSED = 300, 3


@dataclass(frozen=True)
class Cause:
    """Something that may have happened, and the parameters that it changes."""

    name: str
    places: tuple[int, ...]
    sizes: tuple[float, ...]


@dataclass(frozen=True)
class Suspect:
    """A cause, how much speaks for it, and how large it would be."""

    name: str
    #: Logarithm of its evidence against an unchanged robot.
    evidence: float
    #: Chance that it is this one, of all causes alike before.
    probability: float
    #: By how much each parameter would have changed, with standard errors, SI.
    changes: dict[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Whether a robot has changed, and what explains it best."""

    changed: bool
    #: The largest evidence, and what unchanged robots stay below at the rate of false alarms.
    evidence: float
    threshold: float
    false_alarms: float
    suspects: tuple[Suspect, ...]
    #: Causes that these measurements cannot show.
    unseen: tuple[str, ...]
    #: Joints at which the two best differ most, as they read, and how far apart the tips are, m.
    next_readings: FloatArray
    next_distances: FloatArray


def diagnose(
    robot: Machine,
    checks: Dataset,
    method: Method,
    *,
    noise: Noise,
    uncertainty: Uncertainty | None = None,
    false_alarms: float = 0.05,
    rng: np.random.Generator | None = None,
) -> Diagnosis:
    """Fresh measurements against a calibrated robot whose ``uncertainty`` may be known."""
    if not 0.0 < false_alarms < 1.0:
        raise InputError(f"false alarms {false_alarms:g}", allowed="more than 0, less than 1")
    rng = rng or np.random.default_rng(0)
    problem = method.problem(robot, checks, noise=noise, gains=isinstance(robot, Robot))
    r, J = _rows(problem)
    V = np.eye(len(r)) + _told(problem.parameters, J, uncertainty)
    # In coordinates in which an unchanged robot has residuals of unit variance.
    L = np.linalg.cholesky(V)
    r, J = np.linalg.solve(L, r), np.linalg.solve(L, J)
    causes = causes_of(robot, problem.parameters)
    seen = [one for one in causes if _effect(J, one) > UNSEEN]
    if not seen:
        raise InputError("these measurements show no change of the robot at all")
    weighed = [_Weighed(J, one) for one in seen]
    evidence = np.array([one.evidence(r[None])[0] for one in weighed])
    drawn = rng.standard_normal((DRAWN, len(r)))
    highest = np.max([one.evidence(drawn) for one in weighed], axis=0)
    threshold = float(np.quantile(highest, 1.0 - false_alarms))
    order = np.argsort(-evidence, kind="stable")
    chances = np.exp(evidence - evidence.max())
    chances /= chances.sum()
    suspects = tuple(
        Suspect(
            seen[place].name,
            float(evidence[place]),
            float(chances[place]),
            weighed[place].changes(r, problem.parameters),
        )
        for place in order
    )
    best = [weighed[place] for place in order[:2]]
    readings, apart = _next(robot, problem.parameters, best, r, rng)
    return Diagnosis(
        bool(evidence.max() > threshold),
        float(evidence.max()),
        threshold,
        false_alarms,
        suspects,
        tuple(one.name for one in causes if one not in seen),
        readings,
        apart,
    )


def causes_of(robot: Machine, parameters: Sequence[Parameter]) -> list[Cause]:
    """What may have happened to a robot: one thing at a time."""
    found = []
    if isinstance(robot, Robot):
        for place, one in enumerate(parameters):
            joint = f"joint {one.frame - (robot.joint_rows[0] + robot.first_number) + 1}"
            if one.offset and not one.external:
                found.append(Cause(f"zero of {joint} ({one.name})", (place,), (_size(one),)))
            elif one.gain:
                found.append(Cause(f"gain of {joint} ({one.name})", (place,), (SLIPPED,)))
        for target in robot.targets if len(robot.targets) > 1 else ():
            own = [p for p, one in enumerate(parameters) if one.name[:-1] == target.name]
            found.append(Cause(f"point {target.name} moved", tuple(own), (SHIFTED,) * len(own)))
    else:
        found += [
            Cause(f"{one.name}", (place,), (_size(one),))
            for place, one in enumerate(parameters)
            if one.offset and not one.external
        ]
    for group, name in ((Group.BASE, "base moved"), (Group.TOOL, "tool bent")):
        own = [
            place for place, one in enumerate(parameters) if one.group is group and not one.offset
        ]
        if own:
            sizes = tuple(_size(parameters[place]) for place in own)
            found.append(Cause(name, tuple(own), sizes))
            if group is Group.TOOL:
                larger = tuple(EXCHANGED / SHIFTED * size for size in sizes)
                found.append(Cause("another tool", tuple(own), larger))
    return found


def _size(parameter: Parameter) -> float:
    return TURNED if parameter.unit is Unit.RADIAN else SHIFTED


def _rows(problem: CalibrationProblem) -> tuple[FloatArray, FloatArray]:
    blocks = list(problem.blocks(nominal_values(problem)))
    return (
        np.concatenate([block.residual for block in blocks]),
        np.concatenate([block.jacobian for block in blocks]),
    )


def _told(
    parameters: Sequence[Parameter], J: FloatArray, uncertainty: Uncertainty | None
) -> FloatArray:
    """What the calibration's own errors add to the covariance of the residuals."""
    if uncertainty is None:
        return np.zeros((len(J), len(J)))
    places = {one.name: place for place, one in enumerate(parameters)}
    kept = [n for n, name in enumerate(uncertainty.names) if name in places]
    columns = J[:, [places[uncertainty.names[number]] for number in kept]]
    return columns @ uncertainty.covariance[np.ix_(kept, kept)] @ columns.T


def _effect(J: FloatArray, cause: Cause) -> float:
    return float(np.linalg.norm(J[:, list(cause.places)] * np.array(cause.sizes)))


class _Weighed:
    """A cause with what is needed to weigh residuals for it."""

    def __init__(self, J: FloatArray, cause: Cause) -> None:
        self.cause = cause
        self.sizes = np.array(cause.sizes)
        A = J[:, list(cause.places)] * self.sizes
        # (I + A A')^-1 = I - A (I + A'A)^-1 A', and the determinants are the same.
        self.A = A
        self.M = np.linalg.inv(np.eye(A.shape[1]) + A.T @ A)
        self.log = float(np.linalg.slogdet(np.eye(A.shape[1]) + A.T @ A)[1])

    def evidence(self, r: FloatArray) -> FloatArray:
        """Of residuals (n, rows)."""
        b = r @ self.A
        found: FloatArray = 0.5 * (np.einsum("ni,ij,nj->n", b, self.M, b) - self.log)
        return found

    def amounts(self, r: FloatArray) -> FloatArray:
        return -self.sizes * (self.M @ (self.A.T @ r))

    def changes(
        self, r: FloatArray, parameters: Sequence[Parameter]
    ) -> dict[str, tuple[float, float]]:
        errors = self.sizes * np.sqrt(np.diag(self.M))
        return {
            parameters[place].name: (float(amount), float(error))
            for place, amount, error in zip(self.cause.places, self.amounts(r), errors, strict=True)
        }


def _next(
    robot: Machine,
    parameters: Sequence[Parameter],
    best: Sequence[_Weighed],
    r: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Where the tips differ most under the two best causes."""
    if len(best) < 2:
        return np.empty((0, robot.joints)), np.empty(0)
    motors = robot.random_motors(CANDIDATES, rng)
    settled, closed = robot.settled(motors)
    motion = robot.motion(robot.values, settled[closed])
    places = {one.name: number for number, one in enumerate(robot.parameters)}
    tips = np.zeros((int(closed.sum()), 3))
    for sign, one in ((1.0, best[0]), (-1.0, best[1])):
        names = [parameters[place].name for place in one.cause.places]
        own = np.array([places[name] for name in names if name in places], dtype=np.intp)
        amounts = np.array(
            [amount for name, amount in zip(names, one.amounts(r), strict=True) if name in places]
        )
        tips += sign * motion.position_jacobian(own) @ amounts
    apart = np.linalg.norm(tips, axis=1)
    chosen = np.argsort(-apart)[:PROPOSED]
    return robot.readings(settled[closed])[chosen], apart[chosen]
