"""Shafts, springs and known torques of mechanisms: a master arm as it is built."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.dynamics.drives import FRICTION, Drive, State
from theodolite.dynamics.excitation.limits import Limits
from theodolite.dynamics.excitation.optimise import Part
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.inertia import INERTIAL, inertial_parameters
from theodolite.dynamics.loop_dynamics import LoopDynamics
from theodolite.dynamics.prediction import predict
from theodolite.errors import InputError
from theodolite.io.robot_file import format_robot, parse_robot
from theodolite.model.forces import Shaft, Spring, TorqueCurve
from theodolite.model.mechanism import Mechanism

SIZES = {
    "Ia": 0.02, "fv": 0.05, "fc": 0.1, "off": 0.02, "k": 0.3, "k2": -0.1, "k3": 0.05, "ks": 60.0,
    "fp": -2.0,
}  # fmt: skip


def mtm() -> Mechanism:
    return th.robots.load("mtm")


def motion(dynamics: LoopDynamics, times: np.ndarray, seed: int) -> State:
    """Sums of sines about the middle of the joints, with exact derivatives."""
    rng = np.random.default_rng(seed)
    lower, upper = dynamics.motor_limits()
    w = 2 * np.pi * np.array([0.1, 0.23, 0.41, 0.6])
    size = np.minimum(0.35 * (upper - lower), 1.0)
    A, B = rng.uniform(-0.5, 0.5, (2, 4, dynamics.motors)) * size
    t = times[:, None]
    waves = [(np.sin(k * t), np.cos(k * t), k) for k in w]
    return State(
        (lower + upper) / 2 + sum(A[i] * s + B[i] * c for i, (s, c, _) in enumerate(waves)),
        sum(k * (A[i] * c - B[i] * s) for i, (s, c, k) in enumerate(waves)),
        sum(-(k**2) * (A[i] * s + B[i] * c) for i, (s, c, k) in enumerate(waves)),
    )


def truth(dynamics: LoopDynamics, seed: int = 0) -> np.ndarray:
    """Bodies of a light arm, its friction, its spring and its cable."""
    rng = np.random.default_rng(seed)
    values = []
    for link in dict.fromkeys(suffix for _, suffix in dynamics.columns(())):
        mass = rng.uniform(0.2, 1.0)
        body = inertial_parameters(mass, rng.uniform(-0.05, 0.05, 3), 0.002 * mass * np.eye(3))
        values += [(f"{s}{link}", v) for s, v in zip(INERTIAL, body, strict=True)]
    known = dict(values)
    return np.array([
        known.get(s + x, SIZES.get(s, 0.0) * rng.uniform(0.6, 1.4))
        for s, x in dynamics.columns(FRICTION)
    ])  # fmt: skip


def test_power_is_the_rate_of_the_energy_and_what_is_lost() -> None:
    """Springs, gears and friction of shafts together, by differences of the energy."""
    dynamics = LoopDynamics(mtm())
    values = truth(dynamics)
    step = 1e-4
    times = np.linspace(0, 8, 50)[1:-1]
    state, ahead, behind = (motion(dynamics, times + s, 1) for s in (0, step, -step))
    torques = np.tensordot(values, dynamics.regressor(state, FRICTION), axes=1)
    power = (torques * state.qd.T).sum(axis=0)
    rate = values @ (dynamics.energy(ahead, FRICTION) - dynamics.energy(behind, FRICTION))
    lost = values @ dynamics.lost_power(state, FRICTION)
    np.testing.assert_allclose(power, rate / (2 * step) + lost, atol=1e-6)


def test_the_spring_pulls_as_its_authors_wrote_it() -> None:
    """The law of cosines about the fifth joint [Wang2019], its derivative by differences."""
    dynamics = LoopDynamics(mtm())
    state = motion(dynamics, np.linspace(0, 5, 30), 2)
    r, h, free, offset = 0.0075, 0.1035, 0.0613, np.radians(23.0)

    def stored(q: np.ndarray) -> np.ndarray:
        length = np.sqrt(r**2 + h**2 - 2 * r * h * np.cos(np.pi + offset - q))
        return 0.5 * (length - free) ** 2

    step = 1e-6
    q5 = state.q[:, 4]
    expected = (stored(q5 + step) - stored(q5 - step)) / (2 * step)
    table = dynamics.regressor(state, FRICTION)[dynamics.names(FRICTION).index("kslift")]
    np.testing.assert_allclose(table[4], expected, atol=1e-9)
    assert not np.abs(table[[0, 1, 2, 3, 5, 6]]).max() > 1e-12


def test_a_parallelogram_is_the_same_with_gears_as_with_a_loop() -> None:
    """The crank, rod and forearm as a closed loop: the same torques as with factors."""
    closed = parse_robot(LOOP, "loop")
    geared = parse_robot(GEARS, "gears")
    a, b = LoopDynamics(closed), LoopDynamics(geared)
    state = motion(b, np.linspace(0, 5, 20), 3)
    rng = np.random.default_rng(0)
    columns = b.columns(())
    values = {s + x: rng.uniform(0.5, 1.0) for s, x in columns}
    torques = [
        np.tensordot([values[s + x] for s, x in d.columns(())], d.regressor(state, ()), axes=1)
        for d in (a, b)
    ]
    np.testing.assert_allclose(torques[0], torques[1], atol=1e-6)


GEARS = """
format = "theodolite robot 1"
name = "gears"
units = { length = "m", angle = "rad" }
tool = "forearm"
joints = [
  { name = "q2", min = -0.5, max = 0.5, home = 0 },
  { name = "q3", min = -0.5, max = 0.5, home = 0 },
]
bodies = [
  { name = "arm", product = "Ry(q2) Tz(0.4)" },
  { name = "forearm", on = "arm", product = "Ry(q3-q2)" },
  { name = "rod", product = "Ry(q3) Tx(-0.1) Ry(q2-q3)" },
]
"""
LOOP = """
format = "theodolite robot 1"
name = "loop"
units = { length = "m", angle = "rad" }
tool = "forearm"
joints = [
  { name = "q2", min = -0.5, max = 0.5, home = 0 },
  { name = "q3", min = -0.5, max = 0.5, home = 0 },
  { name = "elbow", passive = true, home = 0 }, { name = "lower", passive = true, home = 0 },
]
bodies = [
  { name = "arm", product = "Ry(q2) Tz(0.4)" },
  { name = "forearm", on = "arm", product = "Ry(elbow)" },
  { name = "back", on = "forearm", product = "Tx(=-0.1)" },
  { name = "rod", product = "Ry(q3) Tx(-0.1) Ry(lower)" },
  { name = "top", on = "rod", product = "Tz(=0.4)" },
]
closures = [{ name = "loop", kind = "point", ends = ["back", "top"] }]
"""


def test_every_spring_coupling_and_friction_of_a_master_arm_is_found() -> None:
    """Torques of a new motion within the noise, with defaults; springs within their intervals."""
    dynamics = LoopDynamics(mtm())
    values = truth(dynamics)
    noise = 0.02
    runs = []
    for seed in (1, 2):
        state = motion(dynamics, np.linspace(0, 40, 2000), seed)
        clean = np.tensordot(values, dynamics.regressor(state, FRICTION), axes=1).T
        rough = clean + noise * np.random.default_rng(seed).standard_normal(clean.shape)
        runs.append((Run(state, rough, rate=50.0), clean))
    (fit, _), (other, clean) = runs
    found = th.identify_dynamics(dynamics, fit)
    assert found.consistent
    off = predict(found, other).predicted - clean
    assert np.sqrt((off**2).mean()) < 0.3 * noise
    known = found.identifiability
    names = dynamics.names(FRICTION)
    true = dict(zip(names, values.tolist(), strict=True))
    widths = dict(zip(known.identifiable, found.statistics.half_widths(), strict=True))
    for name in ("kslift", "kcable", "k2cable", "fvelbow", "fcelbow", "fvwrist", "fcwrist"):
        assert abs(found.named()[name] - true[name]) < 2 * widths[name], name


def test_a_known_spring_and_a_known_torque_are_taken_off() -> None:
    """Told beforehand or identified: the other parameters do not change."""
    unknown = mtm()
    spring = replace(unknown.springs[0], stiffness=60.0)
    cable = TorqueCurve("cable", polynomial=(0.02, 0.3, -0.1))
    shafts = (*unknown.shafts[:2], Shaft("cable", (("q4", 1.0),), ()))
    known = replace(unknown, springs=(spring,), curves=(cable,), shafts=shafts)
    a, b = LoopDynamics(unknown), LoopDynamics(known)
    state = motion(a, np.linspace(0, 30, 1500), 1)
    values = dict(zip(a.names(FRICTION), truth(a).tolist(), strict=True))
    values |= {"kslift": 60.0, "kcable": 0.3, "k2cable": -0.1, "k3cable": 0.0}
    vector = np.array([values[name] for name in a.names(FRICTION)])
    torques = np.tensordot(vector, a.regressor(state, FRICTION), axes=1).T
    torques[:, 3] += 0.02
    run = Run(state, torques, rate=50.0)
    found = th.identify_dynamics(b, run, drives=FRICTION, estimator=th.Estimator.WEIGHTED)
    assert predict(found, run).error < 1e-8
    named = dict(zip(found.identifiability.identifiable, found.base_values, strict=True))
    assert named["fcelbow"] == pytest.approx(values["fcelbow"], rel=1e-6)
    assert named["offq4"] == pytest.approx(values["offq4"], rel=1e-4)


def test_a_table_is_a_curve_with_straight_lines() -> None:
    curve = TorqueCurve("q4", points=((-1.0, 2.0), (1.0, 4.0)))
    np.testing.assert_allclose(curve.torque(np.array([-2.0, 0.0, 0.5, 3.0])), [2.0, 3.0, 3.5, 4.0])


def test_files_keep_what_acts_inside(tmp_path: Path) -> None:
    known = replace(
        mtm(),
        springs=(Spring("lift", ("hook", "pin"), 0.05, 27.86), Spring("free", ("hook", "yaw"))),
        curves=(
            TorqueCurve("q4", (0.1, 0.2)),
            TorqueCurve("wrist", points=((0.0, 1.0), (1.0, 2.0))),
        ),
    )  # fmt: skip
    again = parse_robot(format_robot(known), "again")
    assert isinstance(again, Mechanism)
    assert (again.springs, again.curves, again.shafts) == (
        known.springs,
        known.curves,
        known.shafts,
    )
    assert [e.sign for b in again.bodies for e in b.elements] == [
        e.sign for b in known.bodies for e in b.elements
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('springs = [{ name = "s", ends = ["arm", "tail"] }]', "'tail', which is not a body"),
        ('springs = [{ name = "s", ends = ["arm", "arm"] }]', "the names of two bodies"),
        ('springs = [{ name = "s", ends = ["arm", "world"], stiffness = 3 }]', "its free_length"),
        ('shafts = [{ name = "s", turns = { q9 = 1 } }]', "'q9', which is not a joint"),
        ('shafts = [{ name = "s", turns = 3 }]', "joints with factors"),
        ('torques = [{ on = "q9", polynomial = [1] }]', "'q9', which is no joint or shaft"),
        ('torques = [{ on = "q2" }]', "the torque is not given"),
        ('torques = [{ on = "q2", table = [[1, 2], [0, 3]] }]', "do not increase"),
    ],
)
def test_wrong_forces_are_refused(line: str, words: str) -> None:
    with pytest.raises(InputError, match="(?s).*" + words.replace("(", "[(]")):
        parse_robot(GEARS + line + "\n", "wrong")


def test_unknown_friction_of_a_shaft_is_refused() -> None:
    wrong = replace(mtm(), shafts=(Shaft("s", (("q2", 1.0),), ("sticky",)),))
    with pytest.raises(InputError, match="'s' has no friction 'sticky'"):
        LoopDynamics(wrong)


def test_friction_under_load_is_for_motors() -> None:
    dynamics = LoopDynamics(mtm())
    with pytest.raises(InputError, match="known of motors only"):
        dynamics.check_drives({"elbow": (Drive.LOAD,)})
    # A spring stays a spring, whatever else is said of it.
    assert "kslift" in dynamics.names({"lift": (Drive.VISCOUS,)})


@pytest.mark.study
def test_a_motion_of_a_master_arm_is_planned() -> None:
    dynamics = LoopDynamics(mtm())
    found = th.excite(
        dynamics, Limits.of(dynamics), parts=[Part(4.0)], harmonics=2, starts=1,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert np.isfinite(found.condition_number)
