"""Further error terms: derivatives, gravity, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from theodolite.errors import InputError
from theodolite.io.robot_file import format_robot, parse_robot
from theodolite.model.inputs import inputs
from theodolite.model.terms import ErrorTerm, directions

#: One of every kind, on an element, on a joint, on a frame and on the base.
TERMS = (
    ErrorTerm(2, "q", "sin(q2)", 3e-4),
    ErrorTerm(3, "q", "cos(100*q3)", -1e-4),
    ErrorTerm(3, "r", "sin(2*q2)*cos(q3)", 2e-4),
    ErrorTerm(2, "q", "moment(z2, x3)", 5e-4),
    ErrorTerm(4, "rx", "moment(x4, y5)", 2e-4),
    ErrorTerm(5, "q", "direction5", 1e-4),
    ErrorTerm(0, "z", "1-exp(-time_s/300)", 4e-4),
    ErrorTerm(3, "alpha", "temperature_c/100", -2e-4),
)


def robot_with_terms(name: str = "irb120") -> th.Robot:
    return th.robots.load(name).with_terms(TERMS)


def conditions(count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        "time_s": np.sort(rng.uniform(0, 1000, count)),
        "temperature_c": rng.uniform(15, 40, count),
        "direction5": rng.choice([-1.0, 1.0], count),
    }


def test_derivatives_equal_central_differences(rng: np.random.Generator) -> None:
    robot = robot_with_terms()
    told = robot.inputs(robot.random_motors(7, rng), conditions(7, rng))
    exact = robot.motion(robot.values, told).position_jacobian()
    for column in range(len(robot.parameters)):
        step = np.zeros(len(robot.parameters))
        step[column] = 1e-6
        ahead, behind = (robot.motion(robot.values + s, told).position for s in (step, -step))
        np.testing.assert_allclose(exact[:, :, column], (ahead - behind) / 2e-6, atol=2e-9)


def test_moments_are_derivatives_of_the_potential_energy(rng: np.random.Generator) -> None:
    """A unit weight at a unit distance along x of link k turns joint j by -dU/dq_j."""
    robot = th.robots.irb120()
    motors = robot.random_motors(5, rng)
    for j, k, letter in ((2, 2, "x"), (2, 4, "y"), (3, 5, "x"), (4, 6, "y")):
        basis = f"moment(z{j}, {letter}{k})"
        found = inputs(robot.with_terms([ErrorTerm(j, "q", basis)]), motors)[:, -1]

        def height(motors: np.ndarray, k: int = k, letter: str = letter) -> np.ndarray:
            """Of the tip of a unit vector along an axis of link k, above its origin."""
            axis = robot.motion(robot.values, motors).frame(k)["xyz".index(letter)]
            return axis[2]

        step = np.zeros(6)
        step[j - 1] = 1e-6
        slope = (height(motors + step) - height(motors - step)) / 2e-6
        np.testing.assert_allclose(found, -slope, atol=1e-8)


def test_gravity_stands_on_the_base_wherever_it_is_placed(rng: np.random.Generator) -> None:
    robot = th.robots.irb120().with_terms([ErrorTerm(2, "q", "moment(z2, x2)")])
    turned = robot.with_values({"e0rx": 0.7, "e0ry": -0.4, "e0x": 3.0})
    motors = robot.random_motors(5, rng)
    np.testing.assert_allclose(inputs(turned, motors), inputs(robot, motors), atol=1e-12)
    sideways = replace(robot, gravity=(1.0, 0.0, 0.0))
    assert np.abs(inputs(sideways, motors) - inputs(robot, motors)).max() > 0.1


def test_directions_are_those_of_the_last_motion() -> None:
    motors = np.array([[0.0, 1.0], [0.5, 1.0], [0.5, 0.0], [0.2, 0.0], [0.2, 0.3]])
    np.testing.assert_array_equal(directions(motors), [[0, 0], [1, 0], [1, -1], [-1, -1], [-1, 1]])


def test_terms_without_conditions_are_those_of_a_cold_robot(rng: np.random.Generator) -> None:
    robot = robot_with_terms()
    motors = robot.random_motors(4, rng)
    cold = {name: np.zeros(4) for name in ("time_s", "temperature_c", "direction5")}
    told = robot.motion(robot.values, robot.inputs(motors, cold)).position
    np.testing.assert_array_equal(robot.fk(motors).position, told)


def test_the_file_keeps_every_term() -> None:
    robot = replace(robot_with_terms(), gravity=(0.0, 0.6, -0.8))
    read = parse_robot(format_robot(robot), "here")
    assert read.terms == robot.terms
    assert read.gravity == pytest.approx(robot.gravity, abs=1e-15)
    np.testing.assert_array_equal(read.values, robot.values)


def test_terms_belong_to_their_table() -> None:
    with pytest.raises(InputError, match="belong to its own table"):
        th.convert(robot_with_terms(), "pose")


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ('{ row = 9, on = "q", basis = "sin(q1)" }', "has no row 9"),
        ('{ row = 3, on = "beta2", basis = "sin(q1)" }', "no element 'beta2'"),
        ('{ row = 7, on = "q", basis = "sin(q1)" }', "no element 'q'"),
        ('{ row = 3, on = "q", basis = "sin(q8)" }', "no joint 8"),
        ('{ row = 3, on = "q", basis = "moment(z2, x9)" }', "no joint 9"),
        ('{ row = 3, on = "q", basis = "open(1)" }', "no function 'open'"),
        ('{ row = 3, on = "q" }', "needs strings for on and basis"),
        ('{ row = 3, on = "q", basis = "q1", tau = 3 }', "unknown key 'tau'"),
        ('{ row = 3, on = "q", basis = "q1", value = "x" }', "not a number"),
        ('{ row = 3, on = "q", basis = "q1" }, { row = 3, on = "q", basis = "q1" }', "two param"),
        ("3", "not a table"),
    ],
)
def test_wrong_terms_are_named(term: str, message: str) -> None:
    text = format_robot(th.robots.irb120()) + f"terms = [{term}]\n"
    with pytest.raises(InputError, match=message) as caught:
        parse_robot(text, "my.toml")
    assert "my.toml" in str(caught.value)


def test_a_basis_that_is_not_finite_is_named(rng: np.random.Generator) -> None:
    robot = th.robots.irb120().with_terms([ErrorTerm(3, "q", "1/(q1-q1)")])
    with pytest.raises(InputError, match="not finite in row 1"):
        robot.fk(robot.random_motors(2, rng))
