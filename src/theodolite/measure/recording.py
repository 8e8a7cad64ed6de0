"""Recordings of a moving robot: even sampling, zero-phase filters, derivatives [Renaud2006, 5.2.1].

Positions (and velocities, where they were recorded) are resampled evenly and low-passed forwards
and backwards, so that nothing is shifted; derivatives are central differences. Torques pass the
same kind of filter. Afterwards every few samples carry all there is: the rest is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.model.dynamics import State

#: Order of the low-pass; twice that by going both ways.
ORDER = 4
#: Part of the movement's energy that must lie below the cut-off, and the reserve above it.
KEPT = 0.999
RESERVE = 5.0
#: The cut-off proposed is within these, Hz, and below this part of the sampling frequency.
SLOWEST, HIGHEST_PART = 3.0, 0.2
#: Periods of the cut-off that are left out at both ends.
EDGE = 4.0
#: A recording shorter than this many periods of the cut-off cannot be filtered.
FEWEST_PERIODS = 10
#: A robot is under way from this part of its usual highest speed; slower, stiction rules.
UNDER_WAY = 0.2
#: A joint that moves less than this does not show its parameters (radians, metres).
STILL = 1e-2
#: Part of the torque's energy near the highest frequency at which aliasing is likely.
ALIASED = 0.05


@dataclass(frozen=True, eq=False)
class Recording:
    """What was recorded: rows of time, joints and torques, SI."""

    times: FloatArray
    q: FloatArray
    torques: FloatArray
    #: Velocities and accelerations, if they were recorded.
    qd: FloatArray | None = None
    qdd: FloatArray | None = None
    name: str = "recording"

    def __post_init__(self) -> None:
        steps = np.diff(self.times)
        if len(self.times) < 20:
            raise InputError(f"only {len(self.times)} rows", where=self.name, allowed="20 or more")
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
        width = max(1, int(0.5 * self.rate))
        speed = np.convolve(speed, np.ones(width) / width, mode="same")
        fast = np.flatnonzero(speed > UNDER_WAY * np.quantile(speed, 0.95))
        return self._rows(np.arange(fast[0], fast[-1] + 1))

    def _rows(self, rows: IntArray) -> Recording:
        return Recording(
            self.times[rows],
            self.q[rows],
            self.torques[rows],
            None if self.qd is None else self.qd[rows],
            None if self.qdd is None else self.qdd[rows],
            self.name,
        )


@dataclass(frozen=True, eq=False)
class Filtered:
    """Even samples, ready for the regressor."""

    state: State
    torques: FloatArray
    #: Hz, of positions and of torques.
    cutoff: float
    rate: float
    #: Every so many samples are kept.
    decimation: int
    #: What looks wrong, in words.
    doubts: tuple[str, ...]


def proposed_cutoff(recording: Recording) -> float:
    """Well above what the movement contains, Hz."""
    even = _even(recording)
    speeds = np.gradient(even.q, axis=0)
    power = (np.abs(np.fft.rfft(speeds - speeds.mean(axis=0), axis=0)) ** 2).sum(axis=1)
    frequencies = np.fft.rfftfreq(len(even.q), 1.0 / even.rate)
    share = np.cumsum(power) / max(float(power.sum()), 1e-300)
    inside = float(frequencies[int(np.searchsorted(share, KEPT))])
    return float(np.clip(RESERVE * inside, SLOWEST, HIGHEST_PART * even.rate))


def filtered(recording: Recording, *, cutoff: float | None = None) -> Filtered:
    """Resampled, low-passed, differentiated and thinned out."""
    from scipy.signal import butter, filtfilt

    doubts = _doubts(recording)
    even = _even(recording)
    rate = even.rate
    cutoff = proposed_cutoff(recording) if cutoff is None else cutoff
    if not 0 < cutoff < 0.5 * rate:
        raise InputError(
            f"a cut-off of {cutoff:g} Hz", where=recording.name,
            allowed=f"below half of the {rate:.0f} samples per second",
        )  # fmt: skip
    if len(even.q) < FEWEST_PERIODS * rate / cutoff:
        raise InputError(
            f"{len(even.q) / rate:.1f} s are too short", where=recording.name,
            allowed=f"at least {FEWEST_PERIODS / cutoff:.1f} s at this cut-off",
            remedy="Record for longer",
        )  # fmt: skip
    b, a = butter(ORDER, cutoff / (rate / 2))

    def smooth(signal: FloatArray) -> FloatArray:
        return np.asarray(filtfilt(b, a, signal, axis=0))

    q = smooth(even.q)
    qd = np.gradient(q, 1.0 / rate, axis=0) if even.qd is None else smooth(even.qd)
    qdd = np.gradient(qd, 1.0 / rate, axis=0) if even.qdd is None else smooth(even.qdd)
    torques = smooth(even.torques)
    # Filters and differences are wrong at the ends.
    edge = int(np.ceil(EDGE * rate / cutoff))
    decimation = max(1, int(rate / (5.0 * cutoff)))
    keep = slice(edge, len(q) - edge, decimation)
    return Filtered(
        State(q[keep], qd[keep], qdd[keep]), torques[keep], cutoff, rate, decimation, tuple(doubts)
    )


def _even(recording: Recording) -> Recording:
    """The same at even times; jitter is undone by interpolation."""
    times = np.arange(recording.times[0], recording.times[-1], 1.0 / recording.rate)

    def resampled(table: FloatArray | None) -> FloatArray | None:
        if table is None:
            return None
        from scipy.interpolate import CubicSpline

        return np.asarray(CubicSpline(recording.times, table)(times))

    q, torques = resampled(recording.q), resampled(recording.torques)
    assert q is not None and torques is not None
    return Recording(
        times, q, torques, resampled(recording.qd), resampled(recording.qdd), recording.name
    )


def _doubts(recording: Recording) -> list[str]:
    found = []
    still = np.flatnonzero(np.ptp(recording.q, axis=0) < STILL)
    if len(still):
        names = ", ".join(f"joint {joint + 1}" for joint in still)
        found.append(f"{names} hardly moves: its parameters cannot be seen. Move it")
    gaps = np.diff(recording.times)
    if gaps.max() > 5 * np.median(gaps):
        found.append(f"there is a gap of {gaps.max():.2f} s in the recording")
    power = np.abs(np.fft.rfft(recording.torques - recording.torques.mean(axis=0), axis=0)) ** 2
    high = power[int(0.8 * len(power)) :].sum(axis=0) / np.maximum(power.sum(axis=0), 1e-300)
    for joint in np.flatnonzero(high > ALIASED):
        found.append(
            f"{100 * high[joint]:.0f} % of the torque of joint {joint + 1} lies near half the "
            "sampling frequency: aliasing is likely. Record faster"
        )
    return found
