"""Many small calibrations of the same structure at once: Gauss-Newton over all runs together.

The fit alone, of base parameters with their prior, as `identify` makes it: without a search for
wrong rows, without checks and without a verdict. For positions and poses of serial robots whose
noise is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Method
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.prior import Prior
from theodolite.estimation.threads import single_thread
from theodolite.model import rotations
from theodolite.model.machine import Machine
from theodolite.model.many_chains import tips
from theodolite.model.robot import Robot

#: Steps that no run needs, and the step, in standard errors, that is none.
STEPS, SETTLED = 12, 1e-3


@dataclass(frozen=True, eq=False)
class ManyFits:
    """What came out, run by run."""

    #: Values of all parameters of the robot, (runs, p).
    values: FloatArray
    #: Standard errors of the base parameters, (runs, base).
    stderr: FloatArray
    #: Root mean square of the whitened residuals, with as many degrees of freedom as are left.
    rms: FloatArray
    degrees: IntArray
    steps: IntArray
    converged: BoolArray


def check_fits(robot: Machine, method: Method, noise: Noise) -> None:
    """Refuse what has no fit of this kind."""
    refused = {
        f"'{robot.name}' is not a serial robot": not isinstance(robot, Robot),
        f"'{robot.name}' has further terms": isinstance(robot, Robot) and bool(robot.terms),
        f"'{robot.name}' has several targets": len(robot.target_names) > 1,
        f"the method is '{method.name}'": "positions" not in method.needs or not method.rows_alone,
        "joints are noisy": noise.moves,
        "the noise is not known": not noise.known,
    }
    for what, wrong in refused.items():
        if wrong:
            raise InputError(
                f"{what}: no fits without their checks",
                allowed="positions or poses of a serial robot, seen with known noise",
                remedy="Study whole calibrations",
            )


def fit_many(
    robot: Robot,
    data: Sequence[Dataset],
    method: Method,
    known: Identifiability,
    noise: Noise,
) -> ManyFits:
    """Base parameters of all runs, each from data of its own, all of one length."""
    names = [parameter.name for parameter in robot.parameters]
    columns = np.array([names.index(name) for name in known.identifiable], dtype=np.intp)
    prior = Prior.of(known.parameters).regrouped(known.base, known.regrouped, known.relations)
    measured = np.stack([_positions(one) for one in data])
    turned = None
    if "rotations" in method.needs:
        turned = np.stack([_rotations(one) for one in data])
    basis = np.stack([robot.basis(one.motors) for one in data])
    runs, rows = len(data), (3 if turned is None else 6) * len(data[0])
    values = np.tile(robot.values, (runs, 1))
    moving = np.ones(runs, dtype=bool)
    steps = np.zeros(runs, dtype=np.intp)
    factors = np.zeros((runs, len(columns), len(columns)))
    squares, determined = np.zeros(runs), np.zeros(runs)
    with single_thread():
        for _ in range(STEPS):
            some = np.flatnonzero(moving)
            if not len(some):
                break
            found = tips(robot.chains[0], values[some], basis[some], columns)
            white = _whitened(
                found, measured[some], None if turned is None else turned[some], noise
            )
            squares[some] = (white[:, :, -1] ** 2).sum(axis=1)
            R, determined[some] = _factor(white, prior, values[some][:, columns])
            factors[some] = R[:, :-1, :-1]
            step = -np.linalg.solve(R[:, :-1, :-1], R[:, :-1, -1:])[:, :, 0]
            values[np.ix_(some, columns)] += step
            steps[some] += 1
            # In standard errors: the factor is the inverse of their root.
            moving[some] = np.linalg.norm(R[:, :-1, -1], axis=1) > SETTLED
    inverse = np.linalg.inv(factors)
    degrees = np.floor(rows - determined + 1e-9).astype(np.intp)
    rms = np.sqrt(squares / np.maximum(degrees, 1))
    stderr = np.linalg.norm(inverse, axis=2)
    return ManyFits(values, stderr, rms, degrees, steps, ~moving)


def _positions(data: Dataset) -> FloatArray:
    assert data.positions is not None
    return data.positions[:, 0]


def _rotations(data: Dataset) -> FloatArray:
    assert data.rotations is not None
    return data.rotations


def _whitened(
    found: tuple[FloatArray, FloatArray, FloatArray],
    measured: FloatArray,
    turned: FloatArray | None,
    noise: Noise,
) -> FloatArray:
    """[J r] of every run, (runs, rows, columns + 1)."""
    positions, frames, jacobian = found
    runs, n = measured.shape[:2]
    both = np.concatenate([jacobian[:, :, :3], (positions - measured)[..., None]], axis=3)
    rows = [both.reshape(runs, 3 * n, -1) / noise.position]
    if turned is not None:
        apart = (frames @ turned.transpose(0, 1, 3, 2)).reshape(-1, 3, 3)
        turn = rotations.log(apart)
        bend = rotations.left_inverse(turn).reshape(runs, n, 3, 3)
        error = turn.reshape(runs, n, 3, 1)
        both = np.concatenate([bend @ jacobian[:, :, 3:], error], axis=3)
        rows.append(both.reshape(runs, 3 * n, -1) / noise.orientation)
    return np.concatenate(rows, axis=1)


def _factor(white: FloatArray, prior: Prior, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Triangular factors of data and prior, and how many parameters the data determine."""
    runs, size = len(white), len(prior.mean)
    known = np.empty((runs, size, size + 1))
    known[:, :, :-1] = prior.factor
    known[:, :, -1] = (values - prior.mean) @ prior.factor.T
    R: FloatArray = np.asarray(np.linalg.qr(np.concatenate([white, known], axis=1), mode="r"))
    # Trace of the hat matrix: all of them, less what the prior holds.
    held = prior.factor @ np.linalg.inv(R[:, :-1, :-1])
    return R, size - (held**2).sum(axis=(1, 2))
