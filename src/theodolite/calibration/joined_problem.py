"""The least-squares problem of several sources: their blocks under one another.

The noise of each source is a variance component. Helmert's estimate of it is the mean square of the
source's residuals, where the mean is taken over its redundancy: its rows less the part of the
parameters that it determines. The weights follow, and the problem is solved again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import CalibrationProblem
from theodolite.calibration.noise import Noise
from theodolite.calibration.quantities import Displacements, are_exact, of_source
from theodolite.calibration.weights import SETTLED, Share
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Block, Problem
from theodolite.estimation.reduction import Reduction, reduce
from theodolite.estimation.solver import Solution
from theodolite.estimation.statistics import Statistics, estimate_factor, statistics
from theodolite.model.machine import Machine
from theodolite.model.parameters import Parameter

#: Redundancy below which a source says nothing about its own noise.
TOO_LITTLE = 1.0


@dataclass(frozen=True, repr=False)
class JoinedNoise(Noise):
    """The noise of each source. As a whole it is that of the first."""

    parts: tuple[Noise, ...] = ()

    @staticmethod
    def of(parts: Sequence[Noise]) -> JoinedNoise:
        first = parts[0]
        return JoinedNoise(
            position=first.position,
            orientation=first.orientation,
            joint=first.joint,
            slide=first.slide,
            pixel=first.pixel,
            known=all(part.known for part in parts),
            parts=tuple(parts),
        )


@dataclass(frozen=True, eq=False)
class Part:
    """The problem of one source."""

    problem: CalibrationProblem
    method: str
    name: str
    #: Number of its first row among all rows, and its own number among the sources.
    first_row: int
    place: int

    def parameters(self) -> Iterator[Parameter]:
        """Those of the robot as they are, those of the source with its name."""
        shared = {parameter.name for parameter in self.problem.robot.parameters}
        for parameter in self.problem.parameters:
            own = parameter.name not in shared
            name = of_source(self.name, parameter.name) if own else parameter.name
            yield replace(parameter, name=name)


class JoinedProblem:
    """Several problems about one robot, over all of their parameters."""

    def __init__(
        self, robot: Machine, data: Dataset, parts: Sequence[Part], noise: JoinedNoise
    ) -> None:
        self.robot, self.data, self.noise = robot, data, noise
        self._parts = tuple(parts)
        found: dict[str, Parameter] = {}
        priorities: dict[str, int] = {}
        for part in parts:
            for parameter, priority in zip(part.parameters(), part.problem.priorities, strict=True):
                found.setdefault(parameter.name, parameter)
                priorities[parameter.name] = max(priority, priorities.get(parameter.name, 0))
        # The robot's own in the robot's order, whichever source comes first.
        order = {parameter.name: n for n, parameter in enumerate(robot.parameters)}
        names = sorted(found, key=lambda name: (order.get(name, len(order)), name))
        self.parameters = tuple(found[name] for name in names)
        self.priorities = tuple(priorities[name] for name in names)
        place = {name: number for number, name in enumerate(names)}
        #: Where the parameters of each part stand among all.
        self._places = [
            np.array([place[p.name] for p in part.parameters()], dtype=np.intp) for part in parts
        ]

    @property
    def constraint(self) -> bool:
        return any(part.problem.constraint for part in self._parts)

    @property
    def warm_start(self) -> Problem | None:
        starts = [part.problem.warm_start for part in self._parts]
        if all(start is None for start in starts):
            return None
        return _Stacked(
            self.parameters,
            self.priorities,
            [start or part.problem for start, part in zip(starts, self._parts, strict=True)],
            self._places,
        )

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        for part, places in self._each():
            yield from _blocks(part.problem, places, values, part.first_row)

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        found = [part.problem.structure(values[places]) for part, places in self._each()]
        if all(matrices is None for matrices in found):
            return None
        return self._structure(values, found)

    def _structure(
        self, values: FloatArray, found: Sequence[Iterator[FloatArray] | None]
    ) -> Iterator[FloatArray]:
        for matrices, (part, places) in zip(found, self._each(), strict=True):
            if matrices is None:
                own = part.problem.blocks(values[places])
                matrices = (block.jacobian for block in own)
            for matrix in matrices:
                yield _spread(matrix.T, places, len(values)).T

    def with_noise(self, noise: Noise) -> JoinedProblem:
        assert isinstance(noise, JoinedNoise)
        parts = [
            replace(part, problem=part.problem.with_noise(noise.parts[part.place]))
            for part in self._parts
        ]
        return JoinedProblem(self.robot, self.data, parts, noise)

    def noise_seen(self, solution: Solution) -> Noise | None:
        """Helmert's estimate of each source's noise that is not known; None where it is settled."""
        fit = statistics(solution, noise_known=False)
        factor = estimate_factor(solution, fit)
        noises = list(self.noise.parts)
        settled = True
        for part, places in self._each():
            now = noises[part.place]
            errors = part.problem.errors(solution.values[places])
            largest = {name: float(each.max(initial=0.0)) for name, each in errors.items()}
            if now.known or are_exact(largest, self.robot.reach()):
                continue
            own = part.problem.noise_seen(replace(solution, values=solution.values[places]))
            left = self._left(part, places, solution, factor)
            if own is None and (left is None or abs(left - 1.0) < SETTLED):
                continue
            settled = False
            noises[part.place] = own or now.scaled(left or 1.0)
        return None if settled else JoinedNoise.of(noises)

    def _left(
        self, part: Part, places: IntArray, solution: Solution, factor: FloatArray
    ) -> float | None:
        """Standard deviation of a source's whitened residuals; None if it cannot be told."""
        own = self._reduced(part, places, solution.values, solution.loss)
        determined = float(np.sum((own.R[:, solution.changed] @ factor) ** 2))
        redundancy = own.rows - determined
        if redundancy < TOO_LITTLE:
            return None
        if solution.loss.is_squared:
            return float(np.sqrt(own.squares / redundancy))
        return float(np.sqrt(solution.loss.variance(own.sizes, own.widths, determined)))

    def shares(self, solution: Solution, statistics: Statistics) -> tuple[Share, ...]:
        return tuple(
            self._share(part, places, solution, statistics) for part, places in self._each()
        )

    def _share(self, part: Part, places: IntArray, solution: Solution, fit: Statistics) -> Share:
        from scipy.special import fdtrc

        own = self._reduced(part, places, solution.values, solution.loss)
        X = estimate_factor(solution, fit)
        A = own.R[:, solution.changed] @ X
        variances = np.sum(X**2, axis=1)
        information = np.sum((X @ A.T) ** 2, axis=1) / np.where(variances > 0, variances, 1.0)
        determined = float(np.sum(A**2))
        alone, rank = _alone(own, solution, fit)
        degrees, free = own.rows - rank, rank - determined
        worse, chance = 1.0, 1.0
        if degrees >= TOO_LITTLE and free >= TOO_LITTLE and 0.0 < alone < own.squares:
            noise = alone / degrees
            worse = float(np.sqrt(own.squares / (own.rows - determined) / noise))
            chance = float(fdtrc(free, degrees, (own.squares - alone) / free / noise))
        return Share(
            part.name,
            part.method,
            len(part.problem.data),
            self.noise.parts[part.place],
            own.rows - determined,
            information,
            worse,
            chance,
        )

    def _reduced(self, part: Part, places: IntArray, values: FloatArray, loss: Loss) -> Reduction:
        """One source alone, over all parameters."""
        stacked = _Stacked(self.parameters, self.priorities, [part.problem], [places])
        return reduce(stacked, values, loss)

    def constrained(self) -> None:
        """Passive joints are eliminated in each source by itself."""
        return

    def calibrated(self, values: FloatArray) -> Machine:
        found = dict(zip((p.name for p in self.parameters), values.tolist(), strict=True))
        return self.robot.with_values(
            np.array([found.get(p.name, p.value) for p in self.robot.parameters])
        )

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {
            of_source(part.name, name): sizes
            for part, places in self._each()
            for name, sizes in part.problem.errors(values[places]).items()
        }

    def error_rows(self, name: str) -> IntArray:
        for part in self._parts:
            if name.startswith(of_source(part.name, "")):
                own = name.removeprefix(of_source(part.name, ""))
                return part.first_row + part.problem.error_rows(own)
        raise KeyError(name)

    def displacements(self, name: str, values: FloatArray) -> Displacements | None:
        for part, places in self._each():
            if name.startswith(of_source(part.name, "")):
                own = name.removeprefix(of_source(part.name, ""))
                return part.problem.displacements(own, values[places])
        raise KeyError(name)

    def extras(self, values: FloatArray) -> dict[str, Any]:
        """What each source identified besides the robot, by the source's name."""
        found: Mapping[str, dict[str, Any]] = {
            part.name: part.problem.extras(values[places]) for part, places in self._each()
        }
        return {name: own for name, own in found.items() if own}

    def _each(self) -> Iterator[tuple[Part, IntArray]]:
        return zip(self._parts, self._places, strict=True)


