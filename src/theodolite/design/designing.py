"""What a user asks for: the configurations worth measuring, how many, and how good a sensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.conditions import with_any_conditions
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Method
from theodolite.calibration.model_choice import Model
from theodolite.calibration.noise import Noise
from theodolite.calibration.simulation import observe_at, reads_anywhere
from theodolite.calibration.term_groups import GROUPS
from theodolite.design.constraints import Constraints, allowed
from theodolite.design.criteria import Criterion, observability
from theodolite.design.exchange import choose
from theodolite.design.expected import error_curve, expected_error, scaled_error
from theodolite.design.information import Information, candidates, information, task_weights
from theodolite.design.visit import travel_time, visiting_order
from theodolite.errors import InputError
from theodolite.model.machine import Machine
from theodolite.model.robot import Robot

#: Candidates that are drawn, and poses of a task that stand for the whole workspace.
CANDIDATES, TASK = 2000, 300
#: Random choices that a design is compared with.
COMPARED = 30
#: Groups of terms that can be planned for: others depend on the order of the measurements.
TERMS = ("gravity", "bending", "harmonics")
#: Prior, in tolerances, of parameters of which nothing is known, to put choices in order.
SLIGHT = 1e-9
#: Widths by which chosen configurations are moved about, of the joints' ranges, and how many times.
REFINED, NEIGHBOURS = (0.1, 0.03, 0.01), 20
#: Candidates that are in memory at a time.
AT_ONCE = 20_000
#: Under constraints so many candidates are enough, and this often more are drawn to have them.
PLENTY, ROUNDS = 500, 40
#: No more measurements are planned than this.
MOST = 1000


@dataclass(frozen=True, eq=False)
class Design:
    """Chosen measurements in the order of visit, and what they are worth."""

    data: Dataset
    criterion: Criterion
    #: Expected error after calibration, rms over the task, m; of as many random ones, and of what
    #: was given without any of them.
    expected: float
    random: float
    without: float
    #: Numbers of measurements, and the expected error with the first so many that were chosen.
    counts: IntArray
    curve: FloatArray
    indices: dict[str, float]
    #: Time of the moves, s at the joints' speeds, in this order and as they were chosen.
    travel: float
    travel_before: float
    candidates: int


def design(
    robot: Machine,
    method: Method,
    points: int | None,
    *,
    noise: Noise,
    criterion: Criterion = Criterion.I,
    task: FloatArray | None = None,
    constraints: Constraints | None = None,
    pool: Dataset | int = CANDIDATES,
    given: Dataset | None = None,
    until: float | None = None,
    gains: bool = False,
    terms: Sequence[str] = (),
    refine: bool = True,
    rng: np.random.Generator | None = None,
    tell: Callable[[str], object] | None = None,
) -> Design:
    """The measurements that determine a robot best, so many or until an error is expected.

    ``task`` are configurations at which the calibrated robot will be used; without, the whole
    workspace. ``given`` are measurements that were taken already. ``terms`` are groups of error
    terms that will be identified too: a design for geometry alone seeks extremes, where real arms
    bend most. With ``refine``, drawn candidates are moved about once they are chosen.
    """
    rng = rng or np.random.default_rng(0)
    robot = with_groups(robot, terms)
    say = tell or (lambda what: None)
    say("drawing candidates")
    drawn = pool if isinstance(pool, int) and reads_anywhere(method) else 0
    first = min(drawn, AT_ONCE) if drawn else pool
    known = _known(robot, method, noise, constraints, first, given, gains=gains, rng=rng)
    at = robot.random_motors(TASK, rng) if task is None else task
    weights = task_weights(robot, at, known, method)
    if points is None:
        points = _enough(known, criterion, weights, until, rng)
    _check(known, points, given)
    say(f"choosing {points} of {len(known)}")
    found = choose(known, points, criterion, rng, task=weights, tell=tell)
    chosen, looked_at = found.chosen, len(known)
    others = [
        expected_error(known, rng.choice(len(known), points, replace=False), weights)
        for _ in range(COMPARED)
    ]
    better = _Better(robot, method, noise, constraints, given, criterion, at, gains, rng)
    for begun in range(AT_ONCE, drawn, AT_ONCE):
        say(f"choosing {points} of {drawn}: {begun} looked at")
        fresh = robot.random_motors(min(AT_ONCE, drawn - begun), rng)
        known, chosen = better.among(known, chosen, fresh)
        looked_at += len(known) - points
    if refine and drawn:
        say("refining the choice")
        for width in REFINED:
            known, chosen = better.among(known, chosen, better.near(known, chosen, width))
    weights = task_weights(robot, at, known, method)
    chosen = _by_worth(known, chosen, weights)
    counts = np.unique(np.linspace(max(1, points // 10), points, 10).astype(np.intp))
    firsts = np.array([int(np.flatnonzero(known.group == one)[0]) for one in chosen])
    readings = robot.readings(known.data.motors[firsts])
    speeds = getattr(robot, "speeds", None)
    pace: FloatArray = np.ones(robot.joints) if speeds is None else np.asarray(speeds)
    order = visiting_order(readings, pace)
    base = known.of(chosen)[np.ix_(known.base, known.base)]
    return Design(
        known.take(chosen[order]),
        criterion,
        expected_error(known, chosen, weights),
        float(np.mean(others)),
        expected_error(known, np.empty(0, dtype=np.intp), weights),
        counts,
        error_curve(known, chosen, counts, weights),
        observability(base, points),
        travel_time(readings[order], pace),
        travel_time(readings, pace),
        looked_at,
    )


@dataclass(frozen=True, eq=False)
class _Better:
    """Looks for measurements that are better than those that are chosen."""

    robot: Machine
    method: Method
    noise: Noise
    constraints: Constraints | None
    given: Dataset | None
    criterion: Criterion
    task: FloatArray
    gains: bool
    rng: np.random.Generator

    def near(self, known: Information, chosen: IntArray, width: float) -> FloatArray:
        """Chosen configurations moved about, by a part of the joints' ranges."""
        robot = self.robot
        near = np.repeat(known.take(chosen).motors, NEIGHBOURS, axis=0)
        spans = np.asarray(robot.upper) - np.asarray(robot.lower)
        moves = self.rng.standard_normal((len(near), robot.joints))
        near[:, : robot.joints] += width * spans * moves
        return near

    def among(
        self, known: Information, chosen: IntArray, motors: FloatArray
    ) -> tuple[Information, IntArray]:
        """The best of what is chosen and of further configurations that keep to all limits."""
        robot = self.robot
        taken = known.take(chosen).motors
        motors, ok = robot.settled(motors)
        readings = robot.readings(motors)
        motors = motors[ok & ((readings >= robot.lower) & (readings <= robot.upper)).all(axis=1)]
        if self.constraints is not None:
            motors = motors[allowed(robot, motors, self.constraints)[0]]
        pool = observe_at(robot, self.method, np.concatenate([taken, motors]))
        known = information(
            robot, pool, self.method, self.noise, gains=self.gains, given=self.given
        )
        weights = task_weights(robot, self.task, known, self.method)
        first = np.arange(len(chosen))
        found = choose(known, len(first), self.criterion, self.rng, task=weights, first=first)
        return known, found.chosen


