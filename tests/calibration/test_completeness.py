"""Which models are complete, and what is missing where they are not."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.analytic import analytic
from theodolite.calibration.completeness import FORMS
from theodolite.reproduce.everett_models import MODELS, product_robot


@pytest.mark.parametrize("name", th.robots.SERIAL)
def test_built_in_robots_are_complete(name: str) -> None:
    for measured in th.Measured:
        report = th.completeness(th.robots.load(name), measured)
        assert report.complete
        assert not report.missing
    assert th.completeness(th.robots.load(name)).exist == report.formula


def test_dh_cannot_turn_parallel_axes() -> None:
    """The missing Hayati angle, in words."""
    report = th.completeness(th.convert(th.robots.puma560(), th.Convention.DH))
    assert not report.complete
    assert report.missing == ("a rotation about y between joints 2 and 3 cannot be expressed",)
    report = th.completeness(th.convert(th.robots.puma560(), th.Convention.HAYATI))
    assert report.complete


def test_what_completes_a_model_is_what_it_says_is_missing() -> None:
    """Leaving out one parameter of a minimal model loses exactly one direction."""
    robot = product_robot("figure 10", MODELS["figure 10"])
    assert th.completeness(robot).minimal
    report = th.completeness(robot.with_priorities({"Ry2": 0}))
    assert report.expressed == 17
    assert len(report.missing) == 1
    assert report.missing[0].startswith("a rotation about y between joints 1 and 2")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["puma560", "stanford", "scara", "everett7"])
@pytest.mark.parametrize("measured", list(th.Measured))
def test_suggestions_are_complete_and_minimal(name: str, measured: th.Measured, form: str) -> None:
    robot = th.robots.load(name)
    report = th.completeness(robot, measured)
    chosen = report.suggested[form]
    model = th.convert(robot, th.Convention.GENERALIZED)
    left_out = {p.name: 0 for p in model.parameters if p.name not in chosen}
    known = analytic(model.with_priorities(left_out), measured)
    assert known.rank == len(chosen) == report.exist


def test_the_perpendicular_set_is_everetts() -> None:
    """Two turns and two shifts across each revolute axis, six at the tool."""
    chosen = set(th.completeness(th.robots.puma560()).suggested["perpendicular"])
    expected = {f"e{k}{s}" for k in range(6) for s in ("x", "y", "rx", "ry")}
    assert chosen == expected | {f"e6{s}" for s in ("x", "y", "z", "rx", "ry", "rz")}


def test_essential_parameters_are_in_no_combination() -> None:
    report = th.completeness(th.robots.puma560())
    assert set(report.redundant) == {"r2", "r3"}
    assert len(report.essential) == 29


def test_counts_hold_at_random_configurations() -> None:
    """The analytic maximum is the rank of the generalized model's Jacobian."""
    rng = np.random.default_rng(4)
    for name in ("stanford", "panda"):
        model = th.convert(th.robots.load(name), th.Convention.GENERALIZED)
        data = th.Position().observe(model, 80, rng)
        rank = th.identifiable(model, th.Position(), data=data).rank
        assert rank == th.completeness(model, th.Measured.POSITION).exist


def test_nearly_parallel_dh_rows_are_complete_only_on_paper() -> None:
    """The UR's case: a row that follows a tilt of the axes by metres of d."""
    rows = [
        th.Row(th.Convention.DH, th.Joint.REVOLUTE, {"d": 0.1, "alpha": np.pi / 2}),
        th.Row(th.Convention.DH, th.Joint.REVOLUTE, {"d": 439.0, "a": 0.6, "alpha": 7e-4}),
        th.Row(th.Convention.DH, th.Joint.REVOLUTE, {"d": -439.0, "a": 0.5, "alpha": np.pi / 2}),
        th.Row(th.Convention.POSE, th.Joint.FIXED),
    ]
    report = th.completeness(th.Robot.of("ur", rows))
    assert report.complete == (not report.missing)
    assert report.only_on_paper
    assert not th.completeness(th.robots.ur10e()).only_on_paper


def test_the_base_may_be_known() -> None:
    report = th.completeness(th.robots.puma560(), base=False)
    assert report.exist == 26
    assert not any(name.startswith("e0") for name in report.suggested["perpendicular"])


def test_more_than_nine_joints_are_sorted_by_number() -> None:
    row = th.Row(th.Convention.DH, th.Joint.REVOLUTE, {"a": 0.2, "alpha": 1.0})
    report = th.completeness(th.Robot.of("snake", [row] * 12))
    numbers = [int(name[1:].rstrip("xyzr")) for name in report.suggested["perpendicular"]]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 12


def test_conversion_keeps_targets() -> None:
    robot = th.robots.puma560().with_targets([th.Target("p1", (0.1, 0.2, 0.3))])
    other = th.convert(robot, th.Convention.DH)
    assert other.targets == robot.targets
    motors = np.random.default_rng(0).uniform(-1, 1, (4, 6))
    np.testing.assert_allclose(other.poses(motors)[1], robot.poses(motors)[1], atol=1e-13)
