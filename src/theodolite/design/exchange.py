"""Choosing some of many candidates by exchange.

With the covariance C of a choice, a candidate of rows J adds log det(I + J C J') to D, and takes

    trace((I + J C J')^-1 J C Q C J')

off the mean squared error of a task. With one more or less C changes by a matrix of low rank, and
so do J C J' and J C Q C J' of all candidates: nothing is factorised again. Other criteria have no
such rule: they start from the choice for D, and exchanges are judged by the eigenvalues themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.design.criteria import Criterion, score
from theodolite.design.information import Information
from theodolite.estimation.threads import single_thread

#: Passes over the choice until nothing is exchanged any more.
PASSES = 12
#: Candidates that a pass follows.
FOLLOWED = 1000
#: An exchange must gain this part at least.
GAIN = 1e-9
#: Candidates that are tried in each place where eigenvalues decide.
TRIED = 200
#: Prior of base parameters that makes first choices possible, of one tolerance.
SLIGHT = 1e-6
#: With more rows, products of candidates are products of matrices.
FEW_ROWS = 6
#: Where no more than this part of what was known is left without a candidate, updates lose digits.
LOST = 1e-6
#: Of a diagonal element: less cannot be left of it but for rounding.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Choice:
    """Chosen candidates, in the order in which they were found, and their criterion."""

    chosen: IntArray
    value: float


def choose(
    known: Information,
    count: int,
    criterion: Criterion,
    rng: np.random.Generator,
    *,
    task: FloatArray | None = None,
    starts: int = 3,
    first: IntArray | None = None,
    tell: Callable[[str], object] | None = None,
) -> Choice:
    """The best choice of several starts, or from ``first``; ``task`` is Q of `task_weights`."""
    # Products with three rows are not worth a thread.
    with single_thread():
        if first is not None:
            return _one(known, count, criterion, rng, task, first=first)
        best: Choice | None = None
        for start in range(starts):
            if tell is not None:
                tell(f"start {start + 1} of {starts}")
            drawn = rng.choice(len(known), count, replace=False) if start else None
            found = _one(known, count, criterion, rng, task, first=drawn)
            if best is None or found.value > best.value:
                best = found
        assert best is not None
        return best


def _one(
    known: Information,
    count: int,
    criterion: Criterion,
    rng: np.random.Generator,
    task: FloatArray | None,
    *,
    first: IntArray | None,
) -> Choice:
    """One choice, from given candidates or from those that gain most one after the other."""
    if criterion is Criterion.I:
        assert task is not None
        search = Search(known.J, known.prior, task)
    else:
        J = known.J[:, :, known.base]
        told = known.told[np.ix_(known.base, known.base)]
        # Data alone decide; a slight prior lets the first candidates be compared.
        search = Search(J, told + SLIGHT * np.eye(len(known.base)), None)
    if first is None:
        while len(search.chosen) < count:
            search.add(search.best())
    else:
        for one in first:
            search.add(int(one))
    search.exchange()
    if criterion in (Criterion.D, Criterion.O1, Criterion.I):
        return Choice(np.array(search.chosen), search.value())
    return _by_eigenvalues(known, np.array(search.chosen), criterion, rng)


class Search:
    """A choice that grows and changes, with what every candidate would gain.

    Small matrices of all candidates are kept with the candidates last, so that a loop over rows and
    columns works on long vectors.
    """

    def __init__(self, J: FloatArray, prior: FloatArray, task: FloatArray | None) -> None:
        self.all, self.task = J, task
        self.rows, self.size = J.shape[1:]
        # (rows, parameters, candidates)
        self.by_row = np.ascontiguousarray(J.transpose(1, 2, 0))
        self.M = prior.copy()
        self.chosen: list[int] = []
        self._look_at(np.arange(len(J)))

    def _look_at(self, candidates: IntArray) -> None:
        """Follow these candidates only, from the information as it is.

        What was updated many times has rounding in it, which ends here.
        """
        self.pool = candidates
        self.place = np.full(len(self.all), -1)
        self.place[candidates] = np.arange(len(candidates))
        some = len(candidates) < len(self.all)
        self.J = np.ascontiguousarray(self.by_row[:, :, candidates]) if some else self.by_row
        self.C, self.V, self.W = self._products_of(np.linalg.inv(self.M))

    def _products_of(self, C: FloatArray) -> _Products:
        """A covariance with its products, from the start."""
        W = None if self.task is None else self._products(C @ self.task @ C)
        return _Products(C, self._products(C), W)

    def _products(self, A: FloatArray) -> FloatArray:
        """J A J' of every candidate, (rows, rows, candidates)."""
        return np.einsum("apn,bpn->abn", A @ self.J, self.J, optimize=True)

    def value(self) -> float:
        if self.task is not None:
            return -float(np.sum(self.task * np.linalg.inv(self.M)))
        return float(np.linalg.slogdet(self.M)[1])

    def gains(self) -> FloatArray:
        """What adding each candidate gains; those that are chosen gain nothing."""
        return self._gains(self.V, self.W, self.chosen)

    def _gains(self, V: FloatArray, W: FloatArray | None, chosen: Sequence[int]) -> FloatArray:
        L = _cholesky(V + np.eye(self.rows)[:, :, None])
        if W is None:
            found = 2.0 * sum(np.log(L[row, row]) for row in range(self.rows))
        else:
            found = _trace_of_quotient(L, W)
        taken = self.place[np.array(chosen, dtype=np.intp)]
        found[taken[taken >= 0]] = -np.inf
        return found

    def best(self) -> int:
        return int(self.pool[np.argmax(self.gains())])

    def best_instead(self, candidate: int) -> int:
        """The best to have in place of a chosen one, perhaps itself."""
        others = [one for one in self.chosen if one != candidate]
        changed = self._changed(candidate, -1.0)
        return int(self.pool[np.argmax(self._gains(changed.V, changed.W, others))])

    def add(self, candidate: int) -> None:
        self._change(candidate, 1.0)
        self.chosen.append(candidate)

    def remove(self, candidate: int) -> None:
        self.chosen.remove(candidate)
        self._change(candidate, -1.0)

    def _change(self, candidate: int, sign: float) -> None:
        """Add or remove a candidate."""
        self.C, self.V, self.W = self._changed(candidate, sign)
        rows = self.all[candidate]
        self.M = self.M + sign * rows.T @ rows

    def _changed(self, candidate: int, sign: float) -> _Products:
        """C and its products with a candidate more or less: C + U K U' with U = C J'."""
        rows = self.all[candidate]
        U = self.C @ rows.T
        left, directions = np.linalg.eigh(np.eye(self.rows) + sign * rows @ U)
        if left[0] < LOST:
            return self._products_of(np.linalg.inv(self.M + sign * rows.T @ rows))
        # U K U' = -sign Y Y' with a root of K.
        Y = U @ directions / np.sqrt(left)
        C = self.C - sign * Y @ Y.T
        moved = self._seen_along(Y)
        V = self.V - sign * _product(moved, moved)
        if self.W is None:
            return _Products(C, V, None)
        assert self.task is not None
        # C Q C of the new C: C Q Y Y', its transpose, and Y Y' Q Y Y'.
        along = self.task @ Y
        other = self._seen_along(sign * self.C @ along - 0.5 * Y @ (Y.T @ along))
        half = _product(other, moved)
        return _Products(C, V, self.W - half - half.transpose(1, 0, 2))

    def _seen_along(self, U: FloatArray) -> FloatArray:
        """J U of every candidate, (rows, rank, candidates)."""
        found: FloatArray = U.T @ self.J
        return found

    def exchange(self) -> None:
        """Exchange chosen candidates for better ones until none is left.

        Each pass follows those that promise most, and the last one all of them.
        """
        everything = np.arange(len(self.all))
        final = len(everything) <= FOLLOWED
        for _ in range(PASSES):
            self._look_at(everything)
            if not final:
                most = np.argpartition(-self.gains(), FOLLOWED)[:FOLLOWED]
                self._look_at(np.union1d(most, self.chosen))
            changed = self._pass()
            if not changed and final:
                break
            final = final or not changed

    def _pass(self) -> bool:
        changed = False
        for place, candidate in enumerate(list(self.chosen)):
            best = self.best_instead(candidate)
            if best == candidate:
                continue
            before = self.value()
            self.remove(candidate)
            self.add(best)
            if self.value() - before > GAIN * abs(before):
                changed = True
            else:
                self.remove(best)
                self.add(candidate)
            # It stands where the other one stood.
            self.chosen.insert(place, self.chosen.pop())
        return changed


