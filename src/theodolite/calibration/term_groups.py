"""Groups of further error terms that a robot may have, and that are tried together.

| group | what it is | on |
|---|---|---|
| gravity | joints that give way under the weight of what they carry | every revolute joint |
| bending | links that bend about the other two axes of a joint, by the same loads | every joint |
| compliance | joints that give way under known loads: masses, payload, wrench | every joint |
| flexure | links that bend under known loads | every joint |
| harmonics | eccentric encoders and gears: up to three times per turn | every revolute joint |
| play | backlash: the sign of the joint's last motion | every joint |
| drift | warming up: what has not yet died away since the start | base and joints |

The weights are unknown. What hangs on joint j pulls along fixed directions of the links beyond it,
so the moment about an axis a of joint j is a sum of ``moment(a_j, x_k)`` and ``moment(a_j, y_k)``
over these links; z_k adds nothing new, as it is fixed in link k - 1. A compliance times the unknown
first moments is one coefficient for each. Where loads are known (`model/loads.py`), the coefficient
is the compliance itself, one for each joint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.data import Dataset
from theodolite.errors import InputError, shown
from theodolite.model.conventions import Joint
from theodolite.model.expressions import load_name
from theodolite.model.machine import Machine
from theodolite.model.term_elements import turned_by
from theodolite.model.terms import JOINT, ROW, TIMES, ErrorTerm

#: Times in which a warm-up dies away that are tried, as parts of the recording.
DECAYS = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0)
#: Harmonics of a turn.
HARMONICS = (1, 2, 3)
#: How large the coefficients are, as standard deviations: radians, and parts of the reach. What
#: the data determine outweighs them; what they hardly see stays small, and harms no prediction.
TOLERANCES = {
    "gravity": 2e-4,
    "bending": 1e-4,
    "compliance": 5e-4,
    "flexure": 2e-4,
    "harmonics": 3e-5,
    "play": 3e-5,
    "drift": 1e-4,
}

Terms = tuple[ErrorTerm, ...]


@dataclass(frozen=True)
class Decay:
    """A time constant, with the ends of its 95 % interval; None where the data do not bound it."""

    value: float
    low: float | None
    high: float | None
    #: s, or rows where the order of the rows is the time.
    unit: str

    def sentence(self) -> str:
        low = "no bound below" if self.low is None else f"{self.low:.3g}"
        high = "no bound above" if self.high is None else f"{self.high:.3g}"
        return (
            f"The warm-up dies away with a time constant of {self.value:.3g} {self.unit} "
            f"(95 %: {low} to {high})."
        )


def gravity(robot: Machine) -> Terms:
    return tuple(
        term
        for joint in _joints(robot, Joint.REVOLUTE)
        for term in _moments(robot, joint, "z", JOINT)
    )


def bending(robot: Machine) -> Terms:
    return tuple(
        term
        for joint in range(1, robot.joints + 1)
        for axis in "xy"
        for term in _moments(robot, joint, axis, _bend(robot, joint, axis))
    )


def compliance(robot: Machine) -> Terms:
    return tuple(
        ErrorTerm(robot.term_row(joint), JOINT, load_name(f"z{joint}"))
        for joint in range(1, robot.joints + 1)
    )


def flexure(robot: Machine) -> Terms:
    return tuple(
        ErrorTerm(robot.term_row(joint), _bend(robot, joint, axis), load_name(f"{axis}{joint}"))
        for joint in range(1, robot.joints + 1)
        for axis in "xy"
    )


def harmonics(robot: Machine) -> Terms:
    return tuple(
        ErrorTerm(robot.term_row(joint), JOINT, f"{function}({'' if k == 1 else f'{k}*'}q{joint})")
        for joint in _joints(robot, Joint.REVOLUTE)
        for k in HARMONICS
        for function in ("sin", "cos")
    )


def play(robot: Machine) -> Terms:
    return tuple(
        ErrorTerm(robot.term_row(joint), JOINT, f"direction{joint}")
        for joint in range(1, robot.joints + 1)
    )


def drift(robot: Machine, basis: str) -> Terms:
    """What has not yet died away, on the base and on every joint but the first.

    A turn of the first joint is a turn of the base.
    """
    base = tuple(ErrorTerm(0, on, basis) for on in ("x", "y", "z", "rx", "ry", "rz"))
    joints = tuple(
        ErrorTerm(robot.term_row(joint), JOINT, basis) for joint in range(2, robot.joints + 1)
    )
    return base + joints


#: Groups that need nothing but the robot, in the order in which they are tried.
GROUPS: Mapping[str, Callable[[Machine], Terms]] = {
    "gravity": gravity,
    "bending": bending,
    "compliance": compliance,
    "flexure": flexure,
    "harmonics": harmonics,
    "play": play,
}
DRIFT = "drift"
#: A group that makes sense only with another one.
AFTER = {"bending": "gravity", "flexure": "compliance"}
#: Configurations that show how large loads become.
ANYWHERE = 200
#: Groups that need known loads.
LOADED = ("compliance", "flexure")
ALL_GROUPS = (*GROUPS, DRIFT)


def term_names(asked: str | Sequence[str]) -> tuple[str, ...] | None:
    """Groups as users ask for them: "auto" (None), "none", "gravity,drift" or a list."""
    if isinstance(asked, str) and asked.strip() == "auto":
        return None
    names = asked.split(",") if isinstance(asked, str) else asked
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(f"terms are {shown(asked)}", allowed=["auto", "none", *ALL_GROUPS])
    found = tuple(name.strip() for name in names if name.strip() not in ("", "none"))
    check_groups(found)
    return tuple(dict.fromkeys(found))


def check_groups(names: tuple[str, ...]) -> None:
    unknown = [name for name in names if name not in ALL_GROUPS]
    if unknown:
        raise InputError(
            f"there are no terms {shown(unknown[0])}", allowed=["auto", "none", *ALL_GROUPS]
        )


def variants(robot: Machine, data: Dataset, group: str) -> dict[str, Terms]:
    """The shapes that a group may take, by name: a drift's time constant is not known."""
    if group in LOADED and not robot.has_loads(list(data.columns)):
        return {}
    if group != DRIFT:
        return {group: GROUPS[group](robot)}
    return {
        f"{DRIFT} ({tau:.4g} {time_unit(data)})": drift(robot, drift_basis(data, tau))
        for tau in decays(data)
    }


