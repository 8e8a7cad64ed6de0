"""Is each torque that of its joint, with the right sign, at the right time?

Every joint is fitted by itself: its row of the regressor against each recorded torque. A torque
that another joint explains much better is in the wrong column; friction that would drive a joint
means a torque with the wrong sign; and a torque that its own rate of change explains better was
recorded earlier or later than the positions. Slow motions leave a single joint too free to
distinguish; there all joints are fitted together with two torques exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import FRICTION
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.torque import TorqueProblem, comparable_scales
from theodolite.dynamics.tree import Tree
from theodolite.estimation.linear import solve_linear
from theodolite.estimation.reduction import triangle
from theodolite.estimation.scaling import scaled_factor, unit_columns
from theodolite.estimation.threads import single_thread

#: A torque belongs to another joint if that leaves at most this part of the error.
EXCHANGED = 0.5
#: A fit with a smaller relative error leaves no room for exchanged torques.
FITS_WELL = 0.03
#: A torque is inverted if friction would deliver this part of the power that its joint turns over,
#: and is negative by this many standard errors.
DRIVES_JOINT, STANDARD_ERRORS = 0.1, 4.0
#: Friction that reverses gradually looks like a delay of a sample or two, of the wrist more than
#: of the arm. All torques are delayed from this many samples on, if the delay removes this part of
#: the squared error; one torque against the others, from this many on.
ALL_DELAYED, ALL_EXPLAINED = 2.5, 0.2
ONE_DELAYED, ONE_EXPLAINED = 3.0, 0.25
#: A joint's own fit is meaningful if it has this many samples for each of its parameters.
OVERDETERMINED = 3
#: Rounds in which a delay settles.
ROUNDS = 3
#: Singular values below this part of the largest are dependent columns of one joint.
SINGULAR = 1e-9
#: A joint that moves over less than this part of its range does not show its parameters; one that
#: moves over this many times its range was recorded in another unit.
STILL, TOO_WIDE = 0.002, 5.0


@dataclass(frozen=True)
class RunChecks:
    """Warnings about runs, and notes that are only worth knowing, in words."""

    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def check_runs(dynamics: Tree, runs: Sequence[Run], *, named: bool = False) -> RunChecks:
    """All checks of runs against their robot, each once; ``named``, with the run's name."""
    warnings: list[str] = []
    notes: list[str] = []
    for run in runs:
        fits = fit_joints(dynamics, run)
        own = [
            *run.warnings,
            *check_motion(dynamics, run),
            *check_torques(dynamics, run, fits),
        ]
        warnings += [f"{run.name}: {words}" for words in own] if named else own
        notes += [*run.notes, *check_delays(dynamics, run, fits)]
    return RunChecks(tuple(dict.fromkeys(warnings)), tuple(dict.fromkeys(notes)))


def check_motion(dynamics: Tree, run: Run) -> list[str]:
    """Joints that move too little or too far for the robot."""
    lower, upper = dynamics.motor_limits()
    share = np.ptp(run.state.q[:, : dynamics.motors], axis=0) / (upper - lower)
    still = [f"joint {joint + 1}" for joint in np.flatnonzero(share < STILL)]
    warnings = []
    if still:
        one = len(still) == 1
        warnings.append(
            f"{', '.join(still)} hardly move{'s' if one else ''}: {'its' if one else 'their'} "
            f"parameters cannot be seen. Move {'it' if one else 'them'}"
        )
    warnings += [
        f"joint {joint + 1} moves over {share[joint]:.0f} times its range: its positions look like "
        "degrees or millimetres. Name the unit in the column"
        for joint in np.flatnonzero(share > TOO_WIDE)
    ]
    return warnings


@dataclass(frozen=True, eq=False)
class JointFits:
    """Each joint by itself."""

    #: Relative error of torque c fitted by joint j, (motors, motors).
    errors: FloatArray
    #: Power that friction takes, relative to all that the joint turns over, (motors,).
    friction: FloatArray
    friction_errors: FloatArray
    #: How much later than the positions each torque was recorded, s, (motors,).
    delays: FloatArray
    #: Part of the squared error that the delay removes, (motors,).
    removed: FloatArray


def fit_joints(dynamics: Tree, run: Run) -> JointFits:
    """Fit every joint by itself, to every torque."""
    problem = TorqueProblem(dynamics, run, drives=FRICTION)
    motors, size = dynamics.motors, len(problem.parameters)
    measured = run.measured()
    rates = np.gradient(measured, run.times, axis=0)
    factors: list[FloatArray] = [np.zeros((0, size + motors + 1)) for _ in range(motors)]
    with single_thread():
        for table, rows in _tables(problem, run):
            for motor in range(motors):
                columns = [table[:, motor], measured[rows].T, rates[rows, motor][None]]
                stacked = [factors[motor], np.concatenate(columns).T]
                factors[motor] = triangle(stacked, size + motors + 1)
        fits = [_fit_joint(problem, run, factor, motor) for motor, factor in enumerate(factors)]
    return JointFits(*(np.array(part) for part in zip(*fits, strict=True)))


