"""Friction that remembers: surfaces hold on to each other and bend before they slip.

Dahl's model [Dahl1968]. With s the sign of the motion and x0 a distance,

    dz/dq = (1 - z s) / x0,      torque = fc z

so z goes to s within a few x0 of travel, and stays where it is while the joint rests. It depends on
the way that the joint took, however fast. From one sample to the next the motion is straight, and
the equation has a solution in closed form:

    z(k) = a z(k-1) + (1 - a) s,      a = exp(-|q(k) - q(k-1)| / x0)
"""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray

#: Multiples of x0 after which rounding is all that is left of an earlier state: exp(-40) = 4e-18.
FORGOTTEN = 40.0


def bent(history: FloatArray, count: int, distance: float) -> FloatArray:
    """How far surfaces are bent, -1 to 1, at the last ``count`` of some positions (m,).

    At first they are not bent.
    """
    known = len(history) - count
    back = min(known, count)
    while back < known and _travel(history[known - back : known + 1]) < FORGOTTEN * distance:
        back = min(known, 2 * back)
    steps = np.diff(history[known - back :], prepend=history[known - back : known - back + 1])
    kept = np.exp(-np.abs(steps) / distance)
    return _recursion(kept, (1.0 - kept) * np.sign(steps))[back:]


def _travel(positions: FloatArray) -> float:
    return float(np.abs(np.diff(positions)).sum())


def _recursion(factors: FloatArray, added: FloatArray) -> FloatArray:
    """z(k) = factors(k) z(k-1) + added(k) from z(-1) = 0, for all k, by doubling.

    Two steps of such a rule are one step of another; so after n rounds each rule goes back 2^n.
    """
    factors, z = factors.copy(), added.copy()
    step = 1
    while step < len(z):
        z[step:] += factors[step:] * z[:-step]
        factors[step:] *= factors[:-step].copy()
        step *= 2
    return z
