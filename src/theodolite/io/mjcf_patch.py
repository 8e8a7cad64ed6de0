"""MJCF, MuJoCo's format, with the places of its bodies changed in place for a calibrated robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError, shown
from theodolite.export.chain_file import ChainFile, FileJoint, changed, placed
from theodolite.export.links import along_z
from theodolite.io.reading import read_bytes
from theodolite.io.urdf import aligning, numbers, parsed_xml
from theodolite.io.xml_patch import Change, patched
from theodolite.model import rotations
from theodolite.model.conventions import Joint
from theodolite.model.robot import Robot

#: Ways in which a body's orientation is written; one of them, or none.
_TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
_KINDS = {"hinge": Joint.REVOLUTE, "slide": Joint.PRISMATIC}


def patched_mjcf(
    path: Path, robot: Robot, *, tip: str | None = None, base: bool = False, tool: bool = True
) -> bytes:
    """The file with a robot's links, its base or the file's, its tool or the file's.

    The tip is a body or a site.
    """
    content = read_bytes(path)
    tree = parsed_xml(path, "mujoco", "MJCF")
    model = _Model(tree, str(path))
    way = model.way_to(tip)
    file, moving, last = model.chain_file(way)
    found = placed(file, robot, base=base, tool=tool)
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    number = {id(element): place for place, element in enumerate(elements)}
    changes = {
        number[id(body)]: _place(T)
        for body, joint, T in zip(moving, file.joints, found.joints, strict=True)
        if changed(joint.change, T)
    }
    if found.tool is not None and file.tool is not None and changed(file.tool, found.tool):
        changes[number[id(last)]] = _place(found.tool)
    return patched(content, changes)


def _place(T: FloatArray) -> Change:
    pos = " ".join(repr(float(value)) for value in T[:3, 3])
    quat = " ".join(repr(float(value)) for value in rotations.to_quaternion(T[None, :3, :3])[0])
    others = dict.fromkeys((name for name in _TURNS if name != "quat"), None)
    return Change({"pos": pos, "quat": quat, **others})


@dataclass(frozen=True)
class _Model:
    """What is needed of a model to find its joints."""

    tree: Any
    where: str

    def way_to(self, tip: str | None) -> list[Any]:
        """Bodies, frames and at last perhaps a site, from the world to the tip."""
        named = {
            str(element.get("name")): element
            for kind in ("body", "site")
            for element in self.tree.iter(kind)
            if element.get("name")
        }
        if tip is None:
            tip = self._only_tip(named)
        if tip not in named:
            raise InputError(
                f"has no body or site '{tip}'",
                where=self.where,
                allowed=sorted(named),
                remedy="Includes are not followed: give the file that holds the bodies",
            )
        way = [named[tip], *named[tip].iterancestors()]
        return [one for one in reversed(way) if one.tag in ("body", "frame", "site")]

    def _only_tip(self, named: Mapping[str, Any]) -> str:
        """The body at the end of the longest chain of joints, if there is only one."""
        bodies = [element for element in named.values() if element.tag == "body"]
        joints = {
            str(body.get("name")): sum(
                len(self._joints(one)) for one in (body, *body.iterancestors("body"))
            )
            for body in bodies
            if body.find(".//body") is None
        }
        most = max(joints.values(), default=0)
        tips = [name for name, count in joints.items() if count == most]
        if len(tips) != 1 or not most:
            raise InputError(
                "has several chains" if tips else "has no bodies with names",
                where=self.where,
                allowed=tips,
                remedy="Say which body or site is the tip",
            )
        return tips[0]

    @staticmethod
    def _joints(body: Any) -> list[Any]:
        return [one for one in body if one.tag in ("joint", "freejoint")]

    def chain_file(self, way: list[Any]) -> tuple[ChainFile, list[Any], Any | None]:
        """The chain, the bodies that move, and what holds the tool."""
        found: list[FileJoint] = []
        moving: list[Any] = []
        pending = np.eye(4)
        behind: list[Any] = []
        for element in way:
            joints = self._joints(element) if element.tag == "body" else []
            if not joints:
                behind.append(element)
                continue
            if len(joints) > 1:
                raise InputError(
                    f"body {shown(element.get('name'))} has {len(joints)} joints",
                    where=self.where,
                    allowed="one joint for each body of the chain",
                )
            for fixed in behind:
                pending = pending @ self._transform(fixed)
            found.append(self._joint(element, joints[0], pending))
            moving.append(element)
            pending, behind = np.eye(4), []
        last = behind.pop() if behind and behind[-1].tag != "frame" else None
        for fixed in behind:
            pending = pending @ self._transform(fixed)
        tool = None if last is None else self._transform(last)
        return ChainFile(tuple(found), pending, tool, self.where), moving, last

    def _joint(self, body: Any, joint: Any, fixed: FloatArray) -> FileJoint:
        given = {**self._defaults(body, joint), **dict(joint.attrib)}
        name = str(given.get("name", body.get("name")))
        kind = _KINDS.get(str(given.get("type", "hinge")))
        if kind is None or joint.tag == "freejoint":
            raise InputError(
                f"joint '{name}' is of type {shown(given.get('type', joint.tag))}",
                where=self.where,
                allowed=list(_KINDS),
            )
        direction = numbers(str(given.get("axis", "0 0 1")), name, self.where)
        size = float(np.linalg.norm(direction))
        if not size:
            raise InputError(f"joint '{name}' has a zero axis", where=self.where)
        align = np.eye(4)
        align[:3, :3] = aligning(direction / size)
        align[:3, 3] = numbers(str(given.get("pos", "0 0 0")), name, self.where)
        (reference,) = numbers(str(given.get("ref", "0")), name, self.where, 1)
        if kind is Joint.REVOLUTE:
            reference *= self._angle
        return FileJoint(
            name,
            kind,
            fixed,
            self._transform(body),
            align @ along_z(kind, -float(reference)),
            np.linalg.inv(align),
        )

    @property
    def _angle(self) -> float:
        """The unit of angles: degrees unless the compiler says otherwise."""
        radian = any(one.get("angle") == "radian" for one in self.tree.findall("compiler"))
        return 1.0 if radian else np.pi / 180

    def _transform(self, element: Any) -> FloatArray:
        name = str(element.get("name"))
        T = np.eye(4)
        T[:3, 3] = numbers(element.get("pos", "0 0 0"), name, self.where)
        given = [one for one in _TURNS if element.get(one) is not None]
        if len(given) > 1:
            raise InputError(f"'{name}' has {' and '.join(given)}", where=self.where)
        if given:
            T[:3, :3] = self._turn(given[0], element.get(given[0]), name)
        return T

    def _turn(self, way: str, text: str, name: str) -> FloatArray:
        counts = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}
        values = numbers(text, name, self.where, counts[way])
        if way == "quat":
            size = float(np.linalg.norm(values))
            if not size:
                raise InputError(f"'{name}' has a zero quaternion", where=self.where)
            return rotations.from_quaternion(values[None] / size)[0]
        if way == "axisangle":
            size = float(np.linalg.norm(values[:3])) or 1.0
            return rotations.exp((self._angle * values[3] * values[:3] / size)[None])[0]
        if way == "euler":
            return self._euler(values)
        if way == "xyaxes":
            x = values[:3] / (np.linalg.norm(values[:3]) or 1.0)
            y = values[3:] - x * float(x @ values[3:])
            y = y / (np.linalg.norm(y) or 1.0)
            return np.column_stack([x, y, np.cross(x, y)])
        z = values / (np.linalg.norm(values) or 1.0)
        # The shortest turn that takes z there.
        turn = np.cross([0.0, 0.0, 1.0], z)
        sine = float(np.linalg.norm(turn))
        angle = float(np.arctan2(sine, z[2]))
        axis = turn / sine if sine > 0 else np.array([1.0, 0.0, 0.0])
        return rotations.exp((angle * axis)[None])[0]

    def _euler(self, angles: FloatArray) -> FloatArray:
        """Turns about moving axes where the sequence has small letters, about fixed ones else."""
        given = [one.get("eulerseq") for one in self.tree.findall("compiler")]
        sequence = next((text for text in given if text), "xyz")
        R: FloatArray = np.eye(3)
        for letter, angle in zip(sequence, self._angle * angles, strict=True):
            axis = np.eye(3)["xyz".index(letter.lower())]
            turn = rotations.exp((float(angle) * axis)[None])[0]
            R = R @ turn if letter.islower() else turn @ R
        return R

    def _defaults(self, body: Any, joint: Any) -> dict[str, str]:
        """What classes say about a joint: its own, or that of the nearest body that names one."""
        name = joint.get("class")
        for one in (body, *body.iterancestors("body")) if name is None else ():
            if one.get("childclass"):
                name = one.get("childclass")
                break
        found: dict[str, str] = {}
        for top in self.tree.findall("default"):
            chosen = top
            if name is not None:
                chosen = next((d for d in top.iter("default") if d.get("class") == name), None)
            if chosen is None:
                continue
            # From the outermost class inwards.
            for level in (*reversed(list(chosen.iterancestors("default"))), chosen):
                for entry in level.findall("joint"):
                    found |= dict(entry.attrib)
        return found
