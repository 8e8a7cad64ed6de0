"""Monte Carlo: draw a robot within its tolerances, measure it with noise, calibrate, judge; again.

Every run has random numbers of its own, made from the seed of the study and the number of the run.
So it is the same run on any machine, in any order, with any number of workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.alignment import compare
from theodolite.calibration.calibrate import identifiable, identify
from theodolite.calibration.method import Gauge, Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.simulation import simulate
from theodolite.errors import InputError, TheodoliteError, bounded
from theodolite.estimation.descent import Status
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.statistics import NORMAL_95
from theodolite.model.machine import Machine
from theodolite.model.many_chains import tips
from theodolite.model.parameters import Unit
from theodolite.model.robot import Robot
from theodolite.studies.many_fits import check_fits, fit_many

#: Configurations at which a calibrated robot is compared with the true one.
COMPARED = 50
#: What a run says when it could not be calibrated at all.
REFUSED, BUG = "refused", "bug"
#: Columns of every study, before those of the parameters.
COLUMNS = ("run", "status", "why", "good", "iterations", "before_m", "after_m", "rms")
#: No reason is kept longer.
LONGEST = 200


@dataclass(frozen=True, eq=False)
class Study:
    """What is drawn, measured and calibrated, over and over."""

    robot: Machine
    method: Method
    points: int
    noise: Noise
    gains: bool = False
    per_set: int = 4
    #: How large errors are drawn, in tolerances.
    part: float = 1.0
    seed: int = 0
    #: Fits without checks and verdicts, many at a time.
    fit_only: bool = False

    def __post_init__(self) -> None:
        if self.fit_only:
            check_fits(self.robot, self.method, self.noise)
        if self.points < 1:
            raise InputError(f"{self.points} points", allowed="1 or more")
        if not (np.isfinite(self.part) and self.part >= 0):
            raise InputError(f"errors of {self.part} tolerances", allowed="0 or more")

    @cached_property
    def known(self) -> Identifiability:
        """What the method determines of the nominal robot."""
        return identifiable(self.robot, self.method, gains=self.gains)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The robot's own parameters among the base ones: those whose truth is drawn."""
        own = {parameter.name for parameter in self.robot.parameters}
        return tuple(name for name in self.known.identifiable if name in own)

    @property
    def units(self) -> dict[str, Unit]:
        return {p.name: p.unit for p in self.robot.parameters if p.name in self.names}

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns: error and half-width of the interval of each parameter come last."""
        of_parameters = [f"{what}:{name}" for name in self.names for what in ("error", "width")]
        return (*COLUMNS, *of_parameters)

    def drawn(self, rng: np.random.Generator) -> Machine:
        """A robot whose base parameters are off by what all errors they stand for add up to.

        The others stay: relations between parameters are exact for small errors alone, and what a
        parameter is said to be could not be compared with anything otherwise.
        """
        known = self.known
        tolerances = np.array([parameter.tolerance for parameter in known.parameters])
        tolerances = np.where(np.isfinite(tolerances), tolerances, 0.0)
        errors = self.part * tolerances * rng.standard_normal(len(tolerances))
        sums = errors[known.base] + known.relations @ errors[known.regrouped]
        off = dict(zip(known.identifiable, sums.tolist(), strict=True))
        return self.robot.with_values(
            {p.name: p.value + off[p.name] for p in self.robot.parameters if p.name in self.names}
        )

    def run(self, number: int) -> dict[str, float | int | str]:
        """One run: a row of the study."""
        rng = np.random.default_rng([self.seed, number])
        row: dict[str, float | int | str] = dict.fromkeys(self.columns, float("nan"))
        row |= {"run": number, "status": REFUSED, "why": "", "good": 0, "iterations": 0}
        true = self.drawn(rng)
        try:
            data = simulate(
                true,
                self.method,
                points=self.points,
                rng=rng,
                noise=self.noise,
                per_set=self.per_set,
            )
            result = identify(
                self.robot,
                data,
                self.method,
                noise=self.noise,
                gains=self.gains,
                terms=(),
                hold_out=0.0,
            )
        except TheodoliteError as error:
            # Such as a drawn robot that cannot touch what it should.
            return row | {"why": bounded(str(error), LONGEST)}
        except (np.linalg.LinAlgError, ArithmeticError, ValueError) as error:
            # A defect of ours in one run must not cost the others.
            why = bounded(f"{type(error).__name__}: {error}", LONGEST)
            return row | {"status": BUG, "why": why}
        row |= {
            "status": result.status.name.lower(),
            "good": int(result.good),
            "iterations": len(result.trace) - 1,
            "rms": result.statistics.sigma,
        }
        gauge = self.method.gauge
        if gauge is not Gauge.LENGTHS:
            for column, robot in (("before_m", self.robot), ("after_m", result.robot)):
                fresh = np.random.default_rng([self.seed, number, 1])
                apart = compare(robot, true, gauge, fresh, configurations=COMPARED)
                row[column] = float(np.sqrt(np.mean(apart**2)))
        truth = {p.name: p.value for p in true.parameters}
        if set(self.known.base) != set(result.identifiability.base):
            # Other base parameters stand for other sums, which nobody drew.
            return row
        for name in self.names:
            estimate = result.estimate(name)
            if estimate.interval is not None:
                row[f"error:{name}"] = estimate.identified - truth[name]
                row[f"width:{name}"] = estimate.interval
        return row

    def fits(self, numbers: Sequence[int]) -> list[dict[str, float | int | str]]:
        """Many runs at once, of fits alone; what is not converged is not good."""
        assert isinstance(self.robot, Robot)
        generators = [np.random.default_rng([self.seed, number]) for number in numbers]
        truths = [self.drawn(rng) for rng in generators]
        data = [
            simulate(true, self.method, points=self.points, rng=rng, noise=self.noise)
            for true, rng in zip(truths, generators, strict=True)
        ]
        from scipy.special import stdtrit

        found = fit_many(self.robot, data, self.method, self.known, self.noise)
        truth = np.stack([true.values for true in truths])
        before, after = self._missed(numbers, found.values, truth)
        names = [parameter.name for parameter in self.robot.parameters]
        columns = [names.index(name) for name in self.known.identifiable]
        widths = found.stderr * stdtrit(np.maximum(found.degrees, 1), 0.975)[:, None]
        rows = []
        for place, number in enumerate(numbers):
            good = bool(found.converged[place])
            status = Status.CONVERGED if good else Status.ITERATION_LIMIT
            row: dict[str, float | int | str] = {
                "run": number,
                "status": status.name.lower(),
                "why": "",
                "good": int(good),
                "iterations": int(found.steps[place]),
                "before_m": float(before[place]),
                "after_m": float(after[place]),
                "rms": float(found.rms[place]),
            }
            for which, column in enumerate(columns):
                error = found.values[place, column] - truth[place, column]
                row[f"error:{names[column]}"] = float(error) if good else float("nan")
                row[f"width:{names[column]}"] = float(widths[place, which])
            rows.append(row)
        return rows

    def _missed(
        self, numbers: Sequence[int], values: FloatArray, truth: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Root mean square distances of the tips, nominal and fitted, on fresh configurations."""
        assert isinstance(self.robot, Robot)
        robot = self.robot
        fresh = [np.random.default_rng([self.seed, number, 1]) for number in numbers]
        basis = np.stack([robot.basis(robot.random_motors(COMPARED, rng)) for rng in fresh])
        chain = robot.chains[0]
        wanted = tips(chain, truth, basis).positions
        nominal = np.tile(robot.values, (len(truth), 1))
        before, after = (
            np.sqrt(((tips(chain, some, basis).positions - wanted) ** 2).sum(axis=2).mean(axis=1))
            for some in (nominal, values)
        )
        return before, after


