"""Parallel robots: derivatives, ranks, three methods that agree, honest intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import theodolite as th
from tests.calibration.mahalanobis import relative_scatter, squared_distance
from tests.quick import some_of
from tests.random_robots import central_differences
from theodolite.calibration.coupling import coupling
from theodolite.calibration.parallel import inverse_joints
from theodolite.errors import InfeasibleError, InputError
from theodolite.estimation.descent import ERROR_TOLERANCE
from theodolite.estimation.solver import solve
from theodolite.estimation.statistics import statistics
from theodolite.reproduce import renaud
from theodolite.reproduce.renaud_legs import closed_form_inverse
from theodolite.reproduce.renaud_ruler import linearity

SMALL = th.ParameterErrors(1e-3, 2e-3)
NOISE = th.Noise(5e-5, 1e-4, joint=2e-5, slide=1e-5, known=True)
METHODS = [th.Implicit(), th.Inverse()]


@pytest.mark.parametrize("name", th.robots.PARALLEL)
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_derivatives_equal_central_differences(name: str, method) -> None:
    robot = th.robots.load(name)
    rng = np.random.default_rng(0)
    data = method.observe(robot, 5, rng)
    problem = method.problem(robot, data, noise=NOISE, gains=True)
    values = np.array([p.value for p in problem.parameters])
    values = values + rng.uniform(-1e-3, 1e-3, len(values))
    rows = slice(0, 5)
    jacobian = problem._rows(problem.full_values(values), rows)[1]

    def error(x: np.ndarray) -> np.ndarray:
        return problem._rows(problem.full_values(x), rows)[0].ravel()

    numerical = central_differences(error, values)
    np.testing.assert_allclose(jacobian.reshape(numerical.shape), numerical, atol=1e-8)


@pytest.mark.parametrize("name", th.robots.PARALLEL)
def test_the_covariance_is_that_of_simulated_noise(name: str) -> None:
    """First-order propagation against 4000 noisy copies of one pose."""
    robot = th.robots.load(name)
    rng = np.random.default_rng(1)
    data = th.Implicit().observe(robot, 1, rng).take(np.zeros(4000, dtype=int))
    noisy = _noisy(data, robot, NOISE, rng)
    problem = th.Implicit().problem(robot, noisy, noise=NOISE)
    values = np.array([p.value for p in problem.parameters])
    errors, _, covariance = problem._rows(problem.full_values(values), slice(0, 4000))
    white = np.linalg.inv(np.linalg.cholesky(covariance[0]))
    seen = np.cov((errors @ white.T).T)
    np.testing.assert_allclose(seen, np.eye(len(seen)), atol=0.12)


def _noisy(data: th.Dataset, robot, noise: th.Noise, rng: np.random.Generator) -> th.Dataset:
    from dataclasses import replace

    from theodolite.model.rotations import exp

    motors = data.motors.copy()
    sigmas = noise.motors(robot.joint_types)
    motors[:, : robot.joints] += sigmas * rng.standard_normal((len(motors), robot.joints))
    shift = noise.position * rng.standard_normal(data.positions.shape)
    turn = exp(noise.orientation * rng.standard_normal((len(motors), 3)))
    return replace(
        data, motors=motors, positions=data.positions + shift, rotations=turn @ data.rotations
    )


@pytest.mark.parametrize("name", th.robots.PARALLEL)
def test_the_closed_form_equals_newtons(name: str) -> None:
    robot = th.robots.load(name)
    motors = robot.random_motors(50, np.random.default_rng(0))
    joints, coordinates = motors[:, : robot.joints], motors[:, robot.joints :]
    for inverse in (closed_form_inverse, inverse_joints):
        found = inverse(robot, robot.values, coordinates, joints + 0.02)
        np.testing.assert_allclose(found, joints, atol=1e-11)


def test_the_closed_form_is_the_papers() -> None:
    """Eq. 2 written out for the H4, with eps = +1 on all legs."""
    robot, coordinates = renaud.h4(), renaud.grid()
    X, Y, Z, th_ = coordinates.T
    R, arm, L, h = 0.14, 0.26, 0.48, 0.06
    found = renaud.joints_at(robot, coordinates)
    for j, (angle, e) in enumerate(
        zip(np.radians([0, 180, 270, 270]), (1, -1, -1, 1), strict=True)
    ):
        x = X + e * h * (np.cos(th_) - 1) - R * np.cos(angle)
        y = Y + e * h * np.sin(th_) - R * np.sin(angle)
        M = -2 * arm * (x * np.cos(angle) + y * np.sin(angle))
        N = 2 * arm * Z
        G = L**2 - arm**2 - (x**2 + y**2 + Z**2)
        q = 2 * np.arctan((N + np.sqrt(N**2 + M**2 - G**2)) / (G + M))
        np.testing.assert_allclose(found[:, j], q, atol=1e-12)


def test_both_models_of_the_h4_move_alike() -> None:
    """Implicit-31 at the values of implicit-12, its platform's zero shifted by R and h."""
    twelve, many = renaud.h4(), renaud.h4_31()
    coordinates = renaud.grid()
    joints = renaud.joints_at(twelve, coordinates)
    there = coordinates - [0.2, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(many.close(many.values, joints, there)[0], there, atol=1e-10)


@pytest.mark.parametrize(("name", "rank", "count"), [("h4", 21, 24), ("h4_31", 38, 43)])
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_ranks_of_the_h4(name: str, rank: int, count: int, method) -> None:
    known = th.identifiable(th.robots.load(name), method)
    assert (known.rank, len(known.parameters)) == (rank, count)


def test_the_three_losses_of_rank_have_names() -> None:
    lost = coupling(th.identifiable(renaud.h4_31(), th.Implicit()))
    assert set(lost.external) == {"tTe_rx", "tTe_ry", "tTe_z"}
    assert set(lost.coupled) == {"psi4", "d"}
    assert "d has the same effect as the external bTc_y" in lost.relations
    assert any("offset of the platform's zero" in sentence for sentence in lost.sentences())
    planar = coupling(th.identifiable(th.robots.load("rrr3"), th.Implicit()))
    assert {"bTc_z", "tTe_z", "tTe_rx", "tTe_ry"} <= set(planar.external)


def test_gough_stewart_has_42_parameters() -> None:
    known = th.identifiable(th.robots.load("gough"), th.Implicit())
    assert known.rank == 42
    lost = coupling(known)
    assert not lost.kinematic
    assert not lost.external
    assert len(lost.coupled) == 12


@pytest.mark.parametrize(
    ("name", "poses"),
    some_of([("gough", 40), ("delta", 30), ("h4", 60)], [("gough", 40), ("delta", 30)]),
)
def test_intervals_hold_and_methods_agree(name: str, poses: int) -> None:
    """Identified from noisy poses by all three methods: right covariances, and the same robot."""
    robot = th.robots.load(name)
    known = th.identifiable(robot, th.Implicit())
    methods = [th.Implicit(), th.Inverse(), th.Frame()]
    squares = {m.name: 0.0 for m in methods}
    runs = 4
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        true = th.perturb(robot, SMALL, rng, only=known.identifiable)
        truth = dict(zip((p.name for p in true.parameters), true.values, strict=True))
        data = _noisy(th.Frame().observe(true, poses, rng), true, NOISE, rng)
        found = {}
        for method in methods:
            problem = method.problem(robot, data, noise=NOISE)
            solution = solve(problem)
            assert solution.status.good
            chosen = solution.identifiability
            covariance = statistics(solution, noise_known=True).covariance
            nominal = np.array([p.value for p in problem.parameters])
            error = np.array([truth[p.name] for p in problem.parameters]) - nominal
            # What the chosen parameters stand for, whichever were chosen.
            wanted = error[chosen.base] + chosen.relations @ error[chosen.regrouped]
            off = (solution.values - nominal)[chosen.base] - wanted
            squares[method.name] += squared_distance(off, covariance) / chosen.rank / runs
            found[method.name] = problem.calibrated(solution.values)
        fresh = true.random_motors(30, rng)
        places = {key: one.poses(fresh)[1] for key, one in found.items()}
        # Implicit and inverse weigh the same information: they agree far within their errors.
        off = np.linalg.norm(places["implicit"] - true.poses(fresh)[1], axis=1).mean()
        apart = np.linalg.norm(places["implicit"] - places["inverse"], axis=1).mean()
        assert apart < 0.1 * off
        assert np.linalg.norm(places["implicit"] - places["frame"], axis=1).mean() < 3 * off
    for mean in squares.values():
        assert mean == pytest.approx(1.0, abs=4 * relative_scatter(known.rank, runs))


def test_the_inverse_method_ends_where_scipy_does() -> None:
    """Legs written out by hand, derivatives by finite differences: the same minimum.

    Residuals are weighed anew in every iteration, so the solution is the minimum for the weights
    there: scipy is given those, and the prior. The search ends where a step would be shorter than
    ``ERROR_TOLERANCE`` standard errors, and lower the cost by less than its square.
    """
    robot, method = th.robots.load("gough"), th.Inverse()
    rng = np.random.default_rng(0)
    known = th.identifiable(robot, method)
    true = th.perturb(robot, SMALL, rng, only=known.identifiable)
    data = th.simulate(true, method, points=40, rng=rng, noise=NOISE)
    problem = method.problem(robot, data, noise=NOISE)
    ours = solve(problem, noise_known=True)
    assert ours.status.good
    names, base = [p.name for p in problem.parameters], ours.changed
    start = np.array([p.value for p in problem.parameters])
    assert np.array_equal(np.delete(ours.values, base), np.delete(start, base))
    covariance = problem._rows(problem.full_values(ours.values), slice(0, len(data)))[2]
    white = np.linalg.inv(np.linalg.cholesky(covariance))

    def residual(x: np.ndarray) -> np.ndarray:
        values = start.copy()
        values[base] = x
        off = _legs(dict(zip(names, values, strict=True)), data) - data.motors[:, : robot.joints]
        return np.concatenate([np.einsum("nij,nj->ni", white, off).ravel(), ours.prior.residual(x)])

    spread = statistics(ours, noise_known=True).covariance
    scale = np.sqrt(np.diag(spread))
    theirs = least_squares(residual, start[base], x_scale=scale, ftol=1e-10, xtol=1e-10, gtol=1e-10)
    assert squared_distance(theirs.x - start[base], spread) > 100.0
    assert squared_distance(theirs.x - ours.values[base], spread) < ERROR_TOLERANCE**2
    cost = float(np.sum(residual(ours.values[base]) ** 2))
    assert cost == pytest.approx(2 * theirs.cost, abs=ERROR_TOLERANCE**2)


def _legs(values: dict[str, float], data: th.Dataset) -> np.ndarray:
    """What the legs of the Gough-Stewart platform read at measured poses, (n, 6)."""

    def frame(name: str) -> tuple[np.ndarray, np.ndarray]:
        turned = Rotation.from_euler("XYZ", [values[f"{name}_r{axis}"] for axis in "xyz"])
        return turned.as_matrix(), np.array([values[f"{name}_{axis}"] for axis in "xyz"])

    def point(name: str) -> np.ndarray:
        return np.array([values[f"{name}.T{axis}"] for axis in "xyz"])

    (R_base, p_base), (R_target, p_target) = frame("bTc"), frame("tTe")
    turned = R_base @ data.rotations @ R_target
    centre = (data.positions[:, 0] + data.rotations @ p_target) @ R_base.T + p_base
    lengths = [
        np.linalg.norm(centre + turned @ point(f"head{leg}") - point(f"foot{leg}"), axis=1)
        - values[f"leg{leg}.length"]
        for leg in range(1, 7)
    ]
    return np.stack(lengths, axis=1)


def test_identification_from_the_a_priori_values_is_exact() -> None:
    data = renaud.measured(renaud.truth(), renaud.grid())
    fresh = renaud.truth().random_motors(100, np.random.default_rng(3))
    for method in METHODS:
        problem, solution = renaud.calibrated(renaud.h4(), method, data)
        assert solution.iterations + 1 <= 6
        robot = problem.calibrated(solution.values)
        assert renaud.target_error(robot, renaud.truth(), fresh) < 1e-12


def test_positions_are_enough_for_a_delta() -> None:
    """Partial poses: a platform that does not turn needs no orientations."""
    robot = th.robots.load("delta")
    rng = np.random.default_rng(0)
    true = th.perturb(robot, SMALL, rng)
    data = th.simulate(true, th.Position(), points=40, rng=rng)
    for method in METHODS:
        result = th.identify(robot, data, method, terms="none", gains=False, hold_out=0.0)
        assert result.status.good
        fresh = true.random_motors(30, rng)
        np.testing.assert_allclose(result.robot.poses(fresh)[1], true.poses(fresh)[1], atol=1e-9)
    with pytest.raises(InputError, match="turns, but the data hold no orientations"):
        h4 = th.robots.load("h4")
        th.Implicit().problem(h4, th.Position().observe(h4, 3, rng), noise=th.Noise())


def test_published_figures() -> None:
    for figure in renaud.figures():
        assert figure.agrees, figure


def test_linearity_of_known_points() -> None:
    way = np.linspace(0, 1, 50)[:, None] * [1.0, 2.0, 2.0]
    assert linearity(way).maximum < 1e-15
    bent = way + 1e-3 * np.sin(np.linspace(0, 40, 50))[:, None] * [0.0, 1.0, -1.0]
    assert 5e-4 < linearity(bent).deviation < 1.2e-3


def test_poses_out_of_reach_are_said() -> None:
    robot = renaud.h4()
    far = np.array([[0.9, 0.0, -0.4, 0.0]])
    assert np.isnan(closed_form_inverse(robot, robot.values, far, np.zeros((1, 4)))).any()
    with pytest.raises(InfeasibleError, match="do not reach 1 of 1 poses"):
        inverse_joints(robot, robot.values, far, np.zeros((1, 4)))


def test_other_robots_are_refused() -> None:
    for name, message in (("puma560", "serial robot"), ("fourbar", "not coordinates")):
        robot = th.robots.load(name)
        data = th.Frame().observe(robot, 3, np.random.default_rng(0))
        with pytest.raises(InputError, match=message):
            th.Implicit().problem(robot, data, noise=th.Noise())