class _Products(NamedTuple):
    """A covariance, and its products with all candidates."""

    C: FloatArray
    V: FloatArray
    W: FloatArray | None


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    """left right' of many candidates, (rows, rank, n) each."""
    rows, rank, n = left.shape
    if rows > FEW_ROWS:
        return (left.transpose(2, 0, 1) @ right.transpose(2, 1, 0)).transpose(1, 2, 0)
    # Few products of long vectors: far faster than einsum.
    found = np.empty((rows, rows, n))
    for a in range(rows):
        for b in range(rows):
            if left is right and b < a:
                found[a, b] = found[b, a]
                continue
            np.multiply(left[a, 0], right[b, 0], out=found[a, b])
            for k in range(1, rank):
                found[a, b] += left[a, k] * right[b, k]
    return found


def _cholesky(A: FloatArray) -> FloatArray:
    """Lower factors of many small matrices (w, w, n)."""
    size = len(A)
    L = np.zeros_like(A)
    for column in range(size):
        rest = A[column, column].copy()
        for before in range(column):
            rest -= L[column, before] ** 2
        # Of one and more; what is less is rounding beside something very large.
        least = ROUNDING * np.maximum(A[column, column], 1.0)
        lost = rest <= least
        L[column, column] = np.sqrt(np.where(lost, least, rest))
        for row in range(column + 1, size):
            part = A[row, column].copy()
            for before in range(column):
                part -= L[row, before] * L[column, before]
            L[row, column] = np.where(lost, 0.0, part / L[column, column])
    return L


