"""Robots with a camera somewhere and a target somewhere, of which the robot file says nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import theodolite as th
from theodolite.calibration.base_and_tool import moved_robot
from theodolite.model.poses import Poses
from theodolite.model.rotations import exp

LENS = th.Lens(1000.0, 1000.0, 512.0, 384.0, -0.1, 0.05, 1e-3, -5e-4, 0.0)
NOISE = th.Noise(pixel=0.1)


class Scene(NamedTuple):
    """The robot as it is known, as it is, and what the camera saw."""

    robot: th.Robot
    true: th.Robot
    data: th.Dataset


def some_turn(size: float, rng: np.random.Generator) -> np.ndarray:
    return exp(rng.uniform(-size, size, (1, 3)))[0]


def looking(true: th.Robot, mount: str, rng: np.random.Generator) -> th.Robot:
    """The robot with a camera that sees the target in the middle of its range, about."""
    reach = true.reach()
    motion = true.motion(true.values, 0.3 * true.random_motors(1, rng))
    there = Poses(np.asarray(motion.rotation), np.asarray(motion.position))
    tool = Poses.one(some_turn(1.0, rng), rng.uniform(-0.05, 0.05, 3) * reach)
    shift = np.array([-0.07 * reach, -0.05 * reach, 0.5 * reach])
    seen = Poses.one(some_turn(0.2, rng), shift)
    tip = there.then(tool)
    if mount == "hand":
        return moved_robot(true, tip.then(seen).inverse, tool)
    return moved_robot(true, seen.then(tip.inverse), tool)


def scene(name: str, mount: str, seed: int, *, points: int = 50, noise=NOISE, errors=(1e-3, 2e-3)):
    rng = np.random.default_rng(seed)
    while True:
        arm = th.perturb(th.robots.load(name), th.ParameterErrors(*errors), rng)
        true = looking(arm, mount, rng)
        try:
            data = th.simulate(
                true, th.Camera(LENS, mount=mount), points=points, rng=rng, noise=noise
            )
        except th.TheodoliteError:
            continue
        return Scene(th.robots.load(name), true, data)


def tip_error(robot: th.Robot, true: th.Robot) -> float:
    """Rms distance of the tips over the workspace, metres."""
    motors = true.random_motors(300, np.random.default_rng(1))
    tips = [one.motion(one.values, motors).position for one in (robot, true)]
    return float(np.sqrt(np.mean(np.sum((tips[0] - tips[1]) ** 2, axis=1))))
