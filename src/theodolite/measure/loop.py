"""Closed loops: measured poses or positions of a mechanism whose passive joints are not measured.

With the tool's error F(C, a) and the loops' gaps G(C, a) for constants C and passive joints a,
both ways of [Everett1988, 2.3] come down to the same linear problem in the constants,

    F - F_a G_a^+ G  +  (F_C - F_a G_a^+ G_C) dC

since the passive joints of one measurement appear in no other: block elimination of the arrow
system of eq. 38, in time linear in the number of measurements.

- eliminated: the loops are closed first, G = 0, and C alone is unknown (`LoopProblem`);
- multipliers: C, a and the multipliers move together, Gauss-Newton on eq. 38
  (`identification/multipliers.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.measure.noise import Noise
from theodolite.measure.problem import Block, Linearized
from theodolite.model import rotations
from theodolite.model.mechanism import Loops, Mechanism


@dataclass(frozen=True, eq=False)
class LoopData:
    """Measured joints, a guess of the passive ones on the right branch, and what was seen."""

    active: FloatArray
    guess: FloatArray
    positions: FloatArray
    rotations: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.active)


class LoopProblem:
    """A mechanism's constants from measured poses or positions, the passive joints eliminated."""

    def __init__(self, mechanism: Mechanism, data: LoopData, *, noise: Noise | None = None) -> None:
        self.mechanism, self.data, self.noise = mechanism, data, noise or Noise()
        self.loops = Loops.of(mechanism)
        self.parameters = mechanism.parameters
        self.priorities = (1,) * len(self.parameters)
        self._guess = data.guess
        start = np.array([parameter.value for parameter in self.parameters])
        _, closes = self.loops.closed(start, data.active, data.guess)
        if not closes.any():
            raise InputError(
                f"no loop of '{mechanism.name}' closes at the nominal constants",
                remedy="Check the guesses of the passive joints and the units",
            )

    def passive(self, values: FloatArray) -> FloatArray:
        """The passive joints of every measurement, on the branch of the guess."""
        found, closes = self.loops.closed(values, self.data.active, self._guess)
        if not closes.all():
            # Where a trial's loops do not close, the nearest gap counts as error.
            return found
        self._guess = found
        return found

    def linearized(self, values: FloatArray, passive: FloatArray) -> Linearized:
        """Everything at given constants and passive joints."""
        basis = self.loops.basis(self.data.active, passive)
        motion = self.loops.tool.motion(values, basis)
        error = motion.position - self.data.positions
        J, B = motion.twist_jacobian(), motion.twist_basis_jacobian()
        sigmas = np.full(3, self.noise.position)
        if self.data.rotations is None:
            J, B = J[:, :3], B[:, :3]
        else:
            turn = rotations.log(motion.rotation @ self.data.rotations.transpose(0, 2, 1))
            bend = rotations.left_inverse(turn)
            error = np.concatenate([error, turn], axis=1)
            for jacobian in (J, B):
                jacobian[:, 3:] = np.einsum("nij,njk->nik", bend, jacobian[:, 3:])
            sigmas = np.append(sigmas, np.full(3, self.noise.orientation))
        G, G_C, G_a = self.loops.gap(values, basis)
        scale = sigmas[:, None]
        F_a = B[:, :, 1 + self.loops.active :] / scale
        return Linearized(error / sigmas, J / scale, F_a, G, G_C, G_a)

    def reduced(self, at: Linearized) -> Block:
        """The linear problem in the constants that is left."""
        inverse = np.linalg.pinv(at.G_a, rcond=1e-9)
        through = at.F_a @ inverse
        residual = at.F - np.einsum("nij,nj->ni", through, at.G)
        jacobian = at.F_C - through @ at.G_C
        rows = np.concatenate([jacobian.transpose(2, 1, 0), residual.T[None]])
        width = residual.shape[1]
        return Block(rows.reshape(len(self.parameters) + 1, -1), width)

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        yield self.reduced(self.linearized(values, self.passive(values)))

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        return None

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        at = self.linearized(values, self.passive(values))
        found = {"position": np.linalg.norm(at.F[:, :3], axis=1) * self.noise.position}
        if self.data.rotations is not None:
            found["orientation"] = np.linalg.norm(at.F[:, 3:], axis=1) * self.noise.orientation
        return found
