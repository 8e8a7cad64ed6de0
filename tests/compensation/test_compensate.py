"""Corrected targets make the true robot arrive; what cannot be reached is named."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.compensation.compensate import compensate, compensate_joints
from theodolite.compensation.inverse import Reach, Targets, inverse
from theodolite.model import rotations

ROBOTS = (
    *("puma560", "rx90", "stanford", "scara", "irb120", "ur10e", "panda"),
    *("palletizer", "delta", "gough", "h4"),
)
ERRORS = th.ParameterErrors(3e-3, 6e-3, 2e-3)


def wanted_of(name: str, count: int = 40):
    """A true robot, its nominal, and poses well inside the nominal one's workspace."""
    rng = np.random.default_rng(3)
    nominal = th.robots.load(name)
    true = th.perturb(nominal, ERRORS, rng)
    middle = 0.5 * (nominal.upper + nominal.lower)
    motors = nominal.random_motors(4 * count, rng)
    motors = motors[nominal.can_close(motors) & true.can_close(motors)]
    if isinstance(nominal, th.Robot):
        # Half of each joint's range: limits and most singularities stay away.
        motors = nominal.transmission.motors(
            middle + 0.5 * (nominal.readings(motors) - middle) + nominal.transmission.offset
        )
    motion = nominal.motion(nominal.values, motors[:count])
    turned = np.ascontiguousarray(motion.rotation) if nominal.joints >= 6 else None
    return true, nominal, motors[:count], Targets(np.ascontiguousarray(motion.position), turned)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_controller_moves_the_true_robot_to_the_target(name: str) -> None:
    """The controller solves the nominal inverse of the command; the true robot moves there."""
    true, nominal, motors, targets = wanted_of(name)
    made = compensate(true, nominal, targets, seed=motors, world=True)
    good = made.found.good
    assert good.mean() > 0.8, made.counts()
    command = Targets(made.positions, None if targets.rotations is None else made.rotations)
    if nominal.joints < 6 and nominal.joints > 3:
        # What positions alone leave open is what the corrected joints say.
        commanded = made.motors
    else:
        commanded = inverse(nominal, command, made.motors).motors
    reached = true.motion(true.values, commanded)
    distance = np.linalg.norm(reached.position - targets.positions, axis=1)[good]
    assert distance.max() < 1e-9
    assert np.median(made.before[good]) > 1e-3
    if targets.rotations is not None:
        turn = rotations.log(reached.rotation @ targets.rotations.transpose(0, 2, 1))
        assert np.abs(turn[good]).max() < 1e-8


@pytest.mark.parametrize("name", ["puma560", "scara", "h4"])
def test_a_program_of_joints_is_corrected(name: str) -> None:
    true, nominal, motors, _ = wanted_of(name)
    made = compensate_joints(true, nominal, motors, world=True)
    good = made.found.good
    assert good.mean() > 0.8
    there = true.motion(true.values, made.motors).position
    planned = nominal.motion(nominal.values, motors).position
    assert np.linalg.norm(there - planned, axis=1)[good].max() < 1e-9


def test_without_errors_nothing_changes() -> None:
    nominal = th.robots.puma560()
    motors = 0.5 * nominal.random_motors(50, np.random.default_rng(0))
    made = compensate_joints(nominal, nominal, motors)
    np.testing.assert_allclose(made.motors, motors, atol=1e-12)
    assert made.shift.max() < 1e-12


def test_targets_in_the_robots_base_do_not_depend_on_where_it_stands() -> None:
    """A calibrated robot file that stands in a tracker's world, far away."""
    true, nominal, motors, _ = wanted_of("ur10e")
    here = compensate_joints(true, nominal, motors)
    moved = true.with_values({"e0x": 1.0, "e0z": 2.0, "e0rz": 0.7})
    there = compensate_joints(moved, nominal, motors)
    np.testing.assert_allclose(here.motors, there.motors, atol=1e-9)


def test_what_cannot_be_reached_is_named() -> None:
    nominal = th.robots.puma560()
    true = th.perturb(nominal, ERRORS, 1)
    motors = np.array([[0.1, -0.5, 0.3, 0.2, 0.6, 0.1]])
    motion = nominal.motion(nominal.values, motors)
    far = Targets(3.0 * motion.position, motion.rotation)
    made = compensate(true, nominal, far, seed=motors)
    assert made.found.outcome[0] in (Reach.OUT, Reach.STUCK)
    assert made.found.distance[0] > 0.1
    assert not made.good
    # Straight wrist: joints 4 and 6 turn about one line.
    straight = motors.copy()
    straight[0, 4] = 1e-3
    made = compensate_joints(true, nominal, straight)
    assert made.found.outcome[0] is not Reach.REACHED
    edge = motors.copy()
    edge[0, 0] = nominal.upper[0]
    outcomes = {
        compensate_joints(th.perturb(nominal, ERRORS, seed), nominal, edge).found.outcome[0]
        for seed in range(6)
    }
    assert Reach.LIMITS in outcomes


def test_a_redundant_arm_takes_the_nearest_solution() -> None:
    true, nominal, motors, targets = wanted_of("panda")
    made = compensate(true, nominal, targets, seed=motors, world=True)
    moved = np.abs(made.motors - motors).max(axis=1)[made.found.good]
    assert np.median(moved) < 0.05


def test_a_path_comes_out_as_smooth_as_it_went_in() -> None:
    true, nominal, motors, _ = wanted_of("ur10e", 2)
    steps = np.linspace(0, 1, 400)[:, None]
    path = nominal.motion(nominal.values, motors[:1] + 0.3 * steps * np.sign(motors[1:2]))
    targets = Targets(np.asarray(path.position), np.asarray(path.rotation))
    made = compensate(true, nominal, targets, seed=motors[:1] + 0 * steps, world=True)
    plain = motors[:1] + 0.3 * steps * np.sign(motors[1:2])
    again = compensate(true, nominal, targets, seed=plain, world=True)
    second = np.abs(np.diff(again.motors, n=2, axis=0)).max()
    assert second < 1e-4
    assert made.found.good.mean() > 0.5


def test_joints_are_found_where_none_are_given() -> None:
    true, nominal, _, targets = wanted_of("ur10e", 30)
    made = compensate(true, nominal, targets, world=True)
    assert made.found.good.mean() > 0.8, made.counts()


def test_the_irb120_gains_what_it_should_on_targets_it_has_not_seen() -> None:
    """Corrected joints of simulated measurements: the error that is left is the model's own."""
    nominal = th.robots.irb120()
    true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), 4)
    data = th.simulate(true, "position", points=120, rng=5, noise=th.Noise(position=2e-5))
    half = data.take(np.arange(60))
    result = th.identify(nominal, half, "position", terms="none", gains=False)
    rest = data.take(np.arange(60, 120))
    reached = nominal.fk(rest.motors).position
    made = compensate(result.robot, nominal, Targets(reached), seed=rest.motors, world=True)
    good = made.found.good
    executed = true.motion(true.values, made.motors).position
    left = np.linalg.norm(executed - reached, axis=1)[good]
    own = np.linalg.norm(
        result.robot.fk(rest.motors).position - true.fk(rest.motors).position, axis=1
    )
    assert np.sqrt(np.mean(left**2)) == pytest.approx(np.sqrt(np.mean(own[good] ** 2)), rel=0.05)
    assert np.median(made.before) > 10 * np.median(left)
