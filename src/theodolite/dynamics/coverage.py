"""What a recording fails to show of a robot, compared with all that its structure would allow."""

from __future__ import annotations

import numpy as np

from theodolite.dynamics.base_parameters import base_parameters
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.identify import IdentifiedDynamics
from theodolite.dynamics.torque import TorqueProblem, random_state

#: Beyond this condition number of the scaled columns, some combination is hardly seen.
POOR = 1000.0


def not_excited(found: IdentifiedDynamics) -> list[str]:
    """In words, with the remedy; nothing where all is seen well."""
    problem, known = found.problem, found.identifiability
    if problem.payload:
        return []
    rng = np.random.default_rng(0)
    state = random_state(problem.dynamics, 40 * problem.dynamics.motors, rng)
    only = [parameter.name for parameter in problem.parameters]
    possible = base_parameters(
        TorqueProblem(problem.dynamics, Run.of(state), drives=problem.drives, only=only)
    )
    seen = known.rank + len(known.hidden)
    if seen < possible.rank:
        return [
            f"the recording shows {seen} of {possible.rank} parameters. Move all joints, "
            "as 'dynamics excite' plans it"
        ]
    if known.condition_number > POOR:
        weakest = np.abs(known.weakest_direction)
        names = [known.identifiable[i] for i in np.argsort(-weakest)[:3]]
        return [
            f"the recording hardly tells {', '.join(names)} apart (condition number "
            f"{known.condition_number:.0f}). Move more, as 'dynamics excite' plans it"
        ]
    return []
