"""An order of visit that takes little time."""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray, IntArray

#: Rounds of turning round parts of the tour.
ROUNDS = 40


def visiting_order(readings: FloatArray, speeds: FloatArray) -> IntArray:
    """The rows of a tour: always to the nearest, then parts turned round where that is shorter.

    A move takes as long as its slowest joint.
    """
    count = len(readings)
    if count < 3:
        return np.arange(count)
    scaled = readings / speeds
    times = np.abs(scaled[:, None] - scaled).max(axis=2)
    left = set(range(1, count))
    tour = [0]
    while left:
        nearest = min(left, key=lambda one: times[tour[-1], one])
        tour.append(nearest)
        left.remove(nearest)
    order = np.array(tour)
    for _ in range(ROUNDS):
        if not _turned_round(order, times):
            break
    return order


def _turned_round(order: IntArray, times: FloatArray) -> bool:
    """Turn parts of the tour round where that saves time; was there any?"""
    better = False
    count = len(order)
    for first in range(count - 2):
        here = order[first]
        ends, beyond = order[first + 2 :], np.append(order[first + 3 :], -1)
        now = times[here, order[first + 1]] + np.where(beyond >= 0, times[ends, beyond], 0.0)
        then = times[here, ends] + np.where(beyond >= 0, times[order[first + 1], beyond], 0.0)
        saved = now - then
        best = int(np.argmax(saved))
        if saved[best] > 1e-9:
            last = first + 2 + best
            order[first + 1 : last + 1] = order[first + 1 : last + 1][::-1]
            better = True
    return better


def travel_time(readings: FloatArray, speeds: FloatArray) -> float:
    """How long the moves between the rows take, one after the other."""
    if len(readings) < 2:
        return 0.0
    return float(np.abs(np.diff(readings, axis=0) / speeds).max(axis=1).sum())