@dataclass(frozen=True, eq=False)
class _Stacked:
    """Problems over some of the parameters each, under one another."""

    parameters: tuple[Parameter, ...]
    priorities: tuple[int, ...]
    problems: Sequence[Problem]
    places: Sequence[IntArray]
    warm_start: None = None

    @property
    def constraint(self) -> bool:
        return any(problem.constraint for problem in self.problems)

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        for problem, places in zip(self.problems, self.places, strict=True):
            yield from _blocks(problem, places, values, 0)

    def structure(self, values: FloatArray) -> None:
        return

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {}


def _blocks(
    problem: Problem, places: IntArray, values: FloatArray, first_row: int
) -> Iterator[Block]:
    for block in problem.blocks(values[places]):
        rows = None if block.rows is None else block.rows + first_row
        places_and_residual = np.append(places, len(values))
        columns = _spread(block.columns, places_and_residual, len(values) + 1)
        yield Block(columns, block.width, rows)


def _spread(rows: FloatArray, places: IntArray, size: int) -> FloatArray:
    """Rows (k, m) at their places among ``size`` rows, zero elsewhere."""
    spread = np.zeros((size, rows.shape[1]))
    spread[places] = rows
    return spread


def _alone(own: Reduction, solution: Solution, fit: Statistics) -> tuple[float, float]:
    """Squares that are left in a fit to one source alone, and how many parameters it determines.

    What it leaves open stays within the tolerances.
    """
    free = solution.changed
    prior = np.zeros((0, len(free))) if solution.prior is None else solution.prior.factor
    R = own.R[:, free]
    lengths = np.linalg.norm(R, axis=0) + fit.noise * np.linalg.norm(prior, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    stacked = np.concatenate([R, fit.noise * prior]) / lengths
    U, sizes, _ = np.linalg.svd(stacked, full_matrices=False)
    U = U[: len(R), sizes > sizes.max(initial=0.0) * 1e-12]
    reached = U @ (U.T @ own.z)
    left = own.z - reached
    beyond = own.squares - float(own.z @ own.z)
    return max(beyond + float(left @ left), 0.0), float(np.sum(U**2))
