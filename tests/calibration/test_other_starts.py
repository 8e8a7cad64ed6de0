"""Other starts: one minimum where there is one, and two where there are two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.other_starts import OtherStarts


@pytest.mark.parametrize(
    ("name", "method"), [("puma560", "position"), ("scara", "frame"), ("fivebar", "position")]
)
def test_calibrations_within_tolerances_have_one_minimum(name, method, rng):
    robot = th.robots.load(name)
    true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng)
    data = th.simulate(
        true, method, points=50, rng=rng, noise=th.Noise(position=5e-5, orientation=5e-5)
    )
    result = th.identify(robot, data, method, gains=False, terms="none", hold_out=0.0, starts=5)
    assert result.other_starts == OtherStarts(5, 5, 0, 0, result.other_starts.best)
    assert result.other_starts.best == pytest.approx(1.0, abs=1e-3)
    assert result.good
    assert "All 5 random starts" in " ".join(result.notes())


def test_a_better_minimum_elsewhere_is_a_doubt(rng):
    robot = th.robots.scara()
    data = th.simulate(robot, "position", points=30, rng=rng, noise=th.Noise(position=5e-5))
    result = th.identify(robot, data, "position", gains=False, terms="none", hold_out=0.0)
    assert result.good
    found = replace(result, other_starts=OtherStarts(8, 5, 1, 2, 0.25))
    assert not found.good
    (doubt,) = found.doubts()
    assert "2 in a better one (0.25 times" in doubt
    assert "1 in a worse one" in doubt


def test_far_starts_are_counted_honestly(rng):
    """Far beyond what a search can bridge, some starts end elsewhere."""
    robot = th.robots.puma560()
    far = robot.with_tolerances(
        {p.name: 2.0 for p in robot.parameters if p.name.startswith("theta")}
    )
    data = th.simulate(robot, "position", points=30, rng=rng, noise=th.Noise(position=5e-5))
    result = th.identify(far, data, "position", gains=False, terms="none", hold_out=0.0, starts=12)
    found = result.other_starts
    assert found.same + found.worse + found.better == 12
    assert found.better == 0
    assert found.worse > 0
    assert np.isfinite(found.best)
