"""The same robot in another convention, exactly, or the reason why that cannot be.

Every convention is read off the lines of the joint axes: with each joint about the z axis of its
frame, the link to the next joint is taken apart into what the convention has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray, frozen
from theodolite.errors import InputError, shown
from theodolite.model import rotations
from theodolite.model.conveniences import check_machine
from theodolite.model.conventions import PARALLEL_SINE, Convention, Joint, Row
from theodolite.model.gravity import down
from theodolite.model.loads import moved_masses
from theodolite.model.poses import roll_pitch_yaw
from theodolite.model.robot import Robot

#: Sine of the angle below which axes are exactly parallel, up to rounding.
EXACTLY_PARALLEL = 1e-12
#: Amounts of this part of the reach, or of a radian, are rounding.
ROUNDING = 4e-15


def convert(robot: Robot, convention: Convention | str) -> Robot:
    """The robot as a table of the given convention, with six errors each at base and tool.

    Targets stay; priorities do not, since the parameters have other names.
    """
    check_machine(robot)
    named = {known.value: known for known in _CONVERTERS}
    name = convention.value if isinstance(convention, Convention) else convention
    if name not in named:
        raise InputError(
            f"there is no conversion to the convention {shown(name)}", allowed=list(named)
        )
    if robot.terms:
        raise InputError(
            f"'{robot.name}' has further error terms, which belong to its own table",
            remedy="Convert the nominal robot, and identify its terms anew",
        )
    convention = named[name]
    arm = replace(robot, targets=())
    links, offsets = joint_links(arm)
    rows = _CONVERTERS[convention](links, robot.joint_types)
    converted = replace(
        robot,
        frames=tuple(_without_rounding(row, robot.reach()) for row in rows),
        priorities={},
        transmission=replace(robot.transmission, offset=frozen(offsets)),
        masses=(),
        balancers=(),
    )
    springs = [
        replace(spring, row=_row_of_joint(converted, robot, spring.row))
        for spring in robot.balancers
    ]
    converted = converted.with_loads(moved_masses(robot, converted), springs)
    if robot.gravity is None and np.allclose(down(converted), down(robot), atol=EXACTLY_PARALLEL):
        return converted
    # Said, where another kind of table would take gravity to pull along another axis.
    x, y, z = (float(part) for part in down(robot) @ converted.skeleton.links[0][0])
    return replace(converted, gravity=(x, y, z))


def _without_rounding(row: Row, reach: float) -> Row:
    """The row with zeros in place of what rounding left of them."""

    def plain(amount: float, *, turns: bool) -> float:
        return amount if abs(amount) > ROUNDING * (1.0 if turns else reach) else 0.0

    turning = {slot.symbol for slot in row.slots if slot.rotation}
    x, y, z, *angles = row.nominal
    roll, pitch, yaw = (plain(angle, turns=True) for angle in angles)
    x, y, z = (plain(length, turns=False) for length in (x, y, z))
    values = {symbol: plain(v, turns=symbol in turning) for symbol, v in row.values.items()}
    return replace(row, values=values, nominal=(x, y, z, roll, pitch, yaw))


def _row_of_joint(converted: Robot, robot: Robot, row: int) -> int:
    """Where the joint of a row stands in another table of the same robot."""
    joint = robot.joint_rows.index(row - robot.first_number)
    return converted.joint_rows[joint] + converted.first_number


def joint_links(robot: Robot) -> tuple[list[FloatArray], FloatArray]:
    """Links (4, 4) between joints about z, and the constant part of each joint's amount."""
    arm = replace(robot, targets=(), terms=())
    return _aligned_links(arm), _signs(arm) * arm.skeleton.offsets


def straightened(robot: Robot, *, hayati: bool = False) -> Robot:
    """The robot with axes that are nearly parallel made parallel; itself if there are none.

    Tables of Denavit and Hartenberg cannot follow such axes; Hayati's can, but not after slides.
    """
    links, offsets = joint_links(robot)
    changed = False
    for number, kind in enumerate(robot.joint_types[:-1], start=1):
        nearly = EXACTLY_PARALLEL < _sine(links[number]) < PARALLEL_SINE
        if nearly and not (hayati and kind is Joint.REVOLUTE):
            changed = True
            tilted = links[number][:3, 2]
            straight = np.array([0.0, 0.0, np.sign(tilted[2])])
            turn = np.cross(tilted, straight)
            links[number] = links[number].copy()
            links[number][:3, :3] = rotations.exp(_angle(turn)[None])[0] @ links[number][:3, :3]
    if not changed:
        return robot
    return replace(
        robot,
        frames=tuple(_pose_rows(links, robot.joint_types)),
        priorities={},
        tolerances={},
        targets=(),
        transmission=replace(robot.transmission, offset=frozen(offsets)),
    )


def _angle(sine: FloatArray) -> FloatArray:
    """The rotation vector whose sine times its axis is given."""
    size = float(np.linalg.norm(sine))
    return sine * (np.arcsin(size) / size)


