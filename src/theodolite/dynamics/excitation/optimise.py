"""Exciting trajectories: motions from which inertial and friction parameters are seen best.

Each motor's series is scaled so that a smooth maximum of what it uses of its limits is one (times a
share of its own), so every set of numbers is a motion within the limits, and the search is free.
Torques and surroundings enter as penalties. Many random motions are tried; the best of them are
improved with exact derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.dynamics.base_parameters import base_parameters
from theodolite.dynamics.drives import Drive, State
from theodolite.dynamics.excitation.criteria import Criterion, condition_number, criterion, log_det
from theodolite.dynamics.excitation.limits import Limits, balls
from theodolite.dynamics.excitation.slopes import point_slopes, torque_slopes
from theodolite.dynamics.excitation.trajectory import FourierBasis, FourierPart, Trajectory
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.torque import TorqueProblem, random_state
from theodolite.dynamics.tree import ROTORS, Tree
from theodolite.errors import InputError
from theodolite.estimation.threads import single_thread

#: Power of the smooth maximum: it exceeds the largest value by a few percent at most.
POWER = 24.0
#: Part of every limit that the search may use, so that the motion is strictly within.
MARGIN = 0.99
#: Samples of each part in the search, per harmonic; the result is checked with more, by a factor.
SAMPLES, FINER = 16, 20
#: Random motions tried for each that is improved.
TRIED = 40
#: Weight of broken limits, and how often it is raised tenfold while some are broken.
PENALTY, RAISES = 10.0, 3
#: A penalty above this is a broken limit; below the other, none.
BROKEN, KEPT = 1e-3, 1e-6
#: Penalties begin at this part of a torque limit, and at this distance, m.
TORQUE_MARGIN, DISTANCE_MARGIN = 0.97, 0.01


@dataclass(frozen=True)
class Part:
    """Seconds, and the share of speed and acceleration that a part may use."""

    duration: float
    speed: float = 1.0


@dataclass(frozen=True, eq=False)
class Excitation:
    """A trajectory and what it reaches."""

    trajectory: Trajectory
    condition_number: float
    log_det: float
    #: Base parameters that are seen.
    parameters: tuple[str, ...]
    #: Largest part of each limit that is used, and the smallest distance to what is around, m.
    use: dict[str, float]
    clearance: float | None
    #: Condition number (or -log det) of every start that was improved, in order.
    starts: tuple[float, ...]

    @property
    def within_limits(self) -> bool:
        return max(self.use.values()) < 1.0 and (self.clearance is None or self.clearance > 0)


Progress = Callable[[int, int, float], None]


def excite(
    dynamics: Tree,
    limits: Limits,
    *,
    parts: Sequence[Part] = (Part(10.0),),
    harmonics: int = 5,
    drives: Sequence[Drive] = ROTORS,
    which: Criterion = Criterion.CONDITION,
    starts: int = 6,
    iterations: int = 150,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Excitation:
    """The best of several improved random motions; reproducible by the generator's seed."""
    if harmonics < 2:
        raise InputError(f"{harmonics} harmonics", allowed="2 or more: one cannot start at rest")
    search = _Search(dynamics, limits, parts, harmonics, drives, which, rng)
    with single_thread():
        best: FloatArray | None = None
        reached: list[float] = []
        for start in range(starts):
            x = search.improved(search.promising(rng), iterations)
            found = search.figure(x)
            reached.append(found)
            if best is None or found <= min(reached):
                best = x
            if progress is not None:
                progress(start + 1, starts, min(reached))
        assert best is not None
        return search.result(best, tuple(reached))


