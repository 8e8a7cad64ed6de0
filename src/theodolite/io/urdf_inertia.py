"""Inertias of a URDF: read as a prior, and replaced in place by identified ones.

A link that moves, together with all that is fixed to it, is one body. Its frame is that of the
URDF's link, turned so that the joint is about z. The whole body is identified, so all of it is
written to the link that moves, and the inertials of what is fixed to it are removed. Everything
else in the file stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.inertia import (
    INERTIAL,
    PLACES,
    change_of_frame,
    inertial_parameters,
    is_body,
    mass_properties,
)
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.serial import Dynamics
from theodolite.errors import InputError
from theodolite.io.reading import read_text
from theodolite.io.urdf import UrdfJoint, aligning, numbers, parsed, read_joints, read_urdf
from theodolite.io.writing import write_text
from theodolite.model.conventions import Joint
from theodolite.model.poses import rotation_matrix

#: Attributes of <inertia>, with their places in the matrix.
_PLACES = dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), PLACES, strict=True))


def read_urdf_parameters(path: Path, *, tip: str | None = None) -> DynamicParameters:
    """The bodies of a URDF as a prior, in the frames of its robot; without drives."""
    robot = read_urdf(path, tip=tip, any_tip=True)
    return DynamicParameters(
        read_inertias(path, tip=tip),
        (),
        robot.name,
        Dynamics(robot).frames,
        standard=True,
        source=str(path),
    )


def read_inertias(path: Path, *, tip: str | None = None) -> dict[str, float]:
    """Inertial parameters by name (``XX1 ...``) as the file has them; zero where it has none."""
    tree = parsed(path)
    joints, chain = read_joints(tree, path, tip)
    links = {str(link.get("name")): link for link in tree.findall("link")}
    values: dict[str, float] = {}
    for number, joint in enumerate(_moving_joints(chain), start=1):
        body = np.zeros(10)
        for link, R, p in _fixed_to(joint.child, joints):
            if link in links:
                body = body + change_of_frame(R, p) @ _read_inertial(links[link], path)
        ours = change_of_frame(aligning(joint.axis).T, np.zeros(3)) @ body
        values |= {f"{s}{number}": float(v) for s, v in zip(INERTIAL, ours, strict=True)}
    return values


def write_inertias(
    source: Path,
    target: Path,
    values: Mapping[str, float],
    *,
    tip: str | None = None,
    force: bool = False,
) -> list[str]:
    """Write a copy of a URDF with identified bodies; gives the names of the links that changed."""
    joints, chain = check_bodies(source, tip=tip)
    written: dict[str, FloatArray | None] = {}
    for number, joint in enumerate(_moving_joints(chain), start=1):
        ours = np.array([values[f"{symbol}{number}"] for symbol in INERTIAL])
        body = change_of_frame(aligning(joint.axis), np.zeros(3)) @ ours
        if not is_body(body):
            raise InputError(
                f"the body of link {number} is not physically possible, so no URDF is written",
                remedy="Identify physically consistent bodies",
            )
        written |= {link: None for link, _, _ in _fixed_to(joint.child, joints)}
        written[joint.child] = body
    text = read_text(source)
    write_text(target, _replace_inertials(text, written), force=force)
    before = {link.name for link in _links(text.encode()) if link.inertials}
    return [name for name, body in written.items() if body is not None or name in before]


def check_bodies(source: Path, *, tip: str | None) -> tuple[list[UrdfJoint], list[UrdfJoint]]:
    """Refuse a URDF whose links cannot be given identified bodies; its joints, all and chain."""
    tree = parsed(source)
    joints, chain = read_joints(tree, source, tip)
    names = [str(link.get("name")) for link in tree.findall("link")]
    for joint in _moving_joints(chain):
        if names.count(joint.child) != 1:
            count = "no link" if joint.child not in names else "several links"
            raise InputError(f"has {count} '{joint.child}'", where=str(source))
        branch = _moving_branch(joint.child, joints, chain)
        if branch is not None:
            raise InputError(
                f"link '{joint.child}' also carries joint '{branch}', which is not part of the "
                "chain; both together would be identified as one body",
                where=str(source),
                remedy="Fix that joint in a copy of the URDF",
            )
    return joints, chain


def _replace_inertials(text: str, bodies: Mapping[str, FloatArray | None]) -> str:
    """The text with other inertials in some links, or none; not a byte besides is touched."""
    content = text.encode()
    pieces: list[tuple[int, int, str]] = []
    for link in _links(content):
        if link.name not in bodies:
            continue
        body = bodies[link.name]
        new = "" if body is None else _inertial(body, link.indent)
        for start, end in link.inertials:
            pieces.append((start, end, new))
            new = ""
        if new and link.closed_at is not None:
            pieces.append((link.closed_at, link.closed_at, f"  {new}\n{link.indent}"))
        elif new:
            # <link name="..."/> is opened to hold its inertia.
            slash = content.rindex(b"/", 0, link.end)
            pieces.append((slash, link.end, f">\n{link.indent}  {new}\n{link.indent}</link>"))
    for start, end, new in sorted(pieces, reverse=True):
        content = content[:start] + new.encode() + content[end:]
    return content.decode()


@dataclass
class _LinkText:
    """Where a link is in the file, in bytes."""

    name: str
    indent: str
    inertials: list[tuple[int, int]]
    #: Where its closing tag starts; None for <link/>.
    closed_at: int | None = None
    end: int = 0


def _links(content: bytes) -> list[_LinkText]:
    from xml.parsers import expat

    links: list[_LinkText] = []
    path: list[str] = []
    starts: list[int] = []
    parser = expat.ParserCreate()

    def start_element(name: str, attributes: dict[str, str]) -> None:
        path.append(name)
        starts.append(parser.CurrentByteIndex)
        if path == ["robot", "link"]:
            before = content[: starts[-1]].rpartition(b"\n")[2].decode()
            indent = before if not before.strip() else ""
            links.append(_LinkText(attributes.get("name", ""), indent, []))

    def end_element(name: str) -> None:
        here, start = parser.CurrentByteIndex, starts.pop()
        # The end of <link/> is reported after it, otherwise at the closing tag.
        closed = content.startswith(b"</", here)
        end = content.index(b">", here) + 1 if closed else here
        if path == ["robot", "link", "inertial"]:
            links[-1].inertials.append((start, end))
        if path == ["robot", "link"]:
            links[-1].end = end
            links[-1].closed_at = here if closed else None
        path.pop()

    parser.StartElementHandler, parser.EndElementHandler = start_element, end_element
    parser.Parse(content, True)
    return links


def _moving_joints(chain: list[UrdfJoint]) -> Iterator[UrdfJoint]:
    return (joint for joint in chain if joint.kind is not Joint.FIXED)


def _fixed_to(link: str, joints: list[UrdfJoint]) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """A link and all that is fixed to it, with their poses in its frame."""
    waiting = [(link, np.eye(4))]
    while waiting:
        name, T = waiting.pop()
        yield name, T[:3, :3], T[:3, 3]
        waiting += [
            (joint.child, T @ joint.transform)
            for joint in joints
            if joint.parent == name and joint.kind is Joint.FIXED and not joint.trouble
        ]


def _moving_branch(link: str, joints: list[UrdfJoint], chain: list[UrdfJoint]) -> str | None:
    """A joint on this body that moves and is not part of the chain."""
    names = {name for name, _, _ in _fixed_to(link, joints)}
    for joint in joints:
        moves = joint.kind is not Joint.FIXED or bool(joint.trouble)
        if joint.parent in names and moves and joint not in chain:
            return joint.name
    return None


def _read_inertial(link: Any, path: Path) -> FloatArray:
    """Ten parameters of a link in its own frame, as the file has them."""
    element = link.find("inertial")
    if element is None:
        return np.zeros(10)
    name, where = str(link.get("name")), str(path)
    mass_element, inertia_element = element.find("mass"), element.find("inertia")
    if mass_element is None or inertia_element is None:
        raise InputError(f"link '{name}' lacks its mass or inertia", where=where)
    (mass,) = numbers(mass_element.get("value", ""), name, where, 1)
    centre: FloatArray = np.zeros(3)
    R: FloatArray = np.eye(3)
    origin = element.find("origin")
    if origin is not None:
        centre = numbers(origin.get("xyz", "0 0 0"), name, where)
        R = rotation_matrix(*numbers(origin.get("rpy", "0 0 0"), name, where))
    J = np.zeros((3, 3))
    for key, (i, j) in _PLACES.items():
        (value,) = numbers(inertia_element.get(key, "0"), name, where, 1)
        J[i, j] = J[j, i] = value
    return inertial_parameters(float(mass), centre, R @ J @ R.T)


def _inertial(body: FloatArray, indent: str) -> str:
    """The element, indented like its link's content."""
    mass, centre, J = mass_properties(body)
    xyz = " ".join(map(repr, centre.tolist()))
    parts = " ".join(f'{key}="{float(J[place])!r}"' for key, place in _PLACES.items())
    lines = [
        "<inertial>",
        f'  <origin xyz="{xyz}" rpy="0 0 0"/>',
        f'  <mass value="{mass!r}"/>',
        f"  <inertia {parts}/>",
        "</inertial>",
    ]
    return f"\n{indent}  ".join(lines)
