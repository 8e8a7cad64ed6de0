"""Random four-bar and five-bar robots: a closed polygon of links on a general base, with a tool."""

from __future__ import annotations

import numpy as np

from theodolite.io.robot_file import parse_robot
from theodolite.model.mechanism import Mechanism


def polygon_robot(rng: np.random.Generator, links: int, *, kind: str = "planar") -> Mechanism:
    """A turntable that carries a planar loop of ``links`` bars, the tool on the second one.

    Joints 1 and, with five bars, the last are measured. The loop's polygon is convex and far from
    flat, so that small motions about home stay on one branch.
    """
    around = np.sort(rng.uniform(0.15, 0.85, links - 2)) * 2 * np.pi
    around = np.linspace(0.18, 0.82, links - 2) * 2 * np.pi + 0.15 * (around - np.pi) / np.pi
    corners = 0.4 * np.exp(1j * np.concatenate([[0.0], around, [2 * np.pi - 0.9]]))
    corners = np.exp(1j * -np.angle(corners[0] - corners[-1])) * (corners - corners[0])
    corners = corners * rng.uniform(0.7, 1.5)
    edges = np.roll(corners, -1) - corners
    angles = np.angle(edges / np.roll(edges, 1))
    angles[0] = np.angle(edges[0])
    joints = ["t1", "a1", "a2", "a3"] if links == 4 else ["t1", "a1", "a2", "a3", "t2"]
    lines, bodies = [], []
    for joint, angle in zip(joints, np.degrees(angles), strict=True):
        limits = f"min = {angle - 25}, max = {angle + 25}" if joint[0] == "t" else "passive = true"
        lines.append(f'{{ name = "{joint}", home = {angle}, {limits} }}')
    lines.append('{ name = "t0", home = 0, min = -120, max = 120 }')
    lines.append('{ name = "t3", home = 0, min = -90, max = 90 }')
    numbers = iter(rng.uniform(-1, 1, 12))
    base = "Tx({:.3f}) Ty({:.3f}) Tz({:.3f}) Rx({:.1f}) Ry({:.1f}) Rz(t0+0)".format(
        *(next(numbers) for _ in range(3)), *(20 * next(numbers) for _ in range(2))
    )
    base += f" Tx(0.3) Ty(0.1) Rx({60 + 20 * next(numbers):.1f}) Ry({20 * next(numbers):.1f})"
    bodies.append(f'{{ name = "base", product = "{base}" }}')
    before = "base"
    for number, (joint, edge) in enumerate(zip(joints, edges, strict=True), 1):
        offset = "+0" if joint[0] == "t" else ""
        bodies.append(
            f'{{ name = "bar{number}", on = "{before}", '
            f'product = "Rz({joint}{offset}) Tx({abs(edge):.6f})" }}'
        )
        before = f"bar{number}"
    x, y, z = 0.1 * np.array([next(numbers) for _ in range(3)]) + [0.3, 0.0, 0.0]
    tool = f"Rz(t3+0) Tx({x:.3f}) Ty({y:.3f}) Tz({z:.3f}) Rx(30) Ry(20)"
    bodies.append(f'{{ name = "hand", on = "bar2", product = "{tool}" }}')
    text = f"""
    format = "theodolite robot 1"
    units = {{ length = "m", angle = "deg" }}
    tool = "hand"
    joints = [{", ".join(lines)}]
    bodies = [{", ".join(bodies)}]
    closures = [{{ name = "loop", kind = "{kind}", ends = ["base", "bar{links}"] }}]
    """
    mechanism = parse_robot(text, "random mechanism")
    assert isinstance(mechanism, Mechanism)
    return mechanism
