"""The frames of a chain and the derivatives of its tip, a few samples at a time.

The twin of `theodolite.model.chain`. Row numbers of one array stand for: the axes and the origin of
every body and of the tip, twelve each; for every body the moments of its axes about the tip, nine;
the columns of the Jacobian, component by component; a few rows to work in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from theodolite.arrays import FloatArray
from theodolite.kernels.rows import (
    FEW,
    SUMS,
    add,
    add_product,
    blend,
    constant,
    cosine_and_sine,
    product,
)

#: Rows to work in: amount, cosine, sine, three more, then room for a small matrix.
AMOUNT, COSINE, SINE, SPARE, WORK = 0, 1, 2, 3, 6
#: The first row of all frames.
FRAMES = 16


@njit(nogil=True, fastmath=SUMS)
def rows_of(tape: Any, height: int) -> Any:
    """Memory for a tape whose tip has ``height`` components."""
    return np.zeros((columns_at(tape) + height * len(tape.begin), FEW))


@njit(nogil=True, fastmath=SUMS)
def moments_at(tape: Any) -> int:
    """The first row of the bodies' moments."""
    return FRAMES + 12 * (len(tape.rotations) + 1)


@njit(nogil=True, fastmath=SUMS)
def columns_at(tape: Any) -> int:
    """The first row of the columns; of each component, the last one is for the residual."""
    return moments_at(tape) + 9 * len(tape.rotations)


@njit(nogil=True, fastmath=SUMS)
def frames(A: FloatArray, tape: Any, basis: FloatArray, first: int, n: int) -> None:
    """Frames of all bodies and of the tip, at ``n`` samples of ``basis`` (functions, samples)."""
    for row in range(12):
        constant(A, FRAMES + row, 1.0 if row in (0, 4, 8) else 0.0)
    count = len(tape.rotations)
    for body in range(count):
        old, new = FRAMES + 12 * body, FRAMES + 12 * (body + 1)
        turn, shift = tape.rotations[body], tape.positions[body]
        for i in range(3):
            for axis in range(3):
                _combined(
                    A, new + 3 * axis + i, turn[0, axis], turn[1, axis], turn[2, axis], old + i
                )
            _combined(A, new + 9 + i, shift[0], shift[1], shift[2], old + i)
            add(A, new + 9 + i, 1.0, old + 9 + i)
        if body < count - 1:
            _joint(A, tape, body, new, basis, first, n)
    # Moments of the axes about the tip: axis x (tip - origin).
    tip = FRAMES + 12 * count + 9
    for body in range(count):
        frame, moment = FRAMES + 12 * body, moments_at(tape) + 9 * body
        for i in range(3):
            blend(A, SPARE + i, 1.0, tip + i, -1.0, frame + 9 + i)
        for axis in range(3):
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                to = moment + 3 * axis + i
                product(A, to, frame + 3 * axis + j, SPARE + k)
                add_product(A, to, -1.0, frame + 3 * axis + k, SPARE + j)


@njit(nogil=True, fastmath=SUMS)
def _combined(A: FloatArray, out: int, x: float, y: float, z: float, row: int) -> None:
    """out = x, y and z times the rows ``row``, three and six after it."""
    blend(A, out, x, row, y, row + 3)
    if z != 0.0:
        add(A, out, z, row + 6)


@njit(nogil=True, fastmath=SUMS)
def _joint(
    A: FloatArray, tape: Any, joint: int, frame: int, basis: FloatArray, first: int, n: int
) -> None:
    """Turn or shift the frame at a joint."""
    constant(A, AMOUNT, tape.offsets[joint])
    for term in range(tape.first[joint], tape.first[joint + 1]):
        factor, function = tape.factors[term], tape.functions[term]
        for s in range(FEW):
            A[AMOUNT, s] += factor * basis[function, first + min(s, n - 1)]
    axis = tape.axes[joint]
    if not tape.turns[joint]:
        for i in range(3):
            add_product(A, frame + 9 + i, 1.0, frame + 3 * axis + i, AMOUNT)
        return
    cosine_and_sine(A, COSINE, SINE, AMOUNT)
    one, two = 3 * ((axis + 1) % 3), 3 * ((axis + 2) % 3)
    for i in range(3):
        product(A, SPARE, frame + one + i, COSINE)
        add_product(A, SPARE, 1.0, frame + two + i, SINE)
        product(A, SPARE + 1, frame + two + i, COSINE)
        add_product(A, SPARE + 1, -1.0, frame + one + i, SINE)
        blend(A, frame + one + i, 1.0, SPARE, 0.0, SPARE)
        blend(A, frame + two + i, 1.0, SPARE + 1, 0.0, SPARE + 1)


@njit(nogil=True, fastmath=SUMS)
def screw_row(tape: Any, body: int, component: int, i: int) -> int:
    """The row of a body's unit screw: what it moves component ``i`` of the tip's position by."""
    if component < 3:
        return FRAMES + 12 * body + 3 * component + i
    return moments_at(tape) + 9 * body + 3 * (component - 3) + i


@njit(nogil=True, fastmath=SUMS)
def joint_row(tape: Any, joint: int, i: int) -> int:
    """The same for a joint's own motion."""
    turn = 3 if tape.turns[joint] else 0
    return screw_row(tape, joint + 1, tape.axes[joint] + turn, i)


@njit(nogil=True, fastmath=SUMS)
def position_columns(A: FloatArray, tape: Any, basis: FloatArray, first: int, n: int) -> None:
    """The derivatives of the tip's position by all columns, after `frames`."""
    size = len(tape.begin)
    for i in range(3):
        at = columns_at(tape) + i * size
        for column in range(size - 1):
            constant(A, at + column, 0.0)
            for entry in range(tape.begin[column], tape.begin[column + 1]):
                row = screw_row(tape, tape.bodies[entry], tape.components[entry], i)
                add(A, at + column, tape.values[entry], row)
        for term in range(len(tape.coefficients)):
            column, joint, function = tape.scaled[term]
            row, coefficient = joint_row(tape, joint, i), tape.coefficients[term]
            for s in range(FEW):
                value = coefficient * basis[function, first + min(s, n - 1)]
                A[at + column, s] += value * A[row, s]


@njit(nogil=True, fastmath=SUMS)
def turn_row(tape: Any, joint: int, i: int) -> int:
    """What a joint that turns turns the tip by, component ``i``."""
    return FRAMES + 12 * (joint + 1) + 3 * tape.axes[joint] + i


@njit(nogil=True, fastmath=SUMS)
def turn_columns(A: FloatArray, tape: Any, basis: FloatArray, first: int, n: int) -> None:
    """The turns of the tip by all columns, after `frames`, below those of its position."""
    size = len(tape.begin)
    for i in range(3):
        at = columns_at(tape) + (3 + i) * size
        for column in range(size - 1):
            constant(A, at + column, 0.0)
            for entry in range(tape.begin[column], tape.begin[column + 1]):
                axis = tape.components[entry] - 3
                if axis >= 0:
                    row = FRAMES + 12 * tape.bodies[entry] + 3 * axis + i
                    add(A, at + column, tape.values[entry], row)
        for term in range(len(tape.coefficients)):
            column, joint, function = tape.scaled[term]
            if not tape.turns[joint]:
                continue
            row, coefficient = turn_row(tape, joint, i), tape.coefficients[term]
            for s in range(FEW):
                value = coefficient * basis[function, first + min(s, n - 1)]
                A[at + column, s] += value * A[row, s]