def with_groups(robot: Machine, names: Sequence[str]) -> Machine:
    """The robot with groups of error terms that need no more than its joints."""
    if not names:
        return robot
    if not isinstance(robot, Robot):
        raise InputError(f"'{robot.name}' is a mechanism with loops; terms are for serial robots")
    model = Model(robot)
    for name in names:
        if name not in TERMS:
            raise InputError(f"terms {name}", allowed=TERMS)
        model = model.with_group(name, name, GROUPS[name](robot))
    return model.robot


def _known(
    robot: Machine,
    method: Method,
    noise: Noise,
    constraints: Constraints | None,
    pool: Dataset | int,
    given: Dataset | None,
    *,
    gains: bool,
    rng: np.random.Generator,
) -> Information:
    data = allowed_candidates(robot, method, constraints, pool, rng)
    return information(robot, data, method, noise, gains=gains, given=given)


def allowed_candidates(
    robot: Machine,
    method: Method,
    constraints: Constraints | None,
    pool: Dataset | int,
    rng: np.random.Generator,
) -> Dataset:
    """Measurements that could be taken: drawn, or of a file; those that keep to all constraints."""
    if isinstance(pool, int) and constraints is not None and reads_anywhere(method):
        motors, words = _kept_motors(robot, constraints, pool, rng)
        if not len(motors):
            raise InputError(
                f"no candidate keeps to all constraints; {words}", remedy="Loosen that one first"
            )
        return with_any_conditions(observe_at(robot, method, motors), robot, rng)
    data = candidates(robot, method, pool, rng) if isinstance(pool, int) else pool
    if constraints is None:
        return data
    ok, words = allowed(robot, data.motors, constraints)
    groups = data.groups()
    bad = np.unique(groups[~ok])
    rows = np.flatnonzero(~np.isin(groups, bad))
    if not len(rows):
        raise InputError(
            f"no candidate keeps to all constraints; {words}", remedy="Loosen that one first"
        )
    return data.take(rows)


