"""What looks wrong with a recording before any model is fitted, in words with the remedy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.dynamics.recording import Recording

#: A position jumps if its speed exceeds the usual one and that of the rows beside it by this
#: factor, and the step is this part of the joint's whole movement: no motor accelerates like that.
#: Where it comes straight back, the factor is larger than the one that normal noise reaches, seven.
JUMP_FACTOR, BACK_FACTOR, JUMP_PART = 5.0, 20.0, 0.05
#: A hinge that jumps by a whole turn, within half a radian, is an angle that wraps.
NEAR_TURN = 0.5
#: A torque that changes by less than this part of the largest one never changes.
CONSTANT = 1e-9
#: Aliasing is likely if this part of a torque's power lies in the highest part of its band. White
#: noise has four times as much there; a torque that is sampled fast enough, hardly any.
ALIASED, HIGHEST_BAND = 0.05, 0.2
#: The movement lies below the frequency that holds this part of the power of the speeds, of hinges
#: or of slides, whichever is higher. The cut-off is RESERVE times that, so that a low-pass of order
#: four run both ways keeps amplitudes to 1e-5, and at most HIGHEST_PART of the sampling rate: then
#: central differences of the movement are right to 1 %.
MOVEMENT, RESERVE, HIGHEST_PART = 0.999, 5.0, 0.2
#: Torques lie below the frequency that holds this part of their power: all but 0.5 % of their rms.
ALL_TORQUE = 1.0 - 0.005**2
#: A recorded derivative may differ from the computed one by this factor before it is doubted, if
#: the computed one explains this part of its power.
AGREES, EXPLAINED = 1.3, 0.8
#: Factors of other units, recognised to a tenth.
UNIT_FACTORS = {180 / np.pi: "degrees", 1e3: "thousandths", 60 / (2 * np.pi): "turns per minute"}
RECOGNISED = 0.1


def check_recording(recording: Recording) -> list[str]:
    """Warnings about a recording, none where it looks right."""
    return [
        *_jumps(recording),
        *_constant_torques(recording),
        *_slow_sampling(recording),
        *_aliasing(recording),
        *_derivatives(recording),
    ]


def highest_frequency(recording: Recording) -> float:
    """The frequency below which nearly all of the movement lies, Hz."""
    even = recording.resampled
    speeds = np.gradient(even.q, axis=0)
    # A window keeps the ends from looking like fast movements.
    speeds = (speeds - speeds.mean(axis=0)) * np.hanning(len(speeds))[:, None]
    powers = np.abs(np.fft.rfft(speeds, axis=0)) ** 2
    frequencies = np.fft.rfftfreq(len(even.q), 1.0 / even.rate)
    return max(_band(powers[:, kind].sum(axis=1), frequencies) for kind in recording.kinds)


def torque_band(recording: Recording) -> float:
    """The frequency above which torques hold next to nothing, Hz.

    A sensor's noise alone is more than that, so they were low-passed when they were recorded.
    """
    even = recording.resampled
    torques = (even.torques - even.torques.mean(axis=0)) * np.hanning(len(even.q))[:, None]
    powers = np.abs(np.fft.rfft(torques, axis=0)) ** 2
    frequencies = np.fft.rfftfreq(len(even.q), 1.0 / even.rate)
    return float(np.median([_band(power, frequencies, ALL_TORQUE) for power in powers.T]))


def _band(power: FloatArray, frequencies: FloatArray, part: float = MOVEMENT) -> float:
    """The frequency below which nearly all of some power lies, Hz."""
    if not power.any():
        return 0.0
    share = np.cumsum(power) / power.sum()
    return float(frequencies[min(int(np.searchsorted(share, part)), len(frequencies) - 1)])


def note_gaps(recording: Recording) -> list[str]:
    """Interruptions, which are left out."""
    steps = np.diff(recording.times)
    since = recording.times - recording.times[0]
    return [
        f"the recording is interrupted for {steps[row]:.2f} s, {since[row]:.2f} s after its start; "
        "the parts before and after are used separately"
        for row in recording.gaps
    ]


def _jumps(recording: Recording) -> Iterator[str]:
    """Positions that change faster than any joint does."""
    changes = np.diff(recording.q, axis=0)
    velocities = changes / np.diff(recording.times)[:, None]
    for joint, slides in enumerate(recording.sliding):
        column, velocity = np.abs(changes[:, joint]), velocities[:, joint]
        jumps = _spikes(velocity) & (column > JUMP_PART * np.ptp(recording.q[:, joint]))
        if jumps.any():
            row = int(np.argmax(jumps))
            wraps = not slides and abs(column[row] - 2 * np.pi) < NEAR_TURN
            turn = ": a whole turn" if wraps else ""
            yield (
                f"the position of joint {joint + 1} jumps by {column[row]:.2f} (rad or m), "
                f"{recording.times[row] - recording.times[0]:.2f} s from the start{turn}. Unwrap "
                "or remove it"
            )


def _spikes(velocity: FloatArray) -> BoolArray:
    """Where a joint is far faster than usual, and than in the rows before and after."""
    speed = np.abs(velocity)
    # Most steps of a coarse encoder are zero; the others are no jumps.
    usual = np.median(speed[speed > 0]) if speed.any() else 0.0
    forth, back = _neighbours(np.maximum(velocity, 0.0)), _neighbours(np.maximum(-velocity, 0.0))
    along = np.where(velocity > 0, forth, back)
    away = speed > JUMP_FACTOR * np.maximum(np.maximum(forth, back), usual)
    return away | (speed > BACK_FACTOR * np.maximum(along, usual))


def _neighbours(speed: FloatArray) -> FloatArray:
    """The larger of the numbers before and after each."""
    padded = np.pad(speed, 1)
    return np.maximum(padded[:-2], padded[2:])


def _constant_torques(recording: Recording) -> Iterator[str]:
    spans = np.ptp(recording.torques, axis=0)
    for joint in np.flatnonzero(spans <= CONSTANT * np.abs(recording.torques).max(initial=0.0)):
        yield (
            f"the torque of joint {joint + 1} never changes. Check that its column is the right "
            "one and that its sensor works"
        )


def _slow_sampling(recording: Recording) -> Iterator[str]:
    highest = highest_frequency(recording)
    if RESERVE * highest > HIGHEST_PART * recording.rate:
        yield (
            f"the movement reaches {highest:.2g} Hz, too much for {recording.rate:.3g} samples per "
            f"second: aliasing is likely. Record at {RESERVE * highest / HIGHEST_PART:.0f} Hz or "
            "more"
        )


def _aliasing(recording: Recording) -> Iterator[str]:
    power = np.abs(np.fft.rfft(recording.torques - recording.torques.mean(axis=0), axis=0)) ** 2
    whole = power.sum(axis=0)
    high = power[int((1.0 - HIGHEST_BAND) * len(power)) :].sum(axis=0)
    for joint in np.flatnonzero(high > ALIASED * whole):
        yield (
            f"{100 * high[joint] / whole[joint]:.0f} % of the torque of joint {joint + 1} lies "
            "near half the sampling frequency: it is noise, or aliasing is likely. Record at a "
            "higher rate"
        )


def _derivatives(recording: Recording) -> Iterator[str]:
    """Recorded velocities and accelerations against those of the positions."""
    speeds = np.gradient(recording.q, recording.times, axis=0)
    if recording.qd is not None:
        yield from _compare("velocity", speeds, recording.qd)
        speeds = recording.qd
    if recording.qdd is not None:
        changes = np.gradient(speeds, recording.times, axis=0)
        yield from _compare("acceleration", changes, recording.qdd)


def _compare(what: str, computed: FloatArray, recorded: FloatArray) -> Iterator[str]:
    for joint, (ours, theirs) in enumerate(zip(computed.T, recorded.T, strict=True)):
        square, product = float(ours @ ours), float(ours @ theirs)
        if square == 0 or product == 0:
            continue
        factor = product / square
        explained = product**2 / (square * float(theirs @ theirs))
        if explained < EXPLAINED or 1 / AGREES < factor < AGREES:
            continue
        unit = next(
            (
                name
                for size, name in UNIT_FACTORS.items()
                if abs(abs(factor) / size - 1) < RECOGNISED
            ),
            None,
        )
        yield (
            f"the recorded {what} of joint {joint + 1} is {factor:.3g} times the one computed from "
            "its positions"
            + (", with the opposite sign" if factor < 0 else "")
            + (f": it looks like {unit}" if unit else "")
        )
