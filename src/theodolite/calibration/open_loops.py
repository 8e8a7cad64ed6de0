"""Closed loops with their passive joints kept as unknowns of their own.

With the tool's error F(C, a) and the loops' gaps G(C, a) for constants C and passive joints a, the
report minimises |F|^2 subject to G = 0 over both [Everett1988, 2.3.2]. The passive joints of one
measurement appear in no other, so everything here is measurement by measurement.

The other way, in which the loops are closed first and C alone is unknown, needs nothing of this: it
is what the position and frame methods do with any machine (`model/loop_motion.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.estimation.problem import Linearized
from theodolite.estimation.slicing import slices
from theodolite.model import rotations
from theodolite.model.mechanism import Mechanism
from theodolite.model.parameters import Parameter

if TYPE_CHECKING:
    from theodolite.calibration.geometric import GeometricProblem


class LoopProblem:
    """Errors and gaps of a mechanism at any position of its passive joints."""

    @staticmethod
    def of(problem: GeometricProblem, candidates: IntArray) -> LoopProblem | None:
        """The same problem with open loops; None where no loops or no passive joints are.

        Joint noise acts through closed loops, so it cannot be had here either.
        """
        machine = problem.robot
        if not isinstance(machine, Mechanism) or not machine.passive or problem.noise.moves:
            return None
        return LoopProblem(machine, problem, candidates)

    def __init__(
        self, mechanism: Mechanism, problem: GeometricProblem, candidates: IntArray
    ) -> None:
        if problem.data.positions is None:
            raise InputError("the data hold no positions", where=problem.data.name)
        self.mechanism = mechanism
        self.parameters: tuple[Parameter, ...] = problem.parameters
        self.priorities = problem.priorities
        self._problem, self._columns = problem, candidates
        self._measured, self._turned = problem.data.positions[:, 0], problem.data.rotations
        joints = self.mechanism.joints
        self._active = problem.data.motors[:, :joints]
        #: Where the passive joints start, (n, passive).
        self.passive = problem.data.motors[:, joints:]
        if self.passive.shape[1] != len(self.mechanism.passive):
            self.passive = self.mechanism.assembled(self._active)[0][:, joints:]
        noise = problem.noise
        sizes = [noise.position] if self._turned is None else [noise.position, noise.orientation]
        self._sigmas = np.repeat(sizes, 3)

    def slices(self) -> Iterator[slice]:
        return slices(len(self._active))

    def linearized(self, values: FloatArray, passive: FloatArray, rows: slice) -> Linearized:
        """Errors and gaps of some measurements, with derivatives by constants and joints."""
        full = self._problem.full_values(values)
        mechanism = self.mechanism
        joints = np.concatenate([self._active[rows], passive[rows]], axis=1)
        motion = mechanism.tool_chain.motion(full, mechanism.basis(joints))
        error = motion.position - self._measured[rows]
        if self._turned is None:
            J, B = motion.position_jacobian(self._columns), motion.position_basis_jacobian()
        else:
            J, B = motion.twist_jacobian(self._columns), motion.twist_basis_jacobian()
            turn = rotations.log(motion.rotation @ self._turned[rows].transpose(0, 2, 1))
            bend = rotations.left_inverse(turn)
            error = np.concatenate([error, turn], axis=1)
            for jacobian in (J, B):
                jacobian[:, 3:] = np.einsum("nij,njk->nik", bend, jacobian[:, 3:])
        gap = mechanism.gap(full, joints)
        scale = self._sigmas[:, None]
        return Linearized(
            error / self._sigmas,
            J / scale,
            B[:, :, 1 + mechanism.joints :] / scale,
            gap.gap,
            gap.by_values[:, :, self._columns],
            gap.by_passive,
        )