def _signs(robot: Robot) -> FloatArray:
    """The direction in which each joint turns about, or slides along, its element's axis."""
    return np.array(
        [
            next((slot.sign for slot in row.slots if slot.moved_by is row.joint), 1)
            for row in (robot.frames[index] for index in robot.joint_rows)
        ],
        dtype=np.float64,
    )


def _aligned_links(robot: Robot) -> list[FloatArray]:
    """Links (4, 4) from world to joint 1, from each joint to the next and to the tip, about z."""
    skeleton = robot.skeleton
    turns = [np.eye(4) for _ in range(robot.joints + 1)]
    for number, ((_, axis), sign) in enumerate(zip(skeleton.joints, _signs(robot), strict=True), 1):
        z = sign * np.eye(3)[axis]
        if axis != 2 or sign < 0:
            x = np.eye(3)[(axis + 1) % 3]
            turns[number][:3, :3] = np.column_stack([x, np.cross(z, x), z])
    links: list[FloatArray] = []
    for number, (R, p) in enumerate(skeleton.links):
        link = np.eye(4)
        link[:3, :3], link[:3, 3] = R, p
        after = turns[number + 1] if number < robot.joints else np.eye(4)
        links.append(turns[number].T @ link @ after)
    return links


def _pose(link: FloatArray) -> tuple[float, float, float, float, float, float]:
    x, y, z = map(float, link[:3, 3])
    return (x, y, z, *roll_pitch_yaw(link[:3, :3]))


def _generalized(links: list[FloatArray], joints: tuple[Joint, ...]) -> Iterator[Row]:
    """E_0 A_1 E_1 ... A_n E_n [Meggiolaro2000, eq. 17]."""
    yield Row(Convention.GENERALIZED, Joint.FIXED, nominal=_pose(links[0]))
    for joint, link in zip(joints, links[1:], strict=True):
        yield Row(Convention.GENERALIZED, joint, nominal=_pose(link))


def _pose_rows(links: list[FloatArray], joints: tuple[Joint, ...]) -> Iterator[Row]:
    """Six errors before every joint and at the tool."""
    for joint, link in zip(joints, links[:-1], strict=True):
        yield Row(Convention.POSE, joint, nominal=_pose(link))
    yield Row(Convention.POSE, Joint.FIXED, nominal=_pose(links[-1]))


def _kk(links: list[FloatArray], joints: tuple[Joint, ...]) -> Iterator[Row]:
    """Base, KK rows, tool. What a link leaves over along the next axis is that row's theta, r."""
    yield Row(Convention.POSE, Joint.FIXED, nominal=_pose(links[0]))
    carried: FloatArray = np.eye(4)
    across = {"alpha": 0.0, "d": 0.0}
    for number, joint in enumerate(joints[:-1], start=1):
        whole = carried @ links[number]
        nearly = EXACTLY_PARALLEL < _sine(whole) < PARALLEL_SINE
        link = _bent_before(whole) if nearly else _decomposed(whole)
        yield Row(Convention.KK, joint, {**across, "theta": link.theta, "r": link.r})
        across = {"alpha": link.alpha, "d": link.length, "beta": link.beta}
        carried = link.rest
    yield Row(Convention.KK, joints[-1], across)
    yield Row(Convention.POSE, Joint.FIXED, nominal=_pose(carried @ links[-1]))


def _dh(links: list[FloatArray], joints: tuple[Joint, ...]) -> Iterator[Row]:
    """Base, classical DH rows, tool."""
    yield from _dh_rows(links, joints, hayati=False)


def _hayati(links: list[FloatArray], joints: tuple[Joint, ...]) -> Iterator[Row]:
    """As DH, with Hayati's row where a revolute axis is parallel, or nearly, to the next."""
    yield from _dh_rows(links, joints, hayati=True)


def _dh_rows(links: list[FloatArray], joints: tuple[Joint, ...], *, hayati: bool) -> Iterator[Row]:
    yield Row(Convention.POSE, Joint.FIXED, nominal=_pose(links[0]))
    carried: FloatArray = np.eye(4)
    for number, joint in enumerate(joints[:-1], start=1):
        whole = carried @ links[number]
        sine = _sine(whole)
        if hayati and sine < PARALLEL_SINE and joint is Joint.REVOLUTE:
            link = _bent_after(whole)
            values = {"theta": link.theta, "a": link.length, "alpha": link.alpha, "beta": link.beta}
            yield Row(Convention.HAYATI, joint, values)
        elif EXACTLY_PARALLEL < sine < PARALLEL_SINE:
            raise InputError(
                f"joints {number} and {number + 1} are parallel to within {1e3 * sine:.3g} mrad, "
                f"so their common normal is {abs(_decomposed(whole).r):.3g} m away: no DH row "
                "can follow small changes of such axes",
                allowed="kk, pose, generalized, and hayati between revolute joints",
            )
        else:
            link = _decomposed(whole)
            values = {"theta": link.theta, "d": link.r, "a": link.length, "alpha": link.alpha}
            yield Row(Convention.DH, joint, values)
        carried = link.rest
    yield Row(Convention.DH, joints[-1])
    yield Row(Convention.POSE, Joint.FIXED, nominal=_pose(carried @ links[-1]))


