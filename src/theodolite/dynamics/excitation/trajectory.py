"""Trajectories of motors: finite Fourier series that start and end at rest, and moves between them.

    q_j(t) = c_j + sum_k a_jk sin(k w t) + b_jk cos(k w t),      w = 2 pi / duration

Rest at both ends is two linear conditions on the coefficients, so they are written in a basis that
satisfies them: ``q = B p``, with the same B for every motor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import State
from theodolite.errors import InputError

#: Fewer samples per second, or more in all, are a mistake in the rate or the duration.
LOWEST_RATE, MOST_SAMPLES = 1.0, 1e6


def check_rate(rate: float, duration: float) -> None:
    """Refuse a rate, Hz, at which nobody would sample a motion."""
    if not LOWEST_RATE <= rate <= MOST_SAMPLES / duration:
        raise InputError(
            f"a rate of {rate:g} samples per second",
            allowed=f"{LOWEST_RATE:g} to {MOST_SAMPLES / duration:g} for {duration:g} s",
        )


class Segment(Protocol):
    """Something to move along for a while."""

    @property
    def duration(self) -> float: ...

    def at(self, times: FloatArray) -> State: ...


@dataclass(frozen=True)
class FourierBasis:
    """Functions of time whose sums are at rest at 0 and at the duration."""

    duration: float
    harmonics: int

    @property
    def size(self) -> int:
        """A constant, and all sines and cosines less two."""
        return 2 * self.harmonics - 1

    @cached_property
    def _coefficients(self) -> FloatArray:
        """Sine and cosine coefficients, (2 harmonics, size - 1), without speed at the ends."""
        from scipy.linalg import block_diag, null_space

        k = np.arange(1, self.harmonics + 1, dtype=np.float64)
        # By the size of the motion, not of the coefficients: q' and q'' weigh high harmonics.
        return np.asarray(block_diag(null_space(k[None]), null_space((k**2)[None])))

    def tables(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values, first and second derivatives at given times, (n, size) each."""
        k = np.arange(1, self.harmonics + 1)
        w = 2 * np.pi * k / self.duration
        sin, cos = np.sin(np.outer(times, w)), np.cos(np.outer(times, w))
        one, zero = np.ones((len(times), 1)), np.zeros((len(times), 1))
        parts = (
            np.concatenate([sin, cos], axis=1),
            np.concatenate([cos * w, -sin * w], axis=1),
            np.concatenate([-sin * w**2, -cos * w**2], axis=1),
        )
        heads = (one, zero, zero)
        values, rates, changes = (
            np.concatenate([head, part @ self._coefficients], axis=1)
            for head, part in zip(heads, parts, strict=True)
        )
        return values, rates, changes


@dataclass(frozen=True, eq=False)
class FourierPart:
    """One Fourier series per motor: coefficients in the basis, (size, motors)."""

    basis: FourierBasis
    coefficients: FloatArray

    @property
    def duration(self) -> float:
        return self.basis.duration

    def at(self, times: FloatArray) -> State:
        return State(*(table @ self.coefficients for table in self.basis.tables(times)))


@dataclass(frozen=True, eq=False)
class Move:
    """From rest to rest along a polynomial of degree five."""

    start: FloatArray
    end: FloatArray
    duration: float

    @staticmethod
    def within(
        start: FloatArray, end: FloatArray, velocity: FloatArray, acceleration: FloatArray
    ) -> Move:
        """As fast as the limits allow."""
        distance = np.abs(end - start)
        # Highest speed 15/8, highest acceleration 10/sqrt 3, of a unit move in unit time.
        by_speed = float((1.875 * distance / velocity).max())
        by_change = float(np.sqrt((10 / np.sqrt(3) * distance / acceleration).max()))
        return Move(start, end, max(by_speed, by_change) * 1.001)

    def at(self, times: FloatArray) -> State:
        s = np.clip(times / self.duration, 0.0, 1.0)[:, None] if self.duration else times[:, None]
        distance = self.end - self.start
        return State(
            self.start + distance * s**3 * (10 - 15 * s + 6 * s**2),
            distance * 30 * s**2 * (1 - s) ** 2 / max(self.duration, 1e-12),
            distance * 60 * s * (1 - s) * (1 - 2 * s) / max(self.duration, 1e-12) ** 2,
        )


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Segments one after the other."""

    segments: tuple[Segment, ...]

    @staticmethod
    def joined(
        parts: Sequence[FourierPart], velocity: FloatArray, acceleration: FloatArray
    ) -> Trajectory:
        """Parts with moves between them, from the end of each to the start of the next."""
        segments: list[Segment] = [parts[0]]
        for before, part in pairwise(parts):
            end = before.at(np.array([before.duration])).q[0]
            start = part.at(np.zeros(1)).q[0]
            segments += [Move.within(end, start, velocity, acceleration), part]
        return Trajectory(tuple(segments))

    @property
    def duration(self) -> float:
        return sum(segment.duration for segment in self.segments)

    def at(self, times: FloatArray) -> State:
        """The motion at increasing times, seconds from its start."""
        ends = np.cumsum([segment.duration for segment in self.segments])
        which = np.minimum(np.searchsorted(ends, times, side="right"), len(ends) - 1)
        states = []
        for number, segment in enumerate(self.segments):
            start = ends[number] - segment.duration
            states.append(segment.at(times[which == number] - start))
        return State.concatenate(states)

    def sample(self, rate: float) -> tuple[FloatArray, State]:
        """Even times from zero, at so many Hz, and the motion there."""
        check_rate(rate, self.duration)
        times = np.arange(int(np.floor(self.duration * rate + 1e-9)) + 1) / rate
        return times, self.at(times)
