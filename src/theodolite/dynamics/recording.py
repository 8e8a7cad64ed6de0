"""A recording of a moving robot, as it was taken: rows of time, positions and torques."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError

#: A robot moves if its smoothed speed exceeds this part of its usual highest one. Slower than
#: that, friction is dominated by stiction, which no term of the model describes.
MOVING = 0.2
#: Seconds over which the speed is smoothed, so that a jump of one encoder step is no movement.
SMOOTHED = 0.5
FEWEST_ROWS = 20
#: A step in time is an interruption if it is this many times the usual one and this long, s.
GAP, LONGEST_STEP = 5.0, 0.05


@dataclass(frozen=True, eq=False)
class Recording:
    """What was recorded: rows of time, motor positions and torques, SI."""

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
                f"row {row}: the time does not increase", where=self.name, remedy="Sort the rows"
            )

    @property
    def rate(self) -> float:
        """Samples per second, by the median step."""
        return float(1.0 / np.median(np.diff(self.times)))

    @property
    def duration(self) -> float:
        """Seconds from the first row to the last."""
        return float(self.times[-1] - self.times[0])

    def between(self, start: float, stop: float) -> Recording:
        """The rows between two times, in seconds from the first row."""
        since = self.times - self.times[0]
        return self._rows(np.flatnonzero((since >= start) & (since <= stop)))

    def trim_rest(self) -> Recording:
        """Without the standstill before the first movement and after the last."""
        speed = np.abs(np.gradient(self.q, self.times, axis=0)).max(axis=1)
        width = min(max(1, int(SMOOTHED * self.rate)), len(speed))
        speed = np.convolve(speed, np.ones(width) / width, mode="same")
        fast = np.flatnonzero(speed > MOVING * np.quantile(speed, 0.95))
        if not len(fast):
            return self
        return self._rows(np.arange(fast[0], fast[-1] + 1))

    @property
    def gaps(self) -> IntArray:
        """Rows after which the recording is interrupted."""
        steps = np.diff(self.times)
        return np.flatnonzero(steps > max(GAP * float(np.median(steps)), LONGEST_STEP))

    def split_at_gaps(self) -> list[Recording]:
        """The parts between interruptions that are long enough to be recordings."""
        edges = [0, *(self.gaps + 1).tolist(), len(self.times)]
        parts = [np.arange(start, end) for start, end in pairwise(edges)]
        return [self._rows(rows) for rows in parts if len(rows) >= FEWEST_ROWS]

    @cached_property
    def resampled(self) -> Recording:
        """The same at even times: jitter is removed by interpolation."""
        from scipy.interpolate import CubicSpline

        times = np.arange(self.times[0], self.times[-1], 1.0 / self.rate)

        def at_even_times(table: FloatArray) -> FloatArray:
            return np.asarray(CubicSpline(self.times, table)(times))

        return replace(
            self,
            times=times,
            q=at_even_times(self.q),
            torques=at_even_times(self.torques),
            qd=None if self.qd is None else at_even_times(self.qd),
            qdd=None if self.qdd is None else at_even_times(self.qdd),
        )

    def _rows(self, rows: IntArray) -> Recording:
        return replace(
            self,
            times=self.times[rows],
            q=self.q[rows],
            torques=self.torques[rows],
            qd=None if self.qd is None else self.qd[rows],
            qdd=None if self.qdd is None else self.qdd[rows],
        )
