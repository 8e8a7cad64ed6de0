"""Poses against a chain's tip, folded into R while they are in the cache.

The twin of `theodolite.calibration.frame`: residual, Jacobian, whitening and fold in one pass.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from theodolite.arrays import FloatArray
from theodolite.kernels.chain_sweep import (
    FRAMES,
    columns_at,
    frames,
    joint_row,
    position_columns,
    rows_of,
    turn_columns,
    turn_row,
)
from theodolite.kernels.rows import FEW, SUMS
from theodolite.kernels.switch import caching
from theodolite.kernels.triangle import fold

KEEP = caching()
#: Part of its size that keeps a covariance positive despite rounding, as in `geometric.py`.
ROUNDING = 1e-14
#: Below this angle a coefficient is taken from its series, as in `model.rotations`.
SMALL_ANGLE = 1e-2
#: Three components of the position and three of the orientation.
WIDTH = 6


@njit(nogil=True)
def _log(E: FloatArray, turn: FloatArray) -> None:
    """The rotation vector of a rotation, by way of its quaternion, the largest part first."""
    trace = E[0, 0] + E[1, 1] + E[2, 2]
    largest = 0
    for i in range(1, 3):
        if E[i, i] > E[largest, largest]:
            largest = i
    if trace > E[largest, largest]:
        w = 1.0 + trace
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            turn[i] = E[k, j] - E[j, k]
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        turn[i] = 1.0 - trace + 2.0 * E[i, i]
        turn[j] = E[j, i] + E[i, j]
        turn[k] = E[k, i] + E[i, k]
        w = E[k, j] - E[j, k]
    sine = math.sqrt(turn[0] ** 2 + turn[1] ** 2 + turn[2] ** 2)
    # Of a quaternion and its negative, which turn alike, the one that turns by less than a half.
    size = abs(w)
    # Small turns: angle / sine is 2 / w but for a term of the second order.
    factor = 2.0 * math.atan2(sine, size) / sine if sine > 1e-8 * size else 2.0 / size
    factor = -factor if w < 0.0 else factor
    for i in range(3):
        turn[i] *= factor


@njit(nogil=True)
def _left_inverse(turn: FloatArray, B: FloatArray) -> None:
    """B = I - [turn] / 2 + c [turn]^2."""
    x, y, z = turn[0], turn[1], turn[2]
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    if angle < SMALL_ANGLE:
        c = 1.0 / 12.0 + square / 720.0
    else:
        c = 1.0 / square - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle))
    for i in range(3):
        for j in range(3):
            B[i, j] = c * turn[i] * turn[j]
        B[i, i] += 1.0 - c * square
    B[0, 1] += 0.5 * z
    B[1, 0] -= 0.5 * z
    B[0, 2] -= 0.5 * y
    B[2, 0] += 0.5 * y
    B[1, 2] += 0.5 * x
    B[2, 1] -= 0.5 * x


@njit(nogil=True)
def _inverse_root(C: FloatArray, L: FloatArray) -> None:
    """The inverse of the lower root of a covariance; both are overwritten."""
    size = 0.0
    for i in range(WIDTH):
        size += C[i, i]
    for i in range(WIDTH):
        C[i, i] += ROUNDING * size
    for j in range(WIDTH):
        for k in range(j):
            for i in range(j, WIDTH):
                C[i, j] -= C[i, k] * C[j, k]
        root = math.sqrt(C[j, j])
        for i in range(j, WIDTH):
            C[i, j] /= root
    for j in range(WIDTH):
        for i in range(WIDTH):
            L[i, j] = 0.0
        L[j, j] = 1.0 / C[j, j]
        for i in range(j + 1, WIDTH):
            total = 0.0
            for k in range(j, i):
                total += C[i, k] * L[k, j]
            L[i, j] = -total / C[i, i]


@njit(nogil=True)
def _weights(
    A: FloatArray,
    W: FloatArray,
    tape: Any,
    s: int,
    B: FloatArray,
    sigmas: FloatArray,
    levers: FloatArray,
    room: FloatArray,
) -> None:
    """What turns twists of one sample into whitened residuals, into column ``s`` of W (36, .).

    Rotations are bent by B into changes of the rotation vector; ``room`` is (3, 6, 6).
    """
    C, L, by = room[0], room[1], room[2, 0]
    if levers.shape[1] == 0:
        for i in range(WIDTH):
            for j in range(WIDTH):
                L[i, j] = 1.0 / sigmas[i] if i == j else 0.0
    else:
        for i in range(WIDTH):
            for j in range(WIDTH):
                C[i, j] = sigmas[i] ** 2 if i == j else 0.0
        for motor in range(levers.shape[1]):
            by[:] = 0.0
            for joint in range(len(levers)):
                lever = levers[joint, motor]
                if lever != 0.0:
                    for i in range(3):
                        by[i] += lever * A[joint_row(tape, joint, i), s]
                        if tape.turns[joint]:
                            for j in range(3):
                                by[3 + i] += lever * B[i, j] * A[turn_row(tape, joint, j), s]
            for i in range(WIDTH):
                for j in range(i + 1):
                    C[i, j] += by[i] * by[j]
        _inverse_root(C, L)
    for i in range(WIDTH):
        for j in range(3):
            W[WIDTH * i + j, s] = L[i, j]
            total = 0.0
            for k in range(3):
                total += L[i, 3 + k] * B[k, j]
            W[WIDTH * i + 3 + j, s] = total


@njit(nogil=True, fastmath=SUMS)
def _whiten(A: FloatArray, T: FloatArray, W: FloatArray, x: int, step: int) -> None:
    """Six rows of A, so many rows apart, times the weights."""
    for i in range(WIDTH):
        for s in range(FEW):
            total = W[WIDTH * i, s] * A[x, s]
            total += W[WIDTH * i + 1, s] * A[x + step, s]
            total += W[WIDTH * i + 2, s] * A[x + 2 * step, s]
            T[i, s] = total
        if i >= 3:
            for s in range(FEW):
                total = W[WIDTH * i + 3, s] * A[x + 3 * step, s]
                total += W[WIDTH * i + 4, s] * A[x + 4 * step, s]
                total += W[WIDTH * i + 5, s] * A[x + 5 * step, s]
                T[i, s] += total
    for i in range(WIDTH):
        for s in range(FEW):
            A[x + i * step, s] = T[i, s]


@njit(nogil=True, fastmath=SUMS, cache=KEEP)
def fold_poses(
    R: FloatArray,
    sizes: FloatArray,
    start: int,
    end: int,
    tape: Any,
    basis: FloatArray,
    measured: FloatArray,
    turned: FloatArray,
    sigmas: FloatArray,
    levers: FloatArray,
) -> float:
    """Fold samples from ``start`` to ``end`` into R; returns the sum of squared residuals.

    ``basis`` is (functions, samples), ``measured`` (samples, 3) and ``turned`` (samples, 3, 3);
    ``sizes`` takes the size of every sample's residual. ``levers`` say how far an error of each
    motor turns each joint, (joints, motors).
    """
    A, T, W = rows_of(tape, WIDTH), np.zeros((WIDTH, FEW)), np.zeros((WIDTH * WIDTH, FEW))
    room, E, B, turn = np.zeros((3, WIDTH, WIDTH)), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3)
    size, at = len(tape.begin), columns_at(tape)
    tip = FRAMES + 12 * len(tape.rotations)
    squares = 0.0
    for first in range(start, end, FEW):
        n = min(FEW, end - first)
        frames(A, tape, basis, first, n)
        position_columns(A, tape, basis, first, n)
        turn_columns(A, tape, basis, first, n)
        for s in range(FEW):
            row = first + min(s, n - 1)
            for i in range(3):
                A[at + (i + 1) * size - 1, s] = A[tip + 9 + i, s] - measured[row, i]
                for j in range(3):
                    E[i, j] = 0.0
                    for axis in range(3):
                        E[i, j] += A[tip + 3 * axis + i, s] * turned[row, j, axis]
            _log(E, turn)
            _left_inverse(turn, B)
            _weights(A, W, tape, s, B, sigmas, levers, room)
            # B leaves its own rotation vector as it is, so that columns and residual go alike.
            for i in range(3):
                A[at + (3 + i + 1) * size - 1, s] = turn[i]
        for column in range(size):
            _whiten(A, T, W, at + column, size)
        if n < FEW:
            # Beyond the last sample nothing is counted.
            A[at:, n:] = 0.0
        for s in range(n):
            total = 0.0
            for i in range(WIDTH):
                total += A[at + (i + 1) * size - 1, s] ** 2
            squares += total
            sizes[first + s] = np.sqrt(total / WIDTH)
        for i in range(WIDTH):
            fold(R, A[at + i * size : at + (i + 1) * size], 0)
    return squares
