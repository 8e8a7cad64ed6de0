"""Derivatives of a tree's regressor and points by position, velocity and acceleration.

Only products with given weights are needed, sample by sample, so no derivative is ever stored.
Those of the torques come from one sweep backwards through the links (`link_slopes`). Points are
polynomials of degree one in the sine and cosine of every angle and in every displacement: their
derivative is a difference of two values, to rounding. Joints that follow their motors in loops or
through coupled drives are none of this: there central differences are taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drive, Drives, State, drive_slopes
from theodolite.dynamics.excitation.limits import ball_centres
from theodolite.dynamics.inertia import INERTIAL
from theodolite.dynamics.tree import Tree

#: Shifts of central differences, rad or m, where there is no polynomial.
SMALL = 1e-5


def torque_slopes(dynamics: Tree, state: State, weights: FloatArray, drives: Drives) -> State:
    """Derivatives of ``sum of weights * regressor`` of each sample, (n, motors) each.

    ``weights`` are like the regressor, (columns, motors, n).
    """
    if dynamics.direct_drives:
        slopes = dynamics.link_slopes(state, weights, drives)
    else:
        is_link = [symbol not in _SYMBOLS for symbol, _ in dynamics.columns(drives)]
        slopes = _differences(dynamics, state, weights[is_link])
    # What drives add depends on their own motor alone. How friction changes with the load, and that
    # of passive joints, is small and left out: a search only needs the direction.
    for place, (symbol, suffix) in enumerate(dynamics.columns(drives)):
        if symbol in _SYMBOLS and suffix in dynamics.motor_names:
            motor = dynamics.motor_names.index(suffix)
            own = drive_slopes(Drive(symbol), dynamics.axis(state, state, motor))
            for kind, slope in enumerate(own):
                slopes[kind, :, motor] += weights[place, motor] * slope
    return State(*slopes)


def _differences(dynamics: Tree, state: State, weights: FloatArray) -> FloatArray:
    """The same of the links alone by central differences, (3, n, motors)."""
    n, motors = state.qd.shape
    places = [(kind, motor) for motor in range(motors) for kind in range(3)]
    # Torques are of degree two in velocities and affine in accelerations: any step is exact.
    steps = [SMALL, 1.0, 1.0]
    shifted = [
        _moved(state, kind, motor, side * steps[kind]) for kind, motor in places for side in (1, -1)
    ]
    values = iter(_weighted_sums(dynamics, shifted, weights))
    slopes = np.zeros((3, n, motors))
    for kind, motor in places:
        slopes[kind, :, motor] = (next(values) - next(values)) / (2 * steps[kind])
    return slopes


def point_slopes(dynamics: Tree, state: State, weights: FloatArray) -> FloatArray:
    """Derivative of ``sum of weights * points`` by the motors' positions, (n, motors)."""
    slopes = np.zeros(state.qd.shape)
    for motor in range(dynamics.motors):
        for shift, weight in _point_rule(dynamics, motor):
            for side in (1.0, -1.0):
                points = ball_centres(dynamics, _moved(state, 0, motor, side * shift))
                slopes[:, motor] += side * weight * (weights * points).sum(axis=(1, 2))
    return slopes


_SYMBOLS = frozenset(drive.value for drive in Drive)


def _weighted_sums(
    dynamics: Tree, states: Sequence[State], weights: FloatArray
) -> list[FloatArray]:
    """The weighted sum of the links' columns at each of some states, (n,) each."""
    n = len(states[0])
    stacked = State.concatenate(states)
    table = dynamics.regressor(stacked, ())
    # Shafts and springs of a mechanism have columns of their own, as friction has.
    table = table[[symbol in INERTIAL for symbol, _ in dynamics.columns(())]]
    table = table.reshape(*table.shape[:2], len(states), n)
    summed = np.einsum("cmsn,cmn->sn", table, weights)
    return list(summed)


def _turns(dynamics: Tree, motor: int) -> bool:
    return dynamics.links[_first_link(dynamics, motor)].revolute


def _first_link(dynamics: Tree, motor: int) -> int:
    return next(i for i, link in enumerate(dynamics.links) if link.joint == motor)


def _point_rule(dynamics: Tree, motor: int) -> Sequence[tuple[float, float]]:
    if not dynamics.direct_drives:
        return ((SMALL, 0.5 / SMALL),)
    # Degree one in an angle: f'(0) = (f(pi/2) - f(-pi/2)) / 2.
    return ((np.pi / 2, 0.5),) if _turns(dynamics, motor) else ((1.0, 0.5),)


def _moved(state: State, kind: int, motor: int, amount: float) -> State:
    parts = [state.q, state.qd, state.qdd]
    parts[kind] = parts[kind].copy()
    parts[kind][:, motor] += amount
    return State(parts[0], parts[1], parts[2], state.temperatures)
