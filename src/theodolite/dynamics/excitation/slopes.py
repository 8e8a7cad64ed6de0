"""Exact derivatives of a tree's regressor and points by position, velocity and acceleration.

Torques are trigonometric polynomials of degree two in every angle, and polynomials of degree two in
every displacement and velocity; they are affine in accelerations. The derivative of such a
polynomial is a fixed combination of its values at a few shifted places, so the regressor itself
gives its own derivative, to rounding. With D(x) = f(x) - f(-x) and degree two in the angle,

    f'(0) = D(pi/4) + (1 - sqrt 2)/2 D(pi/2)

Only products with given weights are needed, sample by sample, so no derivative is ever stored.
Loops are not polynomials of their motors, and coupled drives not of this simple kind: there central
differences are taken.
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
_TURN = ((np.pi / 4, 1.0), (np.pi / 2, (1.0 - np.sqrt(2.0)) / 2.0))
_PUSH = ((1.0, 0.5),)


def torque_slopes(dynamics: Tree, state: State, weights: FloatArray, drives: Drives) -> State:
    """Derivatives of ``sum of weights * regressor`` of each sample, (n, motors) each.

    ``weights`` are like the regressor, (columns, motors, n).
    """
    is_link = [symbol not in _SYMBOLS for symbol, _ in dynamics.columns(drives)]
    links = weights[is_link]
    n, motors = state.qd.shape
    shifted: list[State] = []
    terms: list[tuple[int, int, float]] = []
    for motor in range(motors):
        for kind, rules in enumerate((_angle_rule(dynamics, motor), _PUSH, _PUSH)):
            for shift, weight in rules:
                for side in (1.0, -1.0):
                    shifted.append(_moved(state, kind, motor, side * shift))
                    terms.append((kind, motor, side * weight))
    values = _weighted_sums(dynamics, shifted, links)
    slopes = np.zeros((3, n, motors))
    for (kind, motor, weight), value in zip(terms, values, strict=True):
        slopes[kind, :, motor] += weight * value
    # What drives add depends on their own motor alone. How friction changes with the load, and that
    # of passive joints, is small and left out: a search only needs the direction.
    for place, (symbol, suffix) in enumerate(dynamics.columns(drives)):
        if symbol in _SYMBOLS and suffix in dynamics.motor_names:
            motor = dynamics.motor_names.index(suffix)
            own = drive_slopes(Drive(symbol), dynamics.axis(state, state, motor))
            for kind, slope in enumerate(own):
                slopes[kind, :, motor] += weights[place, motor] * slope
    return State(*slopes)


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


def _angle_rule(dynamics: Tree, motor: int) -> Sequence[tuple[float, float]]:
    if not dynamics.direct_drives:
        return ((SMALL, 0.5 / SMALL),)
    return _TURN if _turns(dynamics, motor) else _PUSH


def _point_rule(dynamics: Tree, motor: int) -> Sequence[tuple[float, float]]:
    if not dynamics.direct_drives:
        return ((SMALL, 0.5 / SMALL),)
    # Points are of degree one in an angle: f'(0) = D(pi/2) / 2.
    return ((np.pi / 2, 0.5),) if _turns(dynamics, motor) else _PUSH


def _moved(state: State, kind: int, motor: int, amount: float) -> State:
    parts = [state.q, state.qd, state.qdd]
    parts[kind] = parts[kind].copy()
    parts[kind][:, motor] += amount
    return State(parts[0], parts[1], parts[2], state.temperatures)
