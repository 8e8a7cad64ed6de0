"""After a repair: a few measurements find what was changed, and the rest stays known."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.kept import Kept
from theodolite.errors import InputError

NOISE = th.Noise(position=5e-5, known=True)
QUICK = {"gains": False, "terms": "none", "hold_out": 0.0, "noise": NOISE}


def repaired(rng: np.random.Generator) -> tuple[th.Result, th.Robot, th.Dataset]:
    """A calibrated PUMA whose third motor was changed, and twelve fresh measurements."""
    nominal = th.robots.puma560()
    true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng)
    data = th.simulate(true, "position", points=30, rng=rng, noise=NOISE)
    result = th.identify(nominal, data, "position", **QUICK)
    names = [p.name for p in true.parameters]
    values = true.values.copy()
    values[names.index("theta3")] += 5e-3
    now = true.with_values(values)
    return result, now, th.simulate(now, "position", points=12, rng=rng, noise=NOISE)


def test_intervals_hold_and_carry_what_is_unsure_of_the_rest():
    rng = np.random.default_rng(5)
    inside, fixed_inside, errors = [], [], []
    for _ in range(30):
        result, now, fresh = repaired(rng)
        truth = now.values[[p.name for p in now.parameters].index("theta3")]
        found = th.identify(result.robot, fresh, "position", only=["theta3"], after=result, **QUICK)
        one = found.estimate("theta3")
        errors.append(one.identified - truth)
        # The earlier calibration may have put a part of theta3 into what it regroups with; PUMA's
        # theta3 stands for itself alone.
        inside.append(abs(one.identified - truth) <= one.interval)
        alone = th.identify(result.robot, fresh, "position", only=["theta3"], **QUICK)
        plain = alone.estimate("theta3")
        fixed_inside.append(abs(plain.identified - truth) <= plain.interval)
        assert alone.order == ("theta3",)
        assert len(found.order) > 20
    assert np.mean(inside) >= 0.88
    assert np.sqrt(np.mean(np.square(errors))) < 2e-4
    # To call the rest exact would be to promise too much.
    assert np.mean(fixed_inside) < np.mean(inside)


def test_twelve_measurements_are_enough_because_the_rest_is_known(rng):
    result, now, fresh = repaired(rng)
    found = th.identify(result.robot, fresh, "position", only="theta3", after=result, **QUICK)
    again = th.simulate(now, "position", points=200, rng=rng)
    anew = th.residuals(found.robot, again, "position")["position"]
    before = th.residuals(result.robot, again, "position")["position"]
    assert np.sqrt(np.mean(anew**2)) < 1.5e-4
    assert np.sqrt(np.mean(before**2)) > 1e-3
    # What was known well has hardly moved.
    for one in found.estimates:
        if one.name != "theta3" and one.interval is not None:
            moved = abs(one.identified - one.nominal)
            assert moved < 2 * result.estimate(one.name).interval


def test_the_prior_is_the_covariance_of_the_rest(rng):
    result, _, fresh = repaired(rng)
    kept = Kept.of(result.robot, ["theta3"], result)
    problem = th.Position().problem(result.robot, fresh, noise=NOISE, gains=False)
    free, prior = kept.prior(problem)
    names = [problem.parameters[index].name for index in free]
    assert names[0] == "theta3"
    inverse = np.linalg.inv(prior.factor.T @ prior.factor)
    order = list(result.order)
    places = [order.index(name) for name in names[1:]]
    expected = result.statistics.covariance[np.ix_(places, places)]
    np.testing.assert_allclose(inverse[1:, 1:], expected, rtol=1e-6, atol=1e-18)


def test_before_is_the_robot_as_it_was_known(rng):
    """Nothing is placed anew: the zero that slipped shows, whatever the base could hide."""
    result, _, fresh = repaired(rng)
    found = th.identify(result.robot, fresh, "position", only="theta3", after=result, **QUICK)
    known = th.residuals(result.robot, fresh, "position")["position"]
    assert found.before["position"].rms == pytest.approx(np.sqrt(np.mean(known**2)))
    assert found.after["position"].rms < 0.2 * found.before["position"].rms
    assert not found.already_accurate


def test_other_starts_move_only_what_may_change(rng):
    result, _, fresh = repaired(rng)
    found = th.identify(
        result.robot, fresh, "position", only="theta3", after=result, starts=3, **QUICK
    )
    assert found.other_starts.unique


def test_names_that_do_not_exist(rng):
    result, _, fresh = repaired(rng)
    with pytest.raises(InputError, match="has no parameter 'theta33'"):
        th.identify(result.robot, fresh, "position", only=["theta33"], after=result)
