"""Further error terms of machines with several arms: derivatives, gravity, files, refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from tests.calibration.test_two_arms import ARMS
from theodolite.errors import InputError
from theodolite.io.robot_file import format_robot, parse_robot
from theodolite.model.poses import roll_pitch_yaw
from theodolite.model.terms import ErrorTerm

#: Of joints and links of both arms, and of the base.
TERMS = (
    ErrorTerm(1, "q", "sin(2*q1)", 3e-4),
    ErrorTerm(2, "q", "moment(z2, x3)", 5e-4),
    ErrorTerm(3, "rx", "moment(x3, y3)", -4e-4),
    ErrorTerm(4, "y", "cos(q4)", 2e-4),
    ErrorTerm(5, "q", "moment(z5, y6)", -3e-4),
    ErrorTerm(0, "rz", "exp(-time_s/300)", 4e-4),
)


@pytest.fixture
def arms() -> th.Mechanism:
    found = parse_robot(ARMS, "here")
    assert isinstance(found, th.Mechanism)
    return found.with_terms(TERMS)


def as_tree(robot: th.Robot) -> th.Mechanism:
    """The same serial robot as a tree of bodies, whose base stands in the first of them."""
    skeleton = robot.skeleton
    lines = [
        'format = "theodolite robot 1"',
        'name = "tree"',
        'units = { length = "m", angle = "rad" }',
        "joints = [",
        *(f'  {{ name = "q{n}", min = -3, max = 3 }},' for n in range(1, robot.joints + 1)),
        "]",
        "bodies = [",
    ]
    on = "world"
    for number, (rotation, position) in enumerate(skeleton.links, start=1):
        roll, pitch, yaw = roll_pitch_yaw(rotation)
        x, y, z = position
        fixed = f"Tx({x!r}) Ty({y!r}) Tz({z!r}) Rz({yaw!r}) Ry({pitch!r}) Rx({roll!r})"
        fixed = fixed.replace("np.float64(", "").replace("))", ")")
        moved = "" if number > robot.joints else f" Rz(q{number}+{skeleton.offsets[number - 1]!r})"
        moved = moved.replace("np.float64(", "").replace("))", ")").replace("+-", "-")
        lines.append(f'  {{ name = "b{number}", on = "{on}", product = "{fixed}{moved}" }},')
        on = f"b{number}"
    found = parse_robot("\n".join([*lines, "]\n"]), "here")
    assert isinstance(found, th.Mechanism)
    return found


def test_derivatives_equal_central_differences(
    arms: th.Mechanism, rng: np.random.Generator
) -> None:
    told = arms.inputs(arms.random_motors(6, rng), {"time_s": rng.uniform(0, 900, 6)})

    def places(values: np.ndarray) -> np.ndarray:
        tools = [arms.motion(values, told, target).position for target in range(2)]
        return np.stack([*tools, arms.motion_between(values, told, "right", "left").position])

    exact = np.stack(
        [
            *(arms.motion(arms.values, told, target).position_jacobian() for target in range(2)),
            arms.motion_between(arms.values, told, "right", "left").position_jacobian(),
        ]
    )
    for column in range(len(arms.parameters)):
        step = np.zeros(len(arms.parameters))
        step[column] = 1e-6
        slope = (places(arms.values + step) - places(arms.values - step)) / 2e-6
        np.testing.assert_allclose(exact[..., column], slope, atol=2e-9)


def test_what_is_between_two_tools_is_their_difference(
    arms: th.Mechanism, rng: np.random.Generator
) -> None:
    """Terms on the way up and on the way down, and none of the base."""
    told = arms.inputs(arms.random_motors(6, rng), {"time_s": rng.uniform(0, 900, 6)})
    right, left = (arms.motion(arms.values, told, target) for target in range(2))
    seen = np.einsum("nji,nj->ni", right.rotation, left.position - right.position)
    between = arms.motion_between(arms.values, told, "right", "left").position
    np.testing.assert_allclose(between, seen, atol=1e-14)


def test_a_tree_bends_as_the_same_table_does(rng: np.random.Generator) -> None:
    """All terms of gravity and bending, of a table of poses and of a tree."""
    from theodolite.calibration.term_groups import bending, gravity

    table = th.convert(th.robots.puma560(), "pose")
    tree = as_tree(table)
    for group in (gravity, bending):
        values = rng.normal(0, 1e-3, len(group(table)))
        assert [term.basis for term in group(tree)] == [term.basis for term in group(table)]
        motors = table.random_motors(5, rng)
        bent, other = (
            robot.with_terms(
                replace(term, value=value) for term, value in zip(group(robot), values, strict=True)
            )
            for robot in (table, tree)
        )
        np.testing.assert_allclose(other.down(), bent.down(), atol=1e-12)
        np.testing.assert_allclose(other.fk(motors).position, bent.fk(motors).position, atol=1e-12)
        assert np.abs(bent.fk(motors).position - table.fk(motors).position).max() > 1e-4


def test_gravity_stands_on_the_base_wherever_it_is_placed(
    arms: th.Mechanism, rng: np.random.Generator
) -> None:
    turned = arms.with_values({"torso.Rx": 0.7, "torso.Ry": -0.4, "torso.Tx": 3.0})
    motors = arms.random_motors(5, rng)
    np.testing.assert_allclose(turned.inputs(motors), arms.inputs(motors), atol=1e-12)
    sideways = replace(arms, gravity=(1.0, 0.0, 0.0))
    assert np.abs(sideways.inputs(motors) - arms.inputs(motors)).max() > 0.1


def test_the_other_arm_need_not_be_recorded(arms: th.Mechanism, rng: np.random.Generator) -> None:
    motors = arms.random_motors(5, rng)
    half = motors.copy()
    half[:, 3:] = np.nan
    whole = arms.motion(arms.values, arms.inputs(motors), 0).position
    np.testing.assert_array_equal(arms.motion(arms.values, arms.inputs(half), 0).position, whole)
    coupled = arms.with_terms([ErrorTerm(2, "q", "sin(q5)", 1e-4)])
    with pytest.raises(InputError, match=r"'sin\(q5\)' bends what was measured"):
        coupled.motion(coupled.values, coupled.inputs(half), 0)


def test_a_link_carries_what_stands_on_it(arms: th.Mechanism) -> None:
    assert arms.carried_by(1) == [1, 2, 3]
    assert arms.carried_by(5) == [5, 6]


def test_the_file_keeps_every_term(arms: th.Mechanism) -> None:
    arms = replace(arms, gravity=(0.0, 0.6, -0.8))
    read = parse_robot(format_robot(arms), "here")
    assert isinstance(read, th.Mechanism)
    assert read.terms == arms.terms
    assert read.gravity == pytest.approx(arms.gravity, abs=1e-15)
    np.testing.assert_array_equal(read.values, arms.values)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ('{ joint = "r9", on = "q", basis = "sin(q1)" }', "'r9' is not a measured joint"),
        ('{ joint = "r1", on = "theta", basis = "sin(q1)" }', "no element 'theta'"),
        ('{ joint = "r1", on = "q", basis = "sin(q9)" }', "no joint 9"),
        ('{ row = 1, on = "q", basis = "sin(q1)" }', "unknown key 'row'"),
        ('{ joint = "r1", on = "q", basis = "load(z1)" }', "known of tables only"),
        (
            '{ joint = "r1", on = "q", basis = "q1" }, { joint = "r1", on = "q", basis = "q1" }',
            "two parameters",
        ),
    ],
)
def test_wrong_terms_are_named(term: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse_robot(ARMS + f"terms = [{term}]\n", "my.toml")
    assert caught.value.where.startswith("my.toml")


def test_loops_have_no_terms() -> None:
    with pytest.raises(InputError, match="has loops"):
        th.robots.fourbar().with_terms([ErrorTerm(1, "q", "sin(q1)")])


def test_terms_of_both_arms_are_found(tmp_path: Path) -> None:
    """Geometry and gravity of two arms at once, exact data: as in the robot that was measured."""
    nominal = parse_robot(ARMS, "here")
    from theodolite.calibration.term_groups import gravity

    rng = np.random.default_rng(4)
    terms = tuple(replace(t, value=float(rng.normal(0, 2e-4))) for t in gravity(nominal))
    # Which of the arms is tilted on its torso, or the torso itself, only gravity could tell.
    torso = {p.name: 0 for p in nominal.parameters if p.name.startswith("torso")}
    nominal = nominal.with_priorities(torso)
    true = th.perturb(
        nominal,
        th.ParameterErrors(length=1e-3, angle=2e-3),
        1,
        only=[p.name for p in nominal.parameters if p.name not in torso],
    ).with_terms(terms)
    data = th.simulate(true, "position", points=120, rng=2)
    result = th.identify(nominal, data, "position", terms=["gravity"], gains=False)
    assert result.status.good
    result.robot.save(tmp_path / "found.toml")
    again = th.read_robot(tmp_path / "found.toml")
    motors = nominal.random_motors(50, rng)
    for target in ("right", "left"):
        found = again.fk(motors, target=target).position
        np.testing.assert_allclose(found, true.fk(motors, target=target).position, atol=1e-9)
