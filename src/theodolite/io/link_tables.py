"""A robot's links as tables for people and other programs: KK, DH, Hayati, and poses in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.export.links import reading_links, reads_joints
from theodolite.model.conventions import Convention, Joint
from theodolite.model.poses import roll_pitch_yaw
from theodolite.model.robot import Robot

#: Columns of each convention: symbol, and whether it is an angle.
_COLUMNS = {
    Convention.KK: (("alpha", 1), ("d", 0), ("theta", 1), ("r", 0), ("beta", 1)),
    Convention.DH: (("theta", 1), ("d", 0), ("a", 0), ("alpha", 1)),
    Convention.HAYATI: (("theta", 1), ("d", 0), ("a", 0), ("alpha", 1), ("beta", 1)),
}

_JOINT_UNITS = ((Joint.REVOLUTE, "deg", 180 / np.pi), (Joint.PRISMATIC, "mm", 1e3))


def table_csv(robot: Robot, convention: Convention) -> str:
    """A table that ``theodolite new`` reads back; base and tool are in comments."""
    headings, rows = _cells(robot, convention, repr)
    lines = [f"# {line}" for line in _ends(robot, convention)]
    return "\n".join([*lines, ",".join(headings), *(",".join(row) for row in rows)]) + "\n"


def table_markdown(robot: Robot, convention: Convention) -> str:
    """The same for people."""
    headings, rows = _cells(robot, convention, "{:.6f}".format)
    lines = [f"# {robot.name}", "", *(f"- {line}" for line in _ends(robot, convention)), ""]
    lines += [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cells(
    robot: Robot, convention: Convention, text: Callable[[float], str]
) -> tuple[list[str], list[list[str]]]:
    """Headings, and a row of cells for each joint."""
    columns: dict[str, list[str]] = {
        "joint": list(robot.joint_names),
        "sigma": [str(int(kind)) for kind in robot.joint_types],
    }
    rows = [robot.frames[index] for index in robot.joint_rows]
    for symbol, angle in _COLUMNS[convention]:
        amounts = []
        for row, offset in zip(rows, robot.transmission.offset, strict=True):
            value = row.amount(symbol) if symbol in row.symbols else 0.0
            moved = "theta" if row.joint is Joint.REVOLUTE else _slide(convention)
            amounts.append(value + float(offset) if symbol == moved else value)
        factor = 180 / np.pi if angle else 1e3
        columns[f"{symbol}_{'deg' if angle else 'mm'}"] = [text(factor * v) for v in amounts]
    signs = np.sign(np.diag(robot.transmission.coa @ robot.transmission.com))
    lower, upper = robot.lower, robot.upper
    if reads_joints(robot) and (signs < 0).any():
        columns["sign"] = [f"{sign:.0f}" for sign in signs]
        # A reversed joint shows the negative of its angle, and its limits change places.
        lower, upper = np.where(signs > 0, (lower, upper), (-upper, -lower))
    for name, limits in (("Qmin", lower), ("Qmax", upper)):
        for kind, unit, factor in (
            (Joint.REVOLUTE, "deg", 180 / np.pi),
            (Joint.PRISMATIC, "mm", 1e3),
        ):
            if kind in robot.joint_types:
                columns[f"{name}_{unit}"] = [
                    text(factor * float(limit)) if own is kind else ""
                    for own, limit in zip(robot.joint_types, limits, strict=True)
                ]
    gains = robot.transmission.gains
    if (gains != 1.0).any():
        columns["K"] = [text(float(gain)) for gain in gains]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def _slide(convention: Convention) -> str:
    """What a prismatic joint moves in a convention."""
    return "r" if convention is Convention.KK else "d"


def _ends(robot: Robot, convention: Convention) -> list[str]:
    first, last = robot.frames[0], robot.frames[-1]
    ends = {"base in the world": first.nominal, "tool behind the last row": last.nominal}
    products = {
        Convention.KK: "Ry(beta) Rx(alpha) Tx(d) Rz(theta) Tz(r)",
        Convention.DH: "Rz(theta) Tz(d) Tx(a) Rx(alpha)",
        Convention.HAYATI: "Rz(theta) Tz(d) Tx(a) Rx(alpha) Ry(beta)",
    }
    return [
        f"{robot.name}, each row {products[convention]}; the joint adds to theta or "
        f"{_slide(convention)}",
        *(f"{name}: {_pose_words(pose)}" for name, pose in ends.items()),
    ]


def _pose_words(pose: Sequence[float]) -> str:
    xyz = " ".join(f"{round(1e3 * value, 9) + 0.0:.9g}" for value in pose[:3])
    rpy = " ".join(f"{round(float(np.degrees(value)), 12) + 0.0:.9g}" for value in pose[3:])
    return f"xyz {xyz} mm; roll pitch yaw {rpy} deg"


def frames_json(robot: Robot) -> str:
    """Each joint's frame in the one before, six numbers, at zero; z is the axis."""
    links = reading_links(robot)
    joints = [
        {
            "name": name,
            "type": "revolute" if kind is Joint.REVOLUTE else "prismatic",
            "frame": _pose(link),
            "gain": float(gain),
            "lower": float(low),
            "upper": float(high),
        }
        for name, kind, link, gain, low, high in zip(
            robot.joint_names,
            robot.joint_types,
            links,
            robot.transmission.gains,
            robot.lower,
            robot.upper,
            strict=False,
        )
    ]
    content = {
        "format": "theodolite frames 1",
        "robot": robot.name,
        "units": {"length": "m", "angle": "rad", "rpy": "Rz(yaw) Ry(pitch) Rx(roll)"},
        "joints": joints,
        "tool": _pose(links[-1]),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _pose(T: FloatArray) -> dict[str, list[float]]:
    return {"xyz": T[:3, 3].tolist(), "rpy": list(roll_pitch_yaw(T[:3, :3]))}
