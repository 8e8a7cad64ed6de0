"""Observations that the rest of the data does not believe.

For an observation with residual r of w components and leverage H = J C J' / v, the residual that it
would have in a fit without it is (I - H)^-1 r. Its size follows from this fit alone:

    F = r' (I - H)^-1 r / (w v_without),  v_without = (S - r' (I - H)^-1 r) / (d - w)

is F-distributed with (w, d - w) degrees of freedom where all noise is normal, S being the sum of
squares and d its degrees of freedom [Cook & Weisberg 1982, 2.2].
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.estimation.problem import Block, Problem
from theodolite.estimation.solver import Solution
from theodolite.estimation.statistics import Statistics, estimate_factor

#: How often a recording without any outlier has one named.
FALSE_ALARMS = 0.01
#: Leverage this close to one: nothing else checks the observation.
ALONE = 1e-6
#: So many are looked for; where there are more, these show enough.
MOST_NAMED = 20
#: Of the sum of squares: what is left of it is at least its rounding.
ROUNDING = 1e-12


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
    robust: bool = False,
    false_alarms: float = FALSE_ALARMS,
) -> Outliers:
    """Observations that a leave-one-out test rejects, at a rate of false alarms for all of them.

    The worst is taken out of the fit and the rest tested again, so that two outliers neither hide
    each other nor make others look wrong. A ``robust`` fit is not moved by them: one test does.
    """
    from scipy.special import fdtrc

    fit = _Fit(problem, solution, statistics)
    rejected: dict[tuple[int, int], float] = {}
    for _ in range(1 if robust else MOST_NAMED):
        left = fit.left_out(rejected)
        if not len(left.rows):
            break
        degrees = np.maximum(fit.degrees - left.widths, 1)
        rest = fit.without(left.parts) / degrees
        variance = statistics.sigma**2 if robust else rest
        ratio = left.parts / left.widths / np.where(variance > 0.0, variance, np.inf)
        chances = np.minimum(fdtrc(left.widths, degrees, ratio) * len(ratio), 1.0)
        suspicious = np.flatnonzero(chances < false_alarms)
        if not len(suspicious):
            break
        if robust:
            rejected = {left.places[i]: float(chances[i]) for i in suspicious}
        else:
            worst = int(np.argmax(ratio))
            rejected[left.places[worst]] = float(chances[worst])
            fit.take_out(left, worst)
    return fit.described(rejected, statistics.sigma if robust else None)


class _LeftOut(NamedTuple):
    """What each observation would be in a fit without it."""

    #: Its block, and its number there.
    places: list[tuple[int, int]]
    rows: IntArray
    #: Components.
    widths: IntArray
    #: By how much the sum of squares falls without it.
    parts: FloatArray


class _Fit:
    """A linear fit out of which observations are taken.

    In coordinates in which the parameters are uncorrelated with variance one, leverages are G G'.
    Without an observation (G_s, r_s) the estimate moves by M^-1 G_s' r_s, M = I - G_s' G_s, and the
    covariance becomes M^-1.
    """

    def __init__(self, problem: Problem, solution: Solution, statistics: Statistics) -> None:
        self.problem, self.solution = problem, solution
        self.squares: float = solution.reduction.squares
        # What is left without what holds all the error is rounding, not less than nothing.
        self._rounding = ROUNDING * self.squares
        self.degrees: int = statistics.degrees_of_freedom
        self._factor = estimate_factor(solution, statistics)
        self._moved = np.zeros(len(self._factor))

    def _blocks(self) -> Iterator[tuple[int, Block, FloatArray, FloatArray]]:
        """Number, block, residuals (n, w) and G (n, w, p) of everything."""
        for number, block in enumerate(self.problem.blocks(self.solution.values)):
            jacobian = block.jacobian[:, self.solution.changed]
            r = (block.residual + jacobian @ self._moved).reshape(block.width, -1).T
            G = (jacobian @ self._factor).reshape(block.width, len(r), -1).transpose(1, 0, 2)
            yield number, block, r, G

    def left_out(self, rejected: Container[tuple[int, int]]) -> _LeftOut:
        places: list[tuple[int, int]] = []
        found: list[tuple[IntArray, IntArray, FloatArray]] = []
        squares = 0.0
        for number, block, r, G in self._blocks():
            kept = np.array([(number, place) not in rejected for place in range(len(r))])
            squares += float(np.sum(r[kept] ** 2))
            if block.rows is None or self.degrees <= block.width:
                continue
            checked, parts = _without(r, G)
            parts, checked = parts[kept[checked]], checked[kept[checked]]
            places += [(number, int(place)) for place in checked]
            found.append((block.rows[checked], np.full(len(parts), block.width), parts))
        # Summed anew: beside a gross outlier, a difference of sums would be its rounding.
        self.squares = max(squares, self._rounding)
        if not found:
            none = np.empty(0, dtype=np.intp)
            return _LeftOut(places, none, none, np.empty(0))
        return _LeftOut(places, *(np.concatenate(part) for part in zip(*found, strict=True)))

    def without(self, parts: FloatArray) -> FloatArray:
        """The sum of squares without some of its parts."""
        return np.maximum(self.squares - parts, self._rounding)

    def take_out(self, left: _LeftOut, index: int) -> None:
        wanted, place = left.places[index]
        for number, _, r, G in self._blocks():
            if number == wanted:
                root = np.linalg.cholesky(np.linalg.inv(np.eye(G.shape[2]) - G[place].T @ G[place]))
                self._moved = self._moved + self._factor @ root @ root.T @ G[place].T @ r[place]
                self._factor = self._factor @ root
                break
        self.degrees -= int(left.widths[index])

    def described(self, rejected: dict[tuple[int, int], float], sigma: float | None) -> Outliers:
        """The rejected observations, one line for each row, the worst first."""
        if not rejected:
            return NO_OUTLIERS
        if sigma is None:
            sigma = float(np.sqrt(self.squares / max(self.degrees, 1)))
        worst: dict[int, tuple[float, float]] = {}
        for number, block, r, _ in self._blocks():
            if block.rows is None:
                continue
            for (other, place), chance in rejected.items():
                if other == number:
                    size = float(np.sqrt(np.mean(r[place] ** 2))) / sigma
                    row = int(block.rows[place])
                    worst[row] = max(worst.get(row, (0.0, 0.0)), (size, chance))
        order = sorted(worst, key=lambda row: -worst[row][0])
        sizes, chances = np.array([worst[row] for row in order]).T
        return Outliers(np.array(order, dtype=np.intp), sizes, chances)


def _without(r: FloatArray, G: FloatArray) -> tuple[IntArray, FloatArray]:
    """Observations that others check, and r' (I - G G')^-1 r of each.

    An observation may have more components than there are parameters, as a picture has; then
    (I - G G')^-1 = I + G (I - G'G)^-1 G' is the smaller way.
    """
    wide = G.shape[1] > G.shape[2]
    back = G.transpose(0, 2, 1)
    rest = np.eye(min(G.shape[1:])) - (back @ G if wide else G @ back)
    checked = np.flatnonzero(np.linalg.eigvalsh(rest)[:, 0] > ALONE)
    inner = (back[checked] @ r[checked][:, :, None]) if wide else r[checked][:, :, None]
    parts = np.einsum("ni,ni->n", inner[:, :, 0], np.linalg.solve(rest[checked], inner)[:, :, 0])
    return checked, parts + (np.einsum("ni,ni->n", r[checked], r[checked]) if wide else 0.0)
