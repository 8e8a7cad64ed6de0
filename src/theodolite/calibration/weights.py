"""How much each kind of measurement counts, where that has to be found out from the residuals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.noise import Noise
from theodolite.calibration.quantities import EXACT
from theodolite.estimation.solver import Solution
from theodolite.model.machine import Machine

#: Noise that changes by less than this part is settled.
SETTLED = 0.02


class Seen(Protocol):
    """What is needed of a problem."""

    @property
    def robot(self) -> Machine: ...

    @property
    def noise(self) -> Noise: ...

    def errors(self, values: FloatArray) -> dict[str, FloatArray]: ...


@dataclass(frozen=True, eq=False)
class Share:
    """What one of several sources contributes to a calibration."""

    name: str
    method: str
    rows: int
    #: Standard deviations of its measurements, as given or as the residuals show.
    noise: Noise
    #: Equations that are left to check the others with.
    degrees_of_freedom: float
    #: For each parameter in the order of the covariance, the part of its information, 0 to 1.
    information: FloatArray
    #: Root mean square of its residuals together, relative to a fit to this source alone.
    worse_together: float
    #: Chance of that where the sources agree.
    chance: float


def balanced(problem: Seen, solution: Solution) -> Noise | None:
    """Noise with the ratio of positions to orientations that the residuals show.

    None where only one of them is seen, where they are exact, or where the ratio is settled.
    """
    errors = problem.errors(solution.values)
    if set(errors) != {"position", "orientation"}:
        return None
    position, orientation = (
        float(np.sqrt(np.mean(errors[name] ** 2) / 3)) for name in ("position", "orientation")
    )
    if min(position / (problem.robot.reach() or 1.0), orientation) < EXACT:
        return None
    now = problem.noise
    if abs(position / orientation * now.orientation / now.position - 1.0) < SETTLED:
        return None
    return replace(now, position=position, orientation=orientation)
