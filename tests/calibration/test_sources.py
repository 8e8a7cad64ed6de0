"""Several sources in one calibration: weights, shares, contradictions, stations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.catalogue import method_named
from theodolite.calibration.joined_problem import JoinedProblem
from theodolite.calibration.method import CalibrationProblem
from theodolite.calibration.sources import Joined, JoinedData, join
from theodolite.calibration.sources import Source as BoundSource
from theodolite.io.machines import machine_named
from theodolite.model import rotations

ERRORS = th.ParameterErrors(length=1e-3, angle=2e-3)
#: Noise of each kind of measurement in these tests, metres.
TRACKER, TABLE, SOCKETS = 5e-5, 2e-4, 1e-4
METHODS = {"tracker": "position", "table": "plane", "sockets": "position-link"}


def robot() -> th.Robot:
    found = machine_named("puma560")
    assert isinstance(found, th.Robot)
    return found


def true_robot(seed: int) -> th.Machine:
    return th.perturb(robot(), ERRORS, seed)


def recorded(seed: int, *, exact: bool = False, more: int = 1) -> dict[str, th.Dataset]:
    true, rng = true_robot(seed), np.random.default_rng(seed + 1)
    sizes = {"tracker": (TRACKER, 30), "table": (TABLE, 60), "sockets": (SOCKETS, 15)}
    found = {}
    for name, (noise, points) in sizes.items():
        known = th.Noise(position=0.0 if exact else noise, orientation=0.0, known=True)
        data = th.simulate(true, METHODS[name], points=more * points, rng=rng, noise=known)
        found[name] = replace(data, name=name)
    return found


def sources(data: dict[str, th.Dataset], names: str) -> list[th.Source]:
    return [th.Source(data[name], METHODS[name]) for name in names.split()]


def fitted(data: dict[str, th.Dataset], names: str, **options: object) -> th.Result:
    return th.identify(robot(), sources(data, names), gains=False, terms="none", **options)  # type: ignore[arg-type]


def test_exact_sources_give_the_true_robot() -> None:
    result = fitted(recorded(1, exact=True), "tracker table sockets")
    assert result.good
    assert th.compare(result.robot, true_robot(1), rng=2).max() < 1e-12
    assert set(result.after) == {"tracker: position", "table: position", "sockets: position"}


def test_the_order_of_the_sources_makes_no_difference() -> None:
    data = recorded(2)
    one, other = (
        fitted(data, names) for names in ("tracker table sockets", "sockets tracker table")
    )
    for estimate in one.estimates:
        assert other.estimate(estimate.name).identified == pytest.approx(
            estimate.identified, rel=1e-10, abs=1e-10 * estimate.tolerance
        )
    assert one.statistics.sigma == pytest.approx(other.statistics.sigma, rel=1e-10)


def test_no_information_is_lost() -> None:
    data = recorded(3, exact=True)
    known = {
        name: th.Noise(position=noise, known=True)
        for name, noise in (("tracker", TRACKER), ("table", TABLE), ("sockets", SOCKETS))
    }

    def covariance(names: str) -> tuple[list[str], np.ndarray]:
        given = [replace(one, noise=known[one.data.name]) for one in sources(data, names)]  # type: ignore[union-attr]
        # From the true robot, so that all are linear about the same point.
        result = th.identify(true_robot(3), given, gains=False, terms="none", change="all")
        wanted = [n for n in result.order if ":" not in n]
        places = [result.order.index(name) for name in wanted]
        return wanted, result.statistics.covariance[np.ix_(places, places)]

    names, alone = covariance("tracker")
    for more in ("tracker table", "tracker sockets", "tracker table sockets"):
        same, together = covariance(more)
        order = [same.index(name) for name in names]
        together = together[np.ix_(order, order)]
        scale = np.sqrt(np.diag(alone))
        gained = np.linalg.eigvalsh((alone - together) / np.outer(scale, scale))
        assert gained.min() > -1e-9
        assert gained.max() > 1e-3


def test_the_noise_of_each_source_is_estimated() -> None:
    result = fitted(recorded(4, more=12), "tracker table sockets", hold_out=0)
    sizes = {share.name: share.noise.position for share in result.shares}
    for name, noise in (("tracker", TRACKER), ("table", TABLE), ("sockets", SOCKETS)):
        assert sizes[name] == pytest.approx(noise, rel=0.1)


def test_known_noise_stays_as_it_is() -> None:
    data = recorded(5)
    given = sources(data, "tracker table")
    given[1] = replace(given[1], noise=th.Noise(position=7e-4, known=True))
    result = th.identify(robot(), given, gains=False, terms="none")
    assert result.shares[1].noise.position == 7e-4
    assert result.shares[0].noise.position == pytest.approx(TRACKER, rel=0.3)


def test_shares_of_the_information_add_up() -> None:
    result = fitted(recorded(6), "tracker table sockets")
    total = sum(share.information for share in result.shares)
    strong = [n for n, name in enumerate(result.order) if not result.estimate(name).weak]
    np.testing.assert_allclose(np.asarray(total)[strong], 1.0, atol=0.05)
    plane = [n for n, name in enumerate(result.order) if name.startswith("table: ")]
    table = next(share for share in result.shares if share.name == "table")
    assert len(plane) == 3
    assert table.information[plane].min() > 0.5


def coverage(runs: int) -> float:
    inside = []
    for seed in range(runs):
        data, true = recorded(100 + seed), true_robot(100 + seed)
        result = fitted(data, "tracker table", hold_out=0)
        truth = dict(zip([p.name for p in true.parameters], true.values, strict=True))
        for estimate in result.estimates:
            # What stands for several parameters is compared elsewhere; here the plain ones.
            if estimate.interval is None or estimate.stands_for or estimate.name not in truth:
                continue
            inside.append(abs(estimate.identified - truth[estimate.name]) <= estimate.interval)
    return float(np.mean(inside))


def test_intervals_hold_with_estimated_noise() -> None:
    assert 0.92 <= coverage(25) <= 0.98


@pytest.mark.study
def test_intervals_hold_with_estimated_noise_over_many_runs() -> None:
    assert 0.93 <= coverage(300) <= 0.97


def test_a_misplaced_plane_contradicts_the_tracker() -> None:
    """Alone a plane that is said to be 2 mm from where it is only moves the base."""
    data, true = recorded(7, more=2), true_robot(7)
    noise = th.Noise(position=SOCKETS, orientation=0.0, known=True)
    table = th.simulate(true, "plane-known", points=120, rng=3, noise=noise)
    planes = table.planes
    assert planes is not None
    for shift in (0.0, 2e-3):
        said = replace(table, name="table", planes=planes + np.array([0.0, 0.0, 0.0, shift]))
        given = [*sources(data, "tracker"), th.Source(said, "plane-known")]
        result = th.identify(robot(), given, gains=False, terms="none")
        contradicted = [doubt for doubt in result.doubts() if "contradict each other" in doubt]
        assert bool(contradicted) == (shift > 0.0)
        alone = th.identify(robot(), said, "plane-known", gains=False, terms="none")
        assert alone.after["position"].rms < 1.1 * SOCKETS


def test_another_robot_contradicts_the_first() -> None:
    data, other = recorded(8, more=2), recorded(9, more=2)
    result = fitted({**data, "sockets": other["sockets"]}, "tracker sockets")
    assert any("contradict each other" in doubt for doubt in result.doubts())
    assert not result.good


def test_the_joined_jacobian_is_the_derivative() -> None:
    data = recorded(8)
    joined, method = join([BoundSource(data[n], method_named(METHODS[n])) for n in METHODS])
    problem = method.problem(true_robot(8), joined, noise=th.Noise())
    check_jacobian(problem, tolerance=2e-2)


def check_jacobian(problem: CalibrationProblem, tolerance: float) -> None:
    values = np.array([p.value for p in problem.parameters])

    def residual(at: np.ndarray) -> np.ndarray:
        return np.concatenate([block.residual for block in problem.blocks(at)])

    exact = np.concatenate([block.jacobian for block in problem.blocks(values)])
    steps = 1e-6 * np.eye(len(values))
    differences = np.array([(residual(values + s) - residual(values - s)) / 2e-6 for s in steps]).T
    assert np.abs(exact - differences).max() <= tolerance * np.abs(exact).max()


def test_a_single_source_is_what_it_is_alone() -> None:
    data = recorded(9)
    alone = th.identify(robot(), data["tracker"], "position", gains=False, terms="none")
    same = fitted(data, "tracker")
    assert same.method == "position"
    np.testing.assert_array_equal(same.robot.values, alone.robot.values)


def test_wrong_sources_are_named() -> None:
    data = recorded(10)
    with pytest.raises(th.InputError, match="no method was given"):
        th.identify(robot(), data["tracker"])
    with pytest.raises(th.InputError, match="mixed"):
        th.identify(robot(), sources(data, "tracker"), "position")
    other = th.simulate("scara", "position", points=20)
    with pytest.raises(th.InputError, match="4 columns; 'puma560' has 6 joints"):
        th.identify(robot(), [*sources(data, "tracker"), th.Source(other, "position")])
    with pytest.raises(th.InputError, match="no target 'ball'"):
        th.identify(robot(), [th.Source(data["table"], "plane", target="ball")])
    with pytest.raises(th.InputError, match="the sources have 4 and 6 joints"):
        JoinedData([data["tracker"], other])


def test_sources_have_names_that_differ() -> None:
    data = recorded(11)["tracker"]
    method = Joined(tuple(BoundSource(data, th.Position()) for _ in range(2)))
    problem = method.problem(robot(), JoinedData([data, data]), noise=th.Noise())
    assert isinstance(problem, JoinedProblem)
    values = np.array([p.value for p in problem.parameters])
    assert len(problem.errors(values)) == 2


def moved(data: th.Dataset, labels: list[int], seed: int) -> th.Dataset:
    """The same, seen from another place in each session after the first."""
    rng = np.random.default_rng(seed)
    sessions = np.sort(rng.permutation(np.arange(len(data)) % len(labels)))
    positions, turned = data.positions, data.rotations
    assert positions is not None
    positions, turned = positions.copy(), None if turned is None else turned.copy()
    for number in range(1, len(labels)):
        here = sessions == number
        turn, place = rotations.exp(rng.normal(size=(1, 3)))[0], rng.normal(size=3)
        positions[here] = (positions[here] - place) @ turn
        if turned is not None:
            turned[here] = turn.T @ turned[here]
    return replace(data, positions=positions, rotations=turned, sessions=np.array(labels)[sessions])


@pytest.mark.parametrize("method", ["position", "frame"])
def test_a_sensor_that_was_moved(method: str) -> None:
    true = true_robot(12)
    data = moved(th.simulate(true, method, points=60, rng=1), [4, 9, 2], seed=2)
    result = th.identify(robot(), data, method, gains=False, terms="none")
    assert result.good
    assert th.compare(result.robot, true, rng=3).max() < 1e-12
    assert result.rank == th.identifiable(robot(), method).rank + 12
    assert result.held_out is not None
    assert result.held_out.calibrated["position"].maximum < 1e-12
    assert list(result.extras["sessions"]) == [9, 2]


@pytest.mark.parametrize("method", ["position", "frame"])
def test_the_jacobian_of_a_moved_sensor(method: str) -> None:
    data = moved(th.simulate(true_robot(13), method, points=30, rng=1), [1, 2], seed=3)
    problem = method_named(method).problem(robot(), data, noise=th.Noise())
    check_jacobian(problem, tolerance=1e-8)


def test_too_few_points_in_a_session_are_named() -> None:
    data = th.simulate("puma560", "position", points=40, rng=1)
    labels = np.where(np.arange(40) < 38, 1, 7)
    with pytest.raises(th.InputError, match="session 7 has 2 points"):
        th.identify(robot(), replace(data, sessions=labels), "position")


@pytest.mark.parametrize("seed", range(6))
def test_a_short_session_is_not_held_out_to_nothing(seed: int) -> None:
    true = true_robot(15)
    data = th.simulate(true, "position", points=44, rng=1)
    labels = np.where(np.arange(44) < 40, 1, 2)
    result = th.identify(
        robot(), replace(data, sessions=labels), "position", gains=False, terms="none", rng=seed
    )
    assert result.good, result.doubts()
    assert result.held_out is not None
    assert result.held_out.groups == 8


def test_targets_may_be_out_of_sight() -> None:
    """Blanks are as good as rows of their own."""
    arm = replace(
        robot(),
        targets=tuple(
            th.Target(name, point)
            for name, point in (("a", (0.05, 0.0, 0.0)), ("b", (0.0, 0.06, 0.01)))
        ),
    )
    true = th.perturb(arm, ERRORS, 14)
    noise = th.Noise(position=TRACKER, known=True)
    data = th.simulate(true, "position", points=60, rng=4, noise=noise)
    assert data.positions is not None
    positions = data.positions.copy()
    positions[:20, 0], positions[40:, 1] = np.nan, np.nan
    part = replace(data, positions=positions)
    for joint in (0.0, 1e-4):
        given = th.Noise(position=TRACKER, joint=joint, known=True)
        options = {"noise": given, "gains": False, "terms": "none", "hold_out": 0.0}
        result = th.identify(arm, part, "position", **options)  # type: ignore[arg-type]
        split = [
            replace(part.take(rows), positions=positions[rows][:, seen], targets=targets)
            for rows, seen, targets in (
                (np.arange(20), [1], ("b",)),
                (np.arange(20, 40), [0, 1], ("a", "b")),
                (np.arange(40, 60), [0], ("a",)),
            )
        ]
        known = [th.Source(one, "position", noise=given) for one in split]
        same = th.identify(arm, known, gains=False, terms="none", hold_out=0.0)
        for name in ("theta2", "d3", "ax", "by"):
            assert result.estimate(name).identified == pytest.approx(
                same.estimate(name).identified, abs=1e-7
            )
    assert result.residual_rows["position"].tolist() == [*range(20, 60), *range(40)]


def test_a_pose_needs_its_position() -> None:
    data = th.simulate("puma560", "frame", points=20, rng=1)
    assert data.positions is not None
    positions = np.concatenate([data.positions, data.positions], axis=1)
    positions[3, 0] = np.nan
    broken = replace(data, positions=positions, targets=("", "b"))
    with pytest.raises(th.InputError, match="line 4: the tool has an orientation but no position"):
        th.identify(robot(), broken, "frame")
