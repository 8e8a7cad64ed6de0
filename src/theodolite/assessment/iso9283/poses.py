"""Pose accuracy and repeatability, and what is made of them: directions, distances, drift."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.assessment.iso9283.attained import Attained
from theodolite.assessment.iso9283.figures import (
    Counted,
    Figure,
    Interval,
    change,
    figure,
    greatest_size,
    largest,
    largest_of_cycles,
    length_interval,
    mean_interval,
    repeatability_interval,
    spread_interval,
)

#: Cycles that the standard asks for.
POSE_CYCLES, DISTANCE_CYCLES, DIRECTION_CYCLES, DRIFT_CYCLES = 30, 30, 30, 10
SETTLING_CYCLES = 3
#: Directions of approach that it asks for.
DIRECTIONS = 3
#: The last part of a motion in which a robot counts as standing.
STANDING = 0.1


def pose_figures(rows: Attained) -> Iterator[Figure]:
    """AP and RP of each pose: positions and angles."""
    for label in rows.labels:
        part = rows.at(label)
        count = len(part)
        given = Counted(label, count, POSE_CYCLES)
        yield figure("AP_p", "pose accuracy, position", length_interval(part.off), "m", given)
        for axis, values in zip("xyz", part.off.T, strict=True):
            yield figure(f"AP_{axis}", f"along {axis}", mean_interval(values), "m", given)
        yield figure(
            "RP_l", "pose repeatability", repeatability_interval(part.positions), "m", given
        )
        if part.turned is not None:
            for angle, values in zip("abc", part.turned.T, strict=True):
                about = f"about {'xyz'['abc'.index(angle)]}"
                yield figure(
                    f"AP_{angle}", f"accuracy {about}", mean_interval(values), "rad", given
                )
                yield figure(
                    f"RP_{angle}", f"repeatability {about}", spread_interval(values), "rad", given
                )


def direction_figures(rows: Attained) -> Iterator[Figure]:
    """vAP: how far apart the barycentres of several directions of approach are."""
    if rows.direction is None:
        return
    for label in rows.labels:
        part = rows.at(label)
        assert part.direction is not None
        ways = [np.flatnonzero(part.direction == way) for way in np.unique(part.direction)]
        if len(ways) < 2:
            continue
        count = min(len(way) for way in ways)
        where, seen = label, count
        if len(ways) < DIRECTIONS:
            where, seen = f"{label}, {len(ways)} of {DIRECTIONS} directions", 0
        given = Counted(where, seen, DIRECTION_CYCLES)
        pairs = list(combinations([way[:count] for way in ways], 2))
        name = "multi-directional pose accuracy variation"

        def apart(
            pair: int,
            confidence: float,
            pairs: Sequence[tuple[IntArray, IntArray]] = pairs,
            positions: FloatArray = part.positions,
        ) -> Interval:
            one, other = pairs[pair]
            return length_interval(positions[one] - positions[other], confidence)

        yield figure("vAP_p", name, largest(apart, len(pairs)), "m", given)
        if part.turned is None:
            continue
        for angle, values in zip("abc", part.turned.T, strict=True):

            def turned_apart(
                pair: int,
                confidence: float,
                pairs: Sequence[tuple[IntArray, IntArray]] = pairs,
                values: FloatArray = values,
            ) -> Interval:
                one, other = pairs[pair]
                return greatest_size(mean_interval(values[one] - values[other], confidence))

            yield figure(f"vAP_{angle}", name, largest(turned_apart, len(pairs)), "rad", given)


def distance_figures(rows: Attained) -> Iterator[Figure]:
    """AD and RD between the two poses of the test."""
    labels = rows.labels
    if len(labels) != 2:
        return
    one, other = (rows.at(label) for label in labels)
    shared = np.intersect1d(one.cycle, other.cycle)
    if not len(shared):
        return
    first, second = (
        part.take(np.array([int(np.flatnonzero(part.cycle == c)[0]) for c in shared]))
        for part in (one, other)
    )
    given = Counted(f"{labels[0]}-{labels[1]}", len(shared), DISTANCE_CYCLES)
    way, wanted = second.positions - first.positions, second.commanded - first.commanded
    lengths = np.linalg.norm(way, axis=1) - np.linalg.norm(wanted, axis=1)
    yield figure("AD_p", "distance accuracy", mean_interval(lengths), "m", given)
    yield figure("RD_p", "distance repeatability", spread_interval(lengths), "m", given)
    for axis, values in zip("xyz", (np.abs(way) - np.abs(wanted)).T, strict=True):
        yield figure(f"AD_{axis}", f"accuracy along {axis}", mean_interval(values), "m", given)
        yield figure(
            f"RD_{axis}", f"repeatability along {axis}", spread_interval(values), "m", given
        )
    if first.turned is not None and second.turned is not None:
        for angle, values in zip("abc", (second.turned - first.turned).T, strict=True):
            about = f"about {'xyz'['abc'.index(angle)]}"
            yield figure(f"AD_{angle}", f"accuracy {about}", mean_interval(values), "rad", given)
            yield figure(
                f"RD_{angle}", f"repeatability {about}", spread_interval(values), "rad", given
            )


def drift_figures(rows: Attained) -> Iterator[Figure]:
    """dAP and dRP over groups of cycles that were run one after the other."""
    for label in rows.labels:
        part = rows.at(label)
        groups = [part.take(np.asarray(part.block == block)) for block in _blocks(part)]
        if len(groups) < 2:
            continue
        count = min(len(group) for group in groups)
        given = Counted(label, count, DRIFT_CYCLES)
        first, *later = (group.take(np.arange(count)) for group in groups)
        for symbol, name, interval in (
            ("dAP_p", "drift of pose accuracy", _change(_accuracy, first, later)),
            ("dRP_l", "drift of pose repeatability", _change(_scatter, first, later)),
            ("drift", "largest shift of the barycentre", _shift(first, later)),
        ):
            yield figure(symbol, name, largest(interval, len(later)), "m", given)


def _accuracy(block: Attained, confidence: float) -> Interval:
    return length_interval(block.off, confidence)


def _scatter(block: Attained, confidence: float) -> Interval:
    return repeatability_interval(block.positions, confidence)


def _change(
    measure: Callable[[Attained, float], Interval], first: Attained, later: Sequence[Attained]
) -> Callable[[int, float], Interval]:
    """How far a figure of each later block is from that of the first."""

    def interval(block: int, confidence: float) -> Interval:
        return change(measure(later[block], confidence), measure(first, confidence))

    return interval


def _shift(first: Attained, later: Sequence[Attained]) -> Callable[[int, float], Interval]:
    """How far the barycentre of each later block is from that of the first."""

    def interval(block: int, confidence: float) -> Interval:
        return length_interval(later[block].positions - first.positions, confidence)

    return interval


def _blocks(rows: Attained) -> list[int]:
    return [] if rows.block is None else list(dict.fromkeys(rows.block.tolist()))


def settling_figures(rows: Attained, band: float) -> Iterator[Figure]:
    """Stabilisation time and overshoot of motions that end in a pose, against a band about it."""
    if rows.times is None:
        return
    for label in rows.labels:
        part = rows.at(label)
        assert part.times is not None
        times, overshoots = [], []
        for cycle in np.unique(part.cycle):
            own = part.cycle == cycle
            order = np.argsort(part.times[own], kind="stable")
            clock, places = part.times[own][order], part.positions[own][order]
            last = max(int(np.ceil(STANDING * len(places))), 1)
            settled = _settling(clock, places - places[-last:].mean(axis=0), band)
            if settled is not None:
                times.append(settled[0])
                overshoots.append(settled[1])
        if times:
            given = Counted(label, len(times), SETTLING_CYCLES)
            longest = largest_of_cycles(np.array(times), least=0.0)
            yield figure("t", "stabilisation time, longest", longest, "s", given)
            # Within the band nothing is overshoot.
            worst, low, high = (
                0.0 if end <= band else end for end in largest_of_cycles(np.array(overshoots))
            )
            yield figure("OV", "overshoot, largest", (worst, low, high), "m", given)


def _settling(clock: FloatArray, away: FloatArray, band: float) -> tuple[float, float] | None:
    """Time from the first entry into a ball about the end to the last, and the way out of it.

    Between samples the way is straight, so that a band which is crossed from one sample to the
    next is entered, too. None where it is never entered.
    """
    steps = np.diff(away, axis=0)
    squares = np.maximum(np.einsum("ni,ni->n", steps, steps), np.finfo(float).tiny)
    nearest = -np.einsum("ni,ni->n", away[:-1], steps) / squares
    missed = np.linalg.norm(away[:-1] + nearest[:, None] * steps, axis=1)
    # Where the line of a step enters the ball, as a part of the step.
    part = nearest - np.sqrt(np.maximum(band**2 - missed**2, 0.0) / squares)
    outside = np.linalg.norm(away, axis=1) > band
    entered = np.flatnonzero(outside[:-1] & (missed <= band) & (part >= 0.0) & (part <= 1.0))
    if outside[0] and not len(entered):
        return None
    first = int(entered[0]) if outside[0] else -1
    crossing = clock[:-1] + part * np.diff(clock)
    begin = float(crossing[first]) if first >= 0 else float(clock[0])
    again = entered[entered > first]
    end = float(crossing[again[-1]]) if len(again) else begin
    beyond = float(np.linalg.norm(away[first + 1 :], axis=1).max())
    return end - begin, beyond
