"""From a recording to even samples for the regressor [Renaud2006, 5.2.1].

Positions (and velocities, where they were recorded) are resampled evenly and low-passed forwards
and backwards, so that nothing is shifted; derivatives are central differences. Torques stay as they
are: they and the columns of the regressor pass one low-pass in parallel afterwards (`Thinning`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.decimation import KEPT_LENGTH, WHOLE, Thinning
from theodolite.dynamics.drives import State
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.recording_checks import (
    HIGHEST_PART,
    KEPT,
    RESERVE,
    doubts_about,
    gap_notes,
    movement_below,
)
from theodolite.errors import InputError

#: Order of the low-pass of the positions; twice that by going both ways.
ORDER = 4
#: The cut-off proposed is not below this, Hz.
SLOWEST = 3.0
#: Samples that a proposed cut-off leaves.
FEWEST_KEPT = 60
#: Periods of the cut-off by which a recording is extended at both ends for the filter to settle;
#: SciPy's own extension is a number of samples, far too short at high rates.
PADDING = 2.0
#: Periods of the cut-off that are left out at both ends; the second low-pass takes two more.
EDGE = 3.0
#: Samples per period of the cut-off beyond which the regressor is not filled.
FINEST = 25.0
#: A recording shorter than this many periods of the cut-off cannot be filtered.
FEWEST_PERIODS = 10


@dataclass(frozen=True, eq=False)
class Run:
    """Even samples of one run, and the low-pass that torques and columns pass in parallel."""

    state: State
    #: As recorded, (n, motors).
    torques: FloatArray
    #: Samples per second, before thinning.
    rate: float = 1.0
    thinning: Thinning = WHOLE
    #: Did the robot carry the payload?
    loaded: bool = False
    name: str = "recording"
    #: Cut-off, Hz, and why it is what it is.
    cutoff: float = 0.0
    reason: str = ""
    #: What looks wrong, in words, and what is only worth saying.
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(state: State) -> Run:
        """Samples without torques: what could be identified from them?"""
        return Run(state, np.zeros_like(state.qd))

    @property
    def rows(self) -> int:
        """Samples that remain after thinning."""
        return self.thinning.count(len(self.state))

    @property
    def times(self) -> FloatArray:
        """When they are, seconds from the first sample."""
        samples = np.arange(len(self.state))
        return samples[self.thinning.middle(slice(0, self.rows))] / self.rate

    def measured(self) -> FloatArray:
        """Torques after the low-pass, (rows, motors)."""
        return self.thinning.thinned(self.torques.T).T


def with_and_without(without: Sequence[Run], loaded: Sequence[Run]) -> list[Run]:
    """Runs without a payload and runs with it, marked as such."""
    return [
        *(replace(run, loaded=False) for run in without),
        *(replace(run, loaded=True) for run in loaded),
    ]


@dataclass(frozen=True)
class Cutoff:
    """A frequency of the low-pass, Hz, and why."""

    frequency: float
    reason: str


def proposed_cutoff(recording: Recording) -> Cutoff:
    """Well above what the movement contains."""
    inside = movement_below(recording)
    wanted = RESERVE * inside
    reason = f"{100 * KEPT:g} % of the movement lies below {inside:.2g} Hz, {RESERVE:g} times that"
    highest = HIGHEST_PART * recording.rate
    if wanted > highest:
        return Cutoff(
            highest, f"{reason} is more than {HIGHEST_PART:g} of the {recording.rate:.0f} samples/s"
        )
    # Of a short recording, enough samples must be left: 2 f (T - ends) of them.
    ends = 2 * EDGE + KEPT_LENGTH / 2
    least = (FEWEST_KEPT / 2 + ends) / (recording.times[-1] - recording.times[0])
    if wanted < max(SLOWEST, least):
        least = float(min(max(SLOWEST, least), highest))
        return Cutoff(least, f"{reason} is less than the least that leaves enough samples")
    return Cutoff(wanted, reason)


def filtered_parts(
    recording: Recording, *, cutoff: float | None = None, loaded: bool = False
) -> list[Run]:
    """Every part of a recording between its interruptions, at one cut-off."""
    if not len(recording.gaps):
        return [filtered(recording, cutoff=cutoff, loaded=loaded)]
    parts = recording.between_gaps()
    if cutoff is None:
        cutoff = max((proposed_cutoff(part).frequency for part in parts), default=SLOWEST)
    found, refused = [], InputError("is interrupted all the time", where=recording.name)
    for part in parts:
        try:
            run = filtered(part, cutoff=cutoff, loaded=loaded)
            found.append(replace(run, notes=tuple(gap_notes(recording))))
        except InputError as error:
            refused = error
    if not found:
        raise refused
    return found


def filtered(recording: Recording, *, cutoff: float | None = None, loaded: bool = False) -> Run:
    """Resampled, low-passed and differentiated, with the low-pass for both sides of the model."""
    from scipy.signal import butter, decimate, sosfiltfilt

    if len(recording.gaps):
        raise InputError(
            f"the recording is interrupted {len(recording.gaps)} times",
            where=recording.name,
            remedy="Take the parts between: Recording.between_gaps()",
        )
    even = recording.even()
    rate = even.rate
    chosen = proposed_cutoff(recording) if cutoff is None else Cutoff(cutoff, "as asked for")
    frequency = chosen.frequency
    if not 0 < frequency < 0.5 * rate:
        raise InputError(
            f"a cut-off of {frequency:g} Hz", where=recording.name,
            allowed=f"above 0 and below half of the {rate:.3g} samples per second",
            remedy="Give another --cutoff, or check the unit of the times",
        )  # fmt: skip
    if len(even.q) < FEWEST_PERIODS * rate / frequency:
        raise InputError(
            f"{len(even.q) / rate:.1f} s are too short", where=recording.name,
            allowed=f"at least {FEWEST_PERIODS / frequency:.1f} s at this cut-off",
            remedy="Record for longer, or raise --cutoff",
        )  # fmt: skip
    # In second-order sections: the coefficients of one polynomial of degree four lose all their
    # digits where the cut-off is a small part of the rate.
    sections = butter(ORDER, frequency, fs=rate, output="sos")
    padding = int(PADDING * rate / frequency)

    def smooth(signal: FloatArray) -> FloatArray:
        return np.asarray(sosfiltfilt(sections, signal, axis=0, padlen=padding))

    q = smooth(even.q)
    qd = np.gradient(q, 1.0 / rate, axis=0) if even.qd is None else smooth(even.qd)
    qdd = np.gradient(qd, 1.0 / rate, axis=0) if even.qdd is None else smooth(even.qdd)
    torques = even.torques
    coarser = int(rate / (FINEST * frequency))
    if coarser > 1:
        # Far above the cut-off there is nothing to be had from more samples.
        torques = np.asarray(decimate(torques, coarser, ftype="fir", axis=0))
        q, qd, qdd = q[::coarser], qd[::coarser], qdd[::coarser]
        rate = rate / coarser
    thinning = Thinning.below(frequency, rate)
    # Filters and differences are wrong at the ends.
    edge = int(np.ceil(EDGE * rate / frequency))
    keep = slice(edge, len(q) - edge)
    thinning.check(len(q) - 2 * edge, recording.name)
    return Run(
        State(q, qd, qdd)[keep],
        torques[keep],
        rate,
        thinning,
        loaded,
        recording.name,
        frequency,
        chosen.reason,
        tuple(doubts_about(recording)),
    )
