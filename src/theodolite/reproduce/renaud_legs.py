"""Inverse kinematics of legs with a rod, in closed form.

The squared distance of a rod's ends is, as a function of the one motor that moves them,

    a + b cos q + c sin q       if it turns an arm        [Renaud2006, eq. 2]
    a + b q + c q^2             if it slides a point,

so three values of it determine all others. A motor that is the rod itself gives its length at once.
"""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.model.bodies import Closure, ClosureKind
from theodolite.model.conventions import Joint
from theodolite.model.mechanism import Mechanism


def closed_form_inverse(
    mechanism: Mechanism, values: FloatArray, coordinates: FloatArray, guess: FloatArray
) -> FloatArray:
    """Motors that close the legs at given platform coordinates; of two solutions the one nearest to
    the guess. NaN where a leg does not reach."""
    found = np.empty_like(guess)
    for number, joint in enumerate(mechanism.active):
        legs = [c for c in mechanism.closures if mechanism.involves(c, joint.name)]
        if len(legs) != 1 or legs[0].kind is not ClosureKind.ROD:
            raise InputError(
                f"motor '{joint.name}' of '{mechanism.name}' does not drive just one rod, so there "
                "is no closed form",
                remedy="Use inverse_joints, which needs none",
            )
        (leg,) = legs
        found[:, number] = _leg(mechanism, values, coordinates, guess[:, number], leg, number)
    return found


def _leg(
    mechanism: Mechanism,
    values: FloatArray,
    coordinates: FloatArray,
    guess: FloatArray,
    leg: Closure,
    number: int,
) -> FloatArray:
    joint = mechanism.active[number]
    names = [parameter.name for parameter in mechanism.parameters]
    gain = values[names.index(f"{joint.name}.K")]
    chain, rod = mechanism.chain(*leg.ends), mechanism.rod_length(leg)

    def at(amount: float) -> tuple[FloatArray, FloatArray]:
        """Squared distance of the ends, and the rod's length, with the motor at amount / gain."""
        joints = np.zeros((len(coordinates), len(mechanism.active)))
        joints[:, number] = amount / gain
        basis = mechanism.basis(np.concatenate([joints, coordinates], axis=1))
        position = chain.motion(values, basis).position
        return (position**2).sum(axis=1), rod.motion(values, basis).position[:, 0]

    squares, lengths = zip(*(at(a) for a in (0.0, np.pi / 2, np.pi)), strict=True)
    if leg.length is not None and leg.length.joint == joint.name:
        each = (lengths[1] - lengths[0]) / (np.pi / 2)
        return np.asarray((np.sqrt(squares[0]) - lengths[0]) / each / gain)
    if joint.kind is Joint.PRISMATIC:
        step = np.pi / 2
        c = (squares[2] - 2 * squares[1] + squares[0]) / (2 * step**2)
        b = (squares[1] - squares[0]) / step - c * step
        rest = squares[0] - lengths[0] ** 2
        # NaN where the leg does not reach.
        root = np.sqrt(np.where(b**2 - 4 * c * rest >= 0, b**2 - 4 * c * rest, np.nan))
        both = np.stack([(-b - root) / (2 * c), (-b + root) / (2 * c)]) / gain
        return _nearest(both, guess)
    a = (squares[0] + squares[2]) / 2
    b, c = (squares[0] - squares[2]) / 2, squares[1] - a
    ratio = (lengths[0] ** 2 - a) / np.hypot(b, c)
    swing = np.arccos(np.where(np.abs(ratio) <= 1.0, ratio, np.nan))
    both = np.arctan2(c, b) + np.stack([-swing, swing])
    turns = np.round((guess * gain - both) / (2 * np.pi))
    return _nearest((both + 2 * np.pi * turns) / gain, guess)


def _nearest(solutions: FloatArray, guess: FloatArray) -> FloatArray:
    best = np.abs(np.nan_to_num(solutions - guess, nan=np.inf)).argmin(axis=0)
    return np.take_along_axis(solutions, best[None], axis=0)[0]
