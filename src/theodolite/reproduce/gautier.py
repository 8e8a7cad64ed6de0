"""Gautier 1991: base inertial parameters of a PUMA 560 by QR and SVD, tables I, III and V.

Of the errata, "17 zero rows of V2" is 23; the energy row h has a constant, so differences are used.
"""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.base_parameters import base_parameters, base_values
from theodolite.dynamics.constants import relations_in_words
from theodolite.dynamics.drives import State
from theodolite.dynamics.energy import EnergyProblem
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.grouping import grouped
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import TorqueProblem, random_state
from theodolite.estimation.identifiability import Identifiability, analyse_by_svd
from theodolite.io.robot_file import parse_robot
from theodolite.model.robot import Robot
from theodolite.reproduce.figure import NOTHING, Figure, between
from theodolite.reproduce.gautier_scaling import scale_samples, scaling_study

TITLE = "Base inertial parameters of the PUMA 560 (Gautier 1991)"

#: What rounds to 10^2.
ORDER_OF_100 = (10**1.5, 10**2.5)
PRINTED = "rounding, and half a unit of the four decimals that table III prints"
RANDOM_S = (
    "the samples are not printed. Expected: the range of 95 % of 200 random sequences (h: 55 "
    "samples; d, d0: 10 of six torques each), which has to contain the paper's S; ours is their "
    "median"
)
CHOSEN_S = "the paper's order of magnitude: what rounds to 10^2"

D3, R3, D4, R4 = 0.5, 0.2, 0.02, 0.6
#: Table I.
ROBOT = f"""
format = "theodolite robot 1"
name = "puma-gautier"
units = {{ length = "m", angle = "deg" }}
frames = [
  {{ sigma = 0 }},
  {{ sigma = 0, alpha = -90 }},
  {{ sigma = 0, d = {D3}, r = {R3} }},
  {{ sigma = 0, alpha = -90, d = {D4}, r = {R4} }},
  {{ sigma = 0, alpha = 90 }},
  {{ sigma = 0, alpha = -90 }},
]
Qmin = [-180, -180, -180, -180, -180, -180]
Qmax = [180, 180, 180, 180, 180, 180]
"""
#: The first of table V.
FIRST_RELATION = (
    "ZZ1* = ZZ1 + Ia1 + YY2 + YY3 + 2 R3 MZ3 + (D3^2 + R3^2) M3 "
    "+ (D3^2 + R3^2 + D4^2) (M4 + M5 + M6)"
)
#: Table III, column P'X: the standard parameters that matter.
STANDARD = {
    "ZZ1": 0.5, "Ia1": 1.0, "XX2": 1.0, "XY2": 0.7, "XZ2": -0.3, "YY2": 1.5, "YZ2": 0.65,
    "ZZ2": 0.5, "MX2": 1.2, "MY2": 0.6, "Ia2": 4.5, "XX3": 0.1, "XY3": 0.7, "XZ3": 0.55,
    "YY3": 0.1, "YZ3": -0.6, "ZZ3": 0.2, "MX3": 0.5, "MY3": 0.5, "MZ3": 0.3, "M3": 4.8,
    "Ia3": 1.0, "XX4": 0.06, "XY4": 0.02, "XZ4": 0.02, "YY4": 0.5, "YZ4": 0.015, "ZZ4": 0.05,
    "MX4": 0.02, "MY4": 0.01, "MZ4": -0.2, "M4": 0.8, "Ia4": 0.3, "XX5": 0.02, "XY5": 0.01,
    "XZ5": 0.01, "YY5": 0.02, "YZ5": 0.01, "ZZ5": 0.04, "MX5": 0.02, "MY5": 0.01, "MZ5": 0.08,
    "M5": 0.5, "Ia5": 0.3, "XX6": 0.02, "XY6": 0.01, "XZ6": 0.01, "YY6": 0.02, "YZ6": 0.01,
    "ZZ6": 0.02, "MX6": 0.01, "MY6": 0.01, "MZ6": 0.02, "M6": 0.1, "Ia6": 0.3,
}  # fmt: skip
#: Table III, column P'XB: values of the 40 base parameters.
BASE = {
    "ZZ1": 5.0186, "XX2": -2.05, "XY2": 0.7, "XZ2": -1.07, "YZ2": 0.65, "ZZ2": 6.55, "MX2": 4.3,
    "MY2": 0.6, "XX3": 0.7634, "XY3": 0.6872, "XZ3": 0.55, "YZ3": -0.6, "ZZ3": 0.9646,
    "MX3": 0.528, "MY3": 1.14, "Ia3": 1.0, "XX4": -0.42, "XY4": 0.02, "XZ4": 0.02, "YZ4": 0.015,
    "ZZ4": 0.07, "MX4": 0.02, "MY4": -0.07, "Ia4": 0.3, "XX5": 0.02, "XY5": 0.01, "XZ5": 0.01,
    "YZ5": 0.01, "ZZ5": 0.06, "MX5": 0.02, "MY5": 0.03, "Ia5": 0.3, "XX6": 0.0, "XY6": 0.01,
    "XZ6": 0.01, "YZ6": 0.01, "ZZ6": 0.02, "MX6": 0.01, "MY6": 0.01, "Ia6": 0.3,
}  # fmt: skip
NO_EFFECT = ["XX1", "XY1", "XZ1", "YY1", "YZ1", "MX1", "MY1", "MZ1", "M1", "MZ2", "M2"]
REGROUPED = [
    "Ia1",
    "YY2",
    "Ia2",
    "YY3",
    "MZ3",
    "M3",
    "YY4",
    "MZ4",
    "M4",
    "YY5",
    "MZ5",
    "M5",
    "YY6",
    "MZ6",
    "M6",
]


