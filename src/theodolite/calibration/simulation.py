"""Points generation: simulated measurements of a robot with errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.conditions import with_order
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Method
from theodolite.calibration.noise import LARGEST, Noise
from theodolite.calibration.point_sensor import TouchGoal, mounted
from theodolite.errors import InputError
from theodolite.model import rotations
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine
from theodolite.model.parameters import Unit
from theodolite.model.terms import ROW, columns_needed

#: No noise at all.
EXACT = Noise(position=0.0, orientation=0.0, joint=0.0, pixel=0.0, known=True)
#: Singular values below this part of the largest cannot be used to move the tip.
NEARLY_SINGULAR = 1e-3


@dataclass(frozen=True)
class ParameterErrors:
    """Half-widths of uniform errors by kind of parameter."""

    length: float = 0.0
    angle: float = 0.0
    gain: float = 0.0

    def __post_init__(self) -> None:
        largest = np.abs([self.length, self.angle, self.gain]).max()
        if not largest <= LARGEST:
            raise InputError(
                f"a parameter error of {largest:g}",
                allowed=f"at most {LARGEST:g}, in metres, radians or parts of a gain",
            )

    def of(self, unit: Unit) -> float:
        return {Unit.METRE: self.length, Unit.RADIAN: self.angle, Unit.ONE: self.gain}[unit]


def perturb(
    robot: Machine,
    errors: ParameterErrors,
    rng: np.random.Generator,
    *,
    only: Iterable[str] | None = None,
) -> Machine:
    """A robot whose parameters, or only the named ones, are off by random amounts."""
    chosen = None if only is None else set(only)
    names = [parameter.name for parameter in robot.parameters]
    if chosen is not None and (unknown := chosen.difference(names)):
        raise InputError(
            f"'{robot.name}' has no parameter {', '.join(sorted(unknown))}", allowed=names
        )
    shift = np.array(
        [
            rng.uniform(-1.0, 1.0) * errors.of(parameter.unit)
            if chosen is None or parameter.name in chosen
            else 0.0
            for parameter in robot.parameters
        ]
    )
    return replace(robot.with_values(robot.values + shift), name=f"{robot.name}-true")


def _under_conditions(robot: Machine, exact: Dataset) -> Dataset:
    """What was seen, with terms that depend on the order of the rows as that order says.

    Other conditions are not known, and contacts would have to be found again under them.
    """
    if not (needed := columns_needed(robot.bases)):
        return exact
    exact = with_order(exact, robot, rows_as_time=ROW in needed)
    unknown = set(needed) - set(exact.columns)
    if unknown or exact.positions is None or exact.fixture is not None:
        raise InputError(
            f"the terms of '{robot.name}' depend on {', '.join(needed)}, which cannot be simulated "
            "for this method",
            allowed="terms of the order of the rows, with the methods position and frame",
            remedy="Take these terms out of the robot file",
        )
    told = robot.inputs(exact.motors, exact.columns)
    motions = [robot.motion(robot.values, told, target) for target in range(len(exact.targets))]
    positions = np.stack([motion.position for motion in motions], axis=1)
    turned = None if exact.rotations is None else np.ascontiguousarray(motions[0].rotation)
    kept = {name: values for name, values in exact.columns.items() if name in needed}
    return replace(exact, positions=positions, rotations=turned, columns=kept)


def simulate(
    robot: Machine,
    method: Method,
    *,
    points: int,
    rng: np.random.Generator,
    noise: Noise = EXACT,
    per_set: int = 4,
    at: FloatArray | None = None,
) -> Dataset:
    """What the method would record of this robot, with noise on sensor and joints.

    At random configurations, or ``at`` given ones, where the method can measure anywhere.

    For link and plane methods ``noise.position`` and ``noise.orientation`` are how far off the
    contact is; they act as the joint motion that produces such an error.
    """
    seen_there = (
        method.observe(robot, points, rng, per_set=per_set)
        if at is None
        else observe_at(robot, method, at)
    )
    exact = _under_conditions(robot, seen_there)
    motors = exact.motors
    seen = method.reads or exact.positions is not None or exact.pixels is not None
    if not seen and (noise.position or noise.orientation):
        motors = _moved(motors, _contact_noise(robot, exact, noise, rng))
    if exact.fixture is not None and noise.position:
        motors = _moved(motors, _touch_noise(robot, exact, noise, rng))
    configuration = exact.configurations()
    sigmas = noise.motors(robot.joint_types)
    # What was seen in one configuration shares the error of its joints.
    shaken = sigmas * rng.standard_normal((int(configuration.max()) + 1, len(sigmas)))
    noisy = replace(exact, motors=_moved(motors, shaken[configuration]))
    if exact.pixels is not None:
        shift = noise.pixel * rng.standard_normal(exact.pixels.shape)
        noisy = replace(noisy, pixels=exact.pixels + shift)
    if exact.positions is not None:
        shift = noise.position * rng.standard_normal(exact.positions.shape)
        noisy = replace(noisy, positions=exact.positions + shift)
    if exact.rotations is not None:
        turn = rotations.exp(noise.orientation * rng.standard_normal((len(motors), 3)))
        noisy = replace(noisy, rotations=turn @ exact.rotations)
    return method.with_reading_noise(noisy, noise, rng)


def reads_anywhere(method: Method) -> bool:
    """Can the method measure at any configuration that one asks for?"""
    return bool(method.needs) and set(method.needs) <= {"positions", "rotations"}


def observe_at(robot: Machine, method: Method, motors: FloatArray) -> Dataset:
    """What a sensor sees of all targets at given configurations."""
    settled, closed = robot.settled(motors)
    if not closed.all():
        raise InputError(
            f"the loops of '{robot.name}' do not close in {int((~closed).sum())} configurations"
        )
    if not reads_anywhere(method):
        seen = method.observe_at(robot, settled)
        if seen is None:
            raise InputError(
                f"the method '{method.name}' cannot be simulated at given configurations",
                allowed="methods that measure anywhere, not by contact or equal poses",
                remedy="Leave the configurations out: they are found for each method",
            )
        return seen
    motions = [robot.motion(robot.values, settled, n) for n in range(len(robot.target_names))]
    positions = np.stack([motion.position for motion in motions], axis=1)
    turned = "rotations" in method.needs
    if method.of_world:
        # Platforms that turn need orientations, those that do not have none.
        example = method.observe(robot, 1, np.random.default_rng(0))
        turned = example.rotations is not None
    return Dataset(
        settled,
        positions=positions if "positions" in method.needs else None,
        targets=robot.target_names if "positions" in method.needs else ("",),
        rotations=np.ascontiguousarray(motions[0].rotation) if turned else None,
    )


def _moved(motors: FloatArray, shift: FloatArray) -> FloatArray:
    """Configurations with their measured joints moved; guesses of passive ones stay."""
    moved = motors.copy()
    moved[:, : shift.shape[1]] += shift
    return moved


def _contact_noise(
    robot: Machine, exact: Dataset, noise: Noise, rng: np.random.Generator
) -> FloatArray:
    """Joint motions that displace the tip by random contact errors."""
    motion = robot.motion(robot.values, exact.motors)
    if noise.orientation and robot.joints >= 6:
        jacobian = robot.to_motors(motion.twist_basis_jacobian())
        sigmas = np.repeat([noise.position, noise.orientation], 3)
    else:
        jacobian = robot.to_motors(motion.position_basis_jacobian())
        sigmas = np.full(3, noise.position)
    wanted = sigmas * rng.standard_normal((len(exact), len(sigmas)))
    return _joint_motion(robot, jacobian, wanted)


def _touch_noise(
    robot: Machine, exact: Dataset, noise: Noise, rng: np.random.Generator
) -> FloatArray:
    """Joint motions that displace the touching targets; none where the sensor was read."""
    assert exact.fixture is not None
    touched = np.array(np.isfinite(exact.fixture).all(axis=1))
    points = mounted(robot, exact.fixture[touched])
    motion = robot.motion(robot.values, exact.motors[touched])
    goal = TouchGoal(points, np.zeros_like(points))
    jacobian = robot.to_motors(goal.derivative(motion))
    wanted = noise.position * rng.standard_normal(points.shape)
    shift = np.zeros((len(exact), robot.joints))
    shift[touched] = _joint_motion(robot, jacobian, wanted)
    return shift


def _joint_motion(robot: Machine, jacobian: FloatArray, wanted: FloatArray) -> FloatArray:
    """The smallest motion of the joints that displaces the tip as wanted; lengths come first.

    Lengths count in reaches, so that near a singularity robots of all sizes do the same.
    """
    reach = robot.reach() or 1.0
    rows = np.ones(jacobian.shape[1])
    rows[:3] = reach
    joints = np.array([reach if kind is Joint.PRISMATIC else 1.0 for kind in robot.joint_types])
    scaled = jacobian / rows[:, None] * joints
    inverse = np.linalg.pinv(scaled, rcond=NEARLY_SINGULAR)
    return np.asarray(np.einsum("njc,nc->nj", inverse, wanted / rows) * joints)
