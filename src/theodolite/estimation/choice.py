"""Choice between models: forward selection by errors on data that a fit has not seen.

The best larger model is taken as long as it predicts better by more than the scatter of the
difference, over groups of data that were left out together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from theodolite.arrays import FloatArray

#: A larger model must predict better by this many standard errors of the difference, ...
CLEARLY = 2.0
#: ... and by this part, below which it is not worth its parameters.
WORTHWHILE = 0.01
#: Keeps ratios of exact predictions finite.
TINY = float(np.finfo(float).tiny)

Model = TypeVar("Model")
#: Called with what long work does next, in words.
Tell = Callable[[str], object]


@dataclass(frozen=True)
class Tried:
    """A model, and its error on data that were left out, relative to the simplest one's."""

    name: str
    error: float
    #: Standard error of the difference to the simplest one, over the groups that were left out.
    scatter: float


@dataclass(frozen=True)
class Choice:
    """A choice between models by cross-validation."""

    chosen: str
    tried: tuple[Tried, ...]


def select_forward(
    first: Sequence[Model],
    larger: Callable[[Model], Sequence[Model]],
    score: Callable[[Model], FloatArray],
    name: Callable[[Model], str],
    *,
    clearly: float = CLEARLY,
    tell: Tell | None = None,
) -> tuple[Model, Choice]:
    """The best model, starting from the best of ``first``; ``larger`` says what may follow one.

    ``score`` gives the mean held-out square of each group of data, (groups,). A larger model must
    be better by ``clearly`` standard errors: the more there are to choose from, the more. ``tell``
    is called with what is tried next.
    """

    def scored(model: Model) -> FloatArray:
        if tell is not None:
            tell(f"model {len(tables) + 1}, {name(model)}")
        table = score(model)
        tables.append((model, table))
        return table

    def best_of(models: Sequence[Model]) -> tuple[Model, FloatArray]:
        found = [(model, scored(model)) for model in models]
        return min(found, key=lambda pair: float(pair[1].mean()))

    tables: list[tuple[Model, FloatArray]] = []
    best, scores = best_of(first)
    simplest = scores
    while models := larger(best):
        model, table = best_of(models)
        if not clearly_better(scores, table, clearly):
            break
        best, scores = model, table
    return best, Choice(name(best), tuple(tried(name(model), t, simplest) for model, t in tables))


def clearly_better(before: FloatArray, after: FloatArray, clearly: float = CLEARLY) -> bool:
    """Is the gain in the groups' errors beyond its scatter over them, and worth it?

    Errors, not their squares: one group that is hard to predict would make up most of the scatter.
    """
    sizes = np.sqrt(before)
    gain = sizes - np.sqrt(after)
    scatter = float(gain.std(ddof=1) / np.sqrt(len(gain)))
    return bool(gain.mean() > max(clearly * scatter, WORTHWHILE * sizes.mean()))


def tried(name: str, squares: FloatArray, simplest: FloatArray) -> Tried:
    """The root mean square relative to the simplest model, with the error of that ratio.

    Groups that are hard to predict are so for all models: the ratio scatters far less than either
    of the two.
    """
    scale = max(float(simplest.mean()), TINY)
    root = float(np.sqrt(squares.mean() / scale))
    scatter = float((squares - root**2 * simplest).std(ddof=1) / np.sqrt(len(squares)))
    return Tried(name, root, scatter / max(2.0 * root * scale, TINY))