def _kept_motors(
    robot: Machine, constraints: Constraints, count: int, rng: np.random.Generator
) -> tuple[FloatArray, str]:
    """Configurations that keep to all constraints, and what excludes most of the others.

    Where few do, more are drawn than was asked for: a small box is no reason to give up.
    """
    kept, found, words = 0, [], ""
    for _ in range(ROUNDS):
        motors, closed = robot.settled(robot.random_motors(count, rng))
        motors = motors[closed]
        ok, words = allowed(robot, motors, constraints)
        found.append(motors[ok])
        kept += int(ok.sum())
        if kept >= min(count, PLENTY):
            break
    return np.concatenate(found), words


def _check(known: Information, points: int, given: Dataset | None) -> None:
    if points > len(known):
        raise InputError(
            f"{points} measurements of {len(known)} candidates that keep to the constraints",
            remedy="Draw more candidates, or loosen the constraints",
        )
    equations = points * known.J.shape[1]
    if given is None and equations < len(known.base):
        least = -(-len(known.base) // known.J.shape[1])
        raise InputError(
            f"{points} measurements give {equations} equations for {len(known.base)} unknowns",
            allowed=f"{least} measurements or more",
        )


def _enough(
    known: Information,
    criterion: Criterion,
    weights: FloatArray,
    until: float | None,
    rng: np.random.Generator,
) -> int:
    """As many measurements as an error takes: doubled first, then halved in between."""
    if until is None:
        raise InputError("neither a number of measurements nor an error was given")

    def error(count: int) -> float:
        found = choose(known, count, criterion, rng, task=weights, starts=1)
        return expected_error(known, found.chosen, weights)

    low = max(1, -(-len(known.base) // known.J.shape[1]))
    high, most = low, min(len(known), MOST)
    while error(high) > until:
        if high >= most:
            raise InputError(
                f"{most} measurements leave {1e3 * error(most):.3g} mm, not {1e3 * until:.3g}",
                remedy="Take a better sensor, other candidates, or a larger error",
            )
        low, high = high + 1, min(2 * high, most)
    while low < high:
        middle = (low + high) // 2
        if error(middle) <= until:
            high = middle
        else:
            low = middle + 1
    return high


def _by_worth(known: Information, chosen: IntArray, weights: FloatArray) -> IntArray:
    """The same, each time the one first that lowers the expected error most."""
    # Where nothing is known of some parameter, the first ones cannot be told apart by I.
    told = known.told + SLIGHT * np.eye(len(known.told))
    part = replace(known, J=known.J[chosen], told=told)
    order = choose(part, len(chosen), Criterion.I, np.random.default_rng(0), task=weights, starts=1)
    return chosen[order.chosen]


def accuracy_table(
    robot: Machine,
    method: Method,
    *,
    noise: Noise,
    counts: Sequence[int],
    factors: Sequence[float],
    task: FloatArray | None = None,
    gains: bool = False,
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """Expected error over numbers of random measurements and noises, (counts, factors), m."""
    rng = rng or np.random.default_rng(0)
    for factor in factors:
        # Refuses what no sensor has, which would be infinite weights.
        method.noise_for(robot, noise.scaled(factor))
    data = candidates(robot, method, max(max(counts), 200), rng)
    known = information(robot, data, method, noise, gains=gains)
    at = robot.random_motors(TASK, rng) if task is None else task
    weights = task_weights(robot, at, known, method)
    table = np.empty((len(counts), len(factors)))
    for row, count in enumerate(counts):
        draws = [rng.permutation(len(known))[:count] for _ in range(5)]
        for column, factor in enumerate(factors):
            errors = [scaled_error(known, chosen, weights, factor) for chosen in draws]
            table[row, column] = float(np.mean(errors))
    return table
