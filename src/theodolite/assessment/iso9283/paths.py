"""Path accuracy and repeatability, corners and path velocity."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.assessment.iso9283.attained import Attained
from theodolite.assessment.iso9283.figures import (
    Counted,
    Figure,
    Interval,
    figure,
    greatest_size,
    largest,
    largest_of_cycles,
    length_interval,
    mean_interval,
    repeatability_interval,
    spread_interval,
)

PATH_CYCLES, CORNER_CYCLES = 10, 3
#: Points along the command at which paths are compared.
POINTS = 50
#: The part of a path's length, from its middle, in which its speed is constant.
CONSTANT = 0.5
#: A direction that changes by more is a corner, radians.
CORNER = np.radians(20.0)


def path_figures(rows: Attained, command: FloatArray) -> Iterator[Figure]:
    """AT and RT of cycles along one commanded polyline (k, 3)."""
    points, tangents = along(command, POINTS)
    cycles = list(_cycles(rows))
    crossings = [crossed(places, points, tangents) for _, places in cycles]
    found: FloatArray = np.array([places for places, _ in crossings])
    if not len(cycles):
        return
    # Points that every cycle passed.
    passed = np.flatnonzero(np.isfinite(found).all(axis=(0, 2)))
    given = Counted("path", len(cycles), PATH_CYCLES)
    if not len(passed):
        return
    places, wanted = found[:, passed], points[passed]

    def accuracy(point: int, confidence: float) -> Interval:
        return length_interval(places[:, point] - wanted[point], confidence)

    def scatter(point: int, confidence: float) -> Interval:
        return repeatability_interval(places[:, point], confidence)

    for symbol, name, interval in (
        ("AT_p", "path accuracy", accuracy),
        ("RT_p", "path repeatability", scatter),
    ):
        yield figure(symbol, name, largest(interval, len(passed)), "m", given)
    turned = rows.turned
    if turned is not None:
        yield from _angle_figures(rows, turned, crossings, passed, given)


def _angle_figures(
    rows: Attained,
    turned: FloatArray,
    crossings: list[tuple[FloatArray, FloatArray]],
    passed: IntArray,
    given: Counted,
) -> Iterator[Figure]:
    """Deviations of angles where the cycles passed the points, between samples."""
    angles = []
    for (own, _), (_, spots) in zip(_cycles(rows), crossings, strict=True):
        spots = spots[passed]
        before = np.floor(spots).astype(np.intp)
        part = (spots - before)[:, None]
        values = turned[own]
        after = np.minimum(before + 1, len(values) - 1)
        angles.append((1.0 - part) * values[before] + part * values[after])
    stacked = np.array(angles)
    for number, angle in enumerate("abc"):
        values = stacked[:, :, number]

        def mean(point: int, confidence: float, values: FloatArray = values) -> Interval:
            return greatest_size(mean_interval(values[:, point], confidence))

        def spread(point: int, confidence: float, values: FloatArray = values) -> Interval:
            return spread_interval(values[:, point], confidence)

        about = f"about {'xyz'[number]}"
        for symbol, name, interval in (
            (f"AT_{angle}", f"path accuracy {about}", mean),
            (f"RT_{angle}", f"path repeatability {about}", spread),
        ):
            yield figure(symbol, name, largest(interval, len(passed)), "rad", given)


def _cycles(rows: Attained) -> Iterator[tuple[IntArray, FloatArray]]:
    """Rows of each cycle in the order of time, and their positions."""
    for cycle in np.unique(rows.cycle):
        own = np.flatnonzero(rows.cycle == cycle)
        if rows.times is not None:
            own = own[np.argsort(rows.times[own], kind="stable")]
        yield own, rows.positions[own]


def along(command: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Points at equal ways along a polyline, away from its ends, and tangents there."""
    steps = np.diff(command, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    kept = lengths > 0
    starts, steps, lengths = command[:-1][kept], steps[kept], lengths[kept]
    ends = np.cumsum(lengths)
    ways = (np.arange(count) + 0.5) / count * ends[-1]
    piece = np.minimum(np.searchsorted(ends, ways), len(ends) - 1)
    part = (ways - (ends[piece] - lengths[piece])) / lengths[piece]
    points = starts[piece] + part[:, None] * steps[piece]
    return points, steps[piece] / lengths[piece][:, None]


def crossed(
    places: FloatArray, points: FloatArray, tangents: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Where a path crosses the planes normal to a command at its points, nearest to them.

    Also between which samples, as a fraction; NaN where it does not.
    """
    ahead = (
        np.einsum("mj,nj->mn", tangents, places) - np.einsum("mj,mj->m", tangents, points)[:, None]
    )
    changes = (ahead[:, :-1] <= 0) & (ahead[:, 1:] > 0)
    rise = np.where(changes, ahead[:, 1:] - ahead[:, :-1], 1.0)
    part = np.clip(-ahead[:, :-1] / rise, 0.0, 1.0)
    steps = np.diff(places, axis=0)
    where = places[None, :-1] + part[:, :, None] * steps[None]
    away = np.where(changes, np.linalg.norm(where - points[:, None], axis=2), np.inf)
    nearest = np.argmin(away, axis=1)
    rows = np.arange(len(points))
    found = where[rows, nearest]
    spots = nearest + part[rows, nearest]
    missed = ~np.isfinite(away[rows, nearest])
    found[missed], spots[missed] = np.nan, np.nan
    return found, spots


def corner_figures(rows: Attained, command: FloatArray) -> Iterator[Figure]:
    """CR and CO at each corner of a commanded polyline: the largest over the cycles."""
    found = corners(command)
    for number, (corner, end) in enumerate(pairwise([*found, len(command) - 1]), start=1):
        point = command[corner]
        rounding, over = [], []
        for _, places in _cycles(rows):
            away = _to_polyline(point[None], places)[0]
            rounding.append(float(away))
            nearest = int(np.argmin(np.linalg.norm(places - point, axis=1)))
            # Up to the next corner, or the end of the command.
            behind = places[nearest:]
            last = int(np.argmin(np.linalg.norm(behind - command[end], axis=1)))
            over.append(float(_to_polyline(behind[: last + 1], command).max()))
        given = Counted(f"corner {number}", len(over), CORNER_CYCLES)
        if over:
            for symbol, name, sizes in (
                ("CR", "cornering round-off, largest", rounding),
                ("CO", "cornering overshoot, largest", over),
            ):
                yield figure(
                    symbol, name, largest_of_cycles(np.array(sizes), least=0.0), "m", given
                )


def corners(command: FloatArray) -> list[int]:
    """Where a polyline changes its direction."""
    steps = np.diff(command, axis=0)
    units = steps / np.maximum(np.linalg.norm(steps, axis=1), 1e-300)[:, None]
    turn = np.arccos(np.clip(np.einsum("ij,ij->i", units[:-1], units[1:]), -1.0, 1.0))
    return [int(place) + 1 for place in np.flatnonzero(turn > CORNER)]


def _to_polyline(points: FloatArray, line: FloatArray) -> FloatArray:
    """Distances of points (n, 3) from a polyline (k, 3), (n,)."""
    starts, steps = line[:-1], np.diff(line, axis=0)
    squares = np.maximum(np.einsum("kj,kj->k", steps, steps), 1e-300)
    along = np.einsum("nkj,kj->nk", points[:, None] - starts, steps) / squares
    nearest = starts + np.clip(along, 0.0, 1.0)[:, :, None] * steps
    return np.asarray(np.linalg.norm(points[:, None] - nearest, axis=2).min(axis=1))


def velocity_figures(rows: Attained, command: FloatArray, speed: float) -> Iterator[Figure]:
    """AV, RV and FV on the middle part of the way, against the commanded speed, m/s."""
    if rows.times is None or not speed > 0.0:
        return
    steps = np.diff(command, axis=0)
    total = float(np.linalg.norm(steps, axis=1).sum())
    means, ranges = [], []
    for own, places in _cycles(rows):
        clock = rows.times[own]
        lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
        way = np.concatenate([[0.0], np.cumsum(lengths)])
        middle = (way > (0.5 - CONSTANT / 2) * total) & (way < (0.5 + CONSTANT / 2) * total)
        index = np.flatnonzero(middle)
        if len(index) < 3 or not (np.diff(clock[index]) > 0).all():
            continue
        speeds = np.gradient(way[index], clock[index])
        means.append(float((way[index[-1]] - way[index[0]]) / (clock[index[-1]] - clock[index[0]])))
        ranges.append(float(speeds.max() - speeds.min()))
    if not means:
        return
    given = Counted("path", len(means), PATH_CYCLES)
    relative = np.array(means) / speed
    accuracy = mean_interval(relative - 1.0)
    scatter = spread_interval(relative)
    yield figure("AV", "path velocity accuracy", accuracy, "1", given)
    yield figure("RV", "path velocity repeatability", scatter, "1", given)
    fluctuation = largest_of_cycles(np.array(ranges), least=0.0)
    yield figure("FV", "path velocity fluctuation", fluctuation, "m/s", given)
