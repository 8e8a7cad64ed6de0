"""Many positions folded into R by compiled kernels, without their Jacobian in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import Reduction, triangle
from theodolite.estimation.slicing import slices
from theodolite.kernels import switch
from theodolite.model.robot import Robot

if TYPE_CHECKING:
    from theodolite.calibration.position import PositionProblem

#: Seconds that NumPy takes for one position and column, about.
FOLDING = 5e-8
#: Positions whose basis functions are in memory at a time.
SAMPLES = 32_768
#: Positions that a thread takes at a time, at least: fewer would not pay for the thread.
SHARE = 2048


def fold_compiled(problem: PositionProblem, values: FloatArray, loss: Loss) -> Reduction | None:
    """The reduction at ``values``; None where kernels do not pay, or cannot do it."""
    robot, size = problem.robot, len(problem.parameters)
    if not isinstance(robot, Robot) or not loss.is_squared or problem.has_stations:
        return None
    targets = problem.targets()
    # Targets of one configuration share the error of its joints: they are whitened together.
    shared = problem.noise.moves and len(targets) > 1
    seen = sum(int(there.sum()) for _, _, there in targets)
    if shared or not switch.pays(FOLDING * seen * size):
        return None
    full = problem.full_values(values)[: len(robot.parameters)]
    kernel = switch.load("positions").fold_positions
    R: FloatArray = np.zeros((size + 1, size + 1))
    sizes, squares = [], 0.0
    for target, measured, there in targets:
        chain = robot.chains[target]
        tape = chain.tape(full, problem.links)
        levers = np.zeros((len(tape.axes), 0))
        if problem.noise.moves:
            by_function = chain.levers(full)[None]
            levers = robot.to_motors(by_function)[0] * problem.motor_noise
        else:
            # All samples have the same weight: it is put into what they are multiplied with.
            weight = 1.0 / problem.noise.position
            tape = tape._replace(
                values=weight * tape.values, coefficients=weight * tape.coefficients
            )
        rows = np.flatnonzero(there)
        for part in slices(len(rows), SAMPLES):
            own = rows[part]
            basis = np.ascontiguousarray(robot.basis(problem.data.motors[own]).T)
            lengths = np.empty(len(own))
            more, found = _in_threads(
                kernel, R, lengths, (tape, basis, measured[own], problem.noise.position, levers)
            )
            R, squares = triangle(found, size + 1), squares + more
            sizes.append(lengths)
    return Reduction(
        R=R[:size, :size],
        z=R[:size, size],
        cost=squares,
        squares=squares,
        rows=3 * seen,
        sizes=np.concatenate([np.empty(0), *sizes]),
        widths=np.full(seen, 3),
    )


def _in_threads(
    kernel: Callable[..., float], R: FloatArray, sizes: FloatArray, rest: tuple[object, ...]
) -> tuple[float, list[FloatArray]]:
    """The sum of squares of some positions, and the factors of all threads: one goes on with R."""
    ends = switch.shares(len(sizes), SHARE)
    factors = [R.copy() if part == 0 else np.zeros_like(R) for part in range(len(ends) - 1)]

    def work(part: int) -> float:
        return kernel(factors[part], sizes, *ends[part : part + 2], *rest)

    return sum(switch.in_parallel(work, len(factors))), factors