def decays(data: Dataset) -> list[float]:
    """Time constants to be tried; none where nothing says when rows were measured."""
    times = when(data)[1]
    return (
        [] if times is None else [part * float(np.ptp(times)) for part in DECAYS if np.ptp(times)]
    )


def drift_basis(data: Dataset, tau: float) -> str:
    """What has not yet died away since the first row."""
    name, times = when(data)
    first = 0.0 if times is None else float(times.min())
    # Bounded for any time: before the start, or without one, a robot is cold or has warmed up.
    shift = f"abs({name}-{first:.12g})" if first else f"abs({name})"
    return f"exp(-{shift}/{tau:.4g})"


def time_unit(data: Dataset) -> str:
    return "rows" if when(data)[0] == ROW else "s"


def tolerances(
    robot: Machine, group: str, terms: Terms, data: Dataset | None = None
) -> dict[str, float]:
    """Tolerances of a group's coefficients by name, for a basis of about one.

    Loads are far from one: they are compared with the largest of the data, or of the workspace.
    """
    size, reach = TOLERANCES[group], robot.reach() or 1.0
    if group in LOADED:
        largest = _largest_load(robot, terms, data)
        return {
            term.name: (size if turned_by(robot, term) else size * reach) / largest
            for term in terms
        }
    slides = {f"q{n}" for n, kind in enumerate(robot.joint_types, 1) if kind is Joint.PRISMATIC}
    found = {}
    for term in terms:
        amount = size if turned_by(robot, term) else size * reach
        # A moment grows with how far a joint has slid, which is up to a reach.
        slid = term.expression.moments and slides & term.expression.names
        found[term.name] = amount / reach if slid else amount
    return found


def _largest_load(robot: Machine, terms: Terms, data: Dataset | None) -> float:
    """The largest load of any joint, N m."""
    if data is None:
        data = Dataset(robot.random_motors(ANYWHERE, np.random.default_rng(0)))
    values = robot.with_terms(terms).inputs(data.motors, data.columns)[:, robot.joints :]
    return float(np.abs(values).max(initial=0.0)) or 1.0


def when(data: Dataset) -> tuple[str, FloatArray | None]:
    """The column that says when each row was measured; None where there is none."""
    for name in TIMES:
        if name in data.columns:
            return name, data.columns[name]
    return ROW, None


def _joints(robot: Machine, kind: Joint) -> list[int]:
    return [number for number, joint in enumerate(robot.joint_types, start=1) if joint is kind]


def _bend(robot: Machine, joint: int, axis: str) -> str:
    """A turn about an axis of the link that a joint moves, after its motion."""
    bend = f"b{axis}"
    return bend if bend in robot.term_places(robot.term_row(joint)) else f"r{axis}"


def _moments(robot: Machine, joint: int, axis: str, on: str) -> list[ErrorTerm]:
    """Moments about one axis of a joint of all that hangs on it."""
    found = []
    for link in robot.carried_by(joint):
        along = [letter for letter in "xy" if (letter, link) != (axis, joint)]
        if link == joint and axis != "z":
            along.append("z")
        for letter in along:
            found.append(f"moment({axis}{joint}, {letter}{link})")
            if link > joint and robot.joint_types[link - 1] is Joint.PRISMATIC:
                found.append(f"q{link}*moment({axis}{joint}, z{link})")
    row = robot.term_row(joint)
    return [ErrorTerm(row, on, basis) for basis in dict.fromkeys(found)]
