"""What is known before any measurement: values, and how far off they may be.

A parameter with tolerance tau counts as one more observation, (x - mean) / tau with variance one.
Directions that the data determine outweigh it by far; nearly dependent parameters share an error in
proportion to their tolerances; what the data do not see stays where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.model.parameters import Parameter


@dataclass(frozen=True, eq=False)
class Prior:
    """The sum of squares ``|factor (x - mean)|^2`` that the prior adds to the data's."""

    mean: FloatArray
    #: (p, p); rows of zeros where nothing is known.
    factor: FloatArray
    #: Standard deviation of each parameter, infinite where nothing is known.
    tolerances: FloatArray
    #: Which guess each tolerance is that nobody stated, (p,): equal numbers are right or wrong
    #: together; -1: it was stated, or there is none.
    guesses: IntArray

    @staticmethod
    def of(parameters: Sequence[Parameter]) -> Prior:
        """Independent errors, each with its parameter's tolerance."""
        mean = np.array([parameter.value for parameter in parameters])
        tolerances = np.array([parameter.tolerance for parameter in parameters])
        kinds = list(dict.fromkeys(parameter.guess for parameter in parameters if parameter.guess))
        guesses = [kinds.index(p.guess) if p.guess else -1 for p in parameters]
        return Prior.independent(mean, tolerances, np.array(guesses, dtype=np.intp))

    @staticmethod
    def independent(
        mean: FloatArray, tolerances: FloatArray, guesses: IntArray | None = None
    ) -> Prior:
        stated = np.full(len(mean), -1)
        return Prior(
            mean, np.diag(1.0 / tolerances), tolerances, stated if guesses is None else guesses
        )

    def with_tolerances(self, tolerances: FloatArray) -> Prior:
        """The same with other tolerances, independent ones."""
        return Prior.independent(self.mean, tolerances, self.guesses)

    @property
    def guessed(self) -> bool:
        """Is any tolerance a guess?"""
        return bool((self.guesses >= 0).any())

    def residual(self, values: FloatArray) -> FloatArray:
        return self.factor @ (values - self.mean)

    def regrouped(self, base: IntArray, others: IntArray, relations: FloatArray) -> Prior:
        """The prior of base parameters that stand for regrouped ones as well.

        With ``x* = x_base + relations x_others`` its covariance is T D T', T = [1 relations].
        """
        part = np.multiply(
            relations,
            self.tolerances[others],
            where=relations != 0.0,
            out=np.zeros_like(relations),
        )
        spread = np.concatenate([np.diag(self.tolerances[base]), part], axis=1)
        known = np.isfinite(spread).all(axis=1)
        triangle = np.asarray(np.linalg.qr(spread[known].T, mode="r")).T
        factor = np.zeros((len(base), len(base)))
        factor[np.ix_(known, known)] = np.linalg.inv(triangle)
        tolerances = np.where(known, np.linalg.norm(spread, axis=1), np.inf)
        return Prior(self.mean[base], factor, tolerances, self.guesses[base])
