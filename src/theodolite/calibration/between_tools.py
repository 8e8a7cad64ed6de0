"""How well the tools of two arms are known relative to each other.

Where no sensor sees both, only what they touch together says where one arm stands for the other. A
few hundred contacts in a small region fit to a hundredth of a millimetre, and leave sideways shifts
of many millimetres to the tolerances. This is the same in any frame, so nothing else shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import BoolArray
from theodolite.calibration.conditions import with_inputs
from theodolite.calibration.method import CalibrationProblem
from theodolite.estimation.solver import Solution
from theodolite.estimation.statistics import Statistics, estimate_factor
from theodolite.model.mechanism import Mechanism

#: Of what the fit leaves: arms whose relative place is known less well by this factor are doubted.
FAR = 3.0


@dataclass(frozen=True)
class Apart:
    """Two tools, and the standard deviation of the place of one as seen from the other, m."""

    tools: tuple[str, str]
    deviation: float

    def sentence(self, left: float) -> str:
        """A doubt, where the fit leaves ``left``, m; nothing where there is none."""
        if self.deviation <= FAR * left:
            return ""
        one, other = self.tools
        return (
            f"Where '{other}' is, seen from '{one}', is known to {1e3 * self.deviation:.2g} mm "
            f"only, although the fit leaves {1e3 * left:.2g} mm: tolerances decide the rest. "
            "Measure both arms in one frame, let them touch from more sides, or state narrower "
            "tolerances if these are true."
        )


def least_known(problem: CalibrationProblem, solution: Solution, known: Statistics) -> Apart | None:
    """The two arms that are known least relative to each other; None where there is one arm.

    Of each two arms the two tools that are known best, over all rows that recorded both arms.
    """
    machine = problem.robot
    if not isinstance(machine, Mechanism) or len(machine.tools) < 2:
        return None
    data = problem.data.each(lambda part: with_inputs(part, machine))
    finite = np.isfinite(data.motors[:, : machine.joints])
    places = {parameter.name: place for place, parameter in enumerate(machine.parameters)}
    names = [problem.parameters[index].name for index in solution.changed]
    own = [place for place, name in enumerate(names) if name in places]
    columns = np.array([places[names[place]] for place in own], dtype=np.intp)
    X = estimate_factor(solution, known)[own]
    here = problem.calibrated(solution.values).values
    best: dict[frozenset[str], Apart] = {}
    for one, other, arms in _pairs(machine):
        both = _recorded(machine, finite, one, other)
        if not both.any():
            continue
        motion = machine.motion_between(here, data.motors[both], one, other)
        spread = motion.position_jacobian(columns) @ X
        deviation = float(np.sqrt(np.mean(np.sum(spread**2, axis=(1, 2)))))
        if arms not in best or deviation < best[arms].deviation:
            best[arms] = Apart((one, other), deviation)
    return max(best.values(), key=lambda apart: apart.deviation, default=None)


def _pairs(machine: Mechanism) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Tools of two arms, with the bodies that begin these arms."""
    for place, one in enumerate(machine.tools):
        for other in machine.tools[place + 1 :]:
            up, down = machine.arms_between(one, other)
            if up and down and all(_moves(machine, arm) for arm in (up, down)):
                yield one, other, frozenset((up[-1], down[0]))


def _moves(machine: Mechanism, bodies: list[str]) -> bool:
    return any(e.joint for body in machine.bodies if body.name in bodies for e in body.elements)


def _recorded(machine: Mechanism, finite: BoolArray, one: str, other: str) -> BoolArray:
    """Rows in which all joints between two tools were recorded, (n,)."""
    used = {e.joint for body in machine.path(one, other) for e in body.elements if e.joint}
    columns = [place for place, name in enumerate(machine.joint_names) if name in used]
    return np.asarray(finite[:, columns].all(axis=1))
