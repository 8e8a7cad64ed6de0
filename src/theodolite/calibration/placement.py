"""Where is the robot, and where are its targets: a first estimate in closed form.

With the robot's own frame j -> (R_j, p_j), a base (B, b) and a target t, measurements are
m_j = B (R_j t + p_j) + b. Multiplied by B' this is linear in A = B', c = B'b and t:

    A m_j - c - R_j t = p_j

so one linear least-squares problem gives them all; A is then made a rotation (times a scale,
where one is asked for).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray, seen
from theodolite.calibration.base_and_tool import moved_robot
from theodolite.calibration.data import Dataset
from theodolite.calibration.hand_eye import solve_hand_eye
from theodolite.calibration.method import ANOTHER_ROBOT, Method, Start, Started, rms_error
from theodolite.calibration.noise import Noise
from theodolite.calibration.quantities import all_of
from theodolite.errors import InputError
from theodolite.estimation.solver import Change, solve
from theodolite.model.bodies import BodyElement
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.parameters import Group, placing
from theodolite.model.poses import Poses, roll_pitch_yaw
from theodolite.model.robot import Robot, Target

#: Nominal errors beyond this part of the reach mean that base or tool are elsewhere.
ELSEWHERE = 0.05
#: Points that fix where a machine or a sensor stands.
ENOUGH = 3
#: Orientations that are off by more, rms in radians, come from a tool that is mounted otherwise.
TURNED = 0.3


@dataclass(frozen=True, eq=False)
class Placement:
    """measured = scale * B (R t + p) + b."""

    rotation: FloatArray
    translation: FloatArray
    scale: float
    #: (targets, 3)
    targets: FloatArray

    def apply(self, rotations: FloatArray, positions: FloatArray, target: int = 0) -> FloatArray:
        """Measurements that this placement predicts, (n, 3)."""
        tips = positions + rotations @ self.targets[target]
        return self.scale * tips @ self.rotation.T + self.translation


def solve_placement(
    rotations: FloatArray,
    positions: FloatArray,
    measured: FloatArray,
    *,
    find_targets: bool,
    find_scale: bool = False,
) -> Placement:
    """Base and targets from frames (n, 3, 3), (n, 3) and measurements (n, targets, 3).

    What was not seen is NaN. Where targets are not looked for, ``positions`` are already those of
    the single target.
    """
    n, targets = measured.shape[:2]
    there = seen(measured).T
    centre = measured.transpose(1, 0, 2)[there].mean(axis=0)
    unknowns = 12 + (3 * targets if find_targets else 0)
    matrix = np.zeros((targets, n, 3, unknowns))
    for row in range(3):
        matrix[:, :, row, 3 * row : 3 * row + 3] = (measured - centre).transpose(1, 0, 2)
        matrix[:, :, row, 9 + row] = -1.0
    if find_targets:
        for target in range(targets):
            matrix[target, :, :, 12 + 3 * target : 15 + 3 * target] = -rotations
    wanted = np.broadcast_to(positions, (targets, n, 3))
    solution = np.linalg.lstsq(
        matrix[there].reshape(-1, unknowns), wanted[there].reshape(-1), rcond=None
    )[0]
    A = solution[:9].reshape(3, 3)
    U, S, Vt = np.linalg.svd(A)
    turn = U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt
    scale = 1.0 / float(S.mean()) if find_scale else 1.0
    points = solution[12:].reshape(-1, 3) if find_targets else np.zeros((1, 3))
    # With A a rotation, the best base translation is the one that matches the means.
    tips = positions + np.einsum("nij,tj->tni", rotations, points)
    translation = centre - scale * turn.T @ tips[there].mean(axis=0)
    return Placement(turn.T, translation, scale, points)


def place(robot: Machine, data: Dataset, method: Method) -> Machine:
    """The robot with nominal links, its base, tool and targets fitted to the data.

    A serial robot needs no starting placement where positions were measured; otherwise the fit
    starts from where the robot file puts it.
    """
    given = robot
    if isinstance(robot, Robot) and data.positions is not None:
        # A single-point sensor reads nothing while its fixture touches the pointer.
        read = np.flatnonzero(seen(data.positions).any(axis=1))
        if len(read):
            robot = locate(robot, data.take(read).first_session())
    elif isinstance(robot, Mechanism) and data.positions is not None:
        robot = _stood(robot, data.first_session())
    placed = _fitted(robot, data, method)
    if _turn_error(method, placed, data) > TURNED and isinstance(given, Robot):
        # Half a turn of the tool is as far as one can be: no step leads there.
        turned = _by_poses(given, data.first_session())
        other = placed if turned is None else _fitted(turned, data, method)
        if _turn_error(method, other, data) < _turn_error(method, placed, data):
            return other
    return placed


def _fitted(robot: Machine, data: Dataset, method: Method) -> Machine:
    """The robot with all that says where it stands, and its tool, fitted from where they are."""
    # What places base and tool counts, whatever the user said.
    names = [parameter.name for parameter in robot.parameters if parameter.external]
    free = robot.with_priorities(dict.fromkeys(names, 2))
    problem = method.problem(free, data, noise=Noise.guess(robot.reach()))
    where = placing(problem.parameters)
    if isinstance(robot, Mechanism) and len(robot.target_names) > 1:
        # Several known points fix the base by themselves. Where they are on the robot, or on its
        # other arm, is what the file says until the calibration knows better.
        groups = [problem.parameters[index].group for index in where]
        base = where[[group in (Group.BASE, Group.SENSOR) for group in groups]]
        where = base if len(base) else where
    fitted = solve(problem, free=where, change=Change.ALL)
    return robot.with_values(problem.calibrated(fitted.values).values)


def _turn_error(method: Method, robot: Machine, data: Dataset) -> float:
    """Root mean square of the robot's errors of orientation; 0 where none was measured."""
    closed = robot.can_close(data.motors)
    if data.rotations is None or not closed.any():
        return 0.0
    if not closed.all():
        data = data.take(np.flatnonzero(closed))
    problem = method.problem(robot, data, noise=Noise.guess(robot.reach()))
    errors = problem.errors(np.array([p.value for p in problem.parameters]))
    turns = all_of(errors, "orientation")
    return float(np.sqrt(np.mean(turns**2))) if len(turns) else 0.0


