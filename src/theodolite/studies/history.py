"""One robot over time: how its parameters moved from calibration to calibration, and when.

A parameter that stayed the same scatters by its standard errors. Where it does not, the day between
two calibrations that splits its history best is a change point, and so on in both parts; unless a
straight line explains it better, which is a drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.result import Result
from theodolite.errors import InputError
from theodolite.model.parameters import Unit

#: Rate of false alarms over all parameters of a history.
ALARMS = 0.05
#: Of a year; and so many different ones show a trend.
DAYS, FEWEST_DAYS = 365.25, 3


@dataclass(frozen=True, eq=False)
class Moment:
    """One calibration of the robot."""

    name: str
    when: date
    result: Result
    #: The time of day, as far as it is known; several calibrations of one day are in its order.
    time: str = ""


@dataclass(frozen=True, eq=False)
class Change:
    """A parameter that is another one from some calibration on."""

    parameter: str
    unit: Unit
    #: The last calibration before, and the first one after.
    before: Moment
    after: Moment
    size: float
    stderr: float
    #: How likely chance alone makes such a change somewhere in the history of this parameter.
    chance: float


@dataclass(frozen=True, eq=False)
class Trend:
    """How fast a parameter moves, if it moves evenly: per year of 365.25 days."""

    slope: float
    stderr: float
    #: How likely chance alone makes a slope like this.
    chance: float
    #: Is it beyond chance, and a better explanation than a sudden change?
    drifts: bool


@dataclass(frozen=True, eq=False)
class Trace:
    """One parameter over time."""

    name: str
    unit: Unit
    values: FloatArray
    stderr: FloatArray
    #: Half-widths of the intervals.
    widths: FloatArray
    #: None from fewer than three different days.
    trend: Trend | None = None


@dataclass(frozen=True, eq=False)
class History:
    """A robot's calibrations in their order."""

    moments: tuple[Moment, ...]
    traces: tuple[Trace, ...]
    changes: tuple[Change, ...]
    #: Parameters that do not stand for the same in all calibrations.
    skipped: tuple[str, ...]


def history(moments: Sequence[Moment]) -> History:
    """What happened to a robot."""
    order = sorted(moments, key=lambda moment: (moment.when, moment.time, moment.name))
    if not order:
        raise InputError(
            "there are no calibrations", remedy="Save the result of each calibration and add it"
        )
    for moment in order[1:]:
        check_same_robot(order[0], moment)
    traces, skipped = _traces(order)
    # Drifts and changes of all parameters share the false alarms.
    alarms = ALARMS / max(2 * len(traces), 1)
    traces = tuple(replace(trace, trend=_trend(trace, order, alarms)) for trace in traces)
    changes = [
        change
        for trace in traces
        if trace.trend is None or not trace.trend.drifts
        for change in _changes(trace, order, alarms)
    ]
    changes.sort(key=lambda change: (change.after.when, change.chance))
    return History(tuple(order), traces, tuple(changes), skipped)


def check_same_robot(one: Moment, other: Moment) -> None:
    """Refuse two calibrations that are not of the same nominal robot."""
    first, second = one.result.nominal, other.result.nominal
    places = {p.name for p in (*first.parameters, *second.parameters) if p.places or p.term}
    values = [
        {p.name: p.value for p in robot.parameters if p.name not in places}
        for robot in (first, second)
    ]
    # Terms and gains may be in one of them only.
    shared = values[0].keys() & values[1].keys()
    alike = all(np.isclose(values[0][n], values[1][n], rtol=1e-9, atol=1e-12) for n in shared)
    if first.joint_types != second.joint_types or not alike:
        raise InputError(
            f"'{other.name}' is a calibration of another robot than '{one.name}'",
            allowed="calibrations that started from the same nominal robot",
            remedy="Keep the history of each robot in a folder of its own",
        )


def _traces(order: Sequence[Moment]) -> tuple[tuple[Trace, ...], tuple[str, ...]]:
    """Parameters that every calibration has identified, as the same sum."""
    known = [{one.name: one for one in moment.result.estimates} for moment in order]
    traces, skipped = [], []
    for name, first in known[0].items():
        some = [one.get(name) for one in known]
        found = [one for one in some if one is not None and one.stderr is not None]
        if not any(one is not None and one.stderr is not None for one in some):
            continue
        same = {frozenset(one.stands_for) for one in found}
        if len(found) < len(order) or len(same) > 1:
            skipped.append(name)
            continue
        traces.append(
            Trace(
                name,
                first.unit,
                np.array([one.identified for one in found]),
                np.array([one.stderr for one in found], dtype=np.float64),
                np.array([one.interval for one in found], dtype=np.float64),
            )
        )
    return tuple(traces), tuple(skipped)


def _trend(trace: Trace, order: Sequence[Moment], alarms: float) -> Trend | None:
    """A line through a parameter's values, weighted by their standard errors."""
    from scipy.special import erfc

    years = np.array([moment.when.toordinal() for moment in order]) / DAYS
    if len(set(years.tolist())) < FEWEST_DAYS:
        return None
    weights = 1.0 / np.maximum(trace.stderr, np.finfo(float).tiny) ** 2
    centred = years - weights @ years / weights.sum()
    stderr = float(1.0 / np.sqrt(weights @ centred**2))
    slope = float(weights @ (centred * trace.values)) * stderr**2
    size = abs(slope) / stderr
    chance = float(erfc(size / np.sqrt(2.0)))
    steps = (_step(trace, 0, middle, len(order)) for middle in range(1, len(order)))
    sudden = max(abs(step) / error for step, error in steps)
    return Trend(slope, stderr, chance, chance <= alarms and size > sudden)


def _changes(trace: Trace, order: Sequence[Moment], alarms: float) -> list[Change]:
    """Binary segmentation: the best split, then both parts."""
    from scipy.special import erfc

    found: list[Change] = []

    def split(first: int, last: int) -> None:
        if last - first < 2:
            return
        best = None
        for middle in range(first + 1, last):
            size, stderr = _step(trace, first, middle, last)
            if best is None or abs(size) / stderr > abs(best[1]) / best[2]:
                best = middle, size, stderr
        assert best is not None
        middle, size, stderr = best
        # The best of several splits.
        chance = float((last - first - 1) * erfc(abs(size) / stderr / np.sqrt(2.0)))
        if chance > alarms:
            return
        found.append(
            Change(
                trace.name,
                trace.unit,
                order[middle - 1],
                order[middle],
                size,
                stderr,
                min(chance, 1.0),
            )
        )
        split(first, middle)
        split(middle, last)

    split(0, len(order))
    return found


def _step(trace: Trace, first: int, middle: int, last: int) -> tuple[float, float]:
    """How much larger the mean of the second part is, and its standard error."""
    means, variances = [], []
    for part in (slice(first, middle), slice(middle, last)):
        weights = 1.0 / np.maximum(trace.stderr[part], np.finfo(float).tiny) ** 2
        means.append(float(weights @ trace.values[part] / weights.sum()))
        variances.append(1.0 / float(weights.sum()))
    return means[1] - means[0], float(np.sqrt(sum(variances)))
