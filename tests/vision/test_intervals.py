"""95 % intervals from pictures hold: with noise of pixels and joints, and an uncertain lens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import theodolite as th
from tests.calibration.test_coverage import drawn, robot_for
from tests.quick import some_of
from theodolite.calibration.camera import DEFAULT_LENS
from theodolite.calibration.scene import KnownLens

#: Of the lens, before the pictures: px, and distortion.
SPREAD = np.array([2.0, 2.0, 2.0, 2.0, 2e-3, 4e-3, 2e-4, 2e-4, 4e-3])
CASES = {
    "pixels": (0.2, 0.0, "free"),
    "joints": (0.1, 2e-4, "free"),
    "known lens": (0.2, 1e-4, "known"),
    "fixed lens": (0.2, 1e-4, "fixed"),
}


def hits(case: str, runs: int, *, told: bool) -> Iterator[tuple[bool, bool]]:
    """Is each parameter within its interval, and does it belong to the lens?"""
    pixel, joint, knowledge = CASES[case]
    robot = robot_for("ur10e", "camera", 1, 1.0)
    nominal = th.identifiable(robot, th.Camera(mount="hand"))
    for seed in range(runs):
        rng = np.random.default_rng([seed, 7])
        true = drawn(robot, nominal, rng, prior=True)
        lens = np.array(DEFAULT_LENS.values)
        # The truth is where it was drawn; what is known of it is off.
        known = lens + SPREAD * rng.standard_normal(9)
        camera = th.Camera(DEFAULT_LENS, mount="hand")
        if knowledge == "known":
            camera = th.Camera(KnownLens(th.Lens.of(known), np.diag(SPREAD**2)), mount="hand")
        elif knowledge == "fixed":
            camera = th.Camera(DEFAULT_LENS, mount="hand", keep_lens=True)
        noise = th.Noise(pixel=pixel, joint=joint, known=True)
        data = th.simulate(
            true, th.Camera(DEFAULT_LENS, mount="hand"), points=30, rng=rng, noise=noise
        )
        result = th.identify(
            robot,
            data,
            camera,
            noise=noise if told else None,
            gains=False,
            terms="none",
            hold_out=0.0,
            start="nominal",
        )
        assert not result.left_out
        truth = {p.name: float(v) for p, v in zip(true.parameters, true.values, strict=True)}
        own = dict(zip(DEFAULT_LENS.names, lens, strict=True))
        assert set(result.identifiability.names(result.identifiability.base)) == {
            *nominal.names(nominal.base)
        } - (set(own) if knowledge == "fixed" else set())
        for estimate in result.estimates:
            if estimate.interval is not None:
                right = truth[estimate.name] if estimate.name in truth else own[estimate.name]
                inside = abs(estimate.identified - right) <= estimate.interval
                yield bool(inside), estimate.name in own


@pytest.mark.parametrize("case", some_of(CASES, ["joints"]))
def test_intervals_hold(case: str) -> None:
    """Noise is estimated; a few runs, so that far from 95 % would show."""
    found = [inside for inside, _ in hits(case, 4, told=False)]
    assert 0.89 <= np.mean(found) <= 0.995, f"{np.mean(found):.3f} of {len(found)}"


@pytest.mark.study
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_over_many_runs(case: str, told: bool) -> None:
    found = list(hits(case, 100, told=told))
    for lens in (False, True):
        some = [inside for inside, of_lens in found if of_lens is lens]
        if some:
            assert 0.93 <= np.mean(some) <= 0.97, f"{np.mean(some):.3f} of {len(some)}, {lens}"
