"""Three roads to one answer: numerical QR, numerical SVD, and the analytic rule."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.analytic import Measured, Structure, analytic, candidates
from theodolite.calibration.data import Dataset
from theodolite.estimation.identifiability import analyse, analyse_by_svd
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import reduce
from theodolite.reproduce import everett_loops, everett_models
from theodolite.reproduce import meggiolaro as paper
from theodolite.reproduce import table1 as meggiolaro

METHODS = {Measured.POSE: th.Frame(), Measured.POSITION: th.Position()}


def random_dh(rng: np.random.Generator) -> th.Robot:
    """1 to 9 joints of any kind; generic and degenerate values, wrists, coaxial, parallel axes."""
    joints = int(rng.integers(1, 10))
    rows = []
    for _ in range(joints):
        kind = th.Joint.PRISMATIC if rng.random() < 0.25 else th.Joint.REVOLUTE
        alpha = rng.choice([0.0, np.pi, np.pi / 2, -np.pi / 2, rng.uniform(-3, 3)])
        a = 0.0 if rng.random() < 0.5 else rng.uniform(0.1, 0.8)
        d = 0.0 if rng.random() < 0.5 else rng.uniform(0.1, 0.8)
        theta = 0.0 if rng.random() < 0.5 else rng.uniform(-3, 3)
        values = {"alpha": float(alpha), "a": float(a), "d": float(d), "theta": float(theta)}
        rows.append(th.Row(th.Convention.DH, kind, values))
    return th.Robot.of("random", rows)


def jacobian(robot: th.Robot, measured: Measured, rng: np.random.Generator) -> np.ndarray:
    """The Jacobian of all generalized errors at random configurations."""
    motors = rng.uniform(-2, 2, (30, robot.joints))
    motion = robot.chains[0].motion(robot.values, robot.basis(motors))
    J = motion.twist_jacobian() if measured is Measured.POSE else motion.position_jacobian()
    return J.reshape(-1, J.shape[2])


@pytest.mark.parametrize("base", [True, False])
@pytest.mark.parametrize("measured", list(Measured))
def test_three_roads_agree_on_random_robots(measured: Measured, base: bool) -> None:
    assert_three_roads_agree(measured, base, seed=17, robots=75)


@pytest.mark.study
@pytest.mark.parametrize("base", [True, False])
@pytest.mark.parametrize("measured", list(Measured))
def test_three_roads_agree_on_a_thousand_robots(measured: Measured, base: bool) -> None:
    assert_three_roads_agree(measured, base, seed=99, robots=1000)


def assert_three_roads_agree(measured: Measured, base: bool, *, seed: int, robots: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(robots):
        robot = meggiolaro.error_model(random_dh(rng))
        chosen = candidates(robot, base=base)
        parameters = [robot.parameters[index] for index in chosen]
        priorities = [robot.priority(parameter) for parameter in parameters]
        W = jacobian(robot, measured, rng)[:, chosen]
        R = np.linalg.qr(W, mode="r")
        by_qr = analyse(R, parameters, priorities, len(W))
        by_svd = analyse_by_svd(R, parameters, priorities, len(W))
        by_rule = analytic(robot, measured, base=base)
        assert by_qr.rank == by_svd.rank == by_rule.rank
        assert list(by_qr.no_effect) == list(by_svd.no_effect) == list(by_rule.no_effect)
        for known in (by_qr, by_svd, by_rule):
            scale = np.abs(known.relations).max(initial=1.0) * np.abs(W).max()
            gap = W[:, known.regrouped] - W[:, known.base] @ known.relations
            assert np.abs(gap).max(initial=0.0) < 1e-12 * scale


@pytest.mark.parametrize("measured", list(Measured))
def test_reported_combinations_vanish(measured: Measured) -> None:
    rng = np.random.default_rng(23)
    for _ in range(60):
        robot = th.convert(random_dh(rng), th.Convention.POSE)
        skeleton = robot.chains[0].skeleton(robot.values)
        structure = Structure.of(skeleton, measured)
        motors = rng.uniform(-2, 2, (30, robot.joints))
        motion = robot.chains[0].motion(robot.values, robot.basis(motors))
        axes = motion._twist_axes if measured is Measured.POSE else motion._position_axes
        X = axes.reshape(6 * len(skeleton.links), -1).T
        for combination in structure.combinations:
            assert np.abs(X @ combination.coefficients).max() < 1e-12
            assert "joint" in combination.reason or "point" in combination.reason
        assert np.linalg.matrix_rank(X, tol=1e-8) == structure.rank


@pytest.mark.parametrize("name", th.robots.SERIAL)
@pytest.mark.parametrize("measured", list(Measured))
def test_the_rule_finds_the_same_set_as_measurements(name: str, measured: Measured) -> None:
    robot = th.robots.load(name)
    assert set(analytic(robot, measured).identifiable) == set(
        th.identifiable(robot, METHODS[measured]).identifiable
    )


@pytest.mark.parametrize("base", [True, False])
@pytest.mark.parametrize("measured", list(Measured))
def test_the_papers_equations_vanish(measured: Measured, base: bool) -> None:
    """Eqs. 7-10 (in their general form), 12 and 13, over random DH robots."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        table = random_dh(rng)
        robot = meggiolaro.error_model(table)
        names = [parameter.name for parameter in robot.parameters]
        W = jacobian(robot, measured, rng)
        for relation in meggiolaro.relations(table, measured, base=base):
            rest = W[:, names.index(relation.error)].copy()
            for name, value in relation.equals.items():
                rest -= value * W[:, names.index(name)]
            assert np.abs(rest).max() < 1e-12 * max(1.0, np.abs(W).max()), relation


