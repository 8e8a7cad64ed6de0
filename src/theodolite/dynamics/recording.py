"""A recording of a moving robot, as it was taken: rows of time, positions and torques."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.errors import InputError

#: A robot moves if the smoothed speed of its hinges, or of its slides, exceeds this part of their
#: usual highest one. Slower than that, friction is dominated by stiction, which no term of the
#: model describes.
MOVING = 0.2
#: Seconds over which the speed is smoothed, so that a jump of one encoder step is no movement.
SMOOTHED = 0.5
#: A joint stands still if its whole range is less than this many of its usual steps from row to
#: row. Noise has a range of 7 to 10.5 of them in up to a million rows; a movement that is sampled
#: 25 times in each period, one of 11.2.
NOISE_STEPS = 11.0
FEWEST_ROWS = 20
#: Rows are repeated by a driver if these are at least this part of all, there are so many
#: repetitions, and most of them are at most so many times as long as usual.
REPEATED, MANY_REPEATS, LONGER_REPEAT = 0.005, 10, 4.0
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
    #: Which joints slide, (motors,); None where none does.
    slides: BoolArray | None = None
    #: What is worth knowing about how it was read, in words.
    notes: tuple[str, ...] = ()
    #: Temperatures of the joints, degrees C, (n, motors), and acceleration of the tool in the
    #: world, m/s2, (n, 3), if they were recorded.
    temperatures: FloatArray | None = None
    tool_acceleration: FloatArray | None = None
    #: Samples per second, where the times are even: their differences are rounded.
    even_rate: float | None = None

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
        if self.sliding.shape != self.q.shape[1:]:
            raise InputError(
                f"positions of {self.q.shape[1]} joints, for {len(self.sliding)} that turn or "
                "slide",
                where=self.name,
                remedy="Check that the recording is of this robot",
            )

    @property
    def rate(self) -> float:
        """Samples per second, by the median step."""
        if self.even_rate is not None:
            return self.even_rate
        return float(1.0 / np.median(np.diff(self.times)))

    @property
    def duration(self) -> float:
        """Seconds from the first row to the last."""
        return float(self.times[-1] - self.times[0])

    @property
    def sliding(self) -> BoolArray:
        """Which joints slide, (motors,)."""
        return np.zeros(self.q.shape[1], dtype=bool) if self.slides is None else self.slides

    @cached_property
    def kinds(self) -> list[IntArray]:
        """The joints that turn, and those that slide: only positions of one kind are comparable.

        A kind that stands still shows nothing but noise, and is left out unless all do.
        """
        kinds = [np.flatnonzero(~self.sliding), np.flatnonzero(self.sliding)]
        moving = [kind for kind in kinds if any(self._moves(int(joint)) for joint in kind)]
        return moving or [kind for kind in kinds if len(kind)]

    @property
    def moves(self) -> bool:
        """Does any joint move, as far as can be told from its noise?"""
        return any(self._moves(joint) for joint in range(self.q.shape[1]))

    def _moves(self, joint: int) -> bool:
        steps = np.abs(np.diff(self.q[:, joint]))
        # Most steps of a coarse encoder are zero.
        usual = np.median(steps[steps > 0]) if steps.any() else np.inf
        return bool(np.ptp(self.q[:, joint]) > NOISE_STEPS * usual)

    def drop_repeats(self) -> Recording:
        """Without rows that repeat the one before: the driver was slower than its logger.

        Only repetitions count that come again and again: a robot at rest repeats itself too, but
        rarely. Torques may come from a faster driver than positions.
        """
        if not self.torques.any():
            return self
        motion = [part for part in (self.q, self.qd, self.qdd) if part is not None]
        for what, channels in (("", [*motion, self.torques]), ("the positions of ", motion)):
            table = np.concatenate(channels, axis=1)
            same = np.concatenate([[False], (np.diff(table, axis=0) == 0).all(axis=1)])
            if self._repeats_are_short(same):
                note = (
                    f"{int(same.sum())} of {len(same)} rows repeat {what}the row before: the "
                    "driver is slower than its logger. They are left out"
                )
                return replace(self._rows(np.flatnonzero(~same)), notes=(*self.notes, note))
        return self

    def _repeats_are_short(self, same: BoolArray) -> bool:
        share = float(same.mean())
        if share < REPEATED:
            return False
        edges = np.flatnonzero(np.diff(np.concatenate([[0], same, [0]])))
        lengths = edges[1::2] - edges[::2]
        usual = float(np.median(lengths))
        many = len(lengths) >= MANY_REPEATS
        return many and bool(np.quantile(lengths, 0.9) <= LONGER_REPEAT * usual)

    def between(self, start: float, stop: float) -> Recording:
        """The rows between two times, in seconds from the first row."""
        since = self.times - self.times[0]
        return self._rows(np.flatnonzero((since >= start) & (since <= stop)))

    def trim_rest(self) -> Recording:
        """Without the standstill before the first movement and after the last."""
        speeds = np.abs(np.gradient(self.q, self.times, axis=0))
        width = min(max(1, int(SMOOTHED * self.rate)), len(speeds))
        moves = np.zeros(len(speeds), dtype=bool)
        for kind in self.kinds:
            speed = np.convolve(speeds[:, kind].max(axis=1), np.ones(width) / width, mode="same")
            moves |= speed > MOVING * np.quantile(speed, 0.95)
        fast = np.flatnonzero(moves)
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
        # From the first row on: seconds since 1970 leave too few digits for the step.
        since = self.times - self.times[0]
        return self.at_even_times(since, np.arange(0.0, since[-1], 1.0 / self.rate), self.rate)

    def at_even_times(self, since: FloatArray, even: FloatArray, rate: float) -> Recording:
        """The same at other times; both are seconds ``since`` a common start."""
        from scipy.interpolate import CubicSpline

        def interpolated(table: FloatArray) -> FloatArray:
            return np.asarray(CubicSpline(since, table)(even))

        start = self.times[0] - since[0]
        return replace(self._changed(start + even, interpolated), even_rate=rate)

    def _changed(self, times: FloatArray, change: Callable[[FloatArray], FloatArray]) -> Recording:
        """The same at other times, with every channel that was recorded changed alike."""
        names = ("q", "torques", "qd", "qdd", "temperatures", "tool_acceleration")
        tables = {name: getattr(self, name) for name in names}
        changed: dict[str, Any] = {
            name: None if table is None else change(table) for name, table in tables.items()
        }
        return replace(self, times=times, even_rate=None, **changed)

    def _rows(self, rows: IntArray) -> Recording:
        return self._changed(self.times[rows], lambda table: table[rows])
