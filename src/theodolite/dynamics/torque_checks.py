"""Is each torque that of its joint, with the right sign, at the right time?

Every joint is fitted by itself: its row of the regressor against each recorded torque. A torque
that another joint explains much better stands in the wrong column; friction that would drive a
joint means a torque with the wrong sign; and a torque that its own rate of change explains better
was recorded earlier or later than the positions. Slow motions leave a single joint too free to
tell; there all joints are fitted together with two torques exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.identify import FRICTION
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.tree import Tree
from theodolite.estimation.linear import solve_linear
from theodolite.estimation.reduction import triangle
from theodolite.estimation.threads import single_thread

#: A torque belongs to another joint if that leaves at most this part of the error.
EXCHANGED = 0.5
#: Only a fit that is off by this part is worth the question whether two torques are exchanged.
NOTICED = 0.03
#: Friction that gives this part of the power that a joint turns over is no rounding; and it must
#: be negative by this many standard errors.
DRIVEN, CERTAIN = 0.1, 4.0
#: Friction that reverses gradually looks like a delay of a sample or two, of the wrist more than
#: of the arm. All torques are said to be shifted from this many samples on, if it removes this part
#: of the squared error; one torque against the others, from this many on.
SHIFTED, EXPLAINS = 2.5, 0.2
APART, EXPLAINS_ONE = 3.0, 0.25
#: A joint's own fit says something if it has this many samples for each of its parameters.
OVER_DETERMINED = 3
#: Rounds in which a delay settles.
ROUNDS = 3
#: Singular values below this part of the largest say nothing about one joint.
SINGULAR = 1e-9


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


def joint_fits(dynamics: Tree, run: Run) -> JointFits:
    """Fit every joint by itself, to every torque."""
    problem = TorqueProblem(dynamics, run, drives=FRICTION)
    motors, size = dynamics.motors, len(problem.parameters)
    measured = run.measured()
    rates = np.gradient(measured, run.times, axis=0)
    factors: list[FloatArray] = [np.zeros((0, size + motors + 1)) for _ in range(motors)]
    with single_thread():
        for piece, rows in problem.pieces():
            table = piece.thinning.thinned(problem.regressor(piece, piece.thinning.source(rows)))
            for motor in range(motors):
                beside = [table[:, motor], measured[rows].T, rates[rows, motor][None]]
                stacked = [factors[motor], np.concatenate(beside).T]
                factors[motor] = triangle(stacked, size + motors + 1)
        fits = [_joint_fit(problem, run, factor, motor) for motor, factor in enumerate(factors)]
    return JointFits(*(np.array(part) for part in zip(*fits, strict=True)))


def _joint_fit(
    problem: TorqueProblem, run: Run, factor: FloatArray, motor: int
) -> tuple[FloatArray, float, float, float, float]:
    """One joint, from the factor of its columns, all torques, and the rate of its own."""
    dynamics, size = problem.dynamics, len(problem.parameters)
    columns, torques = factor[:, :size], factor[:, size : size + dynamics.motors]
    fit = _Fit.of(columns)
    left = fit.left(torques)
    errors = np.sqrt((left**2).sum(axis=0) / np.maximum((torques**2).sum(axis=0), 1e-300))
    # Power that friction takes: fv q'^2 + fc |q'|, over all samples.
    speeds = run.state.qd[run.thinning.middle(slice(0, run.rows)), motor]
    names = [parameter.name for parameter in problem.parameters]
    power = np.zeros(size)
    suffix = dynamics.motor_names[motor]
    power[names.index(f"fv{suffix}")] = (speeds**2).sum()
    power[names.index(f"fc{suffix}")] = np.abs(speeds).sum()
    turned_over = max(float(np.abs(speeds * run.measured()[:, motor]).sum()), 1e-300)
    degrees = max(run.rows - fit.rank, 1)
    sigma = float(np.linalg.norm(left[:, motor])) / np.sqrt(degrees)
    friction = float(power @ fit.values(torques[:, motor])) / turned_over
    uncertain = sigma * fit.deviation(power) / turned_over
    if run.rows < OVER_DETERMINED * fit.rank:
        uncertain = float("inf")
    # A delay shows as a part of the torque's own rate of change.
    rate, rest = fit.left(factor[:, size + dynamics.motors :])[:, 0], left[:, motor]
    square = float(rate @ rate)
    slope = float(rate @ rest) / square if square > 0 else 0.0
    removed = slope**2 * square / max(float(rest @ rest), 1e-300)
    return errors, friction, uncertain, -slope, removed


@dataclass(frozen=True, eq=False)
class _Fit:
    """Least squares on columns that may be dependent: the shortest solution."""

    U: FloatArray
    s: FloatArray
    V: FloatArray
    scale: FloatArray

    @staticmethod
    def of(columns: FloatArray) -> _Fit:
        scale = np.linalg.norm(columns, axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        U, s, Vt = np.linalg.svd(columns / scale, full_matrices=False)
        seen = s > SINGULAR * s[0]
        return _Fit(U[:, seen], s[seen], Vt[seen].T, scale)

    @property
    def rank(self) -> int:
        return len(self.s)

    def left(self, wanted: FloatArray) -> FloatArray:
        """What the columns do not explain."""
        return wanted - self.U @ (self.U.T @ wanted)

    def values(self, wanted: FloatArray) -> FloatArray:
        return self.V @ ((self.U.T @ wanted) / self.s) / self.scale

    def deviation(self, combination: FloatArray) -> float:
        """Standard deviation of a combination of values, for unit noise."""
        return float(np.linalg.norm(self.V.T @ (combination / self.scale) / self.s))


def doubts(dynamics: Tree, run: Run, fits: JointFits) -> list[str]:
    """What the fits say against the recording, in words."""
    names = dynamics.motor_names
    return (
        list(_exchanged(fits, names))
        or list(_exchanged_together(swapped_errors(dynamics, run), names))
        or list(_inverted(fits, names))
    )


def swapped_errors(dynamics: Tree, run: Run) -> FloatArray:
    """Relative error of all joints together with two torques exchanged, (motors, motors).

    The diagonal is that of the torques as they are. With W = Q R, what the columns explain of
    torques c put into joints m is the sum of ``R^-T W_m' tau_c``, so one pass serves all exchanges.
    """
    problem = TorqueProblem(dynamics, run, drives=FRICTION)
    motors, measured = dynamics.motors, run.measured()
    products = np.zeros((motors, len(problem.parameters), motors))
    with single_thread():
        for piece, rows in problem.pieces():
            table = piece.thinning.thinned(problem.regressor(piece, piece.thinning.source(rows)))
            products += np.einsum("cmn,nt->mct", table, measured[rows])
        solution = solve_linear(problem)
        base = solution.identifiability.base
        columns = solution.reduction.R[:, base]
        scale = np.linalg.norm(columns, axis=0)
        R = np.asarray(np.linalg.qr(columns / scale, mode="r"))
        explained = np.linalg.solve(R.T, products[:, base] / scale[:, None])
    whole = float((measured**2).sum())
    errors = np.empty((motors, motors))
    for i in range(motors):
        for j in range(motors):
            order = list(range(motors))
            order[i], order[j] = order[j], order[i]
            seen = sum(explained[motor, :, torque] for motor, torque in enumerate(order))
            left = whole - float(np.sum(np.square(seen)))
            errors[i, j] = np.sqrt(max(left, 0.0) / max(whole, 1e-300))
    return errors


def _exchanged_together(errors: FloatArray, names: Sequence[str]) -> Iterator[str]:
    i, j = np.unravel_index(int(np.argmin(errors)), errors.shape)
    own = float(errors[0, 0])
    if i != j and errors[i, j] < EXCHANGED * own and own > NOTICED:
        yield (
            f"the torques of joints {names[int(i)]} and {names[int(j)]} seem exchanged: as they "
            f"are the error of the fit is {100 * own:.0f} %, exchanged {100 * errors[i, j]:.0f} %. "
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
                f"the torque of joint {names[joint]} stands in the column of joint "
                f"{names[column]}: there its error is {100 * fits.errors[joint, column]:.0f} %, in "
                f"its own {100 * fits.errors[joint, joint]:.0f} %. Check the order of the columns"
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
    certain = fits.friction < -CERTAIN * fits.friction_errors
    for joint in np.flatnonzero(certain & (fits.friction < -DRIVEN)):
        yield (
            f"the torque of joint {names[int(joint)]} looks inverted: its friction would drive it. "
            "Change the sign of its torque, or of its position"
        )


def shifts(dynamics: Tree, run: Run, fits: JointFits) -> list[str]:
    """Torques that seem shifted against the positions, in words.

    Only worth saying: friction that reverses gradually, or that lags, looks the same.
    """
    names, rate = dynamics.motor_names, run.rate
    common = float(np.median(fits.delays))
    if abs(common) * rate > SHIFTED and np.median(fits.removed) > EXPLAINS:
        delay = _settled(dynamics, run, common)
        return [
            f"the torques seem recorded {_time(delay)} than the positions. Check the time stamps"
        ]
    apart = np.abs(fits.delays - common) * rate > APART
    return [
        f"the torque of joint {names[int(joint)]} seems recorded {_time(fits.delays[joint])} than "
        "its position, or its friction reverses gradually. Check its time stamps"
        for joint in np.flatnonzero(apart & (fits.removed > EXPLAINS_ONE))
    ]


def _settled(dynamics: Tree, run: Run, delay: float) -> float:
    """A common delay, found again after shifting the torques by what was found before."""
    times = np.arange(len(run.torques)) / run.rate
    for _ in range(ROUNDS):
        moved = [np.interp(times + delay, times, column) for column in run.torques.T]
        shifted = replace(run, torques=np.column_stack(moved))
        delay += float(np.median(joint_fits(dynamics, shifted).delays))
    return delay


def _time(delay: float) -> str:
    return f"{1e3 * abs(delay):.0f} ms {'later' if delay > 0 else 'earlier'}"