def test_combined_errors_are_those_of_equations_30_to_32() -> None:
    first = th.Row(th.Convention.DH, th.Joint.REVOLUTE, {"a": 0.3, "alpha": 0.7})
    last = th.Row(th.Convention.DH, th.Joint.REVOLUTE, {"d": 0.2})
    found = meggiolaro.relations(th.Robot.of("two", [first, last]), Measured.POSITION)
    combined = meggiolaro.combined_errors(found)
    c, s = np.cos(0.7), np.sin(0.7)
    # Eq. 30 for link 1; e1x and e1y also gather what eq. 32 gives them.
    assert combined["e1z"] == pytest.approx({"e0z": c, "e0rz": -0.3 * s})
    assert combined["e1ry"] == pytest.approx({"e0rz": s})
    assert combined["e1rz"] == pytest.approx({"e0rz": c})
    assert combined["e1x"] == pytest.approx({"e1ry": 0.2})
    assert combined["e1y"] == pytest.approx({"e0z": s, "e0rz": 0.3 * c, "e1rx": -0.2})


def test_dh_errors_of_parallel_joints_add_up() -> None:
    """Eqs. 14 and 15: offsets along and about parallel axes, lengths across a slide."""
    rows = [
        th.Row(th.Convention.DH, th.Joint.REVOLUTE, {"a": 0.3}),
        th.Row(th.Convention.DH, th.Joint.REVOLUTE, {"a": 0.2, "alpha": 1.0}),
        th.Row(th.Convention.DH, th.Joint.PRISMATIC, {"a": 0.1, "alpha": 0.5}),
        th.Row(th.Convention.DH, th.Joint.REVOLUTE, {"a": 0.4, "alpha": 0.3}),
    ]
    robot = th.Robot.of("parallel", rows).with_priorities({"a3": 9})
    relations = analytic(robot, Measured.POSE, base=True).regrouping()
    assert relations["d2"] == pytest.approx({"d1": 1.0})
    assert relations["a2"] == pytest.approx({"a3": 1.0})


def test_the_papers_count_misses_coaxial_last_joints() -> None:
    """Two coaxial last revolutes: Table 1 counts too many, the exact rule does not."""
    table = paper.dh_robot("coaxial", [(0, 0.2, 0.3, 1.0), (0, 0.1, 0.0, 0.0), (0, 0.25, 0.0, 0.0)])
    robot = meggiolaro.error_model(table)
    rng = np.random.default_rng(2)
    chosen = candidates(robot)
    rank = np.linalg.matrix_rank(jacobian(robot, Measured.POSITION, rng)[:, chosen], tol=1e-9)
    assert analytic(robot, Measured.POSITION).rank == rank
    assert meggiolaro.independent(table, Measured.POSITION) > rank


@pytest.mark.parametrize("module", [everett_models, everett_loops, paper])
def test_published_figures(module) -> None:
    for figure in module.figures():
        assert figure.agrees, figure


def test_the_seven_joint_arm_from_the_report() -> None:
    nominal, (_, data) = th.robots.everett7(), everett_models.seven_joint_data()
    result = th.identify(
        nominal, data, th.Frame(), terms="none", gains=False, hold_out=0.0, start="nominal"
    )
    assert result.status.good
    assert result.rank == 32
    assert result.iterations <= 6
    assert everett_models.pose_error(result.robot, data) < 1e-13


def test_svd_and_qr_regroup_the_same_puma_parameters() -> None:
    robot, method = th.robots.puma560(), th.Frame()
    data: Dataset = method.observe(robot, 30, np.random.default_rng(0))
    problem = method.problem(robot, data, noise=th.Noise())
    values = np.array([p.value for p in problem.parameters])
    R = reduce(problem, values, Loss()).R
    known = analyse_by_svd(R, problem.parameters, problem.priorities, len(data))
    assert known.names(known.regrouped) == ["r2"]
    assert known.regrouping()["r2"] == pytest.approx({"r3": 1.0})
