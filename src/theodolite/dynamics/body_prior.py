"""How plausible parameters of links and drives are before any torque is seen.

A link's pseudo-inertia P is drawn to a reference P0, the URDF's or a ball's, by the distance
between mass distributions

    tr(P P0^-1) - log det(P P0^-1) - 4        [Lee, Wensing & Park 2020]

which no choice of frames or units changes, and which is infinite for a body that cannot exist.
Rotors and friction are positive and, unless torques show them, small: ``x / usual``, with a barrier
at zero. Constants and what else may have either sign are normally distributed about zero.

All of it is smooth and convex, so Newton's method needs nothing but its derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.dynamics.drives import Drive
from theodolite.dynamics.inertia import INERTIAL, from_pseudo_inertia, is_body, pseudo_inertia
from theodolite.dynamics.torque import RegressorProblem
from theodolite.errors import InputError

#: Torque of a drive's term that is usual, as a part of the rms torque of its motor.
USUAL = 0.1
#: Strength of the barrier that keeps rotors and friction positive; they may come this close to
#: zero, as a part of what is usual, where torques say so.
BARRIER = 0.01
#: Smallest radius of the balls that stand for an unknown body, as part of the robot's reach.
SMALLEST_BALL = 0.1
#: Samples that show how large the columns of passive joints, shafts and springs are.
LOOKED_AT = 200
#: A motor that hardly moves counts as this part of the fastest one.
SLOWEST = 0.1

#: How each of the ten parameters enters the pseudo-inertia, (10, 4, 4).
PATTERNS = np.array([pseudo_inertia(unit) for unit in np.eye(10)])


@dataclass(frozen=True, eq=False)
class BodyPrior:
    """The prior of all columns of a problem; their number is that of its parameters."""

    #: Columns of each body, (bodies, 10), and its reference, (bodies, 4, 4).
    bodies: IntArray
    references: FloatArray
    #: Columns that cannot be negative, with their usual size.
    positive: IntArray
    usual: FloatArray
    #: Columns of either sign, with their standard deviation.
    signed: IntArray
    spread: FloatArray
    size: int

    @staticmethod
    def of(problem: RegressorProblem, values: FloatArray | None = None) -> BodyPrior:
        """About given values where these are bodies; otherwise about balls and the usual friction.

        Bodies that could not exist, or have no mass, are replaced by balls.
        """
        symbols = problem.symbols
        starts = body_columns(symbols)
        balls = _Balls.of(problem)
        references = [
            np.array(pseudo_inertia(values[first : first + 10]))
            if values is not None and is_body(values[first : first + 10])
            else balls.pseudo_inertia(symbols[first][1])
            for first in starts
        ]
        usual = usual_sizes(problem)
        drives = [place for place, (symbol, _) in enumerate(symbols) if symbol not in INERTIAL]
        positive = [place for place in drives if Drive(symbols[place][0]).never_negative]
        signed = [place for place in drives if place not in positive]
        return BodyPrior(
            np.array(starts, dtype=np.intp)[:, None] + np.arange(10),
            np.array(references).reshape(-1, 4, 4),
            np.array(positive, dtype=np.intp),
            usual[positive],
            np.array(signed, dtype=np.intp),
            usual[signed],
            len(symbols),
        )

    @property
    def centre(self) -> FloatArray:
        """A point well inside: the references, half of the usual friction, no constants."""
        values = np.zeros(self.size)
        for columns, P in zip(self.bodies, self.references, strict=True):
            values[columns] = from_pseudo_inertia(P)
        values[self.positive] = 0.5 * self.usual
        return values

    def distance(self, values: FloatArray) -> float:
        """How far values are from the prior; infinite where bodies could not have them."""
        if (values[self.positive] <= 0).any():
            return float("inf")
        try:
            factors = np.linalg.cholesky(self._pseudo_inertias(values))
        except np.linalg.LinAlgError:
            return float("inf")
        log_det = 2.0 * np.log(np.diagonal(factors, axis1=1, axis2=2)).sum()
        share = values[self.positive] / self.usual
        return float(
            (self._weights * values[self.bodies]).sum()
            - log_det
            + (share - BARRIER * np.log(share)).sum()
            + 0.5 * ((values[self.signed] / self.spread) ** 2).sum()
        )

    def slope(self, values: FloatArray) -> FloatArray:
        """Gradient of the distance, (columns,)."""
        slope = np.zeros(self.size)
        root = np.linalg.inv(np.linalg.cholesky(self._pseudo_inertias(values)))
        inverse = root.transpose(0, 2, 1) @ root
        slope[self.bodies] = self._weights - np.einsum("bij,kji->bk", inverse, PATTERNS)
        slope[self.positive] = 1.0 / self.usual - BARRIER / values[self.positive]
        slope[self.signed] = values[self.signed] / self.spread**2
        return slope

    def curvature_root(self, values: FloatArray) -> FloatArray:
        """A root A of the Hessian A'A of the distance, (columns, columns)."""
        root = np.zeros((self.size, self.size))
        # With P = L L', P^-1 E P^-1 E' has the trace of products of L^-1 E L^-T.
        inverse = np.linalg.inv(np.linalg.cholesky(self._pseudo_inertias(values)))
        turned = inverse[:, None] @ PATTERNS @ inverse.transpose(0, 2, 1)[:, None]
        flat = turned.reshape(len(self.bodies), 10, 16).transpose(0, 2, 1)
        root[self.bodies[:, :, None], self.bodies[:, None]] = np.linalg.qr(flat, mode="r")
        root[self.positive, self.positive] = np.sqrt(BARRIER) / values[self.positive]
        root[self.signed, self.signed] = 1.0 / self.spread
        return root

    def room(self, values: FloatArray, step: FloatArray) -> float:
        """How much of a step leads to the boundary of what can exist; infinite if none does."""
        inverse = np.linalg.inv(np.linalg.cholesky(self._pseudo_inertias(values)))
        change = inverse @ self._pseudo_inertias(step) @ inverse.transpose(0, 2, 1)
        fastest = max(
            float(-np.linalg.eigvalsh(change).min(initial=0.0)),
            float((-step[self.positive] / values[self.positive]).max(initial=0.0)),
        )
        return 1.0 / fastest if fastest > 0 else float("inf")

    @cached_property
    def _weights(self) -> FloatArray:
        """tr(P0^-1 E) of each parameter of each body, (bodies, 10)."""
        return np.einsum("bij,kji->bk", np.linalg.inv(self.references), PATTERNS)

    def _pseudo_inertias(self, values: FloatArray) -> FloatArray:
        return np.einsum("bk,kij->bij", values[self.bodies], PATTERNS)


