"""What a user asks for: what is identifiable, and what is it?

The command line, the application and Python users call these functions. They place the robot, check
the data, choose the model, solve, and judge the outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.cross_validation import (
    Model,
    choose,
    hold_out,
    nominal_placed,
    nominal_values,
    residuals,
    summary,
)
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import CalibrationProblem, Method, Start
from theodolite.calibration.noise import Noise
from theodolite.calibration.result import Choice, Estimate, Result
from theodolite.calibration.shortcomings import shortcomings
from theodolite.errors import InfeasibleError, InputError, UnreachableError
from theodolite.estimation.descent import Progress
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.loss import Loss
from theodolite.estimation.multipliers import MultiplierSolution, solve_with_multipliers
from theodolite.estimation.outliers import NO_OUTLIERS, find_outliers
from theodolite.estimation.reduction import reduce
from theodolite.estimation.solver import Change, Solution, examine, solve
from theodolite.estimation.statistics import Statistics, statistics
from theodolite.estimation.threads import single_thread
from theodolite.model.machine import Machine

#: Part of the measurements that is held out to judge the result.
HOLD_OUT = 0.2
#: Rounds of estimating the noise of positions and orientations, and when their ratio is settled.
BALANCING = 5
BALANCED = 0.02
#: Errors below this, in radians and parts of the reach, are rounding.
EXACT = 1e-10
#: Of the size of a picture in pixels: what is small of it is rounding.
PICTURE = 1e3
#: Of a base parameter's tolerance: what it takes over from another one is worth mentioning.
NOTICEABLE = 1e-3
#: The models between which gains are chosen.
WITHOUT_GAINS, WITH_GAINS = "without gains", "with gains"


def identifiable(
    robot: Machine,
    method: Method,
    *,
    data: Dataset | None = None,
    gains: bool = False,
    rng: np.random.Generator | None = None,
) -> Identifiability:
    """What a method determines of a robot, from random configurations or from given data."""
    with single_thread():
        if data is None:
            rng = rng or np.random.default_rng(0)
            data = method.observe(robot, method.points_for(robot), rng, per_set=2)
        problem = method.problem(robot, data, noise=Noise.guess(robot.reach()), gains=gains)
        _check_candidates(problem)
        values = nominal_values(problem)
        return examine(problem, values, reduce(problem, values, Loss()))


def expected_rank(robot: Machine, method: Method, *, gains: bool = False) -> int | None:
    """How many parameters the method determines, given any data; None if that cannot be shown."""
    try:
        return identifiable(robot, method, gains=gains).rank
    except UnreachableError:
        return None


def identify(
    robot: Machine,
    data: Dataset,
    method: Method,
    *,
    noise: Noise | None = None,
    gains: bool | None = None,
    loss: Loss | None = None,
    start: Start = Start.AUTO,
    change: Change = Change.BASE,
    hold_out: float = HOLD_OUT,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Result:
    """Identify what the data determine, with intervals, judged on data held out.

    The held-out part is predicted by a fit to the rest; the final fit uses everything. With
    ``gains`` None, transmission gains are identified if that predicts measurements left out in turn
    clearly better; without a held-out part they are not. ``change`` says which parameters the
    calibrated robot changes.
    """
    if not len(data):
        raise InputError("there are no measurements", where=data.name)
    if not 0.0 <= hold_out < 1.0:
        raise InputError(f"hold_out is {hold_out}", allowed="0 to less than 1")
    rng = rng or np.random.default_rng(0)
    placed, moved = method.start(robot, data, start)
    calibration = _Calibration(
        placed,
        data,
        method,
        noise or Noise.guess(placed.reach()),
        loss or Loss(),
        change,
        progress,
    )
    choice = None
    if gains is None and hold_out > 0:
        choice = calibration.choose_gains(rng)
    with_gains = gains if gains is not None else choice is not None and choice.chosen == WITH_GAINS
    result = calibration.run(gains=with_gains, part=hold_out, rng=rng)
    return replace(result, placed=moved, gains=choice, provenance=dict(provenance or {}))


@dataclass(frozen=True, eq=False)
class _Calibration:
    """One robot, its data and how they are to be fitted."""

    robot: Machine
    data: Dataset
    method: Method
    noise: Noise
    loss: Loss
    change: Change
    progress: Progress | None

    def pose(self, data: Dataset, *, gains: bool) -> CalibrationProblem:
        return self.method.problem(self.robot, data, noise=self.noise, gains=gains)

    def fit(self, problem: CalibrationProblem, start: FloatArray | None = None) -> Solution:
        try:
            return self._solve(problem, start)
        except InfeasibleError:
            # Loops that the nominal robot cannot close: multipliers may open them on the way, and
            # rows in which they close lead to a robot that closes them all.
            if start is not None:
                raise
            open_loops = problem.constrained()
            if open_loops is not None:
                start = _start(problem, solve_with_multipliers(open_loops))
            else:
                start = self._by_closing_rows(problem)
            if start is None:
                raise
            return self._solve(problem, start)

    def _by_closing_rows(self, problem: CalibrationProblem) -> FloatArray | None:
        """What the rows say in which the nominal loops close; None if that does not help."""
        closes = np.flatnonzero(self.robot.can_close(problem.data.motors))
        if not 0 < len(closes) < len(problem.data):
            return None
        gains = any(parameter.gain for parameter in problem.parameters)
        part = self.method.problem(
            self.robot, problem.data.take(closes), noise=problem.noise, gains=gains
        )
        return self._solve(part, None).values

    def _solve(self, problem: CalibrationProblem, start: FloatArray | None) -> Solution:
        return solve(
            problem,
            loss=self.loss,
            start=start,
            noise_known=self.noise.known,
            change=self.change,
            progress=self.progress,
        )

    def choose_gains(self, rng: np.random.Generator) -> Choice | None:
        """By cross-validation; None where there are too few data to tell."""
        models = tuple(
            Model(name, partial(self.pose, gains=gains))
            for name, gains in ((WITHOUT_GAINS, False), (WITH_GAINS, True))
        )
        if not any(p.gain and self.robot.priority(p) > 0 for p in self.robot.parameters):
            return None
        return choose((models[0], models[1]), self.data, self.fit, self.method, rng)

    def run(self, *, gains: bool, part: float, rng: np.random.Generator) -> Result:
        problem = self.pose(self.data, gains=gains)
        _check_candidates(problem)
        open_loops = problem.constrained()
        multipliers = None if open_loops is None else solve_with_multipliers(open_loops)
        try:
            solution = self.fit(problem, _start(problem, multipliers))
        except InfeasibleError as error:
            raise InputError(
                f"{error}, and multipliers found no constants with which they do",
                where=self.data.name,
                remedy="Check the readings and the robot's lengths, or leave those rows out",
            ) from error
        expected = expected_rank(self.robot, self.method, gains=gains)
        self._check_enough(solution, expected)
        if not self.noise.known:
            problem, solution = self._balanced(problem, solution)
        judged = None
        if part > 0:
            judged = hold_out(
                self.data, part, partial(self.pose, gains=gains), self.fit, self.method, rng
            )
        uncertainty = statistics(solution, noise_known=self.noise.known)
        before, cost_of_nominal = self._nominal(problem)
        errors = problem.errors(solution.values)
        return Result(
            method=self.method.name,
            status=solution.status,
            robot=problem.calibrated(solution.values),
            nominal=self.robot,
            estimates=_estimates(problem, solution, uncertainty),
            identifiability=solution.identifiability,
            statistics=uncertainty,
            order=tuple(problem.parameters[index].name for index in solution.changed),
            trace=solution.trace,
            rows=len(self.data),
            before=summary(before),
            after=summary(errors),
            held_out=judged,
            residuals=errors,
            residual_rows=problem.error_rows(),
            outliers=NO_OUTLIERS
            if self._exact(errors)
            else find_outliers(problem, solution, uncertainty, robust=not self.loss.is_squared),
            lines=self.data.lines,
            file=self.data.file,
            files=self.data.files,
            noise_known=self.noise.known,
            robust=not self.loss.is_squared,
            cost=solution.reduction.cost,
            # Costs of exact data are rounding, and cannot be compared.
            cost_of_all=None if self._exact(errors) else solution.cost_of_all,
            cost_of_nominal=cost_of_nominal,
            expected_rank=expected,
            shortcomings=shortcomings(
                problem,
                solution,
                partial(self.method.problem, data=self.data, noise=problem.noise, gains=gains),
                self.fit,
            ),
            still=_still(self.robot, self.data),
            extras={
                **problem.extras(solution.values),
                **_normalising_length(problem, solution),
                **_second_road(multipliers),
            },
        )

    def _exact(self, errors: Mapping[str, FloatArray]) -> bool:
        """Is all that is left rounding?"""
        units = {"position": self.robot.reach() or 1.0, "pixel": PICTURE}
        return all(
            part.max(initial=0.0) < EXACT * units.get(name, 1.0) for name, part in errors.items()
        )

    def _nominal(self, problem: CalibrationProblem) -> tuple[dict[str, FloatArray], float]:
        """Errors with nominal links, base, tool and sensor fitted, and their cost.

        Where the nominal loops do not close everywhere, of the rows in which they do, as they are.
        """
        if not self.robot.can_close(self.data.motors).all():
            return residuals(self.robot, self.data, self.method), np.inf
        values = nominal_placed(problem)
        return problem.errors(values), reduce(problem, values, Loss()).cost

    def _check_enough(self, solution: Solution, expected: int | None) -> None:
        """Refuse data that have fewer equations than the method has unknowns for this robot."""
        have = solution.reduction.rows
        if expected is None or have >= expected:
            return
        rows = int(np.ceil(expected * len(self.data) / max(have, 1)))
        raise InputError(
            f"too few rows: {len(self.data)} give {have} equations for {expected} parameters",
            where=self.data.name,
            allowed=f"at least {rows} rows, better three times as many",
            remedy="Measure more configurations",
        )

    def _balanced(
        self, problem: CalibrationProblem, solution: Solution
    ) -> tuple[CalibrationProblem, Solution]:
        """Where positions and orientations are both seen and their noise is unknown: its ratio.

        Both are estimated from the residuals, and the problem solved again with them.
        """
        reach = self.robot.reach() or 1.0
        for _ in range(BALANCING):
            errors = problem.errors(solution.values)
            sizes = {name: float(np.sqrt(np.mean(e**2) / 3)) for name, e in errors.items()}
            if set(sizes) != {"position", "orientation"}:
                break
            position, orientation = sizes["position"], sizes["orientation"]
            if min(position / reach, orientation) < EXACT:
                break
            now = problem.noise
            if abs(position / orientation * now.orientation / now.position - 1.0) < BALANCED:
                break
            noise = replace(now, position=position, orientation=orientation)
            problem = problem.with_noise(noise)
            solution = self.fit(problem, solution.values)
        return problem, solution


def _check_candidates(problem: CalibrationProblem) -> None:
    if not problem.parameters:
        raise InputError(
            "every parameter has priority 0, so there is nothing to identify",
            remedy="Give some parameters a positive priority",
        )


def _start(
    problem: CalibrationProblem, multipliers: MultiplierSolution | None
) -> FloatArray | None:
    """Where the elimination starts: where the multipliers ended, if its loops close there."""
    if multipliers is None or not multipliers.status.good:
        return None
    try:
        reduce(problem, multipliers.values, Loss())
    except InfeasibleError:
        return None
    return multipliers.values


def _still(robot: Machine, data: Dataset) -> tuple[str, ...]:
    """Joints that never moved."""
    ranges = np.ptp(robot.readings(data.motors), axis=0)
    return tuple(name for name, part in zip(robot.joint_names, ranges, strict=True) if part <= 0.0)


def _normalising_length(problem: CalibrationProblem, solution: Solution) -> dict[str, Any]:
    """Where lengths and turns are weighed against each other: the length [Everett1988, eq. 28]."""
    if set(problem.errors(solution.values)) != {"position", "orientation"}:
        return {}
    return {"normalising_length_m": problem.noise.position / problem.noise.orientation}


def _second_road(multipliers: MultiplierSolution | None) -> dict[str, Any]:
    """What the multipliers found, beside the elimination of the passive joints."""
    if multipliers is None:
        return {}
    return {
        "multipliers": {
            "status": multipliers.status.name.lower(),
            "iterations": multipliers.iterations,
            "objective": multipliers.objective,
            "largest": float(np.abs(multipliers.multipliers).max(initial=0.0)),
            "largest_gap": multipliers.gap,
            "values": multipliers.multipliers.tolist(),
        }
    }


def _estimates(
    problem: CalibrationProblem, solution: Solution, uncertainty: Statistics
) -> tuple[Estimate, ...]:
    known = solution.identifiability
    free = solution.changed
    stderr = dict(zip(free, uncertainty.standard_errors, strict=True))
    widths = dict(zip(free, uncertainty.half_widths(), strict=True))
    prior = solution.prior
    tolerances = {} if prior is None else dict(zip(free, prior.tolerances, strict=True))
    shared = set(known.base) if len(free) == known.rank else set()
    stands_for = {
        index: {
            known.parameters[other].name: float(value)
            for other, value in zip(known.regrouped, known.relations[row], strict=True)
            if abs(value) * tolerances.get(other, problem.parameters[other].tolerance)
            > NOTICEABLE * tolerances.get(index, np.inf)
        }
        for row, index in enumerate(known.base)
        if index in shared
    }
    return tuple(
        Estimate(
            parameter.name,
            parameter.value,
            float(value),
            float(stderr[index]) if index in stderr else None,
            float(widths[index]) if index in widths else None,
            parameter.unit,
            tolerance=float(tolerances.get(index, parameter.tolerance)),
            stands_for=stands_for.get(index, {}),
        )
        for index, (parameter, value) in enumerate(
            zip(problem.parameters, solution.values, strict=True)
        )
    )
