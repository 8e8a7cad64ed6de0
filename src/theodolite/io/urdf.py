"""Robots from URDF: the chain from a root link to a tip, as pose rows with exact geometry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError, printable, shown
from theodolite.io.reading import read_text
from theodolite.io.toml import MOST_FRAMES
from theodolite.io.units import LARGEST_ANGLE, LARGEST_LENGTH, LARGEST_NUMBER
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.poses import roll_pitch_yaw, rotation_matrix
from theodolite.model.robot import Robot

#: More than any humanoid in a factory full of them; ways through them are looked for.
MOST_JOINTS = 2000
_KINDS = {
    "revolute": Joint.REVOLUTE,
    "continuous": Joint.REVOLUTE,
    "prismatic": Joint.PRISMATIC,
    "fixed": Joint.FIXED,
}


@dataclass(frozen=True)
class UrdfJoint:
    name: str
    kind: Joint
    parent: str
    child: str
    transform: FloatArray
    axis: FloatArray
    lower: float
    upper: float
    #: Highest speed and effort; none where the file does not say.
    speed: float | None
    effort: float | None
    #: Why it cannot be part of a chain, if it cannot.
    trouble: str


def parsed(path: Path) -> Any:
    """The root of a URDF file."""
    return parsed_xml(path, "robot", "URDF")


def parsed_xml(path: Path, root: str, kind: str) -> Any:
    """The root of an XML file, which has to be of one kind; nothing is fetched or expanded."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    try:
        tree = etree.fromstring(read_text(path).encode(), parser)
    except etree.XMLSyntaxError as error:
        raise InputError(f"is not well-formed XML: {error}", where=str(path)) from error
    if tree.tag != root:
        raise InputError(f"is not {kind}: its root is <{tree.tag}>", where=str(path))
    return tree


def read_joints(tree: Any, path: Path, tip: str | None) -> tuple[list[UrdfJoint], list[UrdfJoint]]:
    """All joints of a file, and those of its chain, for what does not depend on the very tip."""
    joints = joints_of(tree, path)
    return joints, _chain(joints, None, tip, str(path), any_tip=True)


def moving_joints(path: Path, tip: str | None) -> tuple[str, ...]:
    """Names of the joints that move the tip of a file, from the base on."""
    _, chain = read_joints(parsed(path), path, tip)
    return tuple(joint.name for joint in chain if joint.kind is not Joint.FIXED)


def way_to(joints: list[UrdfJoint], tip: str | None, path: Path) -> list[UrdfJoint]:
    """The joints from the root to a tip; without one, to the only one there is."""
    return _chain(joints, None, tip, str(path))


def read_urdf(
    path: Path | str,
    *,
    root: str | None = None,
    tip: str | None = None,
    any_tip: bool = False,
) -> Robot:
    """The robot between two links of a URDF file; without ``tip``, the only one there is.

    With ``any_tip``, any of several tips behind the same joints.
    """
    path = Path(path)
    tree = parsed(path)
    joints = joints_of(tree, path)
    chain = _chain(joints, root, tip, str(path), any_tip=any_tip)
    for joint in chain:
        if joint.trouble:
            raise InputError(
                f"joint '{joint.name}' {joint.trouble}", where=str(path), allowed=_KINDS
            )
    moving = [joint for joint in chain if joint.kind is not Joint.FIXED]
    if not moving:
        raise InputError("the chain has no joints", where=str(path), remedy="Choose another tip")
    if len(moving) > MOST_FRAMES:
        raise InputError(
            f"the chain has {len(moving)} joints", where=str(path), allowed=f"up to {MOST_FRAMES}"
        )
    return Robot.of(
        printable(str(tree.get("name", path.stem))),
        list(_rows(chain)),
        lower=[joint.lower for joint in moving],
        upper=[joint.upper for joint in moving],
        speeds=_all_known([joint.speed for joint in moving]),
        efforts=_all_known([joint.effort for joint in moving]),
        source=printable(f"URDF {path.name}, from {chain[0].parent} to {chain[-1].child}"),
    )


def joints_of(tree: Any, path: Path) -> list[UrdfJoint]:
    """All joints of a file."""
    elements = tree.findall("joint")
    if len(elements) > MOST_JOINTS:
        raise InputError(
            f"has {len(elements)} joints", where=str(path), allowed=f"up to {MOST_JOINTS}"
        )
    return [_joint(element, str(path)) for element in elements]


def _rows(chain: list[UrdfJoint]) -> Iterator[Row]:
    """Pose rows whose joints turn about z: each axis is aligned before its joint and back after."""
    yield Row(Convention.POSE, Joint.FIXED)
    pending = np.eye(4)
    for joint in chain:
        pending = pending @ joint.transform
        if joint.kind is Joint.FIXED:
            continue
        align = np.eye(4)
        align[:3, :3] = aligning(joint.axis)
        yield Row(Convention.POSE, joint.kind, nominal=_pose(pending @ align))
        pending = align.T
    yield Row(Convention.POSE, Joint.FIXED, nominal=_pose(pending))


def _pose(T: FloatArray) -> tuple[float, float, float, float, float, float]:
    x, y, z = map(float, T[:3, 3])
    return (x, y, z, *roll_pitch_yaw(T[:3, :3]))


