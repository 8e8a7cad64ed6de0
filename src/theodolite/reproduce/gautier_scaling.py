"""Samples that scale the matrix W well, for ranks beyond doubt [Gautier1991, scaling of W].

The entries of W are exact but for rounding, which is relative to their size, so W is best when all
its entries are roughly equal: S = max |W| / min |W| is small. One row of the energy model is
improved at a time, by random steps that are taken where they lower the S of their row; all rows
step together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drive, State
from theodolite.dynamics.torque import random_state
from theodolite.dynamics.tree import Tree
from theodolite.estimation.threads import single_thread

#: Random steps of all rows, and how their size falls from the first to the last.
STEPS = 1500
FIRST, LAST = 1.0, 0.02
#: Highest speed of a sample, rad/s or m/s.
SPEED = 3.0
#: Entries below this part of the largest are zeros of the model, or rounding of them.
ZERO = 1e-12


@dataclass(frozen=True)
class Scaling:
    """How well a matrix of energies is scaled, and how clearly it shows its rank."""

    #: Largest entry over the smallest.
    S: float
    #: |T_bb| / |T_b+1,b+1| of the QR with column pivoting.
    gap: float
    rank: int


@dataclass(frozen=True)
class ScalingStudy:
    """The same for samples taken at random and for chosen ones."""

    random: Scaling
    chosen: Scaling


def scaling_study(dynamics: Tree, rng: np.random.Generator) -> ScalingStudy:
    """Of a square matrix: one sample for each parameter that has an effect."""
    moving = _moving(dynamics, rng)
    rows = int(moving.sum())
    start = _sampled(dynamics, rows, rng)
    with single_thread():
        return ScalingStudy(
            _scaling(dynamics.energy(start)[moving].T),
            _scaling(dynamics.energy(_improved(dynamics, start, moving, rng))[moving].T),
        )


def scale_samples(
    dynamics: Tree, model: str, rng: np.random.Generator, sequences: int = 200
) -> FloatArray:
    """S of W for random sequences of just enough samples for a model, (sequences,)."""
    moving = _moving(dynamics, rng)
    rows = int(moving.sum())
    found = []
    for _ in range(sequences):
        state = random_state(dynamics, rows if model == "h" else -(-rows // dynamics.motors), rng)
        if model == "d0":
            state = State(state.q, np.zeros_like(state.qd), state.qdd)
        W = dynamics.energy(state) if model == "h" else dynamics.regressor(state, (Drive.ROTOR,))
        sizes = np.abs(W[moving])
        found.append(sizes.max() / sizes[sizes > ZERO * sizes.max()].min())
    return np.array(found)


def _moving(dynamics: Tree, rng: np.random.Generator) -> FloatArray:
    """Which columns have an effect."""
    probe = dynamics.energy(_sampled(dynamics, 50, rng))
    return np.asarray(np.ptp(probe, axis=1) > 1e-9 * np.abs(probe).max())


def _sampled(dynamics: Tree, count: int, rng: np.random.Generator) -> State:
    state = random_state(dynamics, count, rng)
    return State(state.q, state.qd, np.zeros_like(state.qdd))


def _improved(dynamics: Tree, state: State, moving: FloatArray, rng: np.random.Generator) -> State:
    q, qd = state.q.copy(), state.qd.copy()
    best = _row_scales(dynamics.energy(State(q, qd, state.qdd))[moving])
    for size in np.geomspace(FIRST, LAST, STEPS):
        # A few joints at a time, so that some steps fit.
        chosen = rng.random(q.shape) < 2.0 / q.shape[1]
        new_q = q + size * rng.standard_normal(q.shape) * chosen
        new_qd = np.clip(qd + size * rng.standard_normal(q.shape) * chosen, -SPEED, SPEED)
        found = _row_scales(dynamics.energy(State(new_q, new_qd, state.qdd))[moving])
        better = found < best
        q[better], qd[better], best[better] = new_q[better], new_qd[better], found[better]
    return State(q, qd, state.qdd)


def _row_scales(energy: FloatArray) -> FloatArray:
    """S of each sample, (n,), of energies (columns, n)."""
    sizes = np.abs(energy)
    return np.asarray(sizes.max(axis=0) / np.maximum(sizes.min(axis=0), 1e-300))


def _scaling(W: FloatArray) -> Scaling:
    from scipy.linalg import qr

    diagonal = np.abs(np.diag(qr(W, mode="r", pivoting=True)[0]))
    diagonal = np.maximum(diagonal, diagonal[0] * np.finfo(float).eps ** 2)
    ratios = diagonal[:-1] / diagonal[1:]
    rank = int(np.argmax(ratios)) + 1
    sizes = np.abs(W)
    return Scaling(float(sizes.max() / sizes.min()), float(ratios[rank - 1]), rank)
