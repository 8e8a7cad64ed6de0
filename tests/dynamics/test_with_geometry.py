"""Geometry and dynamics in one run: what each does to the other."""

from __future__ import annotations

from functools import cache

import numpy as np

import theodolite as th
from tests.dynamics.simulated import motion, torques_of, true_values
from theodolite.dynamics.drives import FRICTION
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.with_geometry import GeometryAndDynamics, identify_with_geometry


@cache
def both(seed: int, noise_mm: float = 0.05) -> tuple[GeometryAndDynamics, Dynamics, dict]:
    """A PUMA whose links are off by millimetres, measured by a tracker and by its torques."""
    rng = np.random.default_rng(seed)
    nominal = th.robots.puma560()
    true = th.perturb(nominal, th.ParameterErrors(length=5e-3, angle=10e-3), rng)
    noise = th.Noise(position=noise_mm * 1e-3)
    data = th.simulate(true, th.Position(), points=60, noise=noise, rng=rng)
    calibration = th.identify(nominal, data, th.Position(), noise=noise, terms=[], gains=False)
    dynamics = Dynamics(true)
    truth = true_values(rng)
    state = motion(rng, np.linspace(0, 20, 600))
    torques = torques_of(dynamics, state, truth)
    run = Run(state, torques + 0.2 * rng.standard_normal(torques.shape), rate=30.0)
    return identify_with_geometry(calibration, run), dynamics, truth


def test_a_calibrated_geometry_explains_the_torques_better() -> None:
    found, _, _ = both(0)
    assert found.calibration.good
    before, after = (
        th.predict(each, each.problem.runs).judged.error for each in (found.nominal, found.dynamics)
    )
    assert after < before


def test_uncertain_geometry_widens_the_intervals() -> None:
    """A tracker ten times as bad: its part of the intervals grows as much."""
    fine, coarse = both(1)[0], both(1, 0.5)[0]
    assert fine.dynamics.base_values.shape == coarse.dynamics.base_values.shape
    growth = np.median(coarse.geometry_errors / fine.geometry_errors)
    assert 5 < growth < 20
    assert (coarse.dynamics.statistics.standard_errors >= coarse.geometry_errors).all()


def test_intervals_of_a_prediction_hold_the_torques_of_the_true_robot() -> None:
    inside = []
    for seed in range(3):
        found, dynamics, truth = both(seed, 0.5)
        rng = np.random.default_rng(100 + seed)
        state = motion(rng, np.linspace(0, 10, 100))
        true = torques_of(dynamics, state, truth) + 0.2 * rng.standard_normal((100, 6))
        guess = found.predict(state)
        inside.append(np.abs(guess.total - true) <= guess.half_widths)
    assert np.mean(inside) > 0.92


def test_variants_are_fits_of_the_same_torques() -> None:
    """With a geometry that is certain, the centre is the weighted fit itself."""
    found, _, _ = both(0)
    np.testing.assert_allclose(found.centre.values, found.dynamics.values, rtol=1e-6, atol=1e-9)
    # Axes that are parallel by design show no more than they do on the nominal robot.
    assert found.dynamics.identifiability.rank == 58
    assert found.dynamics.identifiability.condition_number < 1000
    assert set(found.dynamics.problem.drives) >= set(FRICTION)
