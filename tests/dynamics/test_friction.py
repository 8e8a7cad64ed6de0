"""Friction as it is: every term by itself, and which terms a robot has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from tests.dynamics.simulated import motion, puma, true_values
from theodolite.dynamics.decimation import Decimation
from theodolite.dynamics.drives import (
    FRICTION,
    FRICTION_NAMES,
    Axis,
    Drive,
    Drives,
    drive_slopes,
    drive_torque,
)
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.friction_choice import choose_friction, friction_drives
from theodolite.dynamics.loop_dynamics import LoopDynamics
from theodolite.dynamics.prediction import predict
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError

#: Coefficients that show in a PUMA's torques, by symbol.
SIZES = {
    "fl": 0.15, "fva": 0.7, "fq": 0.4, "fs": 1.5, "rs": 0.8, "rc": -0.6, "k": 1.2, "k2": 0.5,
    "k3": -0.4,
}  # fmt: skip
TERMS = [(*FRICTION, drive) for drive in Drive if drive.value in SIZES]


def truth_for(dynamics: Tree, drives: Drives, rng: np.random.Generator) -> np.ndarray:
    """Bodies that exist, usual friction, and further terms."""
    usual = true_values(rng)
    return np.array(
        [usual.get(s + x, SIZES.get(s, 0.0) * rng.uniform(0.5, 1.5)) for s, x in
         dynamics.columns(drives)]
    )  # fmt: skip


def run_with(
    dynamics: Dynamics, drives: Drives, seed: int, noise: float, samples: int = 1500
) -> tuple[Run, np.ndarray]:
    rng = np.random.default_rng(seed)
    times = np.linspace(0, 30, samples)
    state = motion(rng, times)
    truth = truth_for(dynamics, drives, rng)
    torques = np.tensordot(truth, dynamics.regressor(state, drives, values=truth), axes=1).T
    return Run(state, torques + noise * rng.standard_normal(torques.shape), samples / 30), truth


@pytest.mark.parametrize("drives", TERMS, ids=lambda drives: drives[-1].name.lower())
@pytest.mark.parametrize("gradual", [False, True])
def test_every_term_is_found_again(drives: Sequence[Drive], gradual: bool) -> None:
    """Exact torques: every base parameter to nine digits, with friction that jumps or does not."""
    dynamics = puma().with_shape(np.full(6, 0.05) if gradual else None)
    run, truth = run_with(dynamics, drives, 4, 0.0)
    found = th.identify_dynamics(dynamics, run, drives=drives, estimator=Estimator.WEIGHTED)
    known = found.identifiability
    expected = truth[known.base] + known.relations @ truth[known.regrouped]
    np.testing.assert_allclose(found.base_values, expected, rtol=1e-6, atol=1e-7)


def test_all_terms_together_hold_their_intervals() -> None:
    """95 % intervals with every term at once, friction under load among them."""
    # A curve and a ripple besides each other would be nearly the same.
    curve = (Drive.SQUARE, Drive.CUBE)
    further = (drive for drive in Drive if drive.value in SIZES and drive not in curve)
    drives = (*FRICTION, *further)
    dynamics = puma().with_shape(np.full(6, 0.05))
    hits = []
    for seed in range(8):
        run, truth = run_with(dynamics, drives, seed, 0.3)
        found = th.identify_dynamics(dynamics, run, drives=drives, estimator=Estimator.WEIGHTED)
        known = found.identifiability
        expected = truth[known.base] + known.relations @ truth[known.regrouped]
        hits.append(np.abs(found.base_values - expected) <= found.statistics.half_widths())
    assert 0.925 < np.concatenate(hits).mean() < 0.975


@pytest.mark.parametrize("drive", [drive for drive in Drive if drive is not Drive.LOAD])
@pytest.mark.parametrize("transition", [0.05, 0.5])
def test_slopes_of_a_term_are_those_of_its_torque(drive: Drive, transition: float) -> None:
    q, qd, qdd, warmth = np.random.default_rng(1).standard_normal((4, 50))
    step = 1e-6

    def torque(*change: float) -> np.ndarray:
        moved = (part + by for part, by in zip((q, qd, qdd), change, strict=True))
        return drive_torque(drive, Axis(*moved, transition=transition, temperature=warmth))

    slopes = drive_slopes(drive, Axis(q, qd, qdd, transition=transition, temperature=warmth))
    for place, slope in enumerate(slopes):
        ahead, behind = ([side * step * (place == k) for k in range(3)] for side in (1, -1))
        by_difference = (torque(*ahead) - torque(*behind)) / (2 * step)
        np.testing.assert_allclose(slope, by_difference, rtol=1e-5, atol=1e-6)


def test_friction_under_load_is_chosen_where_there_is_some() -> None:
    drives = friction_drives(("viscous", "coulomb", "offset", "load"))
    dynamics = puma()
    run, _ = run_with(dynamics, drives, 2, 0.5)
    other, _ = run_with(dynamics, drives, 2, 0.5)
    found = th.identify_dynamics(dynamics, run)
    assert found.friction is not None
    assert "load" in found.friction.chosen
    assert found.friction.chosen in {each.name for each in found.friction.tried}
    plain = th.identify_dynamics(dynamics, run, drives=FRICTION)
    assert predict(found, other).judged.error < 0.5 * predict(plain, other).judged.error


def test_a_gradual_reversal_is_found_with_its_speed() -> None:
    true = np.array([0.02, 0.05, 0.1, 0.1, 0.2, 0.3])
    run, _ = run_with(puma().with_shape(true), FRICTION, 3, 0.1, samples=6000)
    chosen = choose_friction(puma(), [run])
    assert "gradual reversal" in chosen.choice.chosen
    np.testing.assert_allclose(chosen.dynamics.transition_speeds, true, rtol=0.5)


def placebo(runs: range) -> float:
    """In how many runs with plain friction further terms are taken."""
    taken = 0
    for seed in runs:
        run, _ = run_with(puma(), FRICTION, seed, 0.5, samples=900)
        chosen = choose_friction(puma(), [run])
        shapes = (chosen.dynamics.transition_speeds, chosen.dynamics.presliding_distances)
        taken += chosen.drives != FRICTION or any(shape.any() for shape in shapes)
    return taken / len(runs)


def test_plain_friction_stays_plain() -> None:
    assert placebo(range(6)) <= 1 / 6


@pytest.mark.study
def test_plain_friction_stays_plain_in_a_hundred_runs() -> None:
    assert placebo(range(100, 200)) <= 0.05


def test_single_joints_have_friction_of_their_own() -> None:
    drives = dict.fromkeys(puma().motor_names, FRICTION) | {"3": (Drive.VISCOUS,), "5": ()}
    names = puma().names(drives)
    assert {"fv3", "fc2", "Ia2"} <= set(names)
    assert not {"fc3", "Ia3", "fv5"} & set(names)
    run, _ = run_with(puma(), FRICTION, 1, 0.5)
    found = th.identify_dynamics(puma(), run, drives=drives)
    assert "fc3" not in found.named()
    with pytest.raises(InputError, match="has no joint '9'"):
        puma().check_drives({"9": FRICTION})


def test_passive_joints_have_friction_too() -> None:
    """What a hinge of a loop takes is seen by the motors, as power."""
    mechanism = th.robots.load("palletizer")
    dynamics = LoopDynamics(mechanism)
    drives = dict.fromkeys(dynamics.motor_names, FRICTION) | {"elbow": (Drive.VISCOUS,)}
    rng = np.random.default_rng(0)
    low, high = dynamics.position_range()
    state = motion(rng, np.linspace(0, 20, 200))
    middle, half = (low + high) / 2, 0.2 * (high - low)
    state = replace(state, q=middle + half * state.q[:, :4], qd=half * state.qd[:, :4],
                    qdd=half * state.qdd[:, :4])  # fmt: skip
    table = dynamics.regressor(state, drives)
    place = dynamics.names(drives).index("fvelbow")
    joints, _ = dynamics.joint_state(state)
    elbow = dynamics.axes.index("elbow")
    power = (table[place] * state.qd.T).sum(axis=0)
    np.testing.assert_allclose(power, joints.qd[:, elbow] ** 2, atol=1e-9)


def test_friction_that_falls_as_the_oil_gets_warm_is_chosen() -> None:
    run, truth = run_with(puma(), FRICTION, 1, 0.3)
    warmth = np.tile(np.linspace(20, 60, len(run.state))[:, None], 6)
    warm = replace(run.state, temperatures=warmth)
    drives = (*FRICTION, Drive.TEMPERATURE)
    values = dict(zip(puma().names(FRICTION), truth.tolist(), strict=True))
    vector = np.array([values.get(name, -0.02) for name in puma().names(drives)])
    noise = 0.3 * np.random.default_rng(0).standard_normal(run.torques.shape)
    torques = np.tensordot(vector, puma().regressor(warm, drives), axes=1).T + noise
    found = th.identify_dynamics(puma(), replace(run, state=warm, torques=torques))
    assert found.friction is not None
    assert "temperature" in found.friction.chosen
    assert found.named()["ft2"] == pytest.approx(-0.02, rel=0.3)
    with pytest.raises(InputError, match="needs the temperatures"):
        puma().regressor(run.state, drives)


def test_names_of_terms_are_all_known() -> None:
    named = {drive for terms in FRICTION_NAMES.values() for drive in terms}
    assert named == set(Drive) - {Drive.ROTOR, Drive.ELASTIC, Drive.PRELOAD}


def test_a_recording_with_temperatures_is_judged() -> None:
    run, _ = run_with(puma(), FRICTION, 1, 0.3, samples=600)
    warm = replace(run.state, temperatures=np.tile(np.linspace(20, 50, 600)[:, None], 6))
    drives = (*FRICTION, Drive.TEMPERATURE)
    found = th.identify_dynamics(puma(), replace(run, state=warm), drives=drives)
    assert th.judge_identification(found).accurate


def test_shapes_that_were_given_are_kept() -> None:
    """A Stribeck speed and reversals of one's own are not searched for again."""
    given = puma().with_shape(np.full(6, 0.05), 0.5)
    run, _ = run_with(given, (*FRICTION, Drive.STRIBECK), 2, 0.3)
    chosen = choose_friction(given, [run])
    np.testing.assert_array_equal(chosen.dynamics.transition_speeds, 0.05)
    assert chosen.dynamics.stribeck_speed == 0.5


def test_a_recording_of_one_block_keeps_the_usual_friction() -> None:
    run, _ = run_with(puma(), FRICTION, 2, 0.3, samples=80)
    found = th.identify_dynamics(puma(), replace(run, decimation=Decimation.below(1.0, 80 / 30)))
    assert found.problem.drives == FRICTION


def test_some_parameters_alone_are_identified_and_used_again() -> None:
    names = ["ZZ1", "fv1", "fc1"]
    run, _ = run_with(puma(), FRICTION, 2, 0.3)
    found = th.identify_dynamics(puma(), run, only=names)
    assert found.estimator is Estimator.WEIGHTED
    found.parameters.check_frames(puma())
    assert found.named()["XX2"] == 0.0
    with pytest.raises(InputError, match="bodies need all parameters"):
        th.identify_dynamics(puma(), run, only=names, estimator=Estimator.CONSISTENT)
