"""From motors to joints: ``q = Coa G(K) Com qm + Offset`` [Khalil1996, eq. 2]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theodolite.arrays import FloatArray, frozen


@dataclass(frozen=True)
class Transmission:
    """Coupling of the motors, gains, coupling of the joints, and joint offsets."""

    com: FloatArray
    gains: FloatArray
    coa: FloatArray
    offset: FloatArray

    @staticmethod
    def of(
        joints: int,
        *,
        com: ArrayLike | None = None,
        gains: ArrayLike | None = None,
        coa: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> Transmission:
        """A transmission in which everything not given is direct drive."""
        return Transmission(
            com=frozen(np.eye(joints) if com is None else com),
            gains=frozen(np.ones(joints) if gains is None else gains),
            coa=frozen(np.eye(joints) if coa is None else coa),
            offset=frozen(np.zeros(joints) if offset is None else offset),
        )

    def joints(self, motors: FloatArray) -> FloatArray:
        """Joint variables (n, joints) of motor variables (n, joints)."""
        return motors @ self.com.T * self.gains @ self.coa.T + self.offset

    def motors(self, joints: FloatArray) -> FloatArray:
        """Motor variables (n, joints) of joint variables (n, joints)."""
        matrix = self.coa * self.gains @ self.com
        return np.linalg.solve(matrix, (joints - self.offset).T).T
