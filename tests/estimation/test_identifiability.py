"""Published counts and lists, relations that hold, and the traps."""

from __future__ import annotations

import json

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.catalogue import method_named
from theodolite.calibration.simulation import simulate
from theodolite.estimation.identifiability import analyse
from theodolite.model.parameters import Group, Parameter, Unit
from theodolite.reproduce import gecaro


def expand(text: str) -> set[str]:
    """`t2-6 K1-6 d3` as parameter names."""
    symbols = {"a": "alpha", "t": "theta", "b": "beta"}
    found = set()
    for item in text.split():
        if item in ("pa", "pb", "pc"):
            found.add(item)
            continue
        symbol = symbols.get(item[0], item[0])
        first, _, last = item[1:].partition("-")
        found |= {f"{symbol}{number}" for number in range(int(first), int(last or first) + 1)}
    return found


LINK = "t2-6 K1-6 d3 d4 r3 r4 r6 a2-6 d2 d5 d6 r5 b3"
PUMA_LISTS = {
    "frame": "t1-6 K1-6 d3 d4 r3 r4 r6 a1 a7 d1 d7 t0 t7 r0 r7 a2-6 d2 d5 d6 r1 r5 b3",
    "position": "t1-6 K1-6 d3 d4 r3 r4 r6 a1 a7 d1 t0 r0 a2-6 d2 d5 d6 r1 r5 b3",
    "position-link": LINK,
    "frame-link": "t2-5 K1-6 d3 d4 r3 a2-6 d2 d5 d6 r5 b3",
    "plane-known": "t1-6 K1-6 d3 d4 r3 r4 r6 a1 a7 a2-6 d2 d5 d6 r5 b3",
    "plane": f"pa pb pc {LINK}",
}


@pytest.mark.parametrize("name", PUMA_LISTS)
def test_puma_lists_are_the_published_ones(name: str) -> None:
    known = th.identifiable(th.robots.puma560(), method_named(name), gains=True)
    assert set(known.identifiable) == expand(PUMA_LISTS[name])


def test_all_counts_are_the_published_ones() -> None:
    for count in gecaro.counts(seed=7):
        assert count.found == count.expected, json.dumps(count.data())


@pytest.mark.parametrize("name", PUMA_LISTS)
def test_regrouping_relations_hold_at_fresh_configurations(name: str) -> None:
    """W2 = W1 B at configurations that did not decide B."""
    robot, method = th.robots.puma560(), method_named(name)
    known = th.identifiable(robot, method, gains=True, rng=np.random.default_rng(1))
    data = method.observe(robot, 40, np.random.default_rng(2), per_set=2)
    problem = method.problem(robot, data, noise=th.Noise(), gains=True)
    values = np.array([parameter.value for parameter in problem.parameters])
    W = np.concatenate([block.jacobian for block in problem.blocks(values)])
    scale = np.linalg.norm(W)
    if name == "plane":
        # The plane is another one, and with it the relations: here only their number counts.
        assert th.identifiable(robot, method, data=data, gains=True).rank == known.rank
        return
    if name == "plane-known":
        data = method.observe(robot, 40, np.random.default_rng(1))
        known = th.identifiable(robot, method, data=data, gains=True)
        plane = data.planes[0]
        data = th.PlaneKnown(plane).observe(robot, 60, np.random.default_rng(9))
        problem = method.problem(robot, data, noise=th.Noise(), gains=True)
        W = np.concatenate([block.jacobian for block in problem.blocks(values)])
        scale = np.linalg.norm(W)
    np.testing.assert_allclose(
        W[:, known.regrouped], W[:, known.base] @ known.relations, atol=1e-10 * scale
    )
    assert np.abs(W[:, known.no_effect]).max(initial=0.0) < 1e-10 * scale


def test_rounded_joints_do_not_fool_the_rank(rng: np.random.Generator) -> None:
    """Link data rounded to 1e-12 rad keep 30 and 33 parameters by a tolerance on R_ii."""
    robot = th.robots.puma560()
    for method, rank in ((th.PositionLink(), 26), (th.FrameLink(), 23)):
        data = method.observe(robot, 40, rng, per_set=2)
        rounded = th.Dataset(np.round(data.motors, 12), sets=data.sets)
        assert th.identifiable(robot, method, data=rounded, gains=True).rank == rank


