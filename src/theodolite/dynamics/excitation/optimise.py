"""Exciting trajectories: motions that show inertial and friction parameters best.

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
from theodolite.dynamics.base_parameters import find_base_parameters
from theodolite.dynamics.compiled import SLOPES, filling
from theodolite.dynamics.drives import ROTORS, Drives, State
from theodolite.dynamics.excitation.criteria import (
    Criterion,
    condition_number,
    evaluate_criterion,
    log_det,
)
from theodolite.dynamics.excitation.free_series import FINER, FreeSeries, even_times
from theodolite.dynamics.excitation.limits import Limits, ball_centres
from theodolite.dynamics.excitation.slopes import point_slopes, torque_slopes
from theodolite.dynamics.excitation.trajectory import FourierBasis, Trajectory
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.linear import ILL_CONDITIONED
from theodolite.estimation.threads import single_thread
from theodolite.kernels import switch

#: Shortest and longest part of a motion, s, and the lowest share of the speed limits it may have.
SHORTEST, LONGEST, SLOWEST = 0.1, 1e4, 1e-3
#: Random motions tried for each that is improved.
TRIED = 40
#: Weight of broken limits, and how often it is raised tenfold while some are broken.
PENALTY, RAISES = 10.0, 3
#: A penalty above this is a broken limit; below the other, none.
BROKEN, KEPT = 1e-3, 1e-6
#: Penalties begin at this part of a torque limit, and at this distance, as part of the reach.
TORQUE_MARGIN, DISTANCE_MARGIN = 0.97, 0.01
#: A distance that is too small by this part of the reach costs as much as a torque at twice its
#: limit.
DISTANCE_UNIT = 0.1


@dataclass(frozen=True)
class Part:
    """Seconds, and the share of speed and acceleration that a part may use."""

    duration: float
    speed: float = 1.0

    def __post_init__(self) -> None:
        if not SHORTEST <= self.duration <= LONGEST:
            raise InputError(
                f"a motion of {self.duration:g} s", allowed=f"{SHORTEST:g} to {LONGEST:g} s"
            )
        if not SLOWEST <= self.speed <= 1.0:
            raise InputError(
                f"a motion at {self.speed:g} of the speed limits", allowed=f"{SLOWEST:g} to 1"
            )


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

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the motion, in words."""
        if not self.within_limits:
            return (
                "no motion within all limits was found. Widen the limits, move floor and spheres, "
                "or try more random starts",
            )
        if self.condition_number > ILL_CONDITIONED:
            return ("some parameters are hardly excited. Allow more speed, or more time",)
        return ()

    @property
    def good(self) -> bool:
        return not self.warnings


Progress = Callable[[int, int, float], None]