def _tables(problem: TorqueProblem, run: Run) -> Iterator[tuple[FloatArray, slice]]:
    """The regressor after the low-pass, (columns, motors, n), and the rows it is of."""
    for _, rows in problem.row_blocks():
        table = problem.regressor(run, run.decimation.input_rows(rows))
        yield run.decimation.apply(table), rows


def _fit_joint(
    problem: TorqueProblem, run: Run, factor: FloatArray, motor: int
) -> tuple[FloatArray, float, float, float, float]:
    """One joint, from the factor of its columns, all torques, and the rate of its own."""
    dynamics, size = problem.dynamics, len(problem.parameters)
    columns, torques = factor[:, :size], factor[:, size : size + dynamics.motors]
    fit = _MinimumNormFit.of(columns)
    residuals = fit.residual(torques)
    errors = np.sqrt((residuals**2).sum(axis=0) / np.maximum((torques**2).sum(axis=0), 1e-300))
    # Power that friction takes: fv q'^2 + fc |q'|, over all samples.
    speeds = run.state.qd[run.decimation.centres(slice(0, run.rows)), motor]
    power = np.zeros(size)
    suffix = dynamics.motor_names[motor]
    power[problem.names.index(f"fv{suffix}")] = (speeds**2).sum()
    power[problem.names.index(f"fc{suffix}")] = np.abs(speeds).sum()
    turned_over = max(float(np.abs(speeds * run.measured()[:, motor]).sum()), 1e-300)
    degrees = max(run.rows - fit.rank, 1)
    sigma = float(np.linalg.norm(residuals[:, motor])) / np.sqrt(degrees)
    friction = float(power @ fit.values(torques[:, motor])) / turned_over
    uncertain = sigma * fit.deviation(power) / turned_over
    if run.rows < OVERDETERMINED * fit.rank:
        uncertain = float("inf")
    # A delay shows as a part of the torque's own rate of change.
    rate = fit.residual(factor[:, size + dynamics.motors :])[:, 0]
    own = residuals[:, motor]
    square = float(rate @ rate)
    slope = float(rate @ own) / square if square > 0 else 0.0
    removed = slope**2 * square / max(float(own @ own), 1e-300)
    return errors, friction, uncertain, -slope, removed


@dataclass(frozen=True, eq=False)
class _MinimumNormFit:
    """Least squares on columns that may be dependent: the shortest solution at unit columns."""

    U: FloatArray
    s: FloatArray
    V: FloatArray
    lengths: FloatArray

    @staticmethod
    def of(columns: FloatArray) -> _MinimumNormFit:
        unit, lengths = unit_columns(columns)
        U, s, Vt = np.linalg.svd(unit, full_matrices=False)
        kept = s > SINGULAR * s[0]
        return _MinimumNormFit(U[:, kept], s[kept], Vt[kept].T, lengths)

    @property
    def rank(self) -> int:
        return len(self.s)

    def residual(self, wanted: FloatArray) -> FloatArray:
        """What the columns do not explain."""
        return wanted - self.U @ (self.U.T @ wanted)

    def values(self, wanted: FloatArray) -> FloatArray:
        return self.V @ ((self.U.T @ wanted) / self.s) / self.lengths

    def deviation(self, combination: FloatArray) -> float:
        """Standard deviation of a combination of values, for unit noise."""
        return float(np.linalg.norm(self.V.T @ (combination / self.lengths) / self.s))


def check_torques(dynamics: Tree, run: Run, fits: JointFits) -> list[str]:
    """Torques of the wrong joint or with the wrong sign, in words."""
    names = dynamics.motor_names
    return (
        list(_exchanged(fits, names))
        or list(_exchanged_pair(exchange_errors(dynamics, run), names))
        or list(_inverted(fits, names))
    )


