"""The two questions a user asks: what is identifiable, and what is it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.cross_validation import informed, judge, summary
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import CalibrationProblem, Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.result import (
    NEGLIGIBLE_ERROR,
    Estimate,
    Result,
)
from theodolite.errors import InfeasibleError, InputError, UnreachableError
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.loss import Loss
from theodolite.estimation.multipliers import MultiplierSolution, solve_with_multipliers
from theodolite.estimation.reduction import reduce
from theodolite.estimation.solver import Progress, Solution, examine, solve
from theodolite.estimation.statistics import Statistics, statistics
from theodolite.estimation.threads import single_thread
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group

#: Part of the measurements that is held out to judge the result.
HOLD_OUT = 0.2
#: Rounds of estimating the noise of positions and orientations, and when their ratio is settled.
BALANCING = 5
BALANCED = 0.02
#: A model with more parameters is preferred if it lowers the held-out error by this part.
CLEARLY = 0.02


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
        problem = method.problem(robot, data, noise=Noise(), gains=gains)
        _check_candidates(problem)
        values = np.array([parameter.value for parameter in problem.parameters])
        return examine(problem, values, reduce(problem, values, Loss()))


def _check_candidates(problem: CalibrationProblem) -> None:
    if not problem.parameters:
        raise InputError(
            "every parameter has priority 0, so there is nothing to identify",
            remedy="Give some parameters a positive priority",
        )


def unknowns(robot: Machine, method: Method, *, gains: bool = False) -> int | None:
    """How many parameters the method determines, given any data; None if that cannot be shown."""
    try:
        return identifiable(robot, method, gains=gains).rank
    except UnreachableError:
        return None


def equations(robot: Machine, data: Dataset, method: Method) -> int:
    """How many equations the data give."""
    problem = method.problem(robot, data, noise=Noise())
    values = np.array([parameter.value for parameter in problem.parameters])
    return reduce(problem, values, Loss()).rows


def identify(
    robot: Machine,
    data: Dataset,
    method: Method,
    *,
    noise: Noise | None = None,
    gains: bool | None = False,
    loss: Loss | None = None,
    hold_out: float = HOLD_OUT,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Result:
    """Identify what the data determine, with intervals, judged on data held out.

    The held-out part is predicted by a fit to the rest; the final fit uses everything. With
    ``gains`` None the transmission gains are identified if that predicts the held-out part
    clearly better.
    """
    if gains is None:
        rng = rng or np.random.default_rng(0)
        seed = int(rng.integers(2**32))
        without, with_gains = (
            identify(
                robot,
                data,
                method,
                noise=noise,
                gains=choice,
                loss=loss,
                hold_out=hold_out,
                rng=np.random.default_rng(seed),
                progress=progress,
                provenance=provenance,
            )
            for choice in (False, True)
        )
        return with_gains if _clearly_better(with_gains, without) else without
    noise = noise or Noise()
    if not len(data):
        raise InputError("there are no measurements", where=data.name)
    if not 0.0 <= hold_out < 1.0:
        raise InputError(f"hold_out is {hold_out}", allowed="0 to less than 1")

    def posed(assumed: Noise) -> CalibrationProblem:
        return method.problem(robot, data, noise=assumed, gains=gains)

    problem = posed(noise)
    _check_candidates(problem)
    held = _held_by_multipliers(problem)
    start = _start(problem, held)
    try:
        solution = solve(problem, loss=loss, start=start, progress=progress)
    except InfeasibleError as error:
        raise InputError(
            f"{error}, and multipliers found no constants with which they do",
            where=data.name,
            remedy="Check the readings and the robot's lengths, or leave those rows out",
        ) from error
    if not noise.known:
        problem, solution = _balanced(problem, solution, noise, loss, posed)
    judged = None
    if hold_out > 0:
        rng = rng or np.random.default_rng(0)
        judged = judge(
            robot,
            data,
            method,
            solution,
            noise=noise,
            gains=gains,
            loss=loss,
            part=hold_out,
            rng=rng,
        )
    uncertainty = statistics(solution, noise_known=noise.known)
    calibrated = problem.calibrated(solution.values)
    return Result(
        method=method.name,
        status=solution.status,
        robot=calibrated,
        nominal=robot,
        estimates=_estimates(problem, solution, uncertainty),
        identifiability=solution.identifiability,
        statistics=uncertainty,
        trace=solution.trace,
        rows=len(data),
        before=summary(robot, data, method),
        after=summary(calibrated, data, informed(method, problem.found(solution.values))),
        held_out=judged,
        residuals=problem.errors(solution.values),
        expected_rank=unknowns(robot, method, gains=gains),
        found={
            **problem.found(solution.values),
            **_normalising_length(problem, solution),
            **_second_road(held, solution),
        },
        provenance=dict(provenance or {}),
    )


def fit_placement(robot: Machine, data: Dataset, method: Method) -> Machine:
    """The robot with nominal links, its base and tool fitted to the data."""
    links = {
        parameter.name: 0
        for parameter in robot.parameters
        if parameter.group is Group.ARM and not parameter.gain
    }
    # Offsets of the joints are links here; what places base and tool counts whatever the user said.
    placing = {parameter.name: 2 for parameter in robot.parameters if parameter.name not in links}
    placed = robot.with_priorities({**links, **placing})
    problem = method.problem(placed, data, noise=Noise())
    return robot.with_values(problem.calibrated(solve(problem).values).values)


def _clearly_better(one: Result, other: Result) -> bool:
    """Does one predict held-out data clearly better than the other?"""
    if one.held_out is None or other.held_out is None or not one.status.good:
        return False
    return all(
        one.held_out.calibrated[quantity].rms
        < (1.0 - CLEARLY) * other.held_out.calibrated[quantity].rms - NEGLIGIBLE_ERROR
        for quantity in other.held_out.calibrated
    )


def _balanced(
    problem: CalibrationProblem,
    solution: Solution,
    noise: Noise,
    loss: Loss | None,
    posed: Callable[[Noise], CalibrationProblem],
) -> tuple[CalibrationProblem, Solution]:
    """Where positions and orientations are both seen and their noise is unknown: its ratio.

    Both are estimated from the residuals, and the problem solved again with them.
    """
    for _ in range(BALANCING):
        found = problem.errors(solution.values)
        sizes = {name: float(np.sqrt(np.mean(errors**2) / 3)) for name, errors in found.items()}
        if set(sizes) != {"position", "orientation"} or min(sizes.values()) < NEGLIGIBLE_ERROR:
            break
        ratio = sizes["position"] / sizes["orientation"] * noise.orientation / noise.position
        if abs(ratio - 1.0) < BALANCED:
            break
        noise = replace(noise, position=sizes["position"], orientation=sizes["orientation"])
        problem = posed(noise)
        solution = solve(problem, loss=loss)
    return problem, solution


def _held_by_multipliers(problem: CalibrationProblem) -> MultiplierSolution | None:
    """Closed loops are calibrated twice: with multipliers first, which needs no closed start."""
    try:
        return solve_with_multipliers(problem.constrained())
    except InputError:
        return None


def _start(problem: CalibrationProblem, held: MultiplierSolution | None) -> FloatArray | None:
    """Where the elimination starts: where the multipliers ended, if its loops close there."""
    if held is None or not held.status.good:
        return None
    try:
        reduce(problem, held.values, Loss())
    except InfeasibleError:
        return None
    return held.values


def _normalising_length(problem: CalibrationProblem, solution: Solution) -> dict[str, Any]:
    """Where lengths and turns are weighed against each other: the length [Everett1988, eq. 28]."""
    if set(problem.errors(solution.values)) != {"position", "orientation"}:
        return {}
    return {"normalising_length_m": problem.noise.position / problem.noise.orientation}


def _second_road(held: MultiplierSolution | None, solution: Solution) -> dict[str, Any]:
    """What the multipliers found, beside the elimination of the passive joints."""
    if held is None:
        return {}
    return {
        "multipliers": {
            "status": held.status.name.lower(),
            "iterations": held.iterations,
            "objective": held.objective,
            "largest": float(np.abs(held.multipliers).max(initial=0.0)),
            "largest_gap": held.gap,
            "values": held.multipliers.tolist(),
        }
    }


def _estimates(
    problem: CalibrationProblem, solution: Solution, uncertainty: Statistics
) -> tuple[Estimate, ...]:
    base = solution.identifiability.base
    stderr = dict(zip(base, uncertainty.standard_errors, strict=True))
    widths = dict(zip(base, uncertainty.half_widths(), strict=True))
    return tuple(
        Estimate(
            parameter.name,
            parameter.value,
            float(value),
            float(stderr[index]) if index in stderr else None,
            float(widths[index]) if index in widths else None,
            parameter.unit,
        )
        for index, (parameter, value) in enumerate(
            zip(problem.parameters, solution.values, strict=True)
        )
    )
