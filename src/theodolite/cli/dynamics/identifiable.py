"""``theodolite dynamics identifiable``: which inertial parameters torques determine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.dynamics.recorded import (
    DEFAULT_FRICTION,
    GravityOption,
    RotorsOption,
    TipOption,
    drives_from,
    dynamics_of,
)
from theodolite.cli.options import (
    JsonOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    print_json,
)

if TYPE_CHECKING:
    from theodolite.dynamics.drives import Drive
    from theodolite.dynamics.loop_dynamics import LoopDynamics
    from theodolite.dynamics.serial import Dynamics
    from theodolite.estimation.identifiability import Identifiability

NAME = "identifiable"
BY = ("qr", "svd", "rules")
MODELS = ("torque", "rest", "energy")


def command(
    robot: RobotArgument,
    rotors: RotorsOption = True,
    friction: Annotated[
        bool, typer.Option("--friction", help="Viscous, Coulomb and offset friction.")
    ] = False,
    by: Annotated[
        str, typer.Option(help="qr, svd, or the closed-form rules for trees: rules.")
    ] = "qr",
    model: Annotated[
        str, typer.Option(help="Samples of torque, of torque without velocities (rest), of energy.")
    ] = "torque",
    gravity: GravityOption = None,
    tip: TipOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Say which inertial parameters torques determine, and how the others are regrouped."""
    from theodolite.errors import InputError
    from theodolite.report.data import identifiability_data
    from theodolite.report.text import show_identifiability

    if by not in BY:
        raise InputError(f"--by {by}", allowed=BY)
    if model not in MODELS:
        raise InputError(f"--model {model}", allowed=MODELS)
    if by == "rules" and model != "torque":
        raise InputError(f"--by rules with --model {model}: rules need no samples")
    dynamics = dynamics_of(robot, gravity, tip)
    drives = drives_from(DEFAULT_FRICTION if friction else "none", rotors=rotors)
    known = _known(dynamics, drives, by, model, seed)
    words = _words(dynamics, known, rotors=rotors)
    screen = console(json=json)
    show_identifiability(screen, known, f"{dynamics.robot.name}, {model} by {by}", [], words)
    if json:
        print_json(identifiability_data(known, None, []) | {"relations": words})


def _known(
    dynamics: Dynamics | LoopDynamics, drives: tuple[Drive, ...], by: str, model: str, seed: int
) -> Identifiability:
    import numpy as np

    from theodolite.dynamics.base_parameters import base_parameters
    from theodolite.dynamics.drives import State
    from theodolite.dynamics.energy import EnergyProblem
    from theodolite.dynamics.filtering import Run
    from theodolite.dynamics.grouping import grouped
    from theodolite.dynamics.torque import TorqueProblem, random_state
    from theodolite.estimation.identifiability import analyse_by_svd

    if by == "rules":
        return grouped(dynamics, drives)
    count = 40 * dynamics.motors * (dynamics.motors if model == "energy" else 1)
    state = random_state(dynamics, count, generator(seed))
    if model == "rest":
        state = State(state.q, np.zeros_like(state.qd), state.qdd)
    kind = EnergyProblem if model == "energy" else TorqueProblem
    known = base_parameters(kind(dynamics, Run.of(state), drives=drives))
    if by == "svd":
        return analyse_by_svd(known.R, known.parameters, known.priorities, known.rows)
    return known


def _words(dynamics: Dynamics | LoopDynamics, known: Identifiability, *, rotors: bool) -> list[str]:
    """The relations with lengths in them where the robot is a serial one."""
    from theodolite.dynamics.constants import relations_in_words
    from theodolite.dynamics.serial import Dynamics

    if isinstance(dynamics, Dynamics):
        return relations_in_words(dynamics, known, with_rotors=rotors)
    return known.sentences()
