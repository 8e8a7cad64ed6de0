"""The motion of a tip whose passive joints follow the closures, with exact derivatives."""

from __future__ import annotations

from functools import cached_property

from theodolite.arrays import FloatArray, IntArray
from theodolite.matrices import pseudo_inverse
from theodolite.model.chain import Motion
from theodolite.model.closing import Gap


class LoopMotion:
    """A tip whose passive joints follow the closures; derivatives by implicit differentiation.

    With gap G(C, q, a) = 0 the passive joints move by ``da = -G_a^+ (G_C dC + G_q dq)``.
    """

    def __init__(self, tip: Motion, gap: Gap, passive: FloatArray) -> None:
        self._tip, self.gap, self.passive = tip, gap, passive

    @property
    def rotation(self) -> FloatArray:
        """Orientation of the tip in the world, (n, 3, 3)."""
        return self._tip.rotation

    @property
    def position(self) -> FloatArray:
        """Position of the tip in the world, (n, 3)."""
        return self._tip.position

    @cached_property
    def _inverse(self) -> FloatArray:
        """G_a^+, (n, passive, equations)."""
        return pseudo_inverse(self.gap.by_passive)

    def position_jacobian(self, columns: IntArray | None = None) -> FloatArray:
        """Derivative of the tip's position by all or some parameters, (n, 3, p)."""
        return self._by_values(
            self._tip.position_jacobian(columns), self._tip.position_basis_jacobian(), columns
        )

    def twist_jacobian(self, columns: IntArray | None = None) -> FloatArray:
        """Derivative of the tip's pose, as world-frame twists at the tip, (n, 6, p)."""
        return self._by_values(
            self._tip.twist_jacobian(columns), self._tip.twist_basis_jacobian(), columns
        )

    def position_basis_jacobian(self) -> FloatArray:
        """Derivative of the tip's position by one and the measured joints, (n, 3, 1 + joints)."""
        return self._by_basis(self._tip.position_basis_jacobian())

    def twist_basis_jacobian(self) -> FloatArray:
        """Derivative of the tip's pose by one and the measured joints, (n, 6, 1 + joints)."""
        return self._by_basis(self._tip.twist_basis_jacobian())

    def _by_values(
        self, jacobian: FloatArray, by_basis: FloatArray, columns: IntArray | None
    ) -> FloatArray:
        G_C = self.gap.by_values if columns is None else self.gap.by_values[:, :, columns]
        return jacobian - self._through(by_basis) @ G_C

    def _by_basis(self, by_basis: FloatArray) -> FloatArray:
        moved = by_basis[:, :, : self._measured(by_basis)].copy()
        moved[:, :, 1:] -= self._through(by_basis) @ self.gap.by_active
        return moved

    def _through(self, by_basis: FloatArray) -> FloatArray:
        """How the tip feels the gaps through the passive joints, (n, rows, equations)."""
        through: FloatArray = by_basis[:, :, self._measured(by_basis) :] @ self._inverse
        return through

    def _measured(self, by_basis: FloatArray) -> int:
        return by_basis.shape[2] - self.passive.shape[1]
