"""All figures that a file of attained poses allows, and whether it has enough cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.assessment.iso9283.attained import Attained, Test
from theodolite.assessment.iso9283.figures import Figure
from theodolite.assessment.iso9283.paths import corner_figures, path_figures, velocity_figures
from theodolite.assessment.iso9283.poses import (
    direction_figures,
    distance_figures,
    drift_figures,
    pose_figures,
    settling_figures,
)
from theodolite.errors import InputError
from theodolite.model.poses import Poses

#: Poses whose second extent is a smaller part of the first lie on a line.
ON_A_LINE = 1e-3


#: What the rows of a test need for a figure.
_NEEDED = {
    Test.POSE: "it needs poses with positions",
    Test.MULTI: "it needs poses that are approached from two directions or more, in a column",
    Test.DISTANCE: "it needs two poses, in the same cycles",
    Test.DRIFT: "it needs the same poses in two blocks or more, in a column",
    Test.SETTLING: "it needs times, and motions that end within the band",
    Test.PATH: "it needs cycles that pass the points of the command",
    Test.CORNER: "it needs a command that changes its direction",
}


#: A robot that turns its tool so far from the command has another convention, not an error.
TURNED = 20e-3


@dataclass(frozen=True)
class Evaluation:
    """The figures by test, and where the sensor's frame was taken from."""

    figures: Mapping[Test, tuple[Figure, ...]]
    #: Tests whose rows do not suffice for any figure.
    unusable: tuple[Test, ...] = ()
    #: Was the sensor's frame fitted to the poses themselves, so that accuracy is only within it?
    fitted: bool = False
    #: Mean angle from the commanded to the attained orientations, rad.
    turned: float = 0.0

    @property
    def short(self) -> list[str]:
        """Tests with fewer cycles than the standard asks for, in words."""
        found: dict[tuple[str, int, int], list[str]] = {}
        for test, figures in self.figures.items():
            for one in figures:
                if not one.enough:
                    key = (test.value, one.cycles, one.required)
                    found.setdefault(key, []).append(one.where)
        unusable = [f"{test.value}: no figures, {_NEEDED[test]}" for test in self.unusable]
        return unusable + [
            f"{test} ({', '.join(dict.fromkeys(where))}): {cycles} cycles, the standard asks for "
            f"{required}"
            for (test, cycles, required), where in found.items()
        ]

    @property
    def doubts(self) -> list[str]:
        """What speaks against the figures, in sentences."""
        if self.turned <= TURNED:
            return []
        return [
            f"Attained orientations are {1e3 * self.turned:.3g} mrad from the commanded ones on "
            "average: rx, ry, rz are a rotation vector, not roll, pitch and yaw."
        ]

    @property
    def good(self) -> bool:
        """Are there figures of every test, from enough cycles and not in doubt?"""
        return bool(self.figures) and not self.short and not self.doubts

    def figure(self, symbol: str, where: str = "") -> Figure:
        """One figure by its symbol."""
        for figures in self.figures.values():
            for one in figures:
                if one.symbol == symbol and where in ("", one.where):
                    return one
        raise InputError(f"there is no figure {symbol} {where}".rstrip())


def evaluate(
    tests: Mapping[Test, Attained],
    *,
    sensor: Poses | None = None,
    fit_sensor: bool = False,
    command: FloatArray | None = None,
    speed: float = 0.0,
    band: float | None = None,
) -> Evaluation:
    """The figures of each test.

    Attained poses are in the frame of the commands, or in that of a ``sensor`` whose pose is given
    or fitted to all poses. Paths need their ``command`` as a polyline (k, 3), velocities a
    commanded ``speed``, settling a ``band`` about the final pose; default: RP of the pose test.
    """
    if fit_sensor:
        sensor = _fitted(tests)
    if sensor is not None:
        tests = {test: rows.seen_from(sensor) for test, rows in tests.items()}
    found: dict[Test, tuple[Figure, ...]] = {}
    unusable: list[Test] = []
    for test, rows in tests.items():
        if test is Test.POSE:
            figures = [*pose_figures(rows)]
        elif test is Test.MULTI:
            figures = [*direction_figures(rows)]
        elif test is Test.DISTANCE:
            figures = [*distance_figures(rows)]
        elif test is Test.DRIFT:
            figures = [*drift_figures(rows)]
        elif test is Test.SETTLING:
            figures = [*settling_figures(rows, _band(band, found))]
        else:
            figures = _path(test, rows, command, speed)
        if figures:
            found[test] = tuple(figures)
        else:
            unusable.append(test)
    return Evaluation(found, tuple(unusable), fit_sensor, _turned(tests))


def _turned(tests: Mapping[Test, Attained]) -> float:
    turns = [rows.turned for rows in tests.values()]
    angles = [np.linalg.norm(turned, axis=1) for turned in turns if turned is not None]
    return float(np.nanmean(np.concatenate(angles))) if angles else 0.0


def _path(test: Test, rows: Attained, command: FloatArray | None, speed: float) -> list[Figure]:
    line = _polyline(rows) if command is None else command
    if len(line) < 2:
        raise InputError(
            f"the test '{test.value}' has no commanded path",
            remedy="Give its points in a file of their own, or commanded positions in every row",
        )
    if test is Test.CORNER:
        return [*corner_figures(rows, line)]
    return [*path_figures(rows, line), *velocity_figures(rows, line, speed)]


def _polyline(rows: Attained) -> FloatArray:
    """Commanded positions of the first cycle, in the order of time; none where all are alike."""
    own = np.flatnonzero(rows.cycle == rows.cycle[0])
    if rows.times is not None:
        own = own[np.argsort(rows.times[own], kind="stable")]
    line = rows.commanded[own]
    if np.isnan(line).any():
        return np.empty((0, 3))
    moved = np.concatenate([[True], np.linalg.norm(np.diff(line, axis=0), axis=1) > 0])
    return line[moved]


def _band(given: float | None, found: Mapping[Test, tuple[Figure, ...]]) -> float:
    if given is not None:
        return given
    bands = [one.value for one in found.get(Test.POSE, ()) if one.symbol == "RP_l"]
    if not bands:
        raise InputError(
            "settling needs the band within which a pose counts as attained",
            remedy="Give the band, or measure poses too: their repeatability is taken",
        )
    return max(bands)


def _fitted(tests: Mapping[Test, Attained]) -> Poses:
    """The sensor's frame that brings all attained positions nearest to the commands."""
    rows = [rows for test, rows in tests.items() if not test.timed]
    if not rows:
        raise InputError("a sensor's frame can only be fitted to poses", remedy="Give the frame")
    attained = np.concatenate([part.positions for part in rows])
    commanded = np.concatenate([part.commanded for part in rows])
    from scipy.spatial.transform import Rotation

    middle, wanted = attained.mean(axis=0), commanded.mean(axis=0)
    spread = np.linalg.svd(commanded - wanted, compute_uv=False)
    if not spread[1] > ON_A_LINE * spread[0]:
        raise InputError(
            "the commanded poses lie on a line, so no sensor's frame can be fitted to them",
            remedy="Measure poses that span a plane, or give the frame",
        )
    turned = Rotation.align_vectors(commanded - wanted, attained - middle)[0].as_matrix()
    return Poses.one(turned, wanted - turned @ middle)
