"""The elements of a tape: elementary rotations and translations whose amount is a series.

    amount(sample) = sum over terms of  coefficient * parameter * basis(sample)

Everett's report asks for "constants expanded as series" [Everett1988, 1.4.1]; this is that
series, and every modelling convention is a product of such elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: The basis function that is 1 for every sample.
ONE = 0


@dataclass(frozen=True)
class Term:
    """One summand of an element's amount."""

    #: Index into the parameter vector; None for a known constant.
    parameter: int | None
    #: Index of the basis function; ONE for a constant amount.
    basis: int = ONE
    coefficient: float = 1.0


@dataclass(frozen=True)
class Element:
    """A rotation about, or a translation along, the x, y or z axis of the frame before it."""

    rotation: bool
    #: 0, 1, 2 for x, y, z.
    axis: int
    terms: tuple[Term, ...]

    @property
    def varies(self) -> bool:
        """Does the amount change from sample to sample?"""
        return any(term.basis != ONE for term in self.terms)

    def describe(self, parameters: Sequence[str], basis: Sequence[str]) -> str:
        """The element as one writes it: ``Rz(theta1 + K1 q1)``."""
        return (
            f"{'R' if self.rotation else 'T'}{'xyz'[self.axis]}({self._amount(parameters, basis)})"
        )

    def _amount(self, parameters: Sequence[str], basis: Sequence[str]) -> str:
        summands = []
        for term in self.terms:
            factors = [] if term.coefficient == 1.0 else [f"{term.coefficient:.6g}"]
            if term.parameter is not None:
                factors.append(parameters[term.parameter])
            if term.basis != ONE:
                factors.append(basis[term.basis])
            summands.append(" ".join(factors) or "1")
        return " + ".join(summands)