def exchange_errors(dynamics: Tree, run: Run) -> FloatArray:
    """Relative error of all joints together with two torques exchanged, (motors, motors).

    The diagonal is that of the torques as they are. With W = Q R, what the columns explain of
    torques c put into joints m is the sum of ``R^-T W_m' tau_c``, so one pass serves all exchanges.
    Joints that slide are scaled to those that turn first.
    """
    motors, measured = dynamics.motors, run.measured()
    scales = comparable_scales(measured, dynamics.slides)
    problem = TorqueProblem(dynamics, run, drives=FRICTION, whitening=np.diag(scales))
    products = np.zeros((motors, len(problem.parameters), motors))
    with single_thread():
        for table, rows in _tables(problem, run):
            products += np.einsum("cmn,nt->mct", table, measured[rows])
        products *= scales[:, None, None] ** 2
        solution = solve_linear(problem)
        base = solution.identifiability.base
        _, lengths, R = scaled_factor(solution.reduction.R[:, base])
        explained = np.linalg.solve(R.T, products[:, base] / lengths[:, None])
    squares = (measured**2).sum(axis=0)
    errors = np.empty((motors, motors))
    for i in range(motors):
        for j in range(motors):
            order = list(range(motors))
            order[i], order[j] = order[j], order[i]
            total = sum(explained[motor, :, torque] for motor, torque in enumerate(order))
            whole = float(scales**2 @ squares[order])
            rest = whole - float(np.sum(np.square(total)))
            errors[i, j] = np.sqrt(max(rest, 0.0) / max(whole, 1e-300))
    return errors


def _exchanged_pair(errors: FloatArray, names: Sequence[str]) -> Iterator[str]:
    i, j = np.unravel_index(int(np.argmin(errors)), errors.shape)
    own = float(errors[0, 0])
    if i != j and errors[i, j] < EXCHANGED * own and own > FITS_WELL:
        yield (
            f"the torques of joints {names[int(i)]} and {names[int(j)]} seem exchanged: the error "
            f"of the fit is {100 * own:.0f} % as they are, {100 * errors[i, j]:.0f} % exchanged. "
            "Check the order of the columns"
        )


def _exchanged(fits: JointFits, names: Sequence[str]) -> Iterator[str]:
    from scipy.optimize import linear_sum_assignment

    _, columns = linear_sum_assignment(np.log(np.maximum(fits.errors, 1e-12)))
    for cycle in _cycles([int(column) for column in columns]):
        # A real exchange makes every joint of it better, not some at the cost of others.
        if len(cycle) == 1 or not all(
            fits.errors[j, columns[j]] < EXCHANGED * fits.errors[j, j] for j in cycle
        ):
            continue
        for joint in cycle:
            column = columns[joint]
            yield (
                f"the torque of joint {names[joint]} is in the column of joint {names[column]}: "
                f"its error is {100 * fits.errors[joint, column]:.0f} % there and "
                f"{100 * fits.errors[joint, joint]:.0f} % in its own. Check the order of the "
                "columns"
            )


def _cycles(permutation: list[int]) -> Iterator[list[int]]:
    """The cycles of a permutation, each joint once."""
    seen: set[int] = set()
    for start in range(len(permutation)):
        cycle = []
        joint = start
        while joint not in seen:
            seen.add(joint)
            cycle.append(joint)
            joint = permutation[joint]
        if cycle:
            yield cycle


def _inverted(fits: JointFits, names: Sequence[str]) -> Iterator[str]:
    certain = fits.friction < -STANDARD_ERRORS * fits.friction_errors
    for joint in np.flatnonzero(certain & (fits.friction < -DRIVES_JOINT)):
        yield (
            f"the torque of joint {names[int(joint)]} looks inverted: its friction would drive it. "
            "Change the sign of its torque, or of its position"
        )


def check_delays(dynamics: Tree, run: Run, fits: JointFits) -> list[str]:
    """Torques that seem shifted in time against the positions, in words.

    Only worth knowing: friction that reverses gradually, or that lags, looks the same.
    """
    names, rate = dynamics.motor_names, run.rate
    common = float(np.median(fits.delays))
    if abs(common) * rate > ALL_DELAYED and np.median(fits.removed) > ALL_EXPLAINED:
        delay = _settle_delay(dynamics, run, common)
        return [
            f"the torques seem to be recorded {_time(delay)} than the positions. Check the time "
            "stamps"
        ]
    apart = np.abs(fits.delays - common) * rate > ONE_DELAYED
    return [
        f"the torque of joint {names[int(joint)]} seems to be recorded "
        f"{_time(fits.delays[joint])} than its position, or its friction reverses gradually. Check "
        "its time stamps"
        for joint in np.flatnonzero(apart & (fits.removed > ONE_EXPLAINED))
    ]


def _settle_delay(dynamics: Tree, run: Run, delay: float) -> float:
    """A common delay, estimated again after shifting the torques by the estimate before."""
    times = np.arange(len(run.torques)) / run.rate
    for _ in range(ROUNDS):
        moved = [np.interp(times + delay, times, column) for column in run.torques.T]
        shifted = replace(run, torques=np.column_stack(moved))
        delay += float(np.median(fit_joints(dynamics, shifted).delays))
    return delay


def _time(delay: float) -> str:
    return f"{1e3 * abs(delay):.0f} ms {'later' if delay > 0 else 'earlier'}"
