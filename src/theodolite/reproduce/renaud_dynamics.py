"""Renaud et al. [Renaud2006]: the dynamics of the H4, eqs. 4-8, 21-27 and table 4.

Errata: eq. 4 needs J with x' = J q'; z'' - g needs g = -9.81 with z up; inertias are kg m2. The
paper's recordings are not printed, so its robot is simulated: table 4 is the truth, slow and fast
motions of the nacelle are joined as in section 5.2.2, sampled at 1 kHz. Noise is ours, chosen so
that the deviations are of the paper's size: 0.4 N m on every torque, 10 urad on every joint, 2 s of
slow and 1.5 s of fast motion.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from theodolite import robots
from theodolite.arrays import FloatArray
from theodolite.inertial.base_parameters import base_parameters
from theodolite.inertial.identify import Dynamic, identify_dynamics
from theodolite.inertial.prediction import Prediction, prediction
from theodolite.measure.filtering import Run, filtered
from theodolite.measure.recording import Recording
from theodolite.measure.torque import TorqueProblem, random_state
from theodolite.model.drives import Drive, State
from theodolite.model.loop_dynamics import LoopDynamics
from theodolite.model.mechanism import Mechanism
from theodolite.reproduce.figure import Figure
from theodolite.reproduce.renaud import IDENTIFIED, joints_at

TITLE = "Dynamics of the H4 parallel robot (Renaud et al. 2006)"

DRIVES = (Drive.ROTOR, Drive.VISCOUS, Drive.COULOMB)
#: Table 4: estimated value and relative standard deviation, percent.
TABLE_4 = {
    "Iaq1": (0.0167, 2.3695), "Iaq2": (0.0164, 2.3590), "Iaq3": (0.0176, 1.5776),
    "Iaq4": (0.0234, 1.1579), "M_platform": (0.984, 0.4666), "ZZ_platform": (0.0029, 3.7311),
    "fvq1": (0.2112, 4.7212), "fvq2": (0.1236, 7.5670), "fvq3": (0.1266, 5.2000),
    "fvq4": (0.1133, 5.6255), "fcq1": (1.2186, 2.0756), "fcq2": (1.0252, 2.3623),
    "fcq3": (0.7902, 2.7986), "fcq4": (1.0394, 2.1046),
}  # fmt: skip
RATE, CUTOFF = 1000.0, 130.0
#: N m, and rad.
TORQUE_NOISE, JOINT_NOISE = 0.4, 1e-5
#: A ratio of standard deviations within this factor is of the same size.
SAME_SIZE = 3.0


@cache
def h4() -> LoopDynamics:
    """The identified robot; its world is its base, so that gravity is along -z."""
    robot = robots.load("h4")
    assert isinstance(robot, Mechanism)
    sensor = {f"bTc_{axis}": 0.0 for axis in ("x", "y", "z", "rx", "ry", "rz")}
    return LoopDynamics(robot.with_values(IDENTIFIED | sensor))


def eq_7(dynamics: LoopDynamics, state: State) -> FloatArray:
    """The regressor of eq. 7 in the order of eq. 8, (14, motors, n), from the nacelle's motion."""
    whole, follow = dynamics.followed(state)
    J = follow[:, 4:]
    x = whole.qdd[:, 4:]
    pull = x[:, :3] - dynamics.gravity
    table = np.zeros((14, 4, len(state)))
    table[4] = np.einsum("nij,ni->jn", J[:, :3], pull)
    table[5] = np.einsum("nj,n->jn", J[:, 3], x[:, 3])
    for motor in range(4):
        table[motor, motor] = state.qdd[:, motor]
        table[6 + motor, motor] = state.qd[:, motor]
        table[10 + motor, motor] = np.sign(state.qd[:, motor])
    return table


def recorded(seed: int, *, slow: float = 2.0, fast: float = 1.5) -> tuple[Recording, Recording]:
    """Slow and fast motions of the nacelle: joints and torques, with noise, one after the other."""
    rng = np.random.default_rng(seed)
    parts = []
    for seconds, frequency in ((slow, 0.5), (fast, 2.0)):
        times = np.arange(0.0, seconds, 1.0 / RATE)
        phase = rng.uniform(0, 2 * np.pi, (2, 4))
        size = np.array([0.05, 0.05, 0.025, 0.35]) * rng.uniform(0.7, 1.0, 4)
        turns = np.array([1.0, 0.83, 1.21, 0.9])
        x = sum(
            size / k * np.sin(2 * np.pi * k * frequency * turns * times[:, None] + phase[k - 1])
            for k in (1, 2)
        )
        x = x + np.array([0.0, 0.0, -0.43, 0.0])
        q = joints_at(h4().mechanism, x)
        qd = np.gradient(q, times, axis=0)
        state = State(np.concatenate([q, x], axis=1), qd, np.gradient(qd, times, axis=0))
        values = np.array([TABLE_4[name][0] for name in TABLE_4])
        torques = np.tensordot(values, eq_7(h4(), state), axes=1).T
        torques = torques + TORQUE_NOISE * rng.standard_normal(q.shape)
        q = q + JOINT_NOISE * rng.standard_normal(q.shape)
        parts.append(Recording(times, q, torques))
    return parts[0], parts[1]


def runs(seed: int) -> list[Run]:
    return [filtered(part, cutoff=CUTOFF) for part in recorded(seed)]


def identified(seed: int) -> Dynamic:
    """The 14 parameters of eq. 8 by weighted least squares on filtered data."""
    return identify_dynamics(h4(), runs(seed), drives=DRIVES, only=list(TABLE_4))


def unseen(found: Dynamic, seed: int) -> Prediction:
    """Torques of a new fast motion."""
    return prediction(found, filtered(recorded(seed)[1], cutoff=CUTOFF))


def figures() -> list[Figure]:
    dynamics = h4()
    state = random_state(dynamics, 60, np.random.default_rng(0))
    general = TorqueProblem(dynamics, Run.of(state), drives=DRIVES, only=list(TABLE_4))
    off = np.abs(general.regressor(general.runs[0], slice(0, 60)) - eq_7(dynamics, state)).max()
    rank = base_parameters(general).rank
    found = identified(2006)
    errors = found.statistics.standard_errors
    names = found.identifiability.identifiable
    figures = [
        Figure("identifiable of eq. 8", "14", "14", str(rank)),
        Figure(
            "eq. 7 against the projected tree", "-", "below 1e-9", f"{off:.0e}", holds=off < 1e-9
        ),
    ]
    for name, (value, percent) in TABLE_4.items():
        place = names.index(name)
        ours, error = float(found.base_values[place]), float(errors[place])
        relative = 100 * error / abs(ours)
        near = abs(ours - value) < 3 * error
        alike = 1 / SAME_SIZE < relative / percent < SAME_SIZE
        figures.append(
            Figure(
                f"{name}: value, deviation",
                f"{value:g}, {percent:.1f} %",
                f"within 3 deviations, {percent / SAME_SIZE:.1f} to {percent * SAME_SIZE:.0f} %",
                f"{ours:.4f}, {relative:.1f} %",
                holds=near and alike,
            )
        )
    error = unseen(found, 1).error
    figures.append(
        Figure(
            "torques of a new motion",
            "within 10 %",
            "below 10 %",
            f"{100 * error:.1f} %",
            holds=error < 0.1,
        )
    )
    return figures
