"""What a recording fails to show of a robot, compared with all that its structure would allow."""

from __future__ import annotations

import numpy as np

from theodolite.dynamics.base_parameters import find_base_parameters
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.estimation.descent import Status


def check_excitation(result: IdentifiedDynamics) -> list[str]:
    """Warnings about parameters that the recording does not show, with the remedy."""
    problem, identifiability = result.problem, result.identifiability
    if problem.payload:
        return []
    possible = find_base_parameters(problem.dynamics, drives=problem.drives, only=problem.names)
    shown = identifiability.rank + len(identifiability.hidden)
    if shown < possible.rank:
        return [
            f"the recording determines {shown} of {possible.rank} parameters. Move all joints, "
            "along a planned exciting motion"
        ]
    if result.solution.status is Status.ILL_CONDITIONED:
        weakest = np.abs(identifiability.weakest_direction)
        names = [identifiability.identifiable[i] for i in np.argsort(-weakest)[:3]]
        return [
            f"the recording hardly distinguishes {', '.join(names)} (condition number "
            f"{identifiability.condition_number:.0f}). Move more, along a planned exciting motion"
        ]
    return []
