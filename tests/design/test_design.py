"""Designs: the best of what can be tried out, what they promise, and every constraint kept."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theodolite as th
from tests.quick import some_of
from theodolite.calibration.alignment import compare
from theodolite.calibration.catalogue import method_named
from theodolite.design import designing
from theodolite.design.constraints import Constraints, _segments, allowed, segment_distance
from theodolite.design.criteria import Criterion, observability, score
from theodolite.design.designing import accuracy_table, design, with_groups
from theodolite.design.exchange import Search, choose
from theodolite.design.expected import expected_error
from theodolite.design.information import (
    _shortened,
    candidates,
    information,
    task_weights,
)
from theodolite.design.mixture import Offer, mix
from theodolite.design.sensitivity import sensitivity
from theodolite.design.visit import travel_time, visiting_order
from theodolite.errors import InputError
from theodolite.model.many_chains import tips
from theodolite.studies.many_fits import fit_many
from theodolite.studies.monte_carlo import Study

NOISE = th.Noise(position=1e-4, orientation=4e-4, known=True)


def known_of(name: str, method, count: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    robot = th.robots.load(name)
    data = candidates(robot, method, count, rng)
    return robot, information(robot, data, method, NOISE), rng


def test_information_is_what_a_calibration_has() -> None:
    """The covariance told beforehand is that of a calibration with the same rows."""
    robot, known, rng = known_of("puma560", th.Position(), 40)
    result = th.identify(
        robot, known.data, th.Position(), noise=NOISE, gains=False, terms=(), hold_out=0.0,
        change=th.Change.ALL, start=th.Start.NOMINAL,
    )  # fmt: skip
    spread = np.linalg.inv(known.of(np.arange(40))) * np.outer(known.scale, known.scale)
    names = [parameter.name for parameter in known.parameters]
    order = [names.index(name) for name in result.order]
    found = np.sqrt(np.diag(spread)[order])
    np.testing.assert_allclose(found, result.statistics.standard_errors, rtol=1e-6)
    del rng


@pytest.mark.parametrize("criterion", [Criterion.D, Criterion.I])
def test_updates_of_low_rank_are_exact(criterion: Criterion) -> None:
    robot, known, rng = known_of("scara", th.Frame(), 60)
    task = task_weights(robot, robot.random_motors(50, rng), known, th.Frame())
    search = Search(known.J, known.prior, task if criterion is Criterion.I else None)
    for one in (3, 17, 40, 8):
        search.add(one)
    search.remove(17)
    gains, before = search.gains(), search.value()
    for one in (0, 25, 59):
        M = known.prior + sum(known.J[n].T @ known.J[n] for n in (*search.chosen, one))
        now = np.linalg.slogdet(M)[1] if criterion is Criterion.D else -np.trace(
            task @ np.linalg.inv(M)
        )  # fmt: skip
        assert now - before == pytest.approx(gains[one], rel=1e-6)


def test_exchange_finds_the_best_of_all() -> None:
    """Four of twelve, all 495 choices tried: 24 equations for 20 unknowns."""
    _, known, rng = known_of("scara", th.Frame(), 12)
    found = choose(known, 4, Criterion.D, rng)

    def value(rows) -> float:
        J = known.J[np.array(rows)][:, :, known.base].reshape(-1, len(known.base))
        return float(np.linalg.slogdet(J.T @ J)[1])

    better = sum(value(rows) > value(found.chosen) + 1e-9 for rows in combinations(range(12), 4))
    assert better <= 5


@pytest.mark.parametrize("criterion", Criterion)
def test_every_criterion_beats_random_choices_by_its_own_measure(criterion: Criterion) -> None:
    robot, known, rng = known_of("scara", th.Position(), 300)
    task = task_weights(robot, robot.random_motors(100, rng), known, th.Position())
    found = choose(known, 12, criterion, rng, task=task)

    def measure(rows) -> float:
        if criterion is Criterion.I:
            return -expected_error(known, rows, task)
        rows = np.asarray(rows)
        data = known.J[rows][:, :, known.base].reshape(-1, len(known.base))
        return float(score(criterion, data.T @ data, len(rows)))

    random = [measure(rng.choice(300, 12, replace=False)) for _ in range(50)]
    assert measure(found.chosen) > max(random)


def test_indices_by_hand() -> None:
    found = observability(np.diag([16.0, 4.0, 1.0]), 4)
    assert found["O1"] == pytest.approx((4 * 2 * 1) ** (1 / 3) / 2)
    assert found["O2"] == pytest.approx(1 / 4)
    assert found["O3"] == pytest.approx(1.0)
    assert found["O4"] == pytest.approx(1 / 4)
    assert found["O5"] == pytest.approx(1 / (1 / 4 + 1 / 2 + 1))


@pytest.mark.parametrize("method", [th.Position(), th.Frame()])
def test_the_error_told_beforehand_comes_out(method) -> None:
    """Simulated calibrations with designed points: within 15 % of what was told."""
    rng = np.random.default_rng(4)
    robot = th.robots.puma560()
    made = design(robot, method, 20, noise=NOISE, pool=400, rng=rng)
    squares = []
    for _ in range(40):
        true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng)
        data = th.simulate(true, method, points=1, rng=rng, noise=NOISE, at=made.data.motors)
        result = th.identify(
            robot, data, method, noise=NOISE, gains=False, terms=(), hold_out=0.0,
            change=th.Change.ALL,
        )  # fmt: skip
        motors = robot.random_motors(100, rng)
        off = result.robot.poses(motors)[1] - true.poses(motors)[1]
        squares.append(np.mean(np.sum(off**2, axis=1)))
    assert np.sqrt(np.mean(squares)) == pytest.approx(made.expected, rel=0.15)
    assert made.expected < made.random


@pytest.mark.parametrize(
    ("name", "method", "points"),
    [
        ("puma560", th.PositionLink(), 12),
        ("scara", th.Plane(), 40),
        ("delta", th.Position(), 12),
        ("gough", th.Frame(), 10),
    ],
)
def test_designs_for_other_methods_and_mechanisms(name, method, points) -> None:
    made = design(th.robots.load(name), method, points, noise=NOISE, pool=80)
    assert made.expected <= made.random
    assert made.curve[-1] == pytest.approx(made.expected, rel=1e-6)
    assert (np.diff(made.curve) <= 1e-9).all()


def test_given_measurements_count_with_all_their_correlations() -> None:
    """D beside measurements that were taken: as good as the best of all single choices."""
    rng = np.random.default_rng(6)
    robot, method = th.robots.puma560(), th.Position()
    taken = candidates(robot, method, 12, rng)
    pool = candidates(robot, method, 60, rng)
    known = information(robot, pool, method, NOISE, given=taken)
    found = choose(known, 1, Criterion.D, rng)
    told = known.told[np.ix_(known.base, known.base)]
    assert np.linalg.eigvalsh(told).min() > -1e-6 * np.abs(told).max()

    def value(one: int) -> float:
        J = known.J[one][:, known.base]
        return float(np.linalg.slogdet(told + J.T @ J)[1])

    best = max(range(60), key=value)
    assert value(int(found.chosen[0])) == pytest.approx(value(best), abs=1e-6)


@pytest.mark.parametrize("method", [th.PositionLink(), th.Plane()])
def test_errors_up_to_what_a_method_never_shows_come_out(method) -> None:
    """Simulated calibrations without a sensor, compared up to a similarity: within 20 %."""
    rng = np.random.default_rng(5)
    robot = th.robots.puma560()
    noise = th.Noise(position=5e-5, known=True)
    points = 40 if method.name == "position-link" else 120
    table = accuracy_table(
        robot, method, noise=noise, counts=[points], factors=[1.0], rng=np.random.default_rng(1)
    )
    squares = []
    for _ in range(12):
        true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng)
        data = th.simulate(true, method, points=points, rng=rng, noise=noise)
        result = th.identify(
            robot, data, method, noise=noise, gains=False, terms="none", hold_out=0, change="all"
        )
        squares.append(np.mean(compare(result.robot, true, method.gauge, rng) ** 2))
    assert np.sqrt(np.mean(squares)) == pytest.approx(table[0, 0], rel=0.2)


def test_many_rows_tell_the_same_in_few() -> None:
    """Rows of rank five: their information stays, in five rows."""
    rng = np.random.default_rng(3)
    J = rng.normal(size=(4, 60, 5)) @ rng.normal(size=(4, 5, 12))
    short = _shortened(J)
    assert short.shape == (4, 5, 12)
    np.testing.assert_allclose(
        short.transpose(0, 2, 1) @ short, J.transpose(0, 2, 1) @ J, atol=1e-9
    )


def test_walls_keep_all_links_on_one_side() -> None:
    rng = np.random.default_rng(7)
    robot = th.robots.puma560()
    wall = (np.array([1.0, 0.0, 0.0]), -0.3)
    made = design(
        robot, th.Position(), 12, noise=NOISE, constraints=Constraints(walls=(wall,)), pool=300,
        rng=rng,
    )  # fmt: skip
    tips = robot.motion(robot.values, made.data.motors).position
    assert (tips[:, 0] >= -0.3).all()


def test_refining_lowers_the_expected_error() -> None:
    robot = th.robots.puma560()
    errors = [
        design(robot, th.Position(), 15, noise=NOISE, pool=200, refine=refine,
               rng=np.random.default_rng(8)).expected
        for refine in (False, True)
    ]  # fmt: skip
    assert errors[1] < 0.97 * errors[0]


class TestSeveralKinds:
    """What to buy: tracker points or touches of a plane."""

    @staticmethod
    def bought(price: float, budget: float = 60.0):
        offers = [
            Offer(th.Position(), price, NOISE),
            Offer(th.Plane(), 1.0, th.Noise(position=2e-5, known=True)),
        ]
        return mix(th.robots.puma560(), offers, budget, pool=150, rng=np.random.default_rng(9))

    def test_the_sum_is_kept_and_the_mixture_is_as_good_as_either_alone(self) -> None:
        for price in (1.0, 4.0):
            made = self.bought(price)
            assert made.spent <= 60.0
            assert sum(share.count * share.offer.price for share in made.shares) == pytest.approx(
                made.spent
            )
            assert made.expected <= min(share.alone for share in made.shares) * (1 + 1e-9)

    def test_what_is_dearer_is_bought_less(self) -> None:
        counts = [self.bought(price).shares[0].count for price in (1.0, 3.0, 12.0)]
        assert counts[0] > counts[1] > counts[2]

    def test_the_expected_error_is_that_of_both_problems_together(self) -> None:
        """Against the covariance of a joined calibration at the same measurements."""
        made = self.bought(4.0)
        robot = th.robots.puma560()
        sources = [
            th.Source(share.data, share.offer.method, noise=share.offer.noise)
            for share in made.shares
            if share.data is not None
        ]
        result = th.identify(
            robot, sources, gains=False, terms="none", hold_out=0, change="all", start="nominal"
        )
        motors = robot.random_motors(400, np.random.default_rng(1))
        columns = [p.name for p in robot.parameters]
        places = [columns.index(n) for n in result.order if n in columns]
        own = [k for k, n in enumerate(result.order) if n in columns]
        J = robot.motion(robot.values, motors).position_jacobian(np.array(places))
        C = result.statistics.covariance[np.ix_(own, own)]
        rms = np.sqrt(np.einsum("nij,jk,nik->", J, C, J) / len(motors))
        assert made.expected == pytest.approx(rms, rel=0.1)

    def test_nonsense_is_refused(self) -> None:
        with pytest.raises(InputError, match="buys nothing"):
            self.bought(4.0, budget=0.5)
        with pytest.raises(InputError, match="above 0"):
            self.bought(-1.0)


def test_what_was_measured_already_counts() -> None:
    robot = th.robots.scara()
    rng = np.random.default_rng(1)
    given_data = th.simulate(robot, th.Position(), points=20, rng=rng)
    alone = design(robot, th.Position(), 10, noise=NOISE, pool=300)
    more = design(robot, th.Position(), 10, noise=NOISE, pool=300, given=given_data)
    assert more.expected < alone.expected
    assert more.without < alone.without


def test_as_many_as_it_takes() -> None:
    robot = th.robots.scara()
    made = design(robot, th.Position(), None, until=1e-4, noise=NOISE, pool=300)
    assert made.expected <= 1e-4 * 1.02
    fewer = design(robot, th.Position(), len(made.data) - 2, noise=NOISE, pool=300)
    assert fewer.expected > 0.97e-4
    with pytest.raises(InputError, match="measurements leave"):
        design(robot, th.Position(), None, until=1e-9, noise=NOISE, pool=100)


@settings(max_examples=15)
@given(
    st.floats(0.1, 0.5),
    st.floats(-0.4, 0.3),
    st.tuples(st.floats(-2, 2), st.floats(-2, 2), st.floats(0, 2)),
    st.floats(0.3, 1.0),
    st.floats(0.5, 1.5),
)
def test_every_choice_keeps_to_every_constraint(half, floor, sensor, nearest, width) -> None:
    robot = th.robots.puma560()
    constraints = Constraints(
        box=np.array([[-2 * half] * 3, [2 * half] * 3]),
        floor=floor - 0.8,
        sensor=np.array(sensor),
        nearest=nearest,
        farthest=nearest + width,
        facing=2.0,
        radius=0.05,
        mobility=0.01,
    )
    try:
        made = design(
            robot, th.Position(), 10, noise=NOISE, pool=150, constraints=constraints,
            criterion=Criterion.D,
        )  # fmt: skip
    except InputError as error:
        assert "candidates" in str(error) or "candidate" in str(error)
        return
    rotation, tips = robot.poses(made.data.motors)
    assert (np.abs(tips) <= 2 * half).all()
    distance = np.linalg.norm(tips - np.array(sensor), axis=1)
    assert ((distance >= nearest) & (distance <= nearest + width)).all()
    cosine = np.einsum("ni,ni->n", rotation[:, :, 2], np.array(sensor) - tips) / distance
    assert (cosine >= np.cos(2.0) - 1e-12).all()
    readings = robot.readings(made.data.motors)
    assert ((readings >= robot.lower) & (readings <= robot.upper)).all()
    assert (tips[:, 2] >= floor - 0.8).all()


@given(st.lists(st.floats(-2, 2), min_size=12, max_size=12))
def test_distances_of_segments(numbers) -> None:
    a, b, c, d = np.array(numbers).reshape(4, 1, 3)
    found = segment_distance(a, b, c, d)[0]
    s, t = np.meshgrid(np.linspace(0, 1, 81), np.linspace(0, 1, 81))
    points = a + s.reshape(-1, 1) * (b - a) - c - t.reshape(-1, 1) * (d - c)
    tried = np.linalg.norm(points, axis=1).min()
    size = np.linalg.norm(b - a) + np.linalg.norm(d - c)
    assert found <= tried + 1e-9
    assert found >= tried - size / 80


def test_impossible_wishes_are_named() -> None:
    robot = th.robots.puma560()
    with pytest.raises(InputError, match="the box excludes 200 of 200"):
        design(
            robot,
            th.Position(),
            20,
            noise=NOISE,
            pool=200,
            constraints=Constraints(box=np.array([[9.0] * 3, [10.0] * 3])),
        )
    with pytest.raises(InputError, match=r"equations for 27 unknowns.*9 measurements or more"):
        design(robot, th.Position(), 4, noise=NOISE, pool=100)


def test_tours_are_shorter(rng) -> None:
    readings = rng.uniform(-2, 2, (30, 6))
    order = visiting_order(readings, np.ones(6))
    assert sorted(order.tolist()) == list(range(30))
    assert travel_time(readings[order], np.ones(6)) < 0.75 * travel_time(readings, np.ones(6))


def test_more_points_and_better_sensors_help() -> None:
    table = accuracy_table(
        th.robots.scara(), th.Position(), noise=NOISE, counts=[10, 20, 60], factors=[0.5, 1.0, 2.0]
    )
    assert (np.diff(table, axis=0) < 0).all() and (np.diff(table, axis=1) > 0).all()
    # With many measurements the prior hardly matters: errors are proportional to the noise.
    assert table[2, 2] / table[2, 1] == pytest.approx(2.0, rel=0.02)


def test_sensitivity_by_hand() -> None:
    """A plane arm of two links: each angle moves the tip by its distance times the tolerance."""
    found = sensitivity(th.robots.puma560(), robots=100)
    assert found.drawn == pytest.approx(found.linear, rel=0.1)
    assert found.shares.sum() == pytest.approx(1.0)
    assert (np.diff(found.contributions) <= 0).all()
    robot = th.robots.puma560().with_tolerances({"d3": 1e-2})
    moved = dict(zip(*(lambda s: (s.names, s.contributions))(sensitivity(robot)), strict=True))
    # A longer upper arm shifts the whole of what hangs on it.
    assert moved["d3"] == pytest.approx(1e-2, rel=1e-9)


@pytest.mark.parametrize("tasks", some_of([4, 100], [4]))
def test_designs_for_a_task_beat_those_for_all_parameters(tasks: int) -> None:
    """Error after simulated calibrations, at the task: 20 points chosen by I against D.

    A task is a box of joint space of a third of each range. Both designs choose among the same
    candidates, and both robots are the same, with the same noise.
    """
    robot, method, noise = th.robots.puma560(), th.Position(), th.Noise(1e-4, known=True)
    rng = np.random.default_rng(5)
    known = information(robot, candidates(robot, method, 1500, rng), method, noise)
    by_all = choose(known, 20, Criterion.D, rng, starts=1).chosen
    spans = robot.upper - robot.lower
    better = 0
    for number in range(tasks):
        low = robot.lower + rng.uniform(0.0, 2 / 3, robot.joints) * spans
        at = low + rng.uniform(0.0, 1 / 3, (100, robot.joints)) * spans
        at = robot.transmission.motors(at + robot.transmission.offset)
        weights = task_weights(robot, at, known, method)
        by_task = choose(known, 20, Criterion.I, rng, task=weights, starts=1).chosen
        errors = [_missed(robot, known.take(chosen), at, number) for chosen in (by_task, by_all)]
        better += errors[0] < errors[1]
    assert better >= 0.9 * tasks if tasks > 10 else better > tasks / 2, f"{better} of {tasks}"


def _missed(robot: th.Robot, planned: th.Dataset, at: np.ndarray, seed: int) -> float:
    """Rms error at a task over 40 robots that are measured as planned and fitted."""
    noise = th.Noise(1e-4, known=True)
    known = th.identifiable(robot, th.Position())
    study = Study(robot, th.Position(), len(planned), noise, part=0.1, seed=seed)
    rng = np.random.default_rng(seed)
    truths = [study.drawn(rng) for _ in range(40)]
    data = [
        replace(planned, positions=true.motion(true.values, planned.motors).position
                + 1e-4 * rng.standard_normal((len(planned), 3)))
        for true in truths
    ]  # fmt: skip
    found = fit_many(robot, data, th.Position(), known, noise)
    basis = np.broadcast_to(robot.basis(at), (len(truths), len(at), 1 + robot.joints))
    wanted = tips(robot.chains[0], np.stack([true.values for true in truths]), basis).positions
    gaps = tips(robot.chains[0], found.values, basis).positions - wanted
    return float(np.sqrt(np.mean(np.sum(gaps**2, axis=2))))


@pytest.mark.study
@pytest.mark.timeout(3600)
def test_chosen_rows_of_a_real_robot(recordings) -> None:
    """IRB 120: 40 of 400 rows; errors on the other 360 against those of 40 random rows.

    The arm bends: with geometry alone a design goes to extremes, and its error is larger than that
    of random rows. With the terms that the arm needs, design and calibration alike, it is smaller.
    """
    robot = th.robots.irb120()
    everything = th.read_measurements([recordings / "irb120-tracker" / "train.csv"], robot)
    method, groups = th.Position(), ("gravity", "bending", "harmonics")
    placed = with_groups(th.locate(robot, everything), groups)
    known = information(placed, everything, method, th.Noise(position=1e-4, known=True))
    task = task_weights(placed, everything.motors, known, th.Position())
    rng = np.random.default_rng(0)
    found = choose(known, 40, Criterion.I, rng, task=task)

    def error(rows) -> float:
        chosen = everything.take(np.sort(rows))
        result = th.identify(robot, chosen, method, gains=False, terms=groups, hold_out=0.0)
        rest = everything.take(np.setdiff1d(np.arange(len(everything)), rows))
        return float(np.mean(th.residuals(result.robot, rest, method)["position"]))

    chosen = error(found.chosen)
    random = [error(rng.choice(400, 40, replace=False)) for _ in range(100)]
    assert np.mean(chosen < np.array(random)) >= 0.9, (chosen, np.sort(random))


def test_a_design_for_terms() -> None:
    robot = th.robots.puma560()
    made = design(robot, th.Position(), 40, noise=NOISE, pool=200, terms=("gravity",))
    plain = design(robot, th.Position(), 40, noise=NOISE, pool=200)
    # More is unknown, so that more error is to be expected.
    assert made.expected > plain.expected
    with pytest.raises(InputError, match="terms drift"):
        design(robot, th.Position(), 40, noise=NOISE, pool=50, terms=("drift",))


@pytest.mark.parametrize("robot", ["puma560", "fivebar"])
def test_many_candidates_are_looked_at_in_parts(robot: str, monkeypatch) -> None:
    """No more than so many are in memory, and the choice gets better with each part."""
    seen = []
    told = designing.information

    def counted(*arguments, **options):
        found = told(*arguments, **options)
        seen.append(len(found))
        return found

    monkeypatch.setattr(designing, "information", counted)
    monkeypatch.setattr(designing, "AT_ONCE", 150)
    machine, noise = th.robots.load(robot), th.Noise(position=1e-4, known=True)
    options = {"noise": noise, "refine": False, "rng": np.random.default_rng(1)}
    few = designing.design(machine, th.Position(), 30, pool=150, **options)
    options["rng"] = np.random.default_rng(1)
    many = designing.design(machine, th.Position(), 30, pool=1000, **options)
    assert many.expected < few.expected
    assert max(seen) <= 180
    assert few.candidates <= 150 < many.candidates <= 1000


def test_every_target_keeps_to_the_constraints() -> None:
    """Three reflectors on an IRB 120: box, distance, facing and floor hold for each of them."""
    points = [(0.15, 0.0, 0.0), (0.0, 0.15, 0.0), (0.0, 0.0, 0.15)]
    robot = th.robots.irb120().with_targets(
        [th.Target(f"p{n}", point) for n, point in enumerate(points, start=1)]
    )
    box = np.array([[-0.3, -0.5, 0.3], [0.5, 0.5, 0.9]])
    sensor = np.array([1.5, 0.0, 0.5])
    constraints = th.Constraints(
        box=box, floor=0.2, sensor=sensor, nearest=1.1, farthest=1.7, facing=np.radians(60.0)
    )
    motors = robot.random_motors(4000, np.random.default_rng(0))
    ok, _ = allowed(robot, motors, constraints)
    assert 0 < ok.sum() < 4000
    for target in range(3):
        motion = robot.motion(robot.values, motors[ok], target)
        assert (motion.position >= box[0]).all() and (motion.position <= box[1]).all()
        assert motion.position[:, 2].min() >= 0.2
        way = sensor - motion.position
        distance = np.linalg.norm(way, axis=1)
        assert distance.min() >= 1.1 and distance.max() <= 1.7
        cosine = np.einsum("ni,ni->n", motion.rotation[:, :, 2], way) / distance
        assert cosine.min() >= np.cos(np.radians(60.0)) - 1e-12


def test_an_arm_does_not_reach_into_itself() -> None:
    """Links with more arm between them than two radii keep two radii apart, tool included."""
    robot, radius = th.robots.puma560(), 0.06
    motors = robot.random_motors(3000, np.random.default_rng(0))
    ok, _ = allowed(robot, motors, th.Constraints(radius=radius))
    starts, ends = _segments(robot, motors[ok])
    lengths = np.linalg.norm(ends - starts, axis=2)
    assert ok.any()
    for one in range(len(starts)):
        for other in range(one + 2, len(starts)):
            apart = segment_distance(starts[one], ends[one], starts[other], ends[other])
            between = lengths[one + 1 : other].sum(axis=0)
            assert (apart[between > 2 * radius] >= 2 * radius).all()
    nothing, words = allowed(robot, motors, th.Constraints(radius=0.3))
    assert not nothing.all()
    assert "itself" in words


@pytest.mark.parametrize(("robot", "method"), [("delta", "implicit"), ("gough", "inverse")])
def test_errors_of_parallel_robots_are_those_of_the_world(robot: str, method: str) -> None:
    """40 poses at 0.1 mm tell the tip to a tenth of a millimetre, not to centimetres."""
    machine = th.robots.load(robot)
    noise = th.Noise(position=1e-4, orientation=1e-4, known=True)
    found = design(
        machine, method_named(method), 40, rng=np.random.default_rng(0), noise=noise, pool=150,
        refine=False,
    )  # fmt: skip
    assert found.expected < 1e-3
