"""A PUMA with plausible bodies, smooth motions, and recordings of them with noise."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import theodolite as th
from tests.calibration.sizes import grown, joint_factors
from theodolite.dynamics.drives import FRICTION, State
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.inertia import INERTIAL, inertial_parameters
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.serial import Dynamics

GAINS = np.array([14.87, 13.26, 11.13, 10.62, 11.03, 11.47])
DOWN = np.array([0.0, 0.0, -9.81])


@cache
def puma() -> Dynamics:
    return Dynamics(th.robots.puma560())


def true_values(rng: np.random.Generator) -> dict[str, float]:
    """Standard parameters of bodies that exist, and of drives with friction."""
    truth: dict[str, float] = {}
    for joint in range(1, 7):
        mass, centre = 8.0 / joint, rng.uniform(-0.1, 0.1, 3)
        body = inertial_parameters(mass, centre, mass * np.diag(rng.uniform(0.05, 0.2, 3) ** 2))
        # Three moments that make a body: each below the sum of the others.
        body[[0, 3, 5]] += 0.05 * mass
        truth |= {f"{name}{joint}": float(v) for name, v in zip(INERTIAL, body, strict=True)}
        truth |= {f"Ia{joint}": 0.5, f"fv{joint}": 2.0, f"fc{joint}": 3.0}
        truth[f"off{joint}"] = float(rng.uniform(-0.5, 0.5))
    return truth


def motion(rng: np.random.Generator, times: np.ndarray) -> State:
    """Sums of sines of all joints, with exact derivatives."""
    t = times[:, None]
    w = 2 * np.pi * np.array([0.1, 0.25, 0.4, 0.55])
    A, B = rng.uniform(-0.5, 0.5, (2, 4, 6))
    waves = [(np.sin(k * t), np.cos(k * t), k) for k in w]
    return State(
        sum(A[i] * s + B[i] * c for i, (s, c, _) in enumerate(waves)),
        sum(k * (A[i] * c - B[i] * s) for i, (s, c, k) in enumerate(waves)),
        sum(-(k**2) * (A[i] * s + B[i] * c) for i, (s, c, k) in enumerate(waves)),
    )


def torques_of(
    dynamics: Dynamics, state: State, truth: dict[str, float], load: np.ndarray | None = None
) -> np.ndarray:
    names = dynamics.names(FRICTION)
    table = dynamics.regressor(state, FRICTION)
    values = np.array([truth[name] for name in names])
    if load is not None:
        values = values.copy()
        first = names.index("XX6")
        values[first : first + 10] += load
    return np.tensordot(values, table, axes=1).T


def simulated(
    seed: int, noise: float = 0.5, samples: int = 600
) -> tuple[Dynamics, Run, dict[str, float]]:
    """Exact motion, white torque noise, no filter."""
    dynamics, rng = puma(), np.random.default_rng(seed)
    truth = true_values(rng)
    times = np.linspace(0, 20, samples)
    state = motion(rng, times)
    torques = torques_of(dynamics, state, truth)
    torques = torques + noise * rng.standard_normal(torques.shape)
    return dynamics, Run(state, torques, rate=samples / 20), truth


def recorded(
    seed: int,
    *,
    noise: float = 2.0,
    rate: float = 100.0,
    seconds: float = 20.0,
    truth: dict[str, float] | None = None,
    load: np.ndarray | None = None,
) -> tuple[Dynamics, Recording, dict[str, float]]:
    """What a controller would record: positions, and torques with white noise."""
    dynamics, rng = puma(), np.random.default_rng(seed)
    truth = true_values(np.random.default_rng(seed + 1000)) if truth is None else truth
    times = np.arange(0, seconds, 1 / rate)
    state = motion(rng, times)
    torques = torques_of(dynamics, state, truth, load)
    torques = torques + noise * rng.standard_normal(torques.shape)
    return dynamics, Recording(times, state.q, torques), truth


def grown_dynamics(robot: th.Robot, factor: float) -> Dynamics:
    """Of the robot with all lengths multiplied, and gravity too, so that all accelerations are."""
    return Dynamics(grown(robot, factor), gravity=factor * Dynamics(robot).gravity)


def grown_recording(robot: th.Robot, recording: Recording, factor: float) -> Recording:
    """What the larger robot would record: larger forces, and torques by longer levers too."""
    slides = joint_factors(robot, factor)
    torques = recording.torques * factor**2 / slides
    return replace(recording, q=recording.q * slides, torques=torques)


def recorded_scara(seed: int, *, noise: float = 0.02) -> tuple[th.Robot, Recording]:
    """Hinges and a slide: RRPR, with noise relative to each torque."""
    robot, rng = th.robots.scara(), np.random.default_rng(seed)
    dynamics = Dynamics(robot)
    times = np.arange(0, 20, 0.01)
    middle, half = (robot.upper + robot.lower) / 2, (robot.upper - robot.lower) / 2
    moved = motion(rng, times)
    state = State(*(part[:, :4] * half / 4 for part in (moved.q, moved.qd, moved.qdd)))
    state = State(state.q + middle, state.qd, state.qdd)
    torques = torques_of(dynamics, state, true_values(rng))
    torques = torques * (1 + noise * rng.standard_normal(torques.shape))
    return robot, Recording(times, state.q, torques)
