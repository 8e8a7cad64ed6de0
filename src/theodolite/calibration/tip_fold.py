"""Many positions or poses folded into R by compiled kernels, without their Jacobian in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import Reduction, triangle
from theodolite.estimation.slicing import slices
from theodolite.kernels import switch
from theodolite.model.chain import Chain
from theodolite.model.robot import Robot

if TYPE_CHECKING:
    from theodolite.calibration.frame import FrameProblem
    from theodolite.calibration.position import PositionProblem
    from theodolite.calibration.sensor import SensorProblem

#: Seconds that NumPy takes for one component of a measurement and column, about.
FOLDING = 5e-8 / 3
#: Measurements whose basis functions are in memory at a time.
SAMPLES = 32_768
#: Measurements that a thread takes at a time, at least: fewer would not pay for the thread.
SHARE = 2048


def fold_positions(problem: PositionProblem, values: FloatArray, loss: Loss) -> Reduction | None:
    """The reduction at ``values``; None where kernels do not pay, or cannot do it."""
    targets = problem.targets()
    # Targets of one configuration share the error of its joints: they are whitened together.
    shared = problem.noise.moves and len(targets) > 1
    seen = sum(int(there.sum()) for _, _, there in targets)
    if shared or not _usable(problem, loss, 3 * seen):
        return None
    kernel = switch.load("positions").fold_positions
    sigma = problem.noise.position
    fold = _Fold(problem, values, width=3)
    for target, measured, there in targets:
        chain = fold.robot.chains[target]
        tape, levers = chain.tape(fold.full, problem.links), fold.levers(chain)
        if not problem.noise.moves:
            # All samples have the same weight: it is put into what they are multiplied with.
            tape = tape._replace(values=tape.values / sigma, coefficients=tape.coefficients / sigma)
        for own, basis in fold.pieces(np.flatnonzero(there)):
            fold.add(kernel, (tape, basis, measured[own], sigma, levers), len(own))
    return fold.reduction()


def fold_poses(problem: FrameProblem, values: FloatArray, loss: Loss) -> Reduction | None:
    """The same of poses with one noise for all."""
    data, noise = problem.data, problem.noise
    if data.positions is None or data.rotations is None or data.covariances is not None:
        return None
    if not _usable(problem, loss, 6 * len(data)):
        return None
    kernel = switch.load("poses").fold_poses
    sigmas = np.repeat([noise.position, noise.orientation], 3)
    fold = _Fold(problem, values, width=6)
    chain = fold.robot.chains[problem.target]
    tape, levers = chain.tape(fold.full, problem.links), fold.levers(chain)
    for own, basis in fold.pieces(np.arange(len(data))):
        measured, turned = data.positions[own, 0], data.rotations[own]
        fold.add(kernel, (tape, basis, measured, turned, sigmas, levers), len(own))
    return fold.reduction()


def _usable(problem: SensorProblem, loss: Loss, components: int) -> bool:
    plain = isinstance(problem.robot, Robot) and loss.is_squared and not problem.has_stations
    return plain and switch.pays(FOLDING * components * len(problem.parameters))


class _Fold:
    """The factor of what was folded so far, and what kernels need of a robot."""

    def __init__(self, problem: SensorProblem, values: FloatArray, *, width: int) -> None:
        assert isinstance(problem.robot, Robot)
        self.problem, self.robot, self.width = problem, problem.robot, width
        self.full = problem.full_values(values)[: len(self.robot.parameters)]
        self.size = len(problem.parameters)
        self.R: FloatArray = np.zeros((self.size + 1, self.size + 1))
        self.sizes: list[FloatArray] = []
        self.squares = 0.0

    def levers(self, chain: Chain) -> FloatArray:
        """How far an error of each motor turns each joint, (joints, motors); none without noise."""
        by_function = chain.levers(self.full)
        if not self.problem.noise.moves:
            return np.zeros((len(by_function), 0))
        return self.robot.to_motors(by_function[None])[0] * self.problem.motor_noise

    def pieces(self, rows: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Some of the rows at a time, with their basis functions (functions, samples)."""
        for part in slices(len(rows), SAMPLES):
            own = rows[part]
            yield own, np.ascontiguousarray(self.robot.basis(self.problem.data.motors[own]).T)

    def add(self, kernel: Callable[..., float], rest: Sequence[object], count: int) -> None:
        """Fold so many samples; one of the threads goes on with R."""
        sizes = np.empty(count)
        ends = switch.shares(count, SHARE)
        factors = [self.R.copy() if not part else np.zeros_like(self.R) for part in ends[:-1]]

        def work(part: int) -> float:
            return kernel(factors[part], sizes, *ends[part : part + 2], *rest)

        self.squares += sum(switch.in_parallel(work, len(factors)))
        self.R = triangle(factors, self.size + 1)
        self.sizes.append(sizes)

    def reduction(self) -> Reduction:
        sizes = np.concatenate([np.empty(0), *self.sizes])
        return Reduction(
            R=self.R[: self.size, : self.size],
            z=self.R[: self.size, self.size],
            cost=self.squares,
            squares=self.squares,
            rows=self.width * len(sizes),
            sizes=sizes,
            widths=np.full(len(sizes), self.width),
        )
