"""How much a prior counts: as much as it may without predicting unseen torques worse.

Generalized cross-validation takes neighbouring residuals for independent ones and so trusts the
data too much. Here whole blocks of time are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.time_blocks import BlockFactors, splits, time_blocks
from theodolite.dynamics.torque import TorqueProblem
from theodolite.estimation.choice import Choice, tried
from theodolite.estimation.threads import single_thread

#: Fits a factor and its right-hand side with a given weight of the prior, from a start if known.
Fit = Callable[[FloatArray, FloatArray, float, FloatArray | None], FloatArray]


def choose_weight(
    problem: TorqueProblem, fit: Fit, weights: Sequence[float]
) -> tuple[float, Choice]:
    """The largest weight that predicts blocks of time as well as the best one, by its scatter."""
    blocks = time_blocks(problem.runs)
    numbers = range(len(blocks))
    if len(blocks) < 2:
        # Nothing can be left out: neither firm nor loose.
        middle = sorted(weights)[len(weights) // 2]
        return middle, Choice(f"{middle:g}", ())
    with single_thread():
        unit: FloatArray = np.eye(problem.dynamics.motors)
        whitening = unit if problem.whitening is None else problem.whitening
        factors = BlockFactors.of([problem.table(block) for block in blocks], whitening)
        folds = [
            (left_out, *factors.together([n for n in numbers if n not in left_out]))
            for left_out in splits(len(blocks))[0]
        ]
        whole = factors.together(list(numbers))
        scores = []
        start: FloatArray | None = None
        # From firm to loose: each solution is a good start for the next.
        for weight in sorted(weights, reverse=True):
            start = fit(*whole, weight, start)
            score = np.zeros(len(blocks))
            for left_out, R, target in folds:
                values = fit(R, target, weight, start)
                for block in left_out:
                    score[block] = factors.squares(block, values)
            scores.append((weight, score))
    best = min(scores, key=lambda pair: float(pair[1].mean()))[1]
    chosen = next(weight for weight, score in scores if _as_good(score, best))
    table = tuple(tried(f"{weight:g}", score, best) for weight, score in scores)
    return chosen, Choice(f"{chosen:g}", table)


def _as_good(score: FloatArray, best: FloatArray) -> bool:
    """Is it worse by less than one standard error of the difference?"""
    worse = score - best
    return bool(worse.mean() <= worse.std(ddof=1) / np.sqrt(len(worse)))
