"""What a user asks for: what is identifiable, and what is it?

The command line, the application and Python users call these functions. They place the robot, check
the data, choose the model, solve, and judge the outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.base_and_tool import with_links_fixed
from theodolite.calibration.between_tools import least_known
from theodolite.calibration.conditions import (
    with_any_conditions,
    with_conditions,
    with_order,
)
from theodolite.calibration.cross_validation import (
    Split,
    all_displacements,
    is_exact,
    judge,
    nominal_placed,
    nominal_values,
    residuals,
    split_off,
    summary,
)
from theodolite.calibration.data import Dataset
from theodolite.calibration.decay import refine_decay
from theodolite.calibration.excitation import still_joints
from theodolite.calibration.hand_eye_alone import compare
from theodolite.calibration.kept import Kept
from theodolite.calibration.long_data import Pieces
from theodolite.calibration.method import CalibrationProblem, LeftOut, Method, Start
from theodolite.calibration.model_choice import Linearised, Model, Wanted, choose
from theodolite.calibration.moves import Move, find_moves, sessions_between
from theodolite.calibration.noise import Noise
from theodolite.calibration.other_starts import try_other_starts
from theodolite.calibration.quantities import all_of
from theodolite.calibration.result import ABOVE_ANY_NOISE, Estimate, Result
from theodolite.calibration.sensor import SensorMethod
from theodolite.calibration.shortcomings import shortcomings
from theodolite.calibration.term_groups import Decay
from theodolite.calibration.visits import visits_of
from theodolite.errors import InfeasibleError, InputError, UnreachableError
from theodolite.estimation.choice import Choice, Tell
from theodolite.estimation.descent import Progress
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.loss import Loss
from theodolite.estimation.multipliers import MultiplierSolution, solve_with_multipliers
from theodolite.estimation.outliers import NO_OUTLIERS, find_outliers
from theodolite.estimation.problem import ConstrainedProblem
from theodolite.estimation.reduction import reduce
from theodolite.estimation.residual_checks import check_residuals
from theodolite.estimation.solver import Change, Solution, examine, solve
from theodolite.estimation.statistics import Statistics, statistics
from theodolite.estimation.threads import single_thread
from theodolite.model.machine import Machine

#: Part of the measurements that is held out to judge the result.
HOLD_OUT = 0.2
#: Rounds of estimating the noise of positions and orientations, or of several sources.
BALANCING = 8
#: Fits with basis functions at the robot that the last fit found: each gains a digit or more. They
#: end when they change the cost by less than this part.
OWN_INPUTS = 12
#: A sensor that was moved more often was never at rest.
MOST_MOVES = 20
SAME_COST = 1e-6
#: Of a base parameter's tolerance: what it takes over from another one is worth mentioning.
NOTICEABLE = 1e-3


def identifiable(
    robot: Machine,
    method: Method,
    *,
    data: Dataset | None = None,
    gains: bool = False,
    rng: np.random.Generator | None = None,
    like: Dataset | None = None,
) -> Identifiability:
    """What a method determines of a robot, from random configurations or from given data.

    Random configurations show all targets, or only those that are in data ``like`` some.
    """
    with single_thread():
        if data is None:
            rng = rng or np.random.default_rng(0)
            data = method.observe(robot, method.points_for(robot), rng, per_set=2)
            data = with_any_conditions(data if like is None else data.of_targets(like), robot, rng)
        problem = method.problem(robot, data, noise=Noise.guess(robot.reach()), gains=gains)
        _check_candidates(problem)
        values = nominal_values(problem)
        return examine(problem, values, reduce(problem, values, Loss()))


def expected_rank(
    robot: Machine, method: Method, *, gains: bool = False, like: Dataset | None = None
) -> int | None:
    """How many parameters the method determines, given any data; None if that cannot be shown.

    Data may show some of the targets only: ``like`` these.
    """
    try:
        if _is_plain(method) and (like is None or type(like) is Dataset):
            shown = None if like is None or like.positions is None else like.targets
            return _rank_of(robot, method, gains, shown)
        return identifiable(robot, method, gains=gains, like=like).rank
    except UnreachableError:
        return None


def _is_plain(method: Method) -> bool:
    """Can it be told from others by its options? Not where these are arrays."""
    try:
        hash(method)
    except TypeError:
        return False
    return True


@lru_cache(maxsize=64)
def _rank_of(robot: Machine, method: Method, gains: bool, targets: tuple[str, ...] | None) -> int:
    """The rank from random configurations; many calibrations of one nominal robot ask for it."""
    like = None
    if targets is not None:
        none = np.zeros((0, robot.joints))
        like = Dataset(none, positions=np.zeros((0, len(targets), 3)), targets=targets)
    return identifiable(robot, method, gains=gains, like=like).rank


def identify(
    robot: Machine,
    data: Dataset,
    method: Method,
    *,
    noise: Noise | None = None,
    gains: bool | None = None,
    terms: Sequence[str] | None = None,
    rows_as_time: bool = False,
    loss: Loss | None = None,
    start: Start = Start.AUTO,
    change: Change = Change.BASE,
    links: bool = True,
    only: Sequence[str] = (),
    after: Result | None = None,
    hold_out: float = HOLD_OUT,
    starts: int = 0,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
    tell: Tell | None = None,
    provenance: Mapping[str, Any] | None = None,
    moves: tuple[Move, ...] = (),
    pieces: Pieces | None = None,
) -> Result:
    """Identify what the data determine, with intervals, judged on data held out.

    The held-out part is predicted by a fit to the rest; the final fit uses everything. With
    ``gains`` None, transmission gains are identified if that predicts measurements left out in turn
    clearly better. The same goes for ``terms`` None; a list of groups (`term_groups.py`) is taken
    as it is. The held-out part, if there is one, has no say in it. ``change`` says which parameters
    the calibrated robot changes; without ``links`` only where base, tool and sensor are. With
    ``only`` these parameters are found anew, and the others are known as well as ``after``, an
    earlier result, knows them; without it they are fixed. ``starts`` other starts within the
    tolerances show whether the minimum is the only one. ``progress`` is called with every
    iteration, ``tell`` with what is done next, in words. Where the sensor was moved meanwhile, the
    rows before and after are sessions of their own; ``moves`` are known already. Where ``data`` are
    an excerpt of ``pieces``, all rows of these determine the parameters.
    """
    if not len(data):
        raise InputError("there are no measurements", where=data.name)
    if not 0.0 <= hold_out < 1.0:
        raise InputError(f"hold_out is {hold_out}", allowed="a number >= 0 and < 1")
    if pieces is not None:
        pieces.check(method, loss, rows_as_time=rows_as_time, only=only)
    rng = rng or np.random.default_rng(0)
    asked: dict[str, Any] = {
        "noise": noise,
        "gains": gains,
        "terms": terms,
        "rows_as_time": rows_as_time,
        "loss": loss,
        "start": start,
        "change": change,
        "hold_out": hold_out,
        "starts": starts,
        "rng": rng,
        "progress": progress,
        "tell": tell,
        "provenance": provenance,
    }
    recorded = data
    if any(not move.slipped for move in moves):
        data = replace(data, sessions=sessions_between(moves, len(data)))
    data = with_order(data, robot, rows_as_time=rows_as_time)
    say = tell or (lambda what: None)
    say("placing the robot")
    placed, moved, method = method.start(robot, data, start)
    everything = placed
    kept = None
    if only:
        kept = Kept.of(robot, only, after)
        # The robot stands where it stood, and its model is the one that was chosen then.
        placed, moved, everything = robot, False, robot
        gains = any(p.gain and p.name in (*kept.only, *kept.others) for p in robot.parameters)
        terms = ()
    if not links:
        placed, gains, terms = with_links_fixed(placed), False, ()
    noise = method.noise_for(placed, noise)
    left_out: tuple[LeftOut, ...] = ()
    if loss is None:
        say("looking for wrong data")
        data, noise, left_out = method.screened(placed, data, noise)
    calibration = _Calibration(
        placed,
        data,
        method,
        noise,
        loss or Loss(),
        Change.ALL if method.spreads else change,
        progress,
        say,
        starts,
        rng,
        kept,
        pieces,
    )
    split = split_off(data, hold_out, rng)
    model, choice, decay = calibration.choose_model(
        data if split is None else split.rest, gains, terms, rng
    )
    calibration = replace(calibration, robot=model.robot)
    result = calibration.run(gains=model.gains, split=split)
    alone = only or not links or pieces is not None
    further = () if alone else _further_moves(result, recorded, method, moves)
    if further:
        say("fitting again: the sensor was moved")
        return identify(robot, recorded, method, **asked, moves=further)
    fixed = None
    if not links:
        whole = replace(calibration, robot=everything, starts=0).run(gains=False, split=None)
        fixed = compare(result, whole, data.motors)
        # What was not to be identified now may be another time.
        told = {n: p for n, p in result.robot.priorities.items() if p}
        result = replace(result, robot=replace(result.robot, priorities=told))
    return replace(
        result,
        placed=moved,
        choice=choice,
        decay=decay,
        left_out=left_out,
        links_fixed=fixed,
        moves=moves,
        provenance=dict(provenance or {}),
    )


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
    tell: Tell
    starts: int = 0
    rng: np.random.Generator | None = None
    kept: Kept | None = None
    pieces: Pieces | None = None

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
                start = _start(problem, self._with_multipliers(open_loops))
            else:
                start = self._by_closing_rows(problem)
            if start is None:
                raise
            return self._solve(problem, start)

    def _with_multipliers(self, problem: ConstrainedProblem) -> MultiplierSolution:
        return solve_with_multipliers(problem, noise_known=self.noise.known)

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

    def _solve(
        self,
        problem: CalibrationProblem,
        start: FloatArray | None,
        before: Solution | None = None,
    ) -> Solution:
        free, prior = (None, None) if self.kept is None else self.kept.prior(problem)
        return solve(
            problem,
            free=free,
            prior=prior,
            loss=self.loss,
            start=start,
            before=before,
            noise_known=self.noise.known,
            change=self.change,
            progress=self.progress,
        )

    def choose_model(
        self,
        data: Dataset,
        gains: bool | None,
        terms: Sequence[str] | None,
        rng: np.random.Generator,
    ) -> tuple[Model, Choice | None, Decay | None]:
        """The model to fit: as asked for, or by cross-validation where it is left open."""
        wanted = Wanted.of(self.robot, data, gains=gains, terms=terms)
        first = wanted.first()
        likely = first[len(first) // 2]
        if not (wanted.larger(likely) or len(first) > 1):
            return likely, None, None
        pose = partial(_posed, self.method, self.noise)
        problem = pose(Model(self.robot), data)
        geometry = self.fit(problem)
        at = Linearised.about(problem, geometry, data, rng)
        if not self._nearly_fits(problem, geometry):
            wanted = replace(wanted, optional=())
        if at is None or not (wanted.larger(likely) or len(first) > 1):
            return likely, None, None
        with single_thread():
            model, choice = choose(at, first, pose, wanted.larger, self.tell)
            refined = refine_decay(model, at, pose)
        return (model, choice, None) if refined is None else (refined[0], choice, refined[1])

    def _nearly_fits(self, problem: CalibrationProblem, geometry: Solution) -> bool:
        """Is what geometry leaves small enough for terms, which are small themselves?"""
        left = all_of(problem.errors(geometry.values), "position")
        rms = float(np.sqrt(np.mean(left**2))) if len(left) else 0.0
        return geometry.status.good and rms <= ABOVE_ANY_NOISE * (self.robot.reach() or 1.0)

    def run(self, *, gains: bool, split: Split | None) -> Result:
        self.tell("fitting all measurements")
        problem = self.pose(self.data, gains=gains)
        _check_candidates(problem)
        # After a repair the search starts from what was known; multipliers would forget that.
        open_loops = problem.constrained() if self.kept is None else None
        multipliers = None if open_loops is None else self._with_multipliers(open_loops)
        try:
            solution = self.fit(problem, _start(problem, multipliers))
        except InfeasibleError as error:
            raise InputError(
                f"{error}, and multipliers found no constants with which they do",
                where=self.data.name,
                remedy="Check the readings and the robot's lengths, or leave those rows out",
            ) from error
        expected = None
        if self.kept is None:
            expected = expected_rank(self.robot, self.method, gains=gains, like=self.data)
            self._check_enough(solution, expected)
        problem, solution = self._with_own_inputs(problem, solution, gains=gains)
        if not self.noise.known:
            problem, solution = self._balanced(problem, solution)
        others = None
        if self.starts and self.rng is not None:
            others = try_other_starts(
                problem, solution, partial(self._solve, problem), self.starts, self.rng, self.tell
            )
        judged = None
        if split is not None:
            self.tell("predicting what was held out")
            judged = judge(split, partial(self.pose, gains=gains), self.fit, self.method)
        excerpt, of_excerpt = solution, statistics(solution, noise_known=self.noise.known)
        uncertainty, whole = of_excerpt, problem
        if self.pieces is not None:
            self.tell("fitting all rows, piece by piece")
            whole = self._over_all_rows(self.pieces, problem, excerpt, gains=gains)
            solution = _continued(excerpt, self.fit(whole, excerpt.values))
            uncertainty = statistics(solution, noise_known=self.noise.known)
        before, cost_of_nominal = self._nominal(whole)
        errors = problem.errors(solution.values)
        exact = is_exact(summary(errors), self.robot)
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
            rows=len(self.data) if self.pieces is None else self.pieces.source.rows,
            other_starts=others,
            before=summary(before),
            after=summary(errors),
            held_out=judged,
            residuals=errors,
            residual_rows={name: problem.error_rows(name) for name in errors},
            displacements=all_displacements(problem, errors, solution.values),
            shares=problem.shares(solution, uncertainty),
            outliers=NO_OUTLIERS
            if exact
            else find_outliers(problem, excerpt, of_excerpt, robust=not self.loss.is_squared),
            lines=self.data.lines,
            file=self.data.file,
            files=self.data.files,
            pictures=_pictures(self.data),
            noise_known=self.noise.known,
            robust=not self.loss.is_squared,
            cost=solution.reduction.cost,
            # Costs of exact data are rounding, and cannot be compared.
            cost_of_all=None if exact else solution.cost_of_all,
            cost_of_nominal=cost_of_nominal,
            expected_rank=expected,
            shortcomings=None
            if self.kept is not None
            else shortcomings(
                problem,
                excerpt,
                partial(self.method.problem, data=self.data, noise=problem.noise, gains=gains),
                self.fit,
            ),
            apart=None if exact else least_known(problem, excerpt, of_excerpt),
            still=still_joints(self.robot, self.data),
            checks=None if exact else check_residuals(problem, solution.values),
            visits=visits_of(problem.calibrated(solution.values), self.data),
            extras={
                **problem.extras(solution.values),
                **_normalising_length(problem, solution),
                **_second_road(multipliers),
            },
        )

    def _over_all_rows(
        self, pieces: Pieces, problem: CalibrationProblem, excerpt: Solution, *, gains: bool
    ) -> CalibrationProblem:
        """The same problem with the factors of all pieces."""
        calibrated = problem.calibrated(excerpt.values)
        at = calibrated if calibrated.bases else None
        return pieces.over(problem, self.method, gains=gains, at=at)

    def _with_own_inputs(
        self, problem: CalibrationProblem, solution: Solution, *, gains: bool
    ) -> tuple[CalibrationProblem, Solution]:
        """Fit again with the moments of gravity at the calibrated robot, which hardly differ."""
        robot = self.robot
        if not any(basis.moments or basis.loads for basis in robot.bases):
            return problem, solution
        told = with_conditions(self.data, robot)
        for _ in range(OWN_INPUTS):
            calibrated = problem.calibrated(solution.values)
            own = told.each(partial(_with_inputs_of, calibrated))
            before = solution.reduction.cost
            problem = self.pose(own, gains=gains)
            solution = self.fit(problem, solution.values)
            same = abs(solution.reduction.cost - before) <= SAME_COST * before
            if same or not solution.status.good:
                break
        return problem, solution

    def _nominal(self, problem: CalibrationProblem) -> tuple[dict[str, FloatArray], float]:
        """Errors with nominal links, base, tool and sensor fitted, and their cost.

        Where the nominal loops do not close everywhere, of the rows in which they do, as they are.
        """
        if not self.robot.can_close(self.data.motors).all():
            return residuals(self.robot, self.data, self.method), np.inf
        if self.kept is not None:
            # After a repair nothing is placed anew: this is the robot as it was known.
            values = np.array([parameter.value for parameter in problem.parameters])
        else:
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
        """Solve again with the noise that the residuals show, until it is settled."""
        for _ in range(BALANCING):
            noise = problem.noise_seen(solution)
            if noise is None:
                break
            problem = problem.with_noise(noise)
            solution = _continued(solution, self._solve(problem, None, before=solution))
        return problem, solution


def _continued(before: Solution, after: Solution) -> Solution:
    """A solution that was found from another one, with the iterations of both."""
    first = len(before.trace)
    rest = [replace(step, number=first + place) for place, step in enumerate(after.trace[1:])]
    return replace(after, trace=(*before.trace, *rest))


def _pictures(data: Dataset) -> tuple[str, ...]:
    """The picture that each row is from, where there are any."""
    if data.pixels is None:
        return ()
    return tuple(data.picture(row) for row in range(len(data)))


def _with_inputs_of(robot: Machine, data: Dataset) -> Dataset:
    return replace(data, motors=robot.inputs(data.motors, data.columns))


def _posed(method: Method, noise: Noise, model: Model, data: Dataset) -> CalibrationProblem:
    return method.problem(model.robot, data, noise=noise, gains=model.gains)


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


def _further_moves(
    result: Result, data: Dataset, method: Method, known: tuple[Move, ...]
) -> tuple[Move, ...]:
    """Moves of the sensor that residuals show, those that are known among them; () if no more."""
    visits = result.visits
    measured = isinstance(method, SensorMethod) and method.stations is None
    if not measured or data.sessions is not None or visits is None or visits.errors is None:
        return ()
    if len(known) >= MOST_MOVES or len(visits.errors) != len(data):
        return ()
    lines = np.array([data.line(row) for row in range(len(data))])
    motors, closed = result.robot.settled(data.motors)
    turned = np.zeros((len(data), 3, 3))
    turned[closed] = result.robot.motion(result.robot.values, motors[closed]).rotation
    ends = [0, *(move.row for move in known), len(data)]
    found = []
    for start, end in pairwise(ends):
        part = slice(start, end)
        new = find_moves(visits.places[part], turned[part], visits.errors[part], lines[part])
        found += [replace(move, row=move.row + start) for move in new]
    return tuple(sorted([*known, *found], key=lambda move: move.row)) if found else ()


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
            term=parameter.term,
        )
        for index, (parameter, value) in enumerate(
            zip(problem.parameters, solution.values, strict=True)
        )
    )