def test_data_that_contradict_the_model_do_not_add_parameters(rng: np.random.Generator) -> None:
    """Millimetres of initial error must not look like information about base and scale."""
    robot = th.robots.puma560()
    true = th.perturb(robot, th.ParameterErrors(5e-3, 2e-2), rng)
    for method, rank in ((th.PositionLink(), 20), (th.FrameLink(), 17), (th.Plane(), 23)):
        data = simulate(true, method, points=150, rng=rng, per_set=2)
        assert th.identifiable(robot, method, data=data).rank == rank


def test_a_user_matrix_changes_the_choice_but_not_the_rank() -> None:
    robot = th.robots.puma560()
    preferred = robot.with_priorities({"r2": 9})
    known = th.identifiable(preferred, th.Frame())
    assert known.rank == 30
    assert "r2" in known.identifiable
    assert "r3" not in known.identifiable
    assert known.regrouping()["r3"] == pytest.approx({"r2": 1.0})
    assert "r2* = r2 + r3" in known.sentences()


def test_priority_zero_means_never() -> None:
    robot = th.robots.puma560().with_priorities({"theta3": 0, "d4": 0})
    known = th.identifiable(robot, th.Frame())
    assert known.rank == 28
    assert not {"theta3", "d4"} & {parameter.name for parameter in known.parameters}


def test_a_joint_that_never_moves_starves_its_parameters(rng: np.random.Generator) -> None:
    from theodolite.calibration.excitation import excitation

    robot = th.robots.puma560()
    data = th.Frame().observe(robot, 60, rng)
    motors = data.motors.copy()
    motors[:, 4] = 0.3
    # The poses no longer fit, but they do not matter for what is identifiable.
    frozen = th.Dataset(motors, positions=data.positions, rotations=data.rotations)
    random = th.identifiable(robot, th.Frame(), gains=True)
    recorded = th.identifiable(robot, th.Frame(), data=frozen, gains=True)
    report = excitation(robot, frozen, recorded, random)
    assert recorded.rank < random.rank
    assert not report.sufficient
    assert report.still == {"q5": 0.0}
    assert "K5" in report.starved
    good = th.identifiable(robot, th.Frame(), data=data, gains=True)
    assert excitation(robot, data, good, random).sufficient


def parameter(index: int) -> Parameter:
    return Parameter(f"x{index}", 0.0, Unit.METRE, Group.ARM, index, 0)


@pytest.mark.parametrize("size", [1e-3, 1e-6])
def test_rank_is_decided_by_the_gap(size: float, rng: np.random.Generator) -> None:
    """A weak direction counts however weak, as long as rounding is far below it."""
    Q = np.linalg.qr(rng.standard_normal((50, 4)))[0]
    W = np.column_stack([Q[:, 0], Q[:, 1], Q[:, 0] + size * Q[:, 2], Q[:, 0] - Q[:, 1]])
    R = np.linalg.qr(W, mode="r")
    known = analyse(R, [parameter(i) for i in range(4)], [1] * 4, 50)
    assert known.rank == 3
    assert known.identifiable == ["x0", "x1", "x2"]
    assert known.clear
    assert known.regrouping()["x3"] == pytest.approx({"x0": 1.0, "x1": -1.0})


def test_nothing_to_see_is_rank_zero() -> None:
    known = analyse(np.zeros((3, 3)), [parameter(i) for i in range(3)], [1] * 3, 0)
    assert known.rank == 0
    assert list(known.no_effect) == [0, 1, 2]
    assert known.condition_number == float("inf")


def test_qr_and_svd_agree_on_random_robots(rng: np.random.Generator) -> None:
    """The chosen columns alone have full rank, and adding any other one adds none."""
    for name in ("puma560", "stanford", "scara", "panda", "everett7"):
        robot = th.robots.load(name)
        data = th.Position().observe(robot, 80, rng)
        problem = th.Position().problem(robot, data, noise=th.Noise(), gains=True)
        values = np.array([p.value for p in problem.parameters])
        W = np.concatenate([block.jacobian for block in problem.blocks(values)])
        norms = np.linalg.norm(W, axis=0)
        W = W / np.where(norms > 1e-9 * norms.max(), norms, np.inf)
        known = th.identifiable(robot, th.Position(), data=data, gains=True)
        assert np.linalg.matrix_rank(W, tol=1e-8) == known.rank
        assert np.linalg.matrix_rank(W[:, known.base], tol=1e-8) == known.rank
