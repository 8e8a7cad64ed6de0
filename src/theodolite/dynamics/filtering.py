"""From a recording to even samples for the regressor [Renaud2006, 5.2.1].

Positions (and velocities, where they were recorded) are resampled evenly and low-passed forwards
and backwards, so that nothing is shifted; derivatives are central differences. Torques stay as they
are: they and the columns of the regressor pass one low-pass in parallel afterwards (`Decimation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.decimation import KEPT_LENGTH, NO_DECIMATION, Decimation
from theodolite.dynamics.drives import State
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.recording_checks import (
    HIGHEST_PART,
    MOVEMENT,
    RESERVE,
    check_recording,
    highest_frequency,
    torque_band,
)
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError

#: Order of the low-pass of the positions; twice that by going both ways.
ORDER = 4
#: The cut-off proposed is not below this, Hz, as far as torques were recorded: friction reverses
#: within hundredths of a second, and that has to show.
LOWEST_CUTOFF = 10.0
#: It is not below this in any case, Hz.
SLOWEST_CUTOFF = 3.0
#: Samples that a proposed cut-off leaves: some for each parameter of an arm.
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
    #: Samples per second, before decimation.
    rate: float = 1.0
    decimation: Decimation = NO_DECIMATION
    #: Did the robot carry the payload?
    loaded: bool = False
    name: str = "recording"
    #: Cut-off, Hz, and why it is what it is.
    cutoff: float = 0.0
    cutoff_reason: str = ""
    #: Warnings about the recording, and notes that are only worth knowing, in words.
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(state: State) -> Run:
        """Samples without torques, to ask what could be identified from them."""
        return Run(state, np.zeros_like(state.qd))

    @property
    def rows(self) -> int:
        """Samples that remain after decimation."""
        return self.decimation.count(len(self.state))

    @property
    def times(self) -> FloatArray:
        """Their times, seconds from the first sample."""
        samples = np.arange(len(self.state))
        return samples[self.decimation.centres(slice(0, self.rows))] / self.rate

    def measured(self) -> FloatArray:
        """Torques after the low-pass, (rows, motors)."""
        return self.decimation.apply(self.torques.T).T

    def smooth_torques(self) -> FloatArray:
        """Torques below the cut-off at every sample, (n, motors)."""
        return low_pass(self.torques, self.cutoff, self.rate) if self.cutoff else self.torques


def mark_loaded(without: Sequence[Run], loaded: Sequence[Run]) -> list[Run]:
    """Runs without a payload and runs with it, marked as such."""
    return [
        *(replace(run, loaded=False) for run in without),
        *(replace(run, loaded=True) for run in loaded),
    ]


@dataclass(frozen=True)
class Cutoff:
    """A cut-off frequency of the low-pass filter, Hz, and why."""

    frequency: float
    reason: str


def propose_cutoff(recording: Recording) -> Cutoff:
    """Well above what the movement contains."""
    movement = highest_frequency(recording)
    wanted = RESERVE * movement
    reason = (
        f"{RESERVE:g} times the {movement:.2g} Hz below which {100 * MOVEMENT:g} % of the movement "
        "lies"
    )
    highest = HIGHEST_PART * recording.rate
    if wanted > highest:
        return Cutoff(
            highest,
            f"{reason} is more than {HIGHEST_PART:g} times the {recording.rate:.0f} samples/s",
        )
    # Of a short recording, enough samples must be left: 2 f (T - ends) of them.
    ends = 2 * EDGE + KEPT_LENGTH / 2
    enough = (FEWEST_KEPT / 2 + ends) / recording.duration
    if wanted < enough and enough > LOWEST_CUTOFF:
        return Cutoff(float(min(enough, highest)), f"{reason} is too low to leave enough samples")
    band = torque_band(recording)
    reversals = max(min(LOWEST_CUTOFF, band), SLOWEST_CUTOFF)
    if wanted < reversals:
        if band < LOWEST_CUTOFF:
            return Cutoff(
                float(min(max(reversals, enough), highest)),
                f"the torques hold next to nothing above {band:.2g} Hz",
            )
        return Cutoff(
            float(min(reversals, highest)), f"{reason} is too low to show friction reverse"
        )
    return Cutoff(wanted, reason)


def filter_recording(
    recording: Recording,
    *,
    cutoff: float | Cutoff | None = None,
    loaded: bool = False,
    dynamics: Tree | None = None,
) -> Run:
    """Resample, low-pass filter and differentiate a recording without interruptions.

    ``cutoff`` in Hz; by default, the one that is proposed. Accelerations of the tool, if they were
    recorded, are used with the ``dynamics`` of its robot.
    """
    if len(recording.gaps):
        raise InputError(
            f"the recording is interrupted {len(recording.gaps)} times",
            where=recording.name,
            remedy="Use the parts between the interruptions, as prepare_runs does",
        )
    if cutoff is None:
        cutoff = propose_cutoff(recording)
    elif not isinstance(cutoff, Cutoff):
        cutoff = Cutoff(cutoff, "as requested")
    even = recording.resampled
    check_cutoff(even, cutoff.frequency)
    state, torques = smooth_samples(even, cutoff.frequency, dynamics)
    rate = even.rate / coarsening(even.rate, cutoff.frequency)
    decimation = Decimation.below(cutoff.frequency, rate)
    edge = edge_samples(rate, cutoff.frequency)
    keep = slice(edge, len(state) - edge)
    decimation.check_length(len(state) - 2 * edge, recording.name)
    return Run(
        state[keep],
        torques[keep],
        rate,
        decimation,
        loaded,
        recording.name,
        cutoff.frequency,
        cutoff.reason,
        tuple(check_recording(recording)),
    )


def coarsening(rate: float, cutoff: float) -> int:
    """One of so many even samples is used: far above the cut-off more add nothing."""
    return max(1, int(rate / (FINEST * cutoff)))


def edge_samples(rate: float, cutoff: float) -> int:
    """Samples left out at both ends, where filters and differences are wrong."""
    return int(np.ceil(EDGE * rate / cutoff))


def smooth_samples(
    even: Recording, cutoff: float, dynamics: Tree | None
) -> tuple[State, FloatArray]:
    """States after the low-pass, and torques as they are, both coarsened."""
    state = differentiate(even, cutoff)
    if even.tool_acceleration is not None:
        from theodolite.dynamics.tool_acceleration import use_tool_acceleration

        smooth = low_pass(even.tool_acceleration, cutoff, even.rate)
        state = use_tool_acceleration(dynamics, state, smooth)
    coarser = coarsening(even.rate, cutoff)
    if coarser == 1:
        return state, even.torques
    from scipy.signal import decimate

    return state[::coarser], np.asarray(decimate(even.torques, coarser, ftype="fir", axis=0))


def check_cutoff(even: Recording, cutoff: float) -> None:
    """Refuse a cut-off that does not suit the recording."""
    if not 0 < cutoff < 0.5 * even.rate:
        raise InputError(
            f"a cut-off of {cutoff:g} Hz", where=even.name,
            allowed=f"above 0 and below half of the {even.rate:.3g} samples per second",
            remedy="Choose another cut-off, or check the unit of the times",
        )  # fmt: skip
    if len(even.q) < FEWEST_PERIODS * even.rate / cutoff:
        raise InputError(
            f"{len(even.q) / even.rate:.1f} s are too short", where=even.name,
            allowed=f"at least {FEWEST_PERIODS / cutoff:.1f} s at this cut-off",
            remedy="Record for longer, or raise the cut-off",
        )  # fmt: skip


def differentiate(even: Recording, cutoff: float) -> State:
    """Positions, velocities and accelerations after the low-pass, at every even sample."""
    step = 1.0 / even.rate
    q = low_pass(even.q, cutoff, even.rate)
    qd = np.gradient(q, step, axis=0) if even.qd is None else low_pass(even.qd, cutoff, even.rate)
    if even.qdd is None:
        return State(q, qd, np.gradient(qd, step, axis=0), even.temperatures)
    return State(q, qd, low_pass(even.qdd, cutoff, even.rate), even.temperatures)


def low_pass(signal: FloatArray, cutoff: float, rate: float) -> FloatArray:
    """A signal (n, ...) without what lies above a cut-off, Hz; nothing is shifted."""
    from scipy.signal import butter, sosfiltfilt

    # In second-order sections: the coefficients of one polynomial of degree four lose all their
    # digits where the cut-off is a small part of the rate.
    sections = butter(ORDER, cutoff, fs=rate, output="sos")
    padding = min(int(PADDING * rate / cutoff), len(signal) - 1)
    return np.asarray(sosfiltfilt(sections, signal, axis=0, padlen=padding))