def body_columns(symbols: Sequence[tuple[str, str]]) -> list[int]:
    """Where the ten columns of each body begin."""
    starts = [place for place, (symbol, _) in enumerate(symbols) if symbol == INERTIAL[0]]
    for first in starts:
        if tuple(symbol for symbol, _ in symbols[first : first + 10]) != INERTIAL:
            raise InputError(
                "physically consistent bodies need all ten parameters of each link in the model"
            )
    return starts


def usual_sizes(problem: RegressorProblem) -> FloatArray:
    """What is usual for the columns of drives, by the torques and speeds of the runs; 0 of links.

    What turns without a motor has no torque of its own: by what its column is, it is compared with
    the largest; springs may give all of that.
    """
    dynamics, runs = problem.dynamics, problem.runs
    torques = _of_each([run.torques for run in runs], dynamics.slides)
    speeds = _of_each([run.state.qd for run in runs], dynamics.slides)
    turns = _of_each([run.state.qdd for run in runs], dynamics.slides)
    sizes = np.zeros(len(problem.symbols))
    beyond = _beyond_motors(problem, float(torques.max(initial=0.0)))
    for place, (symbol, suffix) in enumerate(problem.symbols):
        if symbol in INERTIAL:
            continue
        if place in beyond:
            sizes[place] = beyond[place]
            continue
        axis = dynamics.axes.index(suffix)
        torque, speed, turn = (float(part[axis]) for part in (torques, speeds, turns))
        per = {
            Drive.ROTOR: turn,
            Drive.VISCOUS: speed,
            Drive.ASYMMETRIC: speed,
            Drive.QUADRATIC: speed**2,
            Drive.LOAD: torque,
        }.get(Drive(symbol), 1.0)
        sizes[place] = USUAL * torque / per if per > 0 and torque > 0 else USUAL
    return sizes