def aligning(axis: FloatArray) -> FloatArray:
    """A rotation that takes z to the axis."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    if np.allclose(axis, [0.0, 0.0, 1.0]):
        return np.eye(3)
    return np.column_stack([x, np.cross(axis, x), axis])


def _joint(element: Any, where: str) -> UrdfJoint:
    name = str(element.get("name"))
    kind = element.get("type")
    trouble = "" if kind in _KINDS else f"is of type {shown(kind)}"
    if element.find("mimic") is not None:
        trouble = "mimics another"
    parent, child = element.find("parent"), element.find("child")
    if parent is None or child is None:
        raise InputError(f"joint '{name}' lacks its parent or child link", where=where)
    transform = np.eye(4)
    origin = element.find("origin")
    if origin is not None:
        transform[:3, 3] = numbers(origin.get("xyz", "0 0 0"), name, where, largest=LARGEST_LENGTH)
        transform[:3, :3] = rotation_matrix(*numbers(origin.get("rpy", "0 0 0"), name, where))
    axis = element.find("axis")
    direction = numbers("1 0 0" if axis is None else axis.get("xyz", "1 0 0"), name, where)
    size = np.linalg.norm(direction)
    joint = _KINDS.get(kind, Joint.FIXED)
    if size == 0 and joint is not Joint.FIXED:
        raise InputError(f"joint '{name}' has a zero axis", where=where)
    limit = element.find("limit")
    bound = np.pi if joint is Joint.REVOLUTE else 1.0
    lower, upper = -bound, bound
    if limit is not None and kind != "continuous":
        largest = LARGEST_ANGLE if joint is Joint.REVOLUTE else LARGEST_LENGTH
        (lower,) = numbers(limit.get("lower", str(-bound)), name, where, 1, largest=largest)
        (upper,) = numbers(limit.get("upper", str(bound)), name, where, 1, largest=largest)
        if lower >= upper:
            raise InputError(
                f"joint '{name}': its lower limit {lower:g} is not below its upper {upper:g}",
                where=where,
            )
    return UrdfJoint(
        name,
        joint,
        str(parent.get("link")),
        str(child.get("link")),
        transform,
        direction / (size or 1.0),
        float(lower),
        float(upper),
        _highest(limit, "velocity", name, where),
        _highest(limit, "effort", name, where),
        trouble,
    )


def _highest(limit: Any, what: str, joint: str, where: str) -> float | None:
    """A limit that is above zero; many files have a zero where nothing is known."""
    if limit is None or limit.get(what) is None:
        return None
    (value,) = numbers(limit.get(what), joint, where, 1)
    return float(value) if value > 0 else None


def _all_known(limits: list[float | None]) -> list[float] | None:
    known = [limit for limit in limits if limit is not None]
    return known if len(known) == len(limits) else None


def numbers(
    text: str, joint: str, where: str, count: int = 3, *, largest: float = LARGEST_NUMBER
) -> FloatArray:
    try:
        values = np.array([float(item) for item in text.split()])
    except ValueError as error:
        raise InputError(f"joint '{joint}': {shown(text)} are not numbers", where=where) from error
    if len(values) != count or not (np.abs(values) < largest).all():
        raise InputError(
            f"joint '{joint}': {shown(text)} is not {count} numbers",
            where=where,
            allowed=f"numbers below {largest:g}",
        )
    return values


def _common_end(paths: list[list[UrdfJoint]]) -> str | None:
    """The last link that all chains share, beyond at least one joint that moves."""
    shared: list[UrdfJoint] = []
    for step in zip(*paths, strict=False):
        if any(joint is not step[0] for joint in step):
            break
        shared.append(step[0])
    moves = any(joint.kind is not Joint.FIXED for joint in shared)
    return shared[-1].child if moves else None


def _chain(
    joints: list[UrdfJoint],
    root: str | None,
    tip: str | None,
    where: str,
    *,
    any_tip: bool = False,
) -> list[UrdfJoint]:
    by_child = {joint.child: joint for joint in joints}
    if len(by_child) < len(joints):
        twice = next(joint.child for joint in joints if by_child[joint.child] is not joint)
        raise InputError(f"link '{twice}' is the child of two joints", where=where)
    parents = {joint.parent for joint in joints}

    def path_to(link: str) -> list[UrdfJoint] | None:
        """The joints from the root to a link; None if it does not hang on the root."""
        found: list[UrdfJoint] = []
        while link in by_child and link != root:
            found.append(by_child[link])
            link = by_child[link].parent
            if len(found) > len(joints):
                raise InputError(f"the joints around link '{link}' form a cycle", where=where)
        return None if root is not None and link != root else found[::-1]

    if tip is None:
        paths = {leaf: path for leaf in by_child if leaf not in parents and (path := path_to(leaf))}
        moving = {
            leaf: sum(j.kind is not Joint.FIXED for j in path) for leaf, path in paths.items()
        }
        tips = [leaf for leaf, count in moving.items() if count == max(moving.values())]
        if not tips:
            raise InputError(
                f"no chain starts at {f'link {root!r}' if root else 'any link'}",
                where=where,
                allowed=sorted(parents),
            )
        ways = {
            tuple(joint.name for joint in paths[leaf] if joint.kind is not Joint.FIXED)
            for leaf in tips
        }
        if len(tips) != 1 and not (any_tip and len(ways) == 1):
            arm = _common_end([paths[leaf] for leaf in tips])
            remedy = "Say which link is the tip"
            if arm is not None:
                remedy += f"; '{arm}' is the last one before the chains part, as before fingers"
            raise InputError(
                "the file has several chains", where=where, allowed=tips, remedy=remedy
            )
        tip = tips[0]
    if tip not in by_child:
        raise InputError(f"there is no link '{tip}'", where=where, allowed=sorted(by_child))
    path = path_to(tip)
    if path is None:
        raise InputError(
            f"no chain leads from link '{root}' to '{tip}'", where=where, allowed=sorted(parents)
        )
    return path
