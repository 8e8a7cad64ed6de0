"""Motions to predict torques along: planned ones as they are, recorded ones low-passed."""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import State
from theodolite.dynamics.filtering import EDGE, check_cutoff, differentiate, propose_cutoff
from theodolite.dynamics.recording import Recording
from theodolite.errors import InputError


def prepare_motion(motion: Recording, *, cutoff: float | None = None) -> tuple[FloatArray, State]:
    """Times, and positions with their derivatives.

    A motion that brings its velocities and accelerations is taken as it is. Others are low-passed
    and differentiated, without their ends, where filters are wrong.
    """
    if motion.qd is not None and motion.qdd is not None:
        return motion.times, State(motion.q, motion.qd, motion.qdd, motion.temperatures)
    motion = motion.drop_repeats()
    if len(motion.gaps):
        since = motion.times[motion.gaps[0]] - motion.times[0]
        raise InputError(
            f"the motion is interrupted {since:.1f} s after its start",
            where=motion.name,
            remedy="Use one of the parts between the interruptions",
        )
    even = motion.resampled
    frequency = propose_cutoff(motion).frequency if cutoff is None else cutoff
    check_cutoff(even, frequency)
    edge = int(np.ceil(EDGE * even.rate / frequency))
    keep = slice(edge, len(even.times) - edge)
    return even.times[keep], differentiate(even, frequency)[keep]