def excite(
    dynamics: Tree,
    limits: Limits,
    *,
    parts: Sequence[Part] = (Part(10.0),),
    harmonics: int = 5,
    drives: Drives = ROTORS,
    criterion: Criterion = Criterion.CONDITION,
    starts: int = 6,
    iterations: int = 150,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Excitation:
    """Plan the best motion found from several random starts; the seed of ``rng`` reproduces it."""
    if harmonics < 2:
        raise InputError(
            f"{harmonics} harmonics", allowed="2 or more: a single harmonic cannot start at rest"
        )
    if starts < 1:
        raise InputError(f"{starts} random starts", allowed="1 or more")
    # Friction reverses at once: with memory it has no derivative sample by sample.
    search = _Search(dynamics.without_memory(), limits, parts, harmonics, drives, criterion, rng)
    samples = sum(part.samples for part in search.parts)
    switch.prepare(starts * iterations * SLOPES * filling(dynamics.links, samples))
    with single_thread():
        motions: list[FloatArray] = []
        reached: list[tuple[bool, float]] = []
        for start in range(starts):
            motions.append(search.improve(search.choose_start(rng), iterations))
            reached.append(search.score(motions[-1]))
            if progress is not None:
                progress(start + 1, starts, min(reached)[1])
        best = motions[reached.index(min(reached))]
        return search.result(best, tuple(value for _, value in reached))


class _Search:
    """The free numbers of all parts, and what they lead to."""

    def __init__(
        self,
        dynamics: Tree,
        limits: Limits,
        parts: Sequence[Part],
        harmonics: int,
        drives: Drives,
        criterion: Criterion,
        rng: np.random.Generator,
    ) -> None:
        self.dynamics, self.limits, self.drives = dynamics, limits, drives
        self.criterion = criterion
        self.penalty = PENALTY
        self.parts = [
            FreeSeries(FourierBasis(part.duration, harmonics), limits.slower(part.speed))
            for part in parts
        ]
        identifiability = find_base_parameters(dynamics, drives=drives, rng=rng)
        self.base: IntArray = np.sort(identifiability.base)
        names = dynamics.names(drives)
        self.names = tuple(names[index] for index in self.base)

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    def split(self, x: FloatArray) -> list[FloatArray]:
        ends = np.cumsum([part.size for part in self.parts])[:-1]
        return np.split(x, ends)

    def choose_start(self, rng: np.random.Generator) -> FloatArray:
        """The best of some random motions, to be improved."""
        trials = [self.random(rng) for _ in range(TRIED)]
        states = State.concatenate([self.state(trial) for trial in trials])
        # Loops are assembled together: that is much faster than one motion after the other.
        states = self.dynamics.assemble(states)
        size = len(states) // TRIED
        values = [
            self._value(states[start : start + size]) for start in range(0, len(states), size)
        ]
        return trials[int(np.argmin(values))]

    def random(self, rng: np.random.Generator) -> FloatArray:
        return np.concatenate([part.random(rng) for part in self.parts])

    def state(self, x: FloatArray) -> State:
        """All parts, one after the other, at the samples of the search."""
        states = [part.state(y) for part, y in zip(self.parts, self.split(x), strict=True)]
        return State.concatenate(states)

    def regressor(self, state: State) -> tuple[FloatArray, FloatArray]:
        """Base columns (rows, base), and the whole table."""
        table = self.dynamics.regressor(state, self.drives)
        return table[self.base].reshape(len(self.base), -1).T, table

    def value(self, x: FloatArray) -> float:
        return self._value(self.dynamics.assemble(self.state(x)))

    def _value(self, state: State) -> float:
        W, _ = self.regressor(state)
        return evaluate_criterion(W, self.criterion)[0] + self._penalties(state)[0]

    def value_and_slope(self, x: FloatArray) -> tuple[float, FloatArray]:
        state = self.dynamics.assemble(self.state(x))
        W, table = self.regressor(state)
        value, by_W = evaluate_criterion(W, self.criterion)
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
            parts.append(part.chain_rule(y, slopes[rows]))
            first += part.samples
        return value + more, np.concatenate(parts)

    def _penalties(self, state: State, *, slopes: bool = False) -> tuple[float, State | None]:
        """What broken torque limits and distances cost, and the derivative by the motion."""
        value = 0.0
        total = [np.zeros_like(state.qd) for _ in range(3)]
        n = len(state)
        torque = self.limits.torque
        if torque is not None:
            table = self.dynamics.regressor(state, torque.drives, values=torque.values)
            used = np.tensordot(torque.values, table, axes=1) / torque.highest[:, None]
            over = np.maximum(np.abs(used) - TORQUE_MARGIN, 0.0)
            value += self.penalty * float((over**2).sum()) / n
            if slopes and over.any():
                by_torque = 2 * self.penalty * over * np.sign(used) / torque.highest[:, None] / n
                weights = torque.values[:, None, None] * by_torque
                by_motion = torque_slopes(self.dynamics, state, weights, torque.drives)
                slopes_of = (by_motion.q, by_motion.qd, by_motion.qdd)
                for part, slope in zip(total, slopes_of, strict=True):
                    part += slope
        around = self.limits.surroundings
        if around is not None and not around.free:
            points = ball_centres(self.dynamics, state)
            reach = self.dynamics.reach
            inside = np.maximum(DISTANCE_MARGIN - around.clearances(points) / reach, 0.0)
            value += self.penalty * float(((inside / DISTANCE_UNIT) ** 2).sum()) / n
            if slopes and inside.any():
                by_distance = -2 * self.penalty * inside / DISTANCE_UNIT**2 / reach / n
                pulls = (by_distance[..., None] * around.directions(points)).sum(axis=2)
                total[0] += point_slopes(self.dynamics, state, pulls)
        return value, State(*total) if slopes else None

    def improve(self, x: FloatArray, iterations: int) -> FloatArray:
        from scipy.optimize import minimize

        self.penalty = PENALTY
        for _ in range(1 + RAISES):
            outcome = minimize(
                self.value_and_slope,
                x,
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": iterations, "maxcor": 30},
            )
            x = np.asarray(outcome.x)
            if self._penalties(self.dynamics.assemble(self.state(x)))[0] < KEPT:
                break
            self.penalty *= 10
        return x

    def score(self, x: FloatArray) -> tuple[bool, float]:
        """Are limits broken, and condition number or -log det: the smaller the better, both."""
        state = self.dynamics.assemble(self.state(x))
        broken = self._penalties(state)[0] > BROKEN
        W, _ = self.regressor(state)
        reached = condition_number(W) if self.criterion is Criterion.CONDITION else -log_det(W)
        return broken, reached

    def result(self, x: FloatArray, reached: tuple[float, ...]) -> Excitation:
        parts = [part.build(y) for part, y in zip(self.parts, self.split(x), strict=True)]
        trajectory = Trajectory.joined(parts, self.limits.velocity, self.limits.acceleration)
        rate = max(part.samples * FINER / part.basis.duration for part in self.parts)
        fine = trajectory.at(np.arange(0.0, trajectory.duration, 1.0 / rate))
        states = [part.at(even_times(part, FINER)) for part in parts]
        W, _ = self.regressor(State.concatenate(states))
        return Excitation(
            trajectory,
            condition_number(W),
            log_det(W),
            self.names,
            self.limits.use(self.dynamics, fine),
            self.limits.clearance(self.dynamics, fine),
            reached,
        )