@dataclass(frozen=True, eq=False)
class Piece:
    """Some runs of a study, for one worker."""

    study: Study
    numbers: Sequence[int]


def rows_of(piece: Piece) -> list[dict[str, float | int | str]]:
    """The rows of some runs."""
    if piece.study.fit_only:
        return piece.study.fits(piece.numbers)
    return [piece.study.run(number) for number in piece.numbers]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a study shows so far."""

    runs: int
    #: How often each status came out, and each reason why there was no result.
    statuses: dict[str, int]
    reasons: dict[str, int]
    good: int
    #: Root mean square distance of tips on fresh configurations, metres, (compared runs,).
    before: FloatArray
    after: FloatArray
    names: tuple[str, ...]
    #: How often the truth was within each parameter's interval, and in how many runs it could be.
    inside: FloatArray
    counted: FloatArray
    #: Root mean squares of the errors, and of the standard deviations that the intervals state.
    errors: FloatArray
    stated: FloatArray

    @property
    def coverage(self) -> float:
        """Part of all intervals that hold the truth."""
        return float((self.inside * self.counted).sum() / max(float(self.counted.sum()), 1.0))


def outcome(parts: Iterable[Mapping[str, Sequence[Any]]]) -> Outcome:
    """What the rows of a study, by column and part by part, add up to."""
    sums = _Sums()
    for columns in parts:
        sums.add(columns)
    return sums.outcome()


class _Sums:
    """All that is kept of the rows: two distances of each run, and sums over the runs."""

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.runs = self.good = 0
        self.before: list[FloatArray] = [np.empty(0)]
        self.after: list[FloatArray] = [np.empty(0)]
        self.names: tuple[str, ...] = ()
        #: Runs counted, truths inside, squares of errors and of half-widths, of each parameter.
        self.sums: FloatArray = np.zeros((4, 0))

    def add(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self.statuses.update(map(str, columns["status"]))
        self.reasons.update(str(why) for why in columns["why"] if why)
        if not self.names:
            self.names = tuple(c.removeprefix("error:") for c in columns if c.startswith("error:"))
            self.sums = np.zeros((4, len(self.names)))

        def numbers(name: str) -> FloatArray:
            return np.array(columns[name], dtype=np.float64)

        after = numbers("after_m")
        compared = np.isfinite(after)
        self.runs += len(after)
        self.good += int(numbers("good").sum())
        self.before.append(numbers("before_m")[compared])
        self.after.append(after[compared])
        for place, name in enumerate(self.names):
            error, width = numbers(f"error:{name}"), numbers(f"width:{name}")
            there = np.isfinite(error)
            error, width = error[there], width[there]
            inside = float((np.abs(error) <= width).sum())
            squares = float(error @ error), float(width @ width)
            self.sums[:, place] += (float(len(error)), inside, *squares)

    def outcome(self) -> Outcome:
        counted, inside, errors, widths = self.sums
        some = np.maximum(counted, 1.0)
        return Outcome(
            runs=self.runs,
            statuses=dict(self.statuses.most_common()),
            reasons=dict(self.reasons.most_common()),
            good=self.good,
            before=np.concatenate(self.before),
            after=np.concatenate(self.after),
            names=self.names,
            inside=inside / some,
            counted=counted,
            errors=np.sqrt(errors / some),
            stated=np.sqrt(widths / some) / NORMAL_95,
        )
