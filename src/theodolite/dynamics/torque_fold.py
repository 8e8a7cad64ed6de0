"""A long recording folded into R by compiled kernels, without its regressor in memory.

Many columns of a regressor are combinations of others, whatever the motion. Only independent ones
are folded; the factor of all follows from theirs: W = W_b [I K], so R = QR of R_b [I K].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.dynamics.compiled import FOLDING, Folding, as_arrays, fold
from theodolite.dynamics.drives import USUAL_TEMPERATURE, State, drive_torque
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import Reduction, triangle
from theodolite.estimation.slicing import slices
from theodolite.kernels import switch

if TYPE_CHECKING:
    from theodolite.dynamics.torque import TorqueProblem

#: Samples whose drive terms are in memory at a time.
SAMPLES = 32_768
#: Equations for each column from which relations between columns are found.
EQUATIONS = 8
#: A column is a combination of others if no more is left of it; rounding leaves 1e-14.
LEFT = 1e-11
#: Columns that are this small beside the largest may be rounding: they explain no other column.
SMALL = 1e-9


def fold_compiled(problem: TorqueProblem, values: FloatArray, loss: Loss) -> Reduction | None:
    """The reduction at ``values``; None where kernels do not pay, or cannot do it."""
    work = FOLDING * len(problem.dynamics.links) * problem.rows
    plain = all(len(run.decimation.taps) == 1 for run in problem.runs)
    if not plain or problem.is_stored or problem.payload or problem.loaded or not loss.is_squared:
        return None
    if len(problem.dynamics.axes) > problem.dynamics.motors or not switch.pays(work):
        return None
    columns = problem.columns
    sample = _random_table(problem)
    white = sample if problem.whitening is None else np.matmul(problem.whitening, sample)
    base, K = _relations(white.reshape(len(columns), -1).T)
    # Which of the base columns each motor sees first.
    sees = white[base].any(axis=2)
    seen = np.where(sees.any(axis=0), sees.argmax(axis=0), len(base))
    factors: list[FloatArray] = []
    sizes = np.empty(problem.rows)
    squares, first = 0.0, 0
    for run in problem.runs:
        for rows in slices(len(run.state), SAMPLES):
            n = rows.stop - rows.start
            found, more = _fold_block(
                problem,
                values,
                run.state[rows],
                run.torques[rows],
                columns[base],
                seen,
                sizes[first : first + n],
            )
            factors = [triangle([np.concatenate([*factors, *found])], len(base) + 1)]
            squares, first = squares + more, first + n
    R = factors[0]
    whole = np.zeros((len(base) + 1, len(columns) + 1))
    whole[:, :-1], whole[:, -1] = R[:, :-1] @ K, R[:, -1]
    factor = triangle([whole], len(columns) + 1)
    return Reduction(
        R=factor[:-1, :-1],
        z=factor[:-1, -1],
        cost=squares,
        squares=squares,
        rows=problem.rows * problem.dynamics.motors,
        sizes=sizes,
        widths=np.full(problem.rows, problem.dynamics.motors),
    )


def _fold_block(
    problem: TorqueProblem,
    values: FloatArray,
    state: State,
    torques: FloatArray,
    chosen: IntArray,
    seen: IntArray,
    sizes: FloatArray,
) -> tuple[list[FloatArray], float]:
    """Factors of some samples, one of each thread, and their sum of squares."""
    dynamics = problem.dynamics
    links, axes = dynamics._places(problem.drives)
    joints, F = dynamics.joint_state(state)
    terms, places = [], []
    for number, first in axes.items():
        axis = dynamics.axis(state, joints, number)
        for place, drive in enumerate(dynamics.terms(problem.drives, number), start=first):
            terms.append(np.broadcast_to(drive_torque(drive, axis), (len(state),)))
            places.append((place, number))
    known = dynamics.known_torques(state)
    full = np.zeros(len(dynamics.columns(problem.drives)))
    full[problem.columns] = values
    wanted = full != 0.0
    wanted[chosen] = True
    folding = Folding(
        drives=np.array(terms).reshape(len(terms), len(state)),
        places=np.array(places, dtype=np.intp).reshape(-1, 2),
        last=np.ascontiguousarray(-torques if known is None else known.T - torques),
        whitening=np.zeros((0, 0)) if problem.whitening is None else np.array(problem.whitening),
        values=full,
        chosen=chosen,
        seen=seen,
    )
    arrays = as_arrays(dynamics.links, links, wanted, dynamics.gravity)
    return fold(arrays, joints, F, folding, sizes)


def _random_table(problem: TorqueProblem) -> FloatArray:
    """Columns of the problem at random samples, which show all relations between them."""
    dynamics = problem.dynamics
    count = -(-EQUATIONS * len(problem.columns) // dynamics.motors)
    rng = np.random.default_rng(0)
    shape = (count, dynamics.motors)
    q = dynamics.random_positions(count, rng)
    qd, qdd = (rng.uniform(-1.0, 1.0, shape) for _ in range(2))
    state = State(q, qd, qdd, USUAL_TEMPERATURE + rng.uniform(1.0, 2.0, shape))
    return dynamics.regressor(state, problem.drives)[problem.columns]


def _relations(W: FloatArray) -> tuple[IntArray, FloatArray]:
    """Columns of W to be folded, in order, and K with W = W[:, base] K."""
    lengths = np.linalg.norm(W, axis=0)
    small = lengths < SMALL * lengths.max(initial=0.0)
    large = np.flatnonzero(~small & (lengths > 0.0))
    unit = W[:, large] / lengths[large]
    kept: list[int] = []
    Q = np.zeros((len(W), 0))
    for column in range(len(large)):
        rest = unit[:, column]
        # Twice, so that what is left is orthogonal to rounding.
        for _ in range(2):
            rest = rest - Q @ (Q.T @ rest)
        left = float(np.linalg.norm(rest))
        if left > LEFT:
            kept.append(column)
            Q = np.column_stack([Q, rest / left])
    independent = large[kept]
    by_unit = np.linalg.lstsq(unit[:, kept], unit, rcond=None)[0]
    base = np.union1d(independent, np.flatnonzero(small & (lengths > 0.0)))
    K = np.zeros((len(base), W.shape[1]))
    rows = np.searchsorted(base, independent)
    K[np.ix_(rows, large)] = by_unit * lengths[large] / lengths[independent][:, None]
    K[:, base] = np.eye(len(base))
    return base, K
