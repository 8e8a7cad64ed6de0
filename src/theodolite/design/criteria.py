"""What makes a choice of measurements good.

| name | value | source |
|---|---|---|
| D, O1 | product of the singular values | Borm and Menq |
| E, O3 | the smallest | Nahvi |
| O2 | the smallest over the largest | Driels and Pathre |
| O4 | the smallest squared over the largest: noise amplification | Nahvi and Hollerbach |
| A, O5 | sum of inverse (squared) singular values | Sun and Hollerbach |
| I | mean expected error over a task | Klimchik and Pashkevich |

D, E, A and O1 to O5 are of the base parameters alone, in units of their tolerances; I has the prior
and everything that the method estimates besides.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray


class Criterion(Enum):
    """By what a choice is judged."""

    D = "D"
    E = "E"
    A = "A"
    I = "I"  # noqa: E741  # its name in the literature
    O1 = "O1"
    O2 = "O2"
    O3 = "O3"
    O4 = "O4"
    O5 = "O5"


def observability(base: FloatArray, measurements: int) -> dict[str, float]:
    """O1 to O5 of an information matrix of base parameters [Sun & Hollerbach 2008]."""
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(base)[::-1], 0.0))
    if not len(values) or not values[-1] > 0.0:
        return {f"O{number}": 0.0 for number in range(1, 6)}
    return {
        "O1": float(np.exp(np.mean(np.log(values))) / np.sqrt(max(measurements, 1))),
        "O2": float(values[-1] / values[0]),
        "O3": float(values[-1]),
        "O4": float(values[-1] ** 2 / values[0]),
        "O5": float(1.0 / np.sum(1.0 / values)),
    }


def score(kind: Criterion, base: FloatArray, measurements: int) -> FloatArray:
    """The larger the better, of information matrices of base parameters (..., b, b)."""
    values = np.maximum(np.linalg.eigvalsh(base), 1e-300)
    low, high = values[..., 0], values[..., -1]
    found: FloatArray
    if kind in (Criterion.D, Criterion.O1):
        found = np.log(values).sum(axis=-1)
    elif kind in (Criterion.E, Criterion.O3):
        found = low
    elif kind is Criterion.O2:
        found = low / high
    elif kind is Criterion.O4:
        found = low / np.sqrt(high)
    elif kind is Criterion.A:
        found = -np.sum(1.0 / values, axis=-1)
    else:
        found = -np.sum(1.0 / np.sqrt(values), axis=-1)
    return found