@dataclass(frozen=True)
class _Link:
    """A link taken apart: Rz(theta) Tz(r), the way across to the next axis, and what is left."""

    theta: float
    r: float
    alpha: float
    length: float
    beta: float
    rest: FloatArray


def _sine(link: FloatArray) -> float:
    """Sine of the angle between the two axes of a link."""
    return float(np.hypot(link[0, 2], link[1, 2]))


def _decomposed(link: FloatArray) -> _Link:
    """Rz(theta) Tz(r) Rx(alpha) Tx(length) rest, by the common normal of the two axes."""
    z, p = link[:3, 2], link[:3, 3]
    sine = _sine(link)
    if sine > EXACTLY_PARALLEL:
        normal = np.array([-z[1], z[0], 0.0]) / sine
        length = float(p @ normal)
        # The point of the second axis that is nearest to the first: p + t z.
        t = -float(p[:2] @ z[:2]) / sine**2
        r = float(p[2] + t * z[2])
        # x along the normal; Rx(alpha) takes z to (0, -sin alpha, cos alpha) seen from there.
        side = np.array([-normal[1], normal[0], 0.0])
        alpha = float(np.arctan2(-side @ z, z[2]))
    else:
        length = float(np.hypot(p[0], p[1]))
        normal = np.array([p[0], p[1], 0.0]) / length if length > 0 else np.array([1.0, 0.0, 0.0])
        r, alpha = 0.0, 0.0 if z[2] > 0 else float(np.pi)
    theta = float(np.arctan2(normal[1], normal[0]))
    return _completed(link, theta, r, 0.0, alpha, length)


def _bent_before(link: FloatArray) -> _Link:
    """Rz(theta) Ry(beta) Rx(alpha) Tx(length) rest, for axes nearly parallel.

    With (fx, fy, 0) where the second axis meets z = 0, seen along the turned x, the way
    length (cos b, 0, -sin b) ends on the axis if fx = length / cos b, fy = -length tan b tan a.
    """
    z, p = link[:3, 2], link[:3, 3]
    foot = p - z * (p[2] / z[2])
    if np.hypot(foot[0], foot[1]) == 0.0:
        beta, alpha = float(np.arctan2(z[0], z[2])), float(np.arcsin(-z[1]))
        return _completed(link, 0.0, 0.0, beta, alpha, 0.0)
    direction = float(np.arctan2(foot[1], foot[0]))
    theta, alpha, beta = direction, 0.0, 0.0
    for _ in range(60):  # Contracts by the square of the tilt: two or three rounds suffice.
        x, y, w = _turn(2, theta)[:3, :3].T @ z
        beta, alpha = float(np.arctan2(x, w)), float(np.arcsin(-y))
        theta = direction + float(np.arctan(np.sin(beta) * np.tan(alpha)))
    along = _turn(2, theta)[:3, :3].T @ foot
    return _completed(link, theta, 0.0, beta, alpha, float(along[0] * np.cos(beta)))


def _bent_after(link: FloatArray) -> _Link:
    """Rz(theta) Tx(length) Rx(alpha) Ry(beta) rest: through where the next axis meets z = 0."""
    z, p = link[:3, 2], link[:3, 3]
    foot = p - z * (p[2] / z[2])
    length = float(np.hypot(foot[0], foot[1]))
    theta = float(np.arctan2(foot[1], foot[0])) if length > 0 else 0.0
    x, y, w = _turn(2, theta)[:3, :3].T @ z
    beta, alpha = float(np.arcsin(x)), float(np.arctan2(-y, w))
    done = _turn(2, theta) @ _shift(0, length) @ _turn(0, alpha) @ _turn(1, beta)
    return _Link(theta, 0.0, alpha, length, beta, np.linalg.solve(done, link))


def _completed(
    link: FloatArray, theta: float, r: float, beta: float, alpha: float, length: float
) -> _Link:
    done = _turn(2, theta) @ _shift(2, r) @ _turn(1, beta) @ _turn(0, alpha) @ _shift(0, length)
    return _Link(theta, r, alpha, length, beta, np.linalg.solve(done, link))


def _turn(axis: int, angle: float) -> FloatArray:
    T = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    T[i, i] = T[j, j] = np.cos(angle)
    T[j, i], T[i, j] = np.sin(angle), -np.sin(angle)
    return T


def _shift(axis: int, length: float) -> FloatArray:
    T = np.eye(4)
    T[axis, 3] = length
    return T


_Converter = Callable[[list[FloatArray], tuple[Joint, ...]], Iterator[Row]]
_CONVERTERS: dict[Convention, _Converter] = {
    Convention.KK: _kk,
    Convention.DH: _dh,
    Convention.HAYATI: _hayati,
    Convention.POSE: _pose_rows,
    Convention.GENERALIZED: _generalized,
}
