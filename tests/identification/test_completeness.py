"""Which models are complete, and what is missing where they are not."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.identification.analytic import analytic
from theodolite.identification.completeness import FORMS
from theodolite.reproduce.everett_models import MODELS, product_robot


@pytest.mark.parametrize("name", th.robots.NAMES)
def test_built_in_robots_are_complete(name: str) -> None:
    for measured in th.Measured:
        report = th.completeness(th.robots.load(name), measured)
        assert report.complete
        assert not report.missing
    assert th.completeness(th.robots.load(name)).exist == report.formula


def test_dh_cannot_turn_parallel_axes() -> None:
    """The missing Hayati angle, in words."""
    report = th.completeness(th.converted(th.robots.puma560(), th.Convention.DH))
    assert not report.complete
    assert report.missing == ("a rotation about y between joints 2 and 3 cannot be expressed",)
    report = th.completeness(th.converted(th.robots.puma560(), th.Convention.HAYATI))
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
    model = th.converted(robot, th.Convention.GENERALIZED)
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
        model = th.converted(th.robots.load(name), th.Convention.GENERALIZED)
        data = th.Position().observe(model, 80, rng)
        rank = th.identifiable(model, th.Position(), data=data).rank
        assert rank == th.completeness(model, th.Measured.POSITION).exist
