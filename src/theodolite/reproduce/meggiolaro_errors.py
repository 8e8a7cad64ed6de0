"""Meggiolaro & Dubowsky's errors by name, and their simulated identification [Meggiolaro2000, 4].

The paper's 1 2 3 4 5 6 of an error are x y z ry rz rx here. It prints how many errors were
identified, not which values were introduced: ours are random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.analytic import Measured
from theodolite.calibration.data import Dataset
from theodolite.calibration.frame import Frame
from theodolite.calibration.method import Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.position import Position
from theodolite.estimation.solver import solve
from theodolite.model.robot import Robot
from theodolite.reproduce.figure import Figure, below
from theodolite.reproduce.meggiolaro import dh_errors, puma, rank_of, scara
from theodolite.reproduce.table1 import error_model, joined, relations

TITLE = "Errors by name, and identified (Meggiolaro & Dubowsky 2000)"

#: Errors small enough for eq. 2, whose remainder is their square, m and rad.
SMALL = 1e-6
#: Errors of a real robot, for which eq. 5 has to be iterated.
REAL = 1e-3
CONFIGURATIONS = 60
#: What the paper's 1 to 6 are.
NUMBERS = ("x", "y", "z", "ry", "rz", "rx")

NAMES = "the paper's numbers: link, and 1 to 6 for x y z and turns about y z x. 42 is e4y here"
SECOND_ORDER = (
    "eq. 2 is linear: the square of the errors introduced, 1e-6, is left over, times the condition "
    "number of the columns, below 1000"
)
ITERATED = "errors of 1 mm and 1 mrad, without noise: rounding, after iterating eq. 5"


@dataclass(frozen=True)
class Simulation:
    """A robot with errors, measured without noise, and identified."""

    #: How many errors eq. 5 gives, and their largest difference from eqs. 29-32.
    identified: int
    off: float
    #: Largest error of the position after iterating, on fresh configurations, m.
    fresh: float


def lost(*, hayati: bool) -> str:
    """The SCARA's independent errors that its DH errors cannot express."""
    modelled = dh_errors(hayati=hayati)
    rank = rank_of(modelled)
    return " ".join(name for name in independent_errors() if rank_of(modelled | {name}) > rank)


def as_printed(names: str) -> str:
    """Errors by the paper's numbers: e4y is its 42."""
    return " ".join(f"{name[1]}{NUMBERS.index(name[2:]) + 1}" for name in names.split())


def independent_errors() -> list[str]:
    """The 20 errors of the SCARA that eqs. 7-10 leave, in pose."""
    redundant = {relation.error for relation in relations(scara(), Measured.POSE)}
    return [name for name in _names(error_model(scara())) if name not in redundant]


def simulated(robot: Robot, measured: Measured, rng: np.random.Generator) -> Simulation:
    """Introduce all errors, measure, identify the independent ones."""
    model = error_model(robot)
    names = _names(model)
    found = relations(robot, measured)
    introduced = dict(zip(names, SMALL * rng.uniform(-1, 1, len(names)), strict=True))
    wanted = joined(found, introduced)
    identified = by_equation_5(model, introduced, measured, list(wanted), rng)
    off = max(abs(identified[name] - value) for name, value in wanted.items())
    large = {name: REAL / SMALL * value for name, value in introduced.items()}
    return Simulation(len(identified), off, _iterated(model, large, measured, rng))


def by_equation_5(
    model: Robot,
    introduced: dict[str, float],
    measured: Measured,
    independent: list[str],
    rng: np.random.Generator,
) -> dict[str, float]:
    """Linear least squares on the columns G_e of the independent errors."""
    problem = _method(measured).problem(
        model, _data(model.with_values(introduced), measured, rng), noise=Noise()
    )
    columns = [p.name for p in problem.parameters]
    blocks = list(problem.blocks(np.array([p.value for p in problem.parameters])))
    G = np.concatenate([block.jacobian for block in blocks])
    G = G[:, [columns.index(name) for name in independent]]
    residual = np.concatenate([block.residual for block in blocks])
    values, _, rank, _ = np.linalg.lstsq(G, -residual, rcond=1e-9)
    if rank < len(independent):
        return {}
    return dict(zip(independent, values.tolist(), strict=True))


def _iterated(
    model: Robot, introduced: dict[str, float], measured: Measured, rng: np.random.Generator
) -> float:
    true = model.with_values(introduced)
    problem = _method(measured).problem(model, _data(true, measured, rng), noise=Noise())
    robot = problem.calibrated(solve(problem).values)
    fresh = _motors(model, rng)
    return float(np.abs(robot.poses(fresh)[1] - true.poses(fresh)[1]).max())


def _names(model: Robot) -> list[str]:
    return [parameter.name for parameter in model.parameters if not parameter.gain]


def _method(measured: Measured) -> Method:
    return Frame() if measured is Measured.POSE else Position()


def _motors(model: Robot, rng: np.random.Generator) -> FloatArray:
    return rng.uniform(-2.0, 2.0, (CONFIGURATIONS, model.joints))


def _data(true: Robot, measured: Measured, rng: np.random.Generator) -> Dataset:
    motors = _motors(true, rng)
    rotations, positions = true.poses(motors)
    return Dataset(
        motors,
        positions=positions[:, None],
        rotations=rotations if measured is Measured.POSE else None,
    )


def figures() -> list[Figure]:
    """Section 4: what is lost, and what is identified."""
    found = [
        Figure(
            f"SCARA: lost with {name}", printed, printed, as_printed(lost(hayati=hayati)), why=NAMES
        )
        for name, hayati, printed in (
            ("DH errors", False, "14 24 34 42 44"),
            ("Hayati's as well", True, "42"),
        )
    ]
    rng = np.random.default_rng(2000)
    for name, robot, measured, expected in (
        ("PUMA by positions", puma(0.1, 0.05625), Measured.POSITION, "27"),
        ("SCARA by poses", scara(), Measured.POSE, "20"),
    ):
        study = simulated(robot, measured, rng)
        found += [
            Figure(f"{name}: errors identified", expected, expected, str(study.identified)),
            below(f"{name}: off eqs. 29-32 by (m, rad)", "-", 1e-9, study.off, why=SECOND_ORDER),
            below(f"{name}: error on fresh positions (m)", "-", 1e-12, study.fresh, why=ITERATED),
        ]
    return found