def _beyond_motors(problem: RegressorProblem, torque: float) -> dict[int, float]:
    """Usual sizes of the terms of passive joints, shafts and springs, by their columns."""
    dynamics = problem.dynamics
    names = [
        place
        for place, (symbol, suffix) in enumerate(problem.symbols)
        if symbol not in INERTIAL and dynamics.axes.index(suffix) >= dynamics.motors
    ]
    if not names:
        return {}
    run = problem.runs[0]
    rows = slice(0, len(run.state), max(1, len(run.state) // LOOKED_AT))
    table = problem.select(dynamics.regressor(run.state[rows], problem.drives), loaded=run.loaded)
    found = {}
    for place in names:
        size = float(np.sqrt((table[place] ** 2).mean(axis=1)).max())
        part = 1.0 if Drive(problem.symbols[place][0]).elastic else USUAL
        found[place] = part * torque / size if size > 0 and torque > 0 else part
    return found


def _of_each(tables: Sequence[FloatArray], slides: BoolArray) -> FloatArray:
    """Root mean squares of the columns, none far below the largest of its kind."""
    rms = np.sqrt(np.mean(np.concatenate(tables) ** 2, axis=0))[: len(slides)]
    for kind in (slides, ~slides):
        if kind.any():
            rms[kind] = np.maximum(rms[kind], SLOWEST * rms[kind].max())
    return rms


@dataclass(frozen=True)
class _Balls:
    """Balls that stand for bodies of which nothing is known, half as large as their links."""

    mass: float
    #: m, by suffix, and the smallest.
    radii: dict[str, float]
    smallest: float

    @staticmethod
    def of(problem: RegressorProblem) -> _Balls:
        """As heavy as the torques suggest.

        All of them at half of the reach, and carried by the slides, take the largest rms torque or
        force, by gravity and the usual acceleration together.
        """
        dynamics, runs = problem.dynamics, problem.runs
        lengths: dict[str, float] = {}
        for link in dynamics.links:
            if link.parent >= 0:
                name = str(dynamics.links[link.parent].name)
                length = np.linalg.norm(link.position) + np.linalg.norm(link.after_position)
                lengths[name] = max(lengths.get(name, 0.0), float(length))
        reach = sum(lengths.values()) or 1.0
        torques = np.sqrt(np.mean(np.concatenate([run.torques for run in runs]) ** 2, axis=0))
        turning = np.sqrt(np.mean(np.concatenate([run.state.qdd for run in runs]) ** 2, axis=0))
        slides, g = dynamics.slides, float(np.linalg.norm(dynamics.gravity))
        masses = []
        for kind, lever, speeds in ((~slides, reach / 2, reach), (slides, 1.0, 1.0)):
            if kind.any():
                taken = (g + speeds * float(turning[kind].max())) * lever
                masses.append(float(torques[kind].max()) / taken if taken else 0.0)
        heavy = max(masses, default=0.0) or 1.0
        return _Balls(
            heavy / len(dynamics.links),
            {name: max(length / 2, SMALLEST_BALL * reach) for name, length in lengths.items()},
            SMALLEST_BALL * reach,
        )

    def pseudo_inertia(self, suffix: str) -> FloatArray:
        """Of the ball of a link, about its frame's origin."""
        radius = self.radii.get(suffix, self.smallest)
        return self.mass * np.diag([radius**2 / 5] * 3 + [1.0])
