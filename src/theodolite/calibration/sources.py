"""Several sources in one calibration: each with its method, its unknowns and its noise.

All of them see the same robot. Together they are one problem over the robot's parameters and the
unknowns of every source, so choosing, solving and judging need nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from theodolite.arrays import BoolArray, IntArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.joined_problem import JoinedNoise, JoinedProblem, Part
from theodolite.calibration.method import Method, Start, Started, rms_error
from theodolite.calibration.noise import Noise
from theodolite.calibration.placement import ELSEWHERE
from theodolite.calibration.targets import aimed
from theodolite.errors import InputError
from theodolite.model.machine import Machine


@dataclass(frozen=True, eq=False)
class Source:
    """Measurements of one kind: what was recorded, and how."""

    data: Dataset
    method: Method
    #: None: as large as the residuals show.
    noise: Noise | None = None
    #: By default that of the data.
    name: str = ""
    #: Which of the robot's targets touches, for methods that measure no positions.
    target: str | None = None


class JoinedData(Dataset):
    """The measurements of several sources, one after the other."""

    parts: tuple[Dataset, ...]

    def __init__(self, parts: Sequence[Dataset]) -> None:
        widths = {part.motors.shape[1] for part in parts}
        if len(widths) > 1:
            raise InputError(
                f"the sources have {' and '.join(map(str, sorted(widths)))} joints",
                where=", ".join(part.name for part in parts),
                remedy="Sources of one calibration are of one robot",
            )
        names: list[str] = []
        files = []
        for part in parts:
            numbers = np.zeros(len(part), dtype=np.intp) if part.file is None else part.file
            files.append(numbers + len(names))
            names += part.files or (part.name,)
        shared = set(parts[0].columns).intersection(*(part.columns for part in parts))
        super().__init__(
            np.concatenate([part.motors for part in parts]),
            lines=np.concatenate(
                [np.arange(1, len(p) + 1) if p.lines is None else p.lines for p in parts]
            ),
            file=np.concatenate(files),
            files=names,
            name=", ".join(part.name for part in parts),
            columns={
                name: np.concatenate([part.columns[name] for part in parts])
                for name in parts[0].columns
                if name in shared
            },
        )
        object.__setattr__(self, "parts", tuple(parts))

    @property
    def starts(self) -> list[int]:
        """Where each part begins."""
        sizes = [len(part) for part in self.parts]
        return [0, *np.cumsum(sizes)[:-1].tolist()]

    def each(self, change: Callable[[Dataset], Dataset]) -> JoinedData:
        return JoinedData([change(part) for part in self.parts])

    def take(self, rows: IntArray) -> JoinedData:
        """Some of the rows, in the order of the sources."""
        return JoinedData(
            [
                part.take(rows[(rows >= start) & (rows < start + len(part))] - start)
                for part, start in zip(self.parts, self.starts, strict=True)
            ]
        )

    def drawn(self, part: float, rng: np.random.Generator) -> tuple[BoolArray, int]:
        """Of every source the same part."""
        drawn = [one.drawn(part, rng) for one in self.parts]
        return np.concatenate([rows for rows, _ in drawn]), sum(groups for _, groups in drawn)

    def groups(self) -> IntArray:
        return _numbered([part.groups() for part in self.parts])

    def kept_together(self) -> IntArray:
        return _numbered([part.kept_together() for part in self.parts])


def _numbered(parts: Sequence[IntArray]) -> IntArray:
    """Groups of several parts, numbered one after the other; what is in none (-1) stays so."""
    found: list[IntArray] = []
    number = 0
    for groups in parts:
        found.append(np.where(groups < 0, groups, groups + number))
        number += int(groups.max(initial=-1)) + 1
    return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class Joined(Method):
    """Several methods at once; their data are ``JoinedData`` in the same order."""

    name: ClassVar[str] = "joined"
    title: ClassVar[str] = "several sources together"

    sources: tuple[Source, ...]

    @property
    def _names(self) -> list[str]:
        """What the sources are called: no two the same."""
        plain = [source.name or source.data.name for source in self.sources]
        with_method = [
            f"{name} ({source.method.name})" if plain.count(name) > 1 else name
            for name, source in zip(plain, self.sources, strict=True)
        ]
        return [
            f"{name} {with_method[: place + 1].count(name)}"
            if with_method.count(name) > 1
            else name
            for place, name in enumerate(with_method)
        ]

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> JoinedProblem:
        assert isinstance(data, JoinedData)
        noises = noise.parts if isinstance(noise, JoinedNoise) else (noise,) * len(self.sources)
        parts = [
            Part(
                source.method.problem(_aimed(robot, source), part, noise=own, gains=gains),
                source.method.name,
                name,
                start,
                place,
            )
            for place, (source, part, own, name, start) in enumerate(
                zip(self.sources, data.parts, noises, self._names, data.starts, strict=True)
            )
            if len(part)
        ]
        return JoinedProblem(robot, data, parts, JoinedNoise.of(noises))

    def noise_for(self, robot: Machine, given: Noise | None) -> Noise:
        return JoinedNoise.of(
            [source.method.noise_for(robot, source.noise or given) for source in self.sources]
        )

    def start(self, robot: Machine, data: Dataset, start: Start) -> Started:
        """Placed by the first source that says where the robot stands; the others are checked."""
        assert isinstance(data, JoinedData)
        pairs = list(zip(self.sources, data.parts, strict=True))
        first = next((pair for pair in pairs if pair[0].method.places), pairs[0])
        placed, moved, own = first[0].method.start(_aimed(robot, first[0]), first[1], start)
        methods = {id(first[0]): own}
        for source, part in pairs:
            if source is first[0]:
                continue
            if source.method.places and start is not Start.NOMINAL:
                _check_same_frame(placed, source, part)
            elif not source.method.places:
                how = Start.NOMINAL if start is Start.NOMINAL else Start.AUTO
                started = source.method.start_beside(_aimed(placed, source), part, how)
                methods[id(source)] = started.method
        sources = tuple(
            replace(source, method=methods.get(id(source), source.method))
            for source in self.sources
        )
        return Started(placed, moved, replace(self, sources=sources))

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 4
    ) -> Dataset:
        return JoinedData(
            [
                source.method.observe(
                    _aimed(robot, source),
                    source.method.points_for(robot),
                    rng,
                    per_set=per_set,
                ).of_targets(source.data)
                for source in self.sources
            ]
        )

    def points_for(self, robot: Machine) -> int:
        return sum(source.method.points_for(robot) for source in self.sources)

    def with_extras(self, extras: Mapping[str, Any]) -> Joined:
        return replace(
            self,
            sources=tuple(
                replace(source, name=name, method=source.method.with_extras(extras.get(name, {})))
                for source, name in zip(self.sources, self._names, strict=True)
            ),
        )


def join(sources: Sequence[Source]) -> tuple[Dataset, Method]:
    """Sources as one set of data with one method; a single one needs no others."""
    if len(sources) == 1 and sources[0].target is None and sources[0].noise is None:
        return sources[0].data, sources[0].method
    return JoinedData([source.data for source in sources]), Joined(tuple(sources))


def _aimed(robot: Machine, source: Source) -> Machine:
    return aimed(robot, source.target, source.data.name)


def _check_same_frame(robot: Machine, source: Source, data: Dataset) -> None:
    """Refuse positions in another frame than those that placed the robot."""
    error = rms_error(source.method, robot, data)
    if error > ELSEWHERE * robot.reach() > 0.0:
        raise InputError(
            f"the positions are {1e3 * error:.0f} mm (rms) from where the other sources say the "
            "robot stands",
            where=data.name,
            remedy="If the sensor stood elsewhere, say so with a column session",
        )
