"""Judgements depend on noise, tolerance and reach: not on units, sizes or the scale of a gain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from tests.calibration.sizes import grown
from tests.quick import some_of
from theodolite.calibration.assembly import with_passive_joints
from theodolite.calibration.quantities import are_exact
from theodolite.calibration.term_groups import gravity, tolerances
from theodolite.io.machines import machine_named
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.mechanism import Mechanism

ERRORS = th.ParameterErrors(length=1e-3, angle=2e-3)


def nearly_parallel(sine: float) -> th.Robot:
    rows = [
        Row(Convention.DH, Joint.REVOLUTE, {"a": 0.4, "alpha": sine}),
        Row(Convention.DH, Joint.REVOLUTE, {"a": 0.3, "alpha": np.pi / 2}),
        Row(Convention.DH, Joint.REVOLUTE, {"a": 0.1, "d": 0.1, "alpha": 0.3}),
    ]
    return th.Robot.of("arm", rows, lower=-np.ones(3), upper=np.ones(3))


@pytest.mark.parametrize("sine", [1e-2, 1e-3, 1e-4, 1e-5])
def test_completeness_does_not_depend_on_size(sine: float) -> None:
    robot = nearly_parallel(sine)
    here = th.completeness(robot)
    for factor in (0.01, 100.0):
        there = th.completeness(grown(robot, factor))
        assert there.expressed == here.expressed
        assert there.only_on_paper == here.only_on_paper
        assert there.condition_number == pytest.approx(here.condition_number, rel=1e-6)


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_relations_of_the_analytic_rule_keep_their_units(factor: float) -> None:
    """Row scaling changes no relation: metres of one length are metres of another."""
    robot = th.robots.puma560()
    here, there = (th.analytic(one, th.Measured.POSITION) for one in (robot, grown(robot, factor)))
    assert here.identifiable == there.identifiable
    units = {p.name: factor if p.unit.value == "m" else 1.0 for p in robot.parameters}
    scale = [[units[a] / units[b] for b in here.names(here.regrouped)] for a in here.identifiable]
    order = [there.names(there.regrouped).index(name) for name in here.names(here.regrouped)]
    np.testing.assert_allclose(
        there.relations[:, order], here.relations * np.array(scale), atol=1e-9 * factor
    )


@pytest.mark.parametrize("gain", [0.01, 1.0, 100.0, 300.0])
def test_gains_of_any_scale_are_judged_alike(gain: float) -> None:
    robot = th.robots.puma560()
    rng = np.random.default_rng(1)
    gains = np.full(6, gain)
    geared = replace(
        robot,
        transmission=replace(robot.transmission, gains=gains),
        lower=robot.lower,
        upper=robot.upper,
    )
    true = geared.with_values(
        {p.name: p.value * (1.0 + 4e-3 * rng.uniform(-1, 1)) for p in geared.parameters if p.gain}
    )
    true = th.perturb(true, ERRORS, 2)
    data = th.simulate(true, "position", points=60, rng=3, noise=th.Noise(position=5e-5))
    result = th.identify(geared, data, "position", gains=True, terms="none")
    assert result.good, result.doubts()
    assert result.after["position"].rms < 1e-4


def test_a_joint_that_trembles_stands_still() -> None:
    robot = th.robots.puma560()
    true = th.perturb(robot, ERRORS, 4)
    data = th.simulate(true, "position", points=60, rng=5)
    assert data.positions is not None
    motors = data.motors.copy()
    for tremble in (0.0, 1e-12, 1e-8):
        motors[:, 4] = 0.3 + tremble * np.random.default_rng(6).standard_normal(60)
        seen = true.motion(true.values, motors).position[:, None]
        moved = replace(data, motors=motors, positions=seen)
        result = th.identify(robot, moved, "position", gains=False, terms="none")
        assert result.still == ("q5",)
        assert result.good, result.doubts()


@pytest.mark.parametrize("factor", some_of([0.01, 1.0, 100.0], [100.0]))
def test_gaps_are_parts_of_the_reach(factor: float) -> None:
    """Loops open by more than a hundredth of the reach are refused, at every size."""
    mechanism = machine_named("fivebar")
    assert isinstance(mechanism, Mechanism)
    sized = mechanism.with_values(
        {p.name: p.value * factor for p in mechanism.parameters if p.unit.value == "m"}
    )
    rng = np.random.default_rng(1)
    anywhere = rng.uniform(-np.pi, np.pi, (4000, mechanism.joints))
    gap = mechanism.assembled(anywhere)[1]
    little, much = (gap > 1e-3) & (gap < 8e-3), (gap > 0.02) & (gap < 0.2)
    assert little.any() and much.any()

    def assembled(rows: np.ndarray) -> np.ndarray:
        lines = np.arange(len(rows))
        return with_passive_joints(sized, rows, None, None, lines=lines, where="here")

    assert len(assembled(anywhere[little][:3])) > 0
    with pytest.raises(th.InputError, match="loops of 'fivebar' cannot close there"):
        assembled(anywhere[much][:3])


def test_exactness_is_a_part_of_the_reach() -> None:
    for quantity in ("position", "joint stroke"):
        assert are_exact({quantity: 1e-9}, 1.0)
        assert not are_exact({quantity: 1e-9}, 1e-3)
        assert are_exact({f"tracker.csv: {quantity}": 1e-9}, 1.0)


def test_moments_of_slides_have_tolerances_per_reach() -> None:
    robot = th.robots.stanford()
    here, there = (tolerances(one, "gravity", gravity(one)) for one in (robot, grown(robot, 100.0)))
    slid = [name for name in here if "q3*moment" in name]
    assert slid
    for name, size in here.items():
        assert there[name] == pytest.approx(size / 100.0 if name in slid else size)


def test_far_above_the_stated_noise_is_a_matter_of_chance() -> None:
    robot = th.robots.puma560()
    true = th.perturb(robot, ERRORS, 7)
    for rows, times, doubted in ((100, 1.0, False), (100, 1.7, True)):
        made = th.Noise(position=5e-5 * times, known=True)
        data = th.simulate(true, "position", points=rows, rng=8, noise=made)
        known = th.Noise(position=5e-5, known=True)
        result = th.identify(robot, data, "position", noise=known, gains=False, terms="none")
        assert any("stated noise" in doubt for doubt in result.doubts()) == doubted


def test_links_that_are_a_good_deal_too_short_are_found_by_every_method() -> None:
    """Which robot is another one is the same question for all of them."""
    robot = th.robots.puma560()
    short = robot.with_values({"d3": 0.85 * 0.4318, "r4": 0.85 * 0.4318})
    for method in ("position", "position-link", "plane"):
        data = th.simulate(robot, method, points=60, rng=9)
        result = th.identify(short, data, method, gains=False, terms="none", hold_out=0.0)
        assert result.status is th.Status.CONVERGED


@pytest.mark.parametrize("method", ["orientation", "inclination"])
def test_turns_far_above_any_noise_are_a_doubt(method: str) -> None:
    """Joint 5 eccentric by 30 mrad leaves 20 mrad, which no working sensor does."""
    robot = th.robots.puma560()
    true = robot.with_terms([th.ErrorTerm(5, "theta", "sin(2*q5)", 0.03)])
    noise = th.Noise(orientation=1e-4)
    exact = th.simulate(robot, method, points=80, rng=1, noise=noise)
    assert th.identify(robot, exact, method, terms="none", hold_out=0.0).good
    bent = th.simulate(true, method, points=80, rng=1, noise=noise)
    result = th.identify(robot, bent, method, terms="none", hold_out=0.0)
    assert any("mrad rms remains, far above the noise" in doubt for doubt in result.doubts())


def test_positions_far_above_any_noise_are_a_doubt() -> None:
    robot = th.robots.puma560()
    true = robot.with_terms([th.ErrorTerm(3, "theta", "sin(2*q3)", 0.01)])
    data = th.simulate(true, "position", points=80, rng=1, noise=th.Noise(position=1e-5))
    result = th.identify(robot, data, "position", terms="none", hold_out=0.0)
    assert any("mm rms remains, far above the noise" in doubt for doubt in result.doubts())


@pytest.mark.parametrize(
    ("method", "noise", "kind"),
    [
        ("position", th.Noise(position=0.0), "position"),
        ("position-link", th.Noise(position=0.0), "position"),
        ("frame", th.Noise(orientation=0.0), "orientation"),
        ("orientation", th.Noise(orientation=0.0), "orientation"),
        ("camera", th.Noise(pixel=0.0), "pixel"),
    ],
)
def test_no_noise_at_all_is_refused(method: str, noise: th.Noise, kind: str) -> None:
    robot = th.robots.puma560()
    data = th.simulate(robot, method, points=20, rng=1)
    with pytest.raises(th.InputError, match=f"{kind} noise 0 would give infinite weights"):
        th.identify(robot, data, method, noise=noise)


def test_noise_is_stated_by_the_kinds_that_a_method_weighs() -> None:
    stated = th.Orientation().known_noise({"orientation": 1e-4, "position": None})
    assert stated is not None and stated.known and stated.orientation == 1e-4
    assert th.Position().known_noise({"position": None}) is None
    with pytest.raises(th.InputError, match="position noise was given without orientation noise"):
        th.Frame().known_noise({"position": 1e-4})
    with pytest.raises(th.InputError, match="joint noise was given without position noise"):
        th.Position().known_noise({}, joint=1e-4)
