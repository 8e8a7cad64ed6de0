"""What looks wrong with a recording before any model is fitted, in words with the remedy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.recording import Recording

#: A joint that moves less than this does not show its parameters (radians, metres).
STILL = 1e-2
#: Positions do not change by more than this from one row to the next (radians, metres).
JUMP = 0.5
#: A torque that changes by less than this part of the largest never changes.
DEAD = 1e-9
#: Part of the torque's energy near the highest frequency at which aliasing is likely.
ALIASED = 0.05
#: Part of the movement's energy that counts, the reserve that a low-pass needs above it, and the
#: part of the sampling frequency that it may reach.
KEPT, RESERVE, HIGHEST_PART = 0.999, 5.0, 0.2
#: A recorded derivative may differ from the computed one by this factor before it is doubted.
AGREES = 1.3
#: And must be explained by it to this part, to say anything.
EXPLAINED = 0.8
#: Positions that range over more than this are hardly radians or metres.
WIDE = 30.0
#: A factor is taken for one of these if it is within a tenth.
FACTORS = {180 / np.pi: "degrees", 1e3: "thousandths", 60 / (2 * np.pi): "turns per minute"}


def doubts_about(recording: Recording) -> list[str]:
    """All of them."""
    return [
        *_still(recording),
        *_jumps(recording),
        *_dead(recording),
        *_slow(recording),
        *_aliasing(recording),
        *_units(recording),
    ]


def movement_below(recording: Recording) -> float:
    """The frequency below which nearly all of the movement lies, Hz."""
    even = recording.even()
    speeds = np.gradient(even.q, axis=0)
    # A window keeps what is cut off at both ends from looking fast.
    speeds = (speeds - speeds.mean(axis=0)) * np.hanning(len(speeds))[:, None]
    power = (np.abs(np.fft.rfft(speeds, axis=0)) ** 2).sum(axis=1)
    share = np.cumsum(power) / max(float(power.sum()), 1e-300)
    frequencies = np.fft.rfftfreq(len(even.q), 1.0 / even.rate)
    return float(frequencies[min(int(np.searchsorted(share, KEPT)), len(frequencies) - 1)])


def _still(recording: Recording) -> Iterator[str]:
    still = np.flatnonzero(np.ptp(recording.q, axis=0) < STILL)
    if len(still):
        names = ", ".join(f"joint {joint + 1}" for joint in still)
        one = len(still) == 1
        yield (
            f"{names} hardly move{'s' if one else ''}: {'its' if one else 'their'} parameters "
            f"cannot be seen. Move {'it' if one else 'them'}"
        )


def _slow(recording: Recording) -> Iterator[str]:
    if np.ptp(recording.q, axis=0).max() < STILL:
        return
    inside = movement_below(recording)
    if RESERVE * inside > HIGHEST_PART * recording.rate:
        yield (
            f"the movement reaches {inside:.2g} Hz, too much for {recording.rate:.3g} samples per "
            f"second: aliasing is likely. Record faster, {RESERVE * inside / HIGHEST_PART:.0f} Hz "
            "or more"
        )


def _jumps(recording: Recording) -> Iterator[str]:
    """Positions that change faster than any joint does."""
    steps = np.abs(np.diff(recording.q, axis=0))
    for joint in np.flatnonzero((steps > JUMP).any(axis=0)):
        row = int(np.argmax(steps[:, joint] > JUMP))
        size = float(steps[row, joint])
        turn = ": a whole turn" if abs(size - 2 * np.pi) < JUMP else ""
        yield (
            f"the position of joint {joint + 1} jumps by {size:.2f} (rad or m), "
            f"{recording.times[row] - recording.times[0]:.2f} s from the start{turn}. Unwrap or "
            "remove it"
        )


def _dead(recording: Recording) -> Iterator[str]:
    spans = np.ptp(recording.torques, axis=0)
    for joint in np.flatnonzero(spans <= DEAD * np.abs(recording.torques).max(initial=0.0)):
        yield f"the torque of joint {joint + 1} never changes: its column is dead, or of another"


def gap_notes(recording: Recording) -> list[str]:
    """Interruptions, which are left out."""
    steps = np.diff(recording.times)
    since = recording.times - recording.times[0]
    return [
        f"the recording is interrupted for {steps[row]:.2f} s, {since[row]:.2f} s from its start; "
        "the parts before and after are used by themselves"
        for row in recording.gaps
    ]


def _aliasing(recording: Recording) -> Iterator[str]:
    power = np.abs(np.fft.rfft(recording.torques - recording.torques.mean(axis=0), axis=0)) ** 2
    high = power[int(0.8 * len(power)) :].sum(axis=0) / np.maximum(power.sum(axis=0), 1e-300)
    for joint in np.flatnonzero(high > ALIASED):
        yield (
            f"{100 * high[joint]:.0f} % of the torque of joint {joint + 1} lies near half the "
            "sampling frequency: it is noise, or aliasing is likely. Record faster"
        )


def _units(recording: Recording) -> Iterator[str]:
    wide = np.flatnonzero(np.ptp(recording.q, axis=0) > WIDE)
    for joint in wide:
        yield (
            f"joint {joint + 1} ranges over {np.ptp(recording.q[:, joint]):.0f} rad: its positions "
            "look like degrees. Name the column ..._deg"
        )
    speeds = np.gradient(recording.q, recording.times, axis=0)
    if recording.qd is not None:
        yield from _derivative("velocity", speeds, recording.qd)
        speeds = recording.qd
    if recording.qdd is not None:
        changes = np.gradient(speeds, recording.times, axis=0)
        yield from _derivative("acceleration", changes, recording.qdd)


def _derivative(what: str, computed: FloatArray, recorded: FloatArray) -> Iterator[str]:
    """Is a recorded derivative that of what was recorded?"""
    for joint, (ours, theirs) in enumerate(zip(computed.T, recorded.T, strict=True)):
        square, product = float(ours @ ours), float(ours @ theirs)
        if square == 0 or product == 0:
            continue
        factor = product / square
        explained = product**2 / (square * float(theirs @ theirs))
        if explained < EXPLAINED or 1 / AGREES < factor < AGREES:
            continue
        unit = next(
            (name for size, name in FACTORS.items() if 0.9 < abs(factor) / size < 1.1), None
        )
        yield (
            f"the {what} of joint {joint + 1} is {factor:.3g} times what its positions say"
            + (", with the other sign" if factor < 0 else "")
            + (f": it looks like {unit}" if unit else "")
        )
