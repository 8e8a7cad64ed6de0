"""Observations that the rest of the data does not believe.

For an observation with residual r of w components and leverage H = J C J' / v, the residual that it
would have in a fit without it is (I - H)^-1 r. Its size follows from this fit alone:

    F = r' (I - H)^-1 r / (w v_without),  v_without = (S - r' (I - H)^-1 r) / (d - w)

is F-distributed with (w, d - w) degrees of freedom where all noise is normal, S being the sum of
squares and d its degrees of freedom [Cook & Weisberg 1982, 2.2].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.estimation.problem import Problem
from theodolite.estimation.solver import Solution
from theodolite.estimation.statistics import Statistics, estimate_factor

#: How often a recording without any outlier has one named.
FALSE_ALARMS = 0.01
#: Leverage this close to one: nothing else checks the observation.
ALONE = 1e-6


@dataclass(frozen=True, eq=False)
class Outliers:
    """Rows of the data that do not fit the rest, the worst first."""

    rows: IntArray
    #: Size of each one's residual in a fit without it, in standard deviations.
    sizes: FloatArray
    #: Chance of such a residual in a recording without outliers.
    chances: FloatArray


NO_OUTLIERS = Outliers(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))


def find_outliers(
    problem: Problem,
    solution: Solution,
    statistics: Statistics,
    *,
    false_alarms: float = FALSE_ALARMS,
) -> Outliers:
    """Observations that a leave-one-out test rejects, at a rate of false alarms for all of them."""
    from scipy.special import fdtrc

    degrees = statistics.degrees_of_freedom
    factor = estimate_factor(solution, statistics)
    rows, sizes, chances = [], [], []
    squares = solution.reduction.squares
    for block in problem.blocks(solution.values):
        if block.rows is None:
            continue
        width = block.width
        if degrees <= width:
            break
        r = block.residual.reshape(width, -1).T
        G = (
            (block.jacobian[:, solution.changed] @ factor)
            .reshape(width, len(r), -1)
            .transpose(1, 0, 2)
        )
        rest = np.eye(width) - G @ G.transpose(0, 2, 1)
        checked = np.linalg.eigvalsh(rest)[:, 0] > ALONE
        rest[~checked] = np.eye(width)
        without = np.linalg.solve(rest, r[:, :, None])[:, :, 0]
        part = np.einsum("ni,ni->n", r, without)
        variance = np.maximum(squares - part, 1e-12 * squares) / (degrees - width)
        ratio = part / width / np.where(variance > 0, variance, np.inf)
        rows.append(block.rows[checked])
        sizes.append(
            np.sqrt(np.mean(without**2, axis=1) / np.where(variance > 0, variance, np.inf))[checked]
        )
        chances.append(fdtrc(width, degrees - width, ratio)[checked])
    if not rows:
        return NO_OUTLIERS
    row, size, chance = (np.concatenate(parts) for parts in (rows, sizes, chances))
    chance = np.minimum(chance * len(chance), 1.0)
    # One line for each row, by its worst observation.
    order = np.argsort(chance, kind="stable")
    order = order[chance[order] < false_alarms]
    _, first = np.unique(row[order], return_index=True)
    order = order[np.sort(first)]
    return Outliers(row[order], size[order], chance[order])
