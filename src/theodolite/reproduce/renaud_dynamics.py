"""Renaud et al. [Renaud2006]: the dynamics of the H4, eqs. 4-8, 21-27 and table 4.

Errata: eq. 4 needs J with x' = J q'; z'' - g needs g = -9.81 with z up; inertias are kg m2. The
paper's recordings are not printed, so its robot is simulated: table 4 is the truth, slow and fast
motions of the nacelle are joined as in section 5.2.2, sampled at 1 kHz. Motions and noise are ours:
2 s of slow and 1.5 s of fast motion, 0.4 N m on every torque, 10 urad on every joint. The paper's
deviations depend on its own, so they are shown beside ours but not compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from theodolite import robots
from theodolite.arrays import FloatArray
from theodolite.dynamics.base_parameters import base_parameters
from theodolite.dynamics.drives import Drive, State
from theodolite.dynamics.filtering import Run, filter_recording
from theodolite.dynamics.identify import IdentifiedDynamics, identify_dynamics
from theodolite.dynamics.loop_dynamics import LoopDynamics
from theodolite.dynamics.prediction import Prediction, predict, predict_torques
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.torque import TorqueProblem
from theodolite.model.gravity import GRAVITY
from theodolite.model.mechanism import Mechanism
from theodolite.reproduce.figure import NOTHING, Figure, below, near, not_comparable
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
#: Seconds and frequency, Hz, of the motions.
SLOW, FAST = (2.0, 0.5), (1.5, 2.0)
#: Of differences of the inverse kinematic model, m and rad.
STEP = 1e-4
#: Seconds of the new motion that are drawn.
SHOWN = 0.8
#: How many deviations an identified value may be off.
SURE = 3.0
#: Relative; a new motion is predicted as the true parameters predict it, but for their own errors.
AS_WELL = 0.05

DIFFERENCES = "differences of 0.1 mm and 0.1 mrad in eq. 7 leave about 1e-8 of it"
SIMULATED = (
    "simulated with the printed values, which have to be recovered within 3 of our deviations"
)
OTHER_RECORDING = (
    "a deviation depends on the recording's length, motion and noise, none of which is printed"
)
NOISE_LEFT = (
    "what the true parameters leave of the same recording, which is its noise, chosen by us; the "
    "paper's 10 % is that of a real robot"
)


@cache
def h4() -> LoopDynamics:
    """The identified robot; its world is its base, so that gravity is along -z."""
    robot = robots.load("h4")
    assert isinstance(robot, Mechanism)
    sensor = {f"bTc_{axis}": 0.0 for axis in ("x", "y", "z", "rx", "ry", "rz")}
    return LoopDynamics(robot.with_values(IDENTIFIED | sensor))


@dataclass(frozen=True, eq=False)
class Motion:
    """Joints and nacelle (X, Y, Z, theta) along a motion, with their derivatives by time."""

    times: FloatArray
    state: State
    x: FloatArray
    xdd: FloatArray
    #: J with x' = J q', (n, 4, 4).
    J: FloatArray


def eq_7(motion: Motion) -> FloatArray:
    """The regressor of eq. 7 in the order of eq. 8, (14, motors, n).

    From the paper's own inverse kinematic model, eq. 2, and the nacelle's accelerations: the tree
    and its projection are not used.
    """
    J = motion.J
    pull = motion.xdd[:, :3] - np.array([0.0, 0.0, -GRAVITY])
    state = motion.state
    table = np.zeros((14, 4, len(state)))
    table[4] = np.einsum("nij,ni->jn", J[:, :3], pull)
    table[5] = np.einsum("nj,n->jn", J[:, 3], motion.xdd[:, 3])
    for motor in range(4):
        table[motor, motor] = state.qdd[:, motor]
        table[6 + motor, motor] = state.qd[:, motor]
        table[10 + motor, motor] = np.sign(state.qd[:, motor])
    return table


def _slopes(x: FloatArray) -> FloatArray:
    """The derivative of eq. 2, the inverse of J, by differences, (n, 4, 4)."""
    columns = []
    for step in STEP * np.eye(4):
        ahead, behind = (joints_at(h4().mechanism, x + side * step) for side in (1.0, -1.0))
        columns.append((ahead - behind) / (2 * STEP))
    return np.stack(columns, axis=2)


def moved(seed: int, seconds: float, frequency: float) -> Motion:
    """The nacelle along sums of two sines; the joints by eq. 2, their derivatives by the chain."""
    rng = np.random.default_rng(seed)
    times = np.arange(0.0, seconds, 1.0 / RATE)
    phase = rng.uniform(0, 2 * np.pi, (2, 4))
    size = np.array([0.05, 0.05, 0.025, 0.35]) * rng.uniform(0.7, 1.0, 4)
    x = np.zeros((3, len(times), 4))
    x[0] += np.array([0.0, 0.0, -0.43, 0.0])
    for k in (1, 2):
        w = 2 * np.pi * k * frequency * np.array([1.0, 0.83, 1.21, 0.9])
        angle = w * times[:, None] + phase[k - 1]
        for order, part in enumerate((np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle))):
            x[order] += size / k * part
    q = joints_at(h4().mechanism, x[0])
    inverse = _slopes(x[0])
    ahead, behind = (_slopes(x[0] + side * STEP * x[1]) for side in (1.0, -1.0))
    turned = (ahead - behind) / (2 * STEP)
    qd = np.einsum("nij,nj->ni", inverse, x[1])
    qdd = np.einsum("nij,nj->ni", inverse, x[2]) + np.einsum("nij,nj->ni", turned, x[1])
    return Motion(times, State(q, qd, qdd), x[0], x[2], np.linalg.inv(inverse))


def recorded(seed: int, seconds: float, frequency: float) -> Recording:
    """Joints and torques along a motion, with noise."""
    motion = moved(seed, seconds, frequency)
    values = np.array([value for value, _ in TABLE_4.values()])
    torques = np.tensordot(values, eq_7(motion), axes=1).T
    rng = np.random.default_rng(seed + 1)
    torques = torques + TORQUE_NOISE * rng.standard_normal(torques.shape)
    q = motion.state.q + JOINT_NOISE * rng.standard_normal(motion.state.q.shape)
    return Recording(motion.times, q, torques)


def runs(seed: int) -> list[Run]:
    """Slow and fast motions, one after the other [5.2.2]."""
    parts = (recorded(100 * seed + number, *part) for number, part in enumerate((SLOW, FAST)))
    return [filter_recording(part, cutoff=CUTOFF) for part in parts]


@cache
def identified(seed: int) -> IdentifiedDynamics:
    """The 14 parameters of eq. 8 by weighted least squares on filtered data."""
    return identify_dynamics(h4(), runs(seed), drives=DRIVES, only=list(TABLE_4))


def unseen(found: IdentifiedDynamics, seed: int) -> Prediction:
    """Torques of a new fast motion."""
    return predict(found, filter_recording(recorded(seed, *FAST), cutoff=CUTOFF))


def figures() -> list[Figure]:
    motion = moved(0, 1.0, 1.0)
    general = TorqueProblem(h4(), Run.of(motion.state), drives=DRIVES, only=list(TABLE_4))
    table = eq_7(motion)
    projected = general.regressor(general.runs[0], slice(0, len(motion.state)))
    off = float(np.abs(projected - table).max() / np.abs(table).max())
    found = identified(2006)
    return [
        Figure("identifiable of eq. 8", "14", "14", str(base_parameters(general).rank)),
        below("eq. 7 against the projected tree", NOTHING, 1e-7, off, why=DIFFERENCES),
        *_table_4(found),
        _new_motion(found),
    ]


def _table_4(found: IdentifiedDynamics) -> list[Figure]:
    errors = found.statistics.standard_errors
    names = found.identifiability.identifiable
    values, deviations = [], []
    for name, (value, percent) in TABLE_4.items():
        place = names.index(name)
        ours, error = float(found.base_values[place]), float(errors[place])
        values.append(
            near(
                f"table 4, {name}", f"{value:g}", value, ours, within=SURE * error, form=".4f",
                why=SIMULATED,
            )
        )  # fmt: skip
        deviations.append(
            not_comparable(
                f"table 4, {name}: deviation (%)", f"{percent:.2f}",
                f"{100 * error / abs(ours):.2f}", why=OTHER_RECORDING,
            )
        )  # fmt: skip
    return values + deviations


def _new_motion(found: IdentifiedDynamics) -> Figure:
    run = filter_recording(recorded(1, *FAST), cutoff=CUTOFF)
    right = {name: value for name, (value, _) in TABLE_4.items()}
    best = 100 * predict_torques(h4(), [run], right, DRIVES).error
    ours = 100 * predict(found, run).error
    return near(
        "torques of a new motion, off by (%)", "within 10", best, ours, within=AS_WELL * best,
        form=".1f", why=NOISE_LEFT,
    )  # fmt: skip


#: The picture that `plots` draws.
PICTURES = ("h4-torques.svg",)


def plots(folder: Path, *, force: bool = False) -> list[Path]:
    """Measured and estimated torques of a new motion, as in figures 5 to 8; simulated."""
    from theodolite.report.plots import torque_curves

    path = folder / PICTURES[0]
    shown = unseen(identified(2006), 1)
    first = shown.times < SHOWN
    part = Prediction(shown.times[first], shown.measured[first], shown.predicted[first])
    torque_curves(path, part, "H4, simulated: torques of a new motion", force=force)
    return [path]
