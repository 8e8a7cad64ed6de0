"""Does a search end in the same minimum wherever it starts? [Everett1988, future plans]"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InfeasibleError
from theodolite.estimation.problem import Problem
from theodolite.estimation.reduction import reduce
from theodolite.estimation.solver import Solution

#: Sums of squares that differ by less than this many variances of the noise are the same minimum.
SAME = 0.1
#: Nor can smaller differences be told apart, as a part of the sum of squares at a start.
ROUNDING = 1e-12
#: How often a start is moved towards the nominal values where loops do not close.
HALVINGS = 6


@dataclass(frozen=True)
class OtherStarts:
    """Where searches from random starts within the tolerances ended."""

    starts: int
    #: In the minimum that was taken.
    same: int
    #: In one with a larger sum of squares, or nowhere.
    worse: int
    #: In one with a smaller sum of squares.
    better: int
    #: The smallest sum of squares found, as a multiple of the one that was taken.
    best: float

    @property
    def unique(self) -> bool:
        return self.same == self.starts

    def sentence(self) -> str:
        """What this means."""
        if self.unique:
            return f"All {self.starts} random starts within the tolerances end in the same minimum."
        told = f"Of {self.starts} random starts within the tolerances, {self.same} end in the same "
        told += "minimum"
        if self.worse:
            told += f", {self.worse} in a worse one or in none"
        if self.better:
            told += (
                f", {self.better} in a better one ({self.best:.3g} times the sum of squares): the "
                "nominal values lead to the wrong minimum"
            )
        return told + "."


def try_other_starts(
    problem: Problem,
    taken: Solution,
    fit: Callable[[FloatArray], Solution],
    starts: int,
    rng: np.random.Generator,
    tell: Callable[[str], object],
) -> OtherStarts:
    """Search from values drawn within what is known of the parameters that may change."""
    nominal = np.array([parameter.value for parameter in problem.parameters])
    tolerances = np.array([parameter.tolerance for parameter in problem.parameters])
    if taken.free is not None and taken.prior is not None and len(taken.free) < len(nominal):
        tolerances[:] = 0.0
        tolerances[taken.free] = taken.prior.tolerances
    tolerances[~np.isfinite(tolerances)] = 0.0
    freedom = max(taken.reduction.rows - len(taken.changed), 1)
    variance = taken.reduction.cost / freedom
    cost = _merit(taken, variance)
    margin = SAME * variance
    same = worse = better = 0
    best = cost
    for number in range(1, starts + 1):
        tell(f"start {number} of {starts}")
        step = tolerances * rng.standard_normal(len(nominal))
        ended = None
        for _ in range(HALVINGS):
            try:
                far = reduce(problem, nominal + step, taken.loss).cost
                ended = fit(nominal + step)
                break
            except InfeasibleError:
                # So far away the loops of a mechanism do not close.
                step = step / 2
        if ended is None:
            worse += 1
            continue
        found = _merit(ended, variance)
        smallest = max(margin, ROUNDING * far)
        same += abs(found - cost) <= smallest
        worse += found - cost > smallest
        better += cost - found > smallest
        best = min(best, found)
    return OtherStarts(starts, same, worse, better, best / cost if cost > 0 else 1.0)


def _merit(ended: Solution, variance: float) -> float:
    """Data and what was known before together: a robot without lengths may fit data exactly."""
    if ended.prior is None:
        return ended.reduction.cost
    known = ended.prior.residual(ended.values[ended.changed])
    return ended.reduction.cost + variance * float(known @ known)
