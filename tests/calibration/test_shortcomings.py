"""A model that lacks something, or holds on to something, says so and says what it costs."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.model.conventions import Convention
from theodolite.model.conversion import convert

NOISE = th.Noise(position=5e-5, orientation=5e-5)


@pytest.fixture(scope="module")
def incomplete() -> th.Robot:
    """Axes 2 and 3 of a PUMA are parallel: Denavit and Hartenberg cannot tilt one of them."""
    return convert(th.robots.puma560(), Convention.DH)


@pytest.mark.parametrize("method", [th.Position(), th.Frame()])
def test_what_is_missing_is_named_as_a_doubt(incomplete: th.Robot, method: th.Method) -> None:
    rng = np.random.default_rng(1)
    complete = convert(incomplete, Convention.POSE)
    tilted = th.perturb(complete, th.ParameterErrors(1e-3, 2e-3), rng)
    data = th.simulate(tilted, method, points=80, rng=rng, noise=NOISE)
    result = th.identify(incomplete, data, method)
    (doubt,) = [text for text in result.doubts() if "cannot be expressed" in text]
    assert doubt.startswith("A rotation about y between joints 2 and 3 cannot be expressed")
    # What is promised is what a complete model reaches.
    better = th.identify(complete, data, method)
    assert better.good
    assert result.shortcomings is not None
    promised = result.shortcomings.left * result.after["position"].rms
    assert promised == pytest.approx(better.after["position"].rms, rel=0.2)


def test_data_that_do_not_need_it_are_no_doubt(incomplete: th.Robot) -> None:
    rng = np.random.default_rng(1)
    true = th.perturb(incomplete, th.ParameterErrors(1e-3, 2e-3), rng)
    data = th.simulate(true, th.Position(), points=80, rng=rng, noise=NOISE)
    result = th.identify(incomplete, data, th.Position())
    assert result.good
    assert any("these data do not need it" in note for note in result.notes())


def test_a_complete_model_is_not_tried_again() -> None:
    robot, rng = th.robots.puma560(), np.random.default_rng(1)
    data = th.simulate(robot, th.Position(), points=60, rng=rng, noise=NOISE)
    assert th.identify(robot, data, th.Position()).shortcomings is None


def test_a_tolerance_that_the_data_contradict_is_a_doubt() -> None:
    robot, rng = th.robots.puma560(), np.random.default_rng(0)
    true = th.perturb(robot, th.ParameterErrors(2e-3, 4e-3), rng)
    data = th.simulate(true, th.Position(), points=80, rng=rng, noise=NOISE)
    assert th.identify(robot, data, th.Position()).good
    tight = robot.with_tolerances({"alpha4": np.radians(0.001)})
    result = th.identify(tight, data, th.Position())
    assert any(
        "more than 5 tolerances from nominal: alpha4 (" in doubt for doubt in result.doubts()
    )
