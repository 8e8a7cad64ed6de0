"""A recording of a moving robot, as it was taken: rows of time, positions and torques."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError

#: A robot is under way from this part of its usual highest speed; slower, stiction rules.
UNDER_WAY = 0.2
FEWEST_ROWS = 20
#: A step in time is an interruption from this many times the usual one on, and from so many s on.
GAP, LONGEST_STEP = 5.0, 0.05


@dataclass(frozen=True, eq=False)
class Recording:
    """What was recorded: rows of time, motors and torques, SI."""

    times: FloatArray
    q: FloatArray
    torques: FloatArray
    #: Velocities and accelerations, if they were recorded.
    qd: FloatArray | None = None
    qdd: FloatArray | None = None
    name: str = "recording"

    def __post_init__(self) -> None:
        if len(self.times) < FEWEST_ROWS:
            raise InputError(
                f"only {len(self.times)} rows", where=self.name, allowed=f"{FEWEST_ROWS} or more"
            )
        steps = np.diff(self.times)
        if (steps <= 0).any():
            row = int(np.argmax(steps <= 0)) + 2
            raise InputError(
                f"row {row}: the time does not go on", where=self.name, remedy="Sort the rows"
            )

    @property
    def rate(self) -> float:
        """Samples per second, the usual ones."""
        return float(1.0 / np.median(np.diff(self.times)))

    def part(self, start: float, stop: float) -> Recording:
        """What lies between two times, seconds from the beginning."""
        since = self.times - self.times[0]
        return self._rows(np.flatnonzero((since >= start) & (since <= stop)))

    def moving(self) -> Recording:
        """Without the rest before the first and after the last movement."""
        speed = np.abs(np.gradient(self.q, self.times, axis=0)).max(axis=1)
        # Over half a second, so that a jump of one encoder step is no movement.
        width = min(max(1, int(0.5 * self.rate)), len(speed))
        speed = np.convolve(speed, np.ones(width) / width, mode="same")
        fast = np.flatnonzero(speed > UNDER_WAY * np.quantile(speed, 0.95))
        if not len(fast):
            return self
        return self._rows(np.arange(fast[0], fast[-1] + 1))

    @property
    def gaps(self) -> IntArray:
        """Rows after which the recording is interrupted."""
        steps = np.diff(self.times)
        return np.flatnonzero(steps > max(GAP * float(np.median(steps)), LONGEST_STEP))

    def between_gaps(self) -> list[Recording]:
        """The pieces between interruptions that are long enough to be recordings."""
        edges = [0, *(self.gaps + 1).tolist(), len(self.times)]
        pieces = [np.arange(start, end) for start, end in pairwise(edges)]
        return [self._rows(rows) for rows in pieces if len(rows) >= FEWEST_ROWS]

    def even(self) -> Recording:
        """The same at even times; jitter is undone by interpolation."""
        from scipy.interpolate import CubicSpline

        times = np.arange(self.times[0], self.times[-1], 1.0 / self.rate)

        def resampled(table: FloatArray) -> FloatArray:
            return np.asarray(CubicSpline(self.times, table)(times))

        return Recording(
            times,
            resampled(self.q),
            resampled(self.torques),
            None if self.qd is None else resampled(self.qd),
            None if self.qdd is None else resampled(self.qdd),
            self.name,
        )

    def _rows(self, rows: IntArray) -> Recording:
        return Recording(
            self.times[rows],
            self.q[rows],
            self.torques[rows],
            None if self.qd is None else self.qd[rows],
            None if self.qdd is None else self.qdd[rows],
            self.name,
        )