def _trace_of_quotient(L: FloatArray, W: FloatArray) -> FloatArray:
    """trace((L L')^-1 W) of many small matrices (w, w, n)."""
    size = len(L)
    inverse = np.zeros_like(L)
    for column in range(size):
        inverse[column, column] = 1.0 / L[column, column]
        for row in range(column + 1, size):
            part = np.sum(L[row, column:row] * inverse[column:row, column], axis=0)
            inverse[row, column] = -part / L[row, row]
    # L^-1 W L^-T has the same trace.
    half = np.einsum("abn,bcn->acn", inverse, W, optimize=True)
    return np.einsum("acn,acn->n", half, inverse, optimize=True)


def _by_eigenvalues(
    known: Information, chosen: IntArray, criterion: Criterion, rng: np.random.Generator
) -> Choice:
    """Exchanges judged by the eigenvalues of the information of the base parameters."""
    J = known.J[:, :, known.base]
    each = J.transpose(0, 2, 1) @ J
    total = known.told[np.ix_(known.base, known.base)] + each[chosen].sum(axis=0)
    rows = len(chosen)
    value = float(score(criterion, total, rows))
    chosen = chosen.copy()
    for _ in range(3):
        changed = False
        for place in range(len(chosen)):
            tried = rng.choice(len(each), min(TRIED, len(each)), replace=False)
            tried = tried[~np.isin(tried, chosen)]
            without = total - each[chosen[place]]
            values = score(criterion, without + each[tried], rows)
            best = int(np.argmax(values)) if len(tried) else -1
            if best >= 0 and values[best] > value + GAIN * abs(value):
                total = without + each[tried[best]]
                chosen[place], value, changed = tried[best], float(values[best]), True
        if not changed:
            break
    return Choice(chosen, value)