def _by_poses(robot: Robot, data: Dataset) -> Robot | None:
    """Base and tool in closed form from whole poses; None where there are none."""
    if data.positions is None or data.rotations is None:
        return None
    motion = robot.motion(robot.values, data.motors)
    measured = Poses(data.rotations, data.positions[:, 0])
    moved = Poses(np.asarray(motion.rotation), np.asarray(motion.position))
    found = solve_hand_eye(measured, moved, robot.reach() or 1.0)
    return None if found is None else moved_robot(robot, found.camera, found.target)


def placed_start(robot: Machine, data: Dataset, method: Method, start: Start) -> Started:
    """Where a calibration from measured positions starts, and whether it was placed by them."""
    far = ELSEWHERE * robot.reach() or float("inf")
    known = all(name in robot.target_names for name in data.targets)
    if start is Start.NOMINAL or (
        start is Start.AUTO
        and known
        and rms_error(method, robot, data) <= far
        and _turn_error(method, robot, data) <= TURNED
    ):
        return Started(robot, False, method)
    placed = place(robot, data, method)
    error = rms_error(method, placed, data)
    if error > ANOTHER_ROBOT * robot.reach() > 0.0:
        raise InputError(
            f"wherever the base of '{robot.name}' is placed, these positions are off by "
            f"{1e3 * error:.0f} mm rms",
            where=data.name,
            remedy="The file may be from another robot, or its joints in another order or unit",
        )
    return Started(placed, True, method)


def locate(robot: Robot, data: Dataset) -> Robot:
    """The robot with its base, and targets that it does not have yet, fitted to the data.

    The base becomes a pose row, which can be anywhere; the robot's own links stay nominal.
    """
    if data.positions is None:
        raise InputError("only measured positions locate a robot", where=data.name)
    rows = robot.frames[robot.joint_rows[0] :]
    arm = replace(robot, frames=(Row(Convention.POSE, Joint.FIXED), *rows), targets=())
    frame = arm.chains[0].motion(arm.values, arm.basis(data.motors))
    known = {target.name: target for target in robot.targets}
    unknown = any(name not in known and name for name in data.targets)
    rotations, positions, measured = frame.rotation, frame.position, data.positions
    if not unknown:
        points = [known[name].position if name else (0.0, 0.0, 0.0) for name in data.targets]
        tips = positions[:, None] + np.einsum("nij,tj->nti", rotations, np.array(points))
        rotations = np.repeat(rotations, len(points), axis=0)
        positions, measured = tips.reshape(-1, 3), measured.reshape(-1, 1, 3)
    placement = solve_placement(rotations, positions, measured, find_targets=unknown)
    base = Row(Convention.POSE, Joint.FIXED, nominal=_pose(placement))
    targets = robot.targets
    if unknown:
        targets = tuple(
            Target(name, (float(x), float(y), float(z)))
            for name, (x, y, z) in zip(data.targets, placement.targets, strict=True)
        )
    placed = replace(robot, frames=(base, *rows), targets=targets)
    return replace(placed, priorities=_renamed(robot, placed))


def _stood(robot: Mechanism, data: Dataset) -> Mechanism:
    """The machine on a stand, placed where the data see its tools."""
    assert data.positions is not None
    tips: list[FloatArray] = [np.empty((0, 3))]
    points: list[FloatArray] = [np.empty((0, 3))]
    for number, name in enumerate(data.targets):
        there = seen(data.positions[:, number]) & robot.can_close(data.motors)
        if name in robot.target_names and there.any():
            target = robot.target_names.index(name)
            tips.append(robot.motion(robot.values, data.motors[there], target).position)
            points.append(data.positions[there, number])
    reached, measured = np.concatenate(tips), np.concatenate(points)
    if len(reached) < ENOUGH:
        return robot
    placement = solve_placement(
        np.zeros((len(reached), 3, 3)), reached, measured[:, None], find_targets=False
    )
    x, y, z, roll, pitch, yaw = _pose(placement)
    amounts = ((False, 0, x), (False, 1, y), (False, 2, z))
    turns = ((True, 2, yaw), (True, 1, pitch), (True, 0, roll))
    return robot.standing_on(
        tuple(
            BodyElement(rotation, axis, amount=amount, free=True)
            for rotation, axis, amount in (*amounts, *turns)
        )
    )


def _renamed(robot: Robot, placed: Robot) -> dict[str, int]:
    """The user's priorities under the names that the arm's parameters now have."""
    first = robot.joint_rows[0] + robot.first_number
    before = [p.name for p in robot.parameters if p.frame >= first]
    after = [p.name for p in placed.parameters if p.frame >= 1]
    names = dict(zip(before, after, strict=False))  # targets may be new
    return {names[name]: value for name, value in robot.priorities.items() if name in names}


def _pose(placement: Placement) -> tuple[float, float, float, float, float, float]:
    x, y, z = map(float, placement.translation)
    roll, pitch, yaw = roll_pitch_yaw(placement.rotation)
    return (x, y, z, roll, pitch, yaw)
