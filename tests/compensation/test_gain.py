"""What compensation promises is what comes out: simulated with noise, and on a real robot."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.compensation.compensate import compensate, compensate_joints
from theodolite.compensation.controller import controlled
from theodolite.compensation.inverse import Targets
from theodolite.compensation.uncertainty import Uncertainty
from theodolite.model.poses import Poses

NOISE = th.Noise(position=1e-4, known=True)


@pytest.mark.parametrize(
    "name",
    [
        "puma560",
        "scara",
        "ur10e",
        *(pytest.param(n, marks=pytest.mark.study) for n in ("palletizer", "gough")),
    ],
)
def test_the_true_robot_is_off_by_what_was_expected(name: str) -> None:
    """Several calibrations: squared errors against those that the covariance foretells."""
    rng = np.random.default_rng(8)
    nominal = th.robots.load(name)
    ratios = []
    for _ in range(6):
        true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng)
        data = th.simulate(true, th.Position(), points=60, rng=rng, noise=NOISE)
        result = th.identify(nominal, data, "position", noise=NOISE, gains=False, terms=())
        motors = nominal.random_motors(60, rng)
        closing = [robot.settled(motors)[1] for robot in (nominal, true, result.robot)]
        motors = motors[np.logical_and.reduce(closing)]
        wanted = Targets(np.ascontiguousarray(_there(result.robot, motors)))
        made = compensate(
            result.robot,
            nominal,
            wanted,
            seed=motors,
            world=True,
            uncertainty=Uncertainty.from_result(result),
        )
        settled, closed = true.settled(made.motors)
        good = made.found.good & closed
        reached = true.motion(true.values, settled[good]).position
        off = np.linalg.norm(reached - wanted.positions[good], axis=1)
        ratios.append(np.mean(off**2) / np.mean(made.expected[good] ** 2))
    # Six calibrations: their mean scatters by a third or so.
    assert 0.5 < np.mean(ratios) < 2.0, ratios


def _there(robot: th.Robot, motors: np.ndarray) -> np.ndarray:
    return robot.motion(robot.values, robot.settled(motors)[0]).position


def test_the_gain_on_a_real_robot(recordings) -> None:
    """IRB 120 fitted on half; the joints of the other half corrected.

    Where the corrected robot would stand is what was measured, moved by what the model says that
    the corrected joints change. It misses by what the model misses on rows it has not seen.
    """
    robot = th.robots.irb120()
    everything = th.read_measurements([recordings / "irb120-tracker" / "train.csv"], robot)
    rows = np.random.default_rng(0).permutation(len(everything))
    half = everything.take(np.sort(rows[: len(rows) // 2]))
    other = everything.take(np.sort(rows[len(rows) // 2 :]))
    result = th.identify(robot, half, "position", gains=False, terms=())
    calibrated, nominal = result.robot, result.nominal
    held_out = th.residuals(calibrated, other, th.Position())["position"]
    # The nominal robot, placed like the calibrated one, is what the controller knows.
    made = compensate_joints(calibrated, nominal, other.motors, world=True)
    good = made.found.good
    assert good.mean() > 0.95, made.counts()
    true, known = (controlled(one, nominal, None, world=True) for one in (calibrated, nominal))
    flange, wanted = true.tips(other.motors), known.tips(other.motors)
    before, left = [], []
    for number, _ in enumerate(calibrated.targets):
        here, there = (
            calibrated.motion(calibrated.values, motors, number).position
            for motors in (other.motors, made.motors)
        )
        # The reflector on the flange, and where it belongs with the flange as wanted.
        on_flange = flange.inverse.then(Poses(flange.rotation, here)).position
        belongs = wanted.then(Poses(wanted.rotation, on_flange)).position
        measured = other.positions[:, number]
        before.append(np.linalg.norm(measured - belongs, axis=1))
        left.append(np.linalg.norm(measured + there - here - belongs, axis=1))
    promised = np.mean(held_out.reshape(len(other), -1)[good])
    assert np.mean(np.array(left)[:, good]) == pytest.approx(promised, rel=0.05)
    # The gain that was promised, at reflectors some 130 mm from the flange.
    assert np.mean(np.array(before)[:, good]) > 3 * promised