def relations() -> dict[str, dict[str, float]]:
    """Table V: base parameter -> the regrouped ones in it, with their coefficients."""
    late = {"M4": 1.0, "M5": 1.0, "M6": 1.0}
    masses = {"M3": 1.0, **late}

    def times(factor: float, parts: dict[str, float]) -> dict[str, float]:
        return {name: factor * value for name, value in parts.items()}

    arm = R3**2 + D3**2
    return {
        "ZZ1": {"YY2": 1.0, "YY3": 1.0, "MZ3": 2 * R3, "M3": arm, "Ia1": 1.0}
        | times(arm + D4**2, late),
        "XX2": {"YY2": -1.0} | times(-(D3**2), masses),
        "XZ2": {"MZ3": -D3} | times(-D3 * R3, masses),
        "ZZ2": {"Ia2": 1.0} | times(D3**2, masses),
        "MX2": times(D3, masses),
        "XX3": {"YY3": -1.0, "YY4": 1.0, "MZ4": 2 * R4} | times(R4**2 - D4**2, late),
        "XY3": {"MZ4": -D4} | times(-D4 * R4, late),
        "ZZ3": {"YY4": 1.0, "MZ4": 2 * R4} | times(D4**2 + R4**2, late),
        "MX3": times(D4, late),
        "MY3": {"MZ4": 1.0} | times(R4, late),
        "XX4": {"YY4": -1.0, "YY5": 1.0},
        "ZZ4": {"YY5": 1.0},
        "MY4": {"MZ5": -1.0},
        "XX5": {"YY5": -1.0, "YY6": 1.0},
        "ZZ5": {"YY6": 1.0},
        "MY5": {"MZ6": 1.0},
        "XX6": {"YY6": -1.0},
    }


def puma() -> Robot:
    robot = parse_robot(ROBOT, "table I")
    assert isinstance(robot, Robot)
    return robot


def analysed(model: str) -> Identifiability:
    """Base parameters by the torque model d, the one without velocities d0, or the energy h."""
    dynamics = Dynamics(puma())
    state = random_state(dynamics, 60 if model != "h" else 200, np.random.default_rng(1991))
    if model == "d0":
        state = State(state.q, np.zeros_like(state.qd), state.qdd)
    if model == "h":
        return base_parameters(EnergyProblem(dynamics, Run.of(state)))
    return base_parameters(TorqueProblem(dynamics, Run.of(state)))


def standard_values(known: Identifiability) -> FloatArray:
    return np.array([STANDARD.get(parameter.name, 0.0) for parameter in known.parameters])


def differences(known: Identifiability) -> tuple[float, float]:
    """Largest differences from table V's coefficients and from table III's values."""
    names = known.identifiable
    table = relations()
    beta = np.array(
        [
            [table.get(base, {}).get(other, 0.0) for other in known.names(known.regrouped)]
            for base in names
        ]
    )
    values = base_values(known, standard_values(known))
    off = max(abs(value - BASE[name]) for name, value in zip(names, values, strict=True))
    return float(np.abs(known.relations - beta).max()), float(off)


def figures() -> list[Figure]:
    found = []
    for model in ("d", "d0", "h"):
        known = analysed(model)
        found += _compared(f"{model} by QR", known)
        other = analyse_by_svd(known.R, known.parameters, known.priorities, known.rows)
        found += _compared(f"{model} by SVD", other)
    by_rules = grouped(Dynamics(puma()))
    found += _compared("the rules in closed form", by_rules)
    words = relations_in_words(Dynamics(puma()), by_rules)
    good = words[0] == FIRST_RELATION
    found.append(
        Figure("relations of table V in words", "17", "17", str(len(words) if good else 0))
    )
    return found + _scaled()


def _compared(what: str, known: Identifiability) -> list[Figure]:
    """One road to tables III and V."""
    lost = sorted(known.names(known.no_effect)) == sorted(NO_EFFECT)
    moved = sorted(known.names(known.regrouped)) == sorted(REGROUPED)
    counts = f"{len(known.no_effect)}, {len(known.regrouped)}, {known.rank}"
    beta, values = differences(known)
    return [
        Figure(
            f"{what}: without effect, regrouped, base",
            "11, 15, 40",
            "11, 15, 40",
            counts,
            holds=counts == "11, 15, 40" and lost and moved,
        ),
        Figure(
            f"{what}: off table V, off table III",
            NOTHING,
            "below 1e-12, 5e-5",
            f"{beta:.0e}, {values:.0e}",
            holds=beta < 1e-12 and values < 5.1e-5,
            why=PRINTED,
        ),
    ]


def typical(what: str, printed: float, samples: FloatArray) -> Figure:
    """A printed S, that has to be among those of most random sequences; ours is their median."""
    low, middle, high = np.percentile(samples, [2.5, 50.0, 97.5])
    return Figure(
        what,
        f"about {printed:.0e}",
        f"{low:.0e} to {high:.0e}",
        f"{middle:.0e}",
        holds=bool(low <= printed <= high),
        why=RANDOM_S,
    )


def _scaled() -> list[Figure]:
    """Samples that scale W."""
    rng = np.random.default_rng(1991)
    study = scaling_study(Dynamics(puma()), rng)
    samples = scale_samples(Dynamics(puma()), "h", rng)
    ranks = f"{study.random.rank}, {study.chosen.rank}"
    return [
        typical("S of random samples, h (energy)", 1e8, samples),
        between(
            "S of chosen samples, h", "about 100", ORDER_OF_100, study.chosen.S, form=".0f",
            why=CHOSEN_S,
        ),
        Figure("rank by QR with pivoting, random and chosen", "40, 40", "40, 40", ranks),
    ]  # fmt: skip