class _Search:
    """The free numbers of all parts, and what they lead to."""

    def __init__(
        self,
        dynamics: Tree,
        limits: Limits,
        parts: Sequence[Part],
        harmonics: int,
        drives: Sequence[Drive],
        which: Criterion,
        rng: np.random.Generator,
    ) -> None:
        self.dynamics, self.limits, self.drives, self.which = dynamics, limits, drives, which
        self.penalty = PENALTY
        self.parts = [
            _PartSearch(FourierBasis(part.duration, harmonics), limits.slower(part.speed))
            for part in parts
        ]
        known = base_parameters(
            TorqueProblem(
                dynamics, Run.of(random_state(dynamics, 40 * dynamics.motors, rng)), drives=drives
            )
        )
        self.base: IntArray = np.sort(known.base)
        names = dynamics.names(drives)
        self.names = tuple(names[index] for index in self.base)

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    def split(self, x: FloatArray) -> list[FloatArray]:
        ends = np.cumsum([part.size for part in self.parts])[:-1]
        return np.split(x, ends)

    def promising(self, rng: np.random.Generator) -> FloatArray:
        """The best of some random motions."""
        trials = [self.random(rng) for _ in range(TRIED)]
        values = [self.value(trial) for trial in trials]
        return trials[int(np.argmin(values))]

    def random(self, rng: np.random.Generator) -> FloatArray:
        return np.concatenate([part.random(rng) for part in self.parts])

    def state(self, x: FloatArray) -> State:
        """All parts, one after the other, at the samples of the search."""
        states = [part.state(y) for part, y in zip(self.parts, self.split(x), strict=True)]
        return State.stacked(states)

    def regressor(self, state: State) -> tuple[FloatArray, FloatArray]:
        """Base columns (rows, base), and the whole table."""
        table = self.dynamics.regressor(state, self.drives)
        return table[self.base].reshape(len(self.base), -1).T, table

    def value(self, x: FloatArray) -> float:
        state = self.state(x)
        W, _ = self.regressor(state)
        return criterion(W, self.which)[0] + self._penalties(state)[0]

    def value_and_slope(self, x: FloatArray) -> tuple[float, FloatArray]:
        state = self.state(x)
        W, table = self.regressor(state)
        value, by_W = criterion(W, self.which)
        weights = np.zeros_like(table)
        weights[self.base] = by_W.T.reshape(len(self.base), *table.shape[1:])
        slopes = torque_slopes(self.dynamics, state, weights, self.drives)
        more, further = self._penalties(state, slopes=True)
        if further is not None:
            slopes = State(*(getattr(slopes, n) + getattr(further, n) for n in ("q", "qd", "qdd")))
        first = 0
        parts = []
        for part, y in zip(self.parts, self.split(x), strict=True):
            rows = slice(first, first + part.samples)
            parts.append(part.back(y, slopes[rows]))
            first += part.samples
        return value + more, np.concatenate(parts)

    def _penalties(self, state: State, *, slopes: bool = False) -> tuple[float, State | None]:
        """What broken torque limits and distances cost, and the derivative by the motion."""
        value = 0.0
        total = [np.zeros_like(state.qd) for _ in range(3)]
        n = len(state)
        torque = self.limits.torque
        if torque is not None:
            table = self.dynamics.regressor(state, torque.drives)
            used = np.tensordot(torque.values, table, axes=1) / torque.highest[:, None]
            over = np.maximum(np.abs(used) - TORQUE_MARGIN, 0.0)
            value += self.penalty * float((over**2).sum()) / n
            if slopes and over.any():
                by_torque = 2 * self.penalty * over * np.sign(used) / torque.highest[:, None] / n
                weights = torque.values[:, None, None] * by_torque
                found = torque_slopes(self.dynamics, state, weights, torque.drives)
                for part, slope in zip(total, (found.q, found.qd, found.qdd), strict=True):
                    part += slope
        around = self.limits.surroundings
        if around is not None and not around.free:
            points = balls(self.dynamics, state)
            inside = np.maximum(DISTANCE_MARGIN - around.clearances(points), 0.0)
            # In units of ten centimetres, so that they weigh like the rest.
            value += self.penalty * 100 * float((inside**2).sum()) / n
            if slopes and inside.any():
                by_distance = -200 * self.penalty * inside / n
                pulls = (by_distance[..., None] * around.directions(points)).sum(axis=2)
                total[0] += point_slopes(self.dynamics, state, pulls)
        return value, State(*total) if slopes else None

    def improved(self, x: FloatArray, iterations: int) -> FloatArray:
        from scipy.optimize import minimize

        self.penalty = PENALTY
        for _ in range(1 + RAISES):
            found = minimize(
                self.value_and_slope,
                x,
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": iterations, "maxcor": 30},
            )
            x = np.asarray(found.x)
            if self._penalties(self.state(x))[0] < KEPT:
                break
            self.penalty *= 10
        return x

    def figure(self, x: FloatArray) -> float:
        """What is made small: condition number or -log det; worse than any with broken limits."""
        state = self.state(x)
        broken = self._penalties(state)[0] > BROKEN
        W, _ = self.regressor(state)
        reached = condition_number(W) if self.which is Criterion.CONDITION else -log_det(W)
        return reached + (1e6 if broken else 0.0)

    def result(self, x: FloatArray, reached: tuple[float, ...]) -> Excitation:
        parts = [part.made(y) for part, y in zip(self.parts, self.split(x), strict=True)]
        trajectory = Trajectory.joined(parts, self.limits.velocity, self.limits.acceleration)
        rate = max(part.samples * FINER / part.basis.duration for part in self.parts)
        _, fine = trajectory.sampled(rate)
        W, _ = self.regressor(State.stacked([part.at(_even(part, FINER)) for part in parts]))
        return Excitation(
            trajectory,
            condition_number(W),
            log_det(W),
            self.names,
            self.limits.use(self.dynamics, fine),
            self.limits.clearance(self.dynamics, fine),
            reached,
        )


class _PartSearch:
    """One part: free numbers (size of the basis, and a share, per motor) and its motion."""

    def __init__(self, basis: FourierBasis, limits: Limits) -> None:
        self.basis, self.limits = basis, limits
        self.motors = len(limits.lower)
        self.samples = SAMPLES * basis.harmonics
        times = basis.duration * np.arange(self.samples) / self.samples
        self.tables = basis.tables(times)

    @property
    def size(self) -> int:
        return (self.basis.size + 1) * self.motors

    def random(self, rng: np.random.Generator) -> FloatArray:
        p = rng.standard_normal((self.basis.size, self.motors))
        share = rng.uniform(0.0, 3.0, (1, self.motors))
        return np.concatenate([p, share]).ravel()

    def _scaled(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Coefficients p, what they use of the limits, its smooth maximum, and the share."""
        from scipy.special import expit

        free = x.reshape(self.basis.size + 1, self.motors)
        p, share = free[:-1], MARGIN * np.asarray(expit(free[-1]))
        limits = (self.limits.half, self.limits.velocity, self.limits.acceleration)
        used = np.concatenate(
            [table @ p / limit for table, limit in zip(self.tables, limits, strict=True)]
        )
        largest = np.abs(used).max(axis=0)
        norm = largest * (np.abs(used / largest) ** POWER).sum(axis=0) ** (1 / POWER)
        return p, used, norm, share

    def coefficients(self, x: FloatArray) -> FloatArray:
        p, _, norm, share = self._scaled(x)
        scaled = p * (share / norm)
        scaled[0] += self.limits.middle
        return scaled

    def state(self, x: FloatArray) -> State:
        coefficients = self.coefficients(x)
        return State(*(table @ coefficients for table in self.tables))

    def back(self, x: FloatArray, slopes: State) -> FloatArray:
        """Derivative by the free numbers, given that by the motion."""
        p, used, norm, share = self._scaled(x)
        by_coefficients = sum(
            table.T @ slope
            for table, slope in zip(self.tables, (slopes.q, slopes.qd, slopes.qdd), strict=True)
        )
        along = (by_coefficients * p).sum(axis=0)
        limits = (self.limits.half, self.limits.velocity, self.limits.acceleration)
        ratio = used / norm
        by_used = np.sign(ratio) * np.abs(ratio) ** (POWER - 1)
        by_norm = sum(
            table.T @ part / limit
            for table, part, limit in zip(self.tables, np.split(by_used, 3), limits, strict=True)
        )
        by_p = by_coefficients * (share / norm) - by_norm * (along * share / norm**2)
        by_share = along / norm * share * (1.0 - share / MARGIN)
        return np.concatenate([by_p, by_share[None]]).ravel()

    def made(self, x: FloatArray) -> FourierPart:
        """The part itself, drawn in where it is beyond its limits between the samples."""
        coefficients = self.coefficients(x)
        part = FourierPart(self.basis, coefficients)
        state = part.at(_even(part, FINER))
        used = np.max(
            [
                np.abs(state.q - self.limits.middle).max(axis=0) / self.limits.half,
                np.abs(state.qd).max(axis=0) / self.limits.velocity,
                np.abs(state.qdd).max(axis=0) / self.limits.acceleration,
            ],
            axis=0,
        )
        away = coefficients.copy()
        away[0] -= self.limits.middle
        away *= np.minimum(1.0, MARGIN / used)
        away[0] += self.limits.middle
        return FourierPart(self.basis, away)


def _even(part: FourierPart, finer: int) -> FloatArray:
    count = SAMPLES * part.basis.harmonics * finer
    return part.duration * np.arange(count) / count
