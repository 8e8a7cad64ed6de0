"""Saved results, and reports made from them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import stats

import theodolite as th
from theodolite.errors import InputError
from theodolite.estimation.residual_checks import check_residuals
from theodolite.io.machines import machine_named
from theodolite.io.plain import to_plain
from theodolite.io.result_file import _TEXTS, read_result, write_result
from theodolite.report.calibration_page import calibration_page
from theodolite.report.html import rendered, write_report
from theodolite.report.page_file import read_pages
from theodolite.report.skeleton import Skeleton

NOISE = th.Noise(position=1e-4, orientation=1e-4)


def calibrated(name: str, method: th.Method, points: int, rng, **options) -> th.Result:
    nominal = th.robots.load(name)
    true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng)
    data = th.simulate(true, method, points=points, rng=rng, noise=NOISE)
    return th.identify(nominal, data, method, **options)


@pytest.mark.parametrize(
    ("name", "method", "points"),
    [
        ("puma560", th.Position(), 50),
        ("puma560", th.Plane(), 120),
        ("stanford", th.Frame(), 30),
        ("gough", th.Frame(), 30),
        ("fivebar", th.Position(), 30),
    ],
)
def test_a_saved_result_is_the_same_result(name, method, points, rng, tmp_path):
    result = calibrated(name, method, points, rng)
    path = tmp_path / "result.json"
    write_result(result, path)
    back = read_result(path)
    assert to_plain(back, _TEXTS) == to_plain(result, _TEXTS)
    assert back.summary() == result.summary()
    assert back.doubts() == result.doubts()
    np.testing.assert_array_equal(back.statistics.covariance, result.statistics.covariance)
    # Every verb takes it for the robot that it holds.
    np.testing.assert_array_equal(machine_named(str(path)).values, result.robot.values)


def test_several_sources_are_saved_too(rng, tmp_path):
    nominal = th.robots.puma560()
    true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng)
    sources = [
        th.Source(th.simulate(true, method, points=60, rng=rng, noise=NOISE), method)
        for method in (th.Position(), th.Plane())
    ]
    result = th.identify(nominal, sources)
    result.save(tmp_path / "r.json")
    back = th.read_result(tmp_path / "r.json")
    assert back.summary() == result.summary()
    assert [share.name for share in back.shares] == [share.name for share in result.shares]


def test_files_of_a_later_version_and_damaged_ones(rng, tmp_path):
    path = tmp_path / "r.json"
    write_result(calibrated("scara", th.Position(), 30, rng), path)
    content = json.loads(path.read_text())
    # A field that this version does not know is no trouble, nor is one with a default that lacks.
    newer = {**content, "something": 1}
    newer.pop("checks")
    (tmp_path / "newer.json").write_text(json.dumps(newer))
    assert read_result(tmp_path / "newer.json").checks is None
    for damage, words in (
        ({"format": 99}, "its format is 99"),
        ({"kind": "else"}, "not a saved result"),
        ({"rows": "many"}, "rows is 'many'"),
        ({"status": "GOOD"}, "status is 'GOOD'"),
        ({"robot": "no toml"}, "robot"),
        ({"residuals": {"position": [["x"]]}}, "residuals.position"),
        ({"estimates": 3}, "estimates is 3"),
    ):
        (tmp_path / "bad.json").write_text(json.dumps({**content, **damage}))
        with pytest.raises(InputError, match=re.escape(words)):
            read_result(tmp_path / "bad.json")


class Reader(HTMLParser):
    """Checks that tags are closed in order, and keeps what is said."""

    VOID = ("meta", "img", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    assert not reader.open
    return reader


def test_a_report_says_what_the_result_says(rng):
    result = calibrated("puma560", th.Position(), 60, rng)
    reader = read(rendered([calibration_page(result)]))
    words = " ".join(reader.text)
    assert "This calibration can be trusted." in words
    for estimate in result.estimates:
        if estimate.stderr is not None:
            assert estimate.symbol in words
    for needed in ("Errors before and after", "What could not be identified", "Convergence"):
        assert needed in words
    # Nothing is fetched from outside, and nothing is run.
    for tag, attributes in reader.tags:
        assert tag != "script"
        for name in ("src", "href"):
            value = attributes.get(name) or ""
            assert not value or value.startswith(("data:image/", "#"))


def test_a_bad_result_says_so_first(rng):
    nominal = th.robots.puma560()
    true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng)
    data = th.simulate(true, th.Position(), points=40, rng=rng, noise=NOISE)
    wrong = replace(data, positions=data.positions + 0.3 * (np.arange(40) == 7)[:, None, None])
    page = calibration_page(th.identify(nominal, wrong, th.Position()))
    assert not page.good
    assert page.verdict[0] == "This calibration is not to be trusted as it is."
    assert any("do not fit the rest" in line or "does not fit" in line for line in page.verdict)


def test_names_are_escaped(rng):
    evil = "<script>alert(1)</script>&\"'\x1b[31m"
    result = calibrated("scara", th.Position(), 30, rng)
    robot = replace(result.robot, name=evil)
    page = calibration_page(replace(result, robot=robot, files=(evil,)))
    text = rendered([page, page])
    assert "<script>" not in text and "\x1b" not in text
    assert "alert(1)" in " ".join(read(text).text)


class Residuals:
    """A problem that has nothing but residuals."""

    def __init__(self, residuals: np.ndarray) -> None:
        self.residuals = residuals

    def blocks(self, values):
        from theodolite.estimation.problem import Block

        count, width = self.residuals.shape
        columns = self.residuals.T.reshape(1, -1)
        yield Block(columns, width, np.arange(count))


def test_normality_is_scipys(rng):
    drawn = rng.standard_normal((200, 3)) ** 3
    checks = check_residuals(Residuals(drawn), np.empty(0))
    assert checks.skewness == pytest.approx(stats.skew(drawn.ravel()), rel=1e-9)
    assert checks.kurtosis == pytest.approx(stats.kurtosis(drawn.ravel()), rel=1e-9)
    assert checks.normal_chance == pytest.approx(stats.jarque_bera(drawn.ravel()).pvalue, abs=1e-12)


def test_both_checks_have_the_false_alarms_that_they_say(rng):
    normal, alike = [], []
    for _ in range(400):
        checks = check_residuals(Residuals(rng.standard_normal((150, 3))), np.empty(0))
        normal.append(checks.normal_chance < 0.05)
        alike.append(checks.neighbours_chance < 0.05)
    assert 0.02 < np.mean(normal) < 0.08
    assert 0.02 < np.mean(alike) < 0.08


def test_drift_makes_neighbours_alike(rng):
    drift = np.linspace(-1.5, 1.5, 150)[:, None] + rng.standard_normal((150, 3))
    checks = check_residuals(Residuals(drift), np.empty(0))
    assert checks.neighbours > 0.2 and checks.neighbours_chance < 1e-6


@pytest.mark.parametrize(("name", "method"), [("scara", th.Position()), ("h4", th.Frame())])
def test_a_page_as_json_is_the_same_page(name, method, rng, tmp_path):
    page = calibration_page(calibrated(name, method, 30, rng))
    write_report([page], tmp_path / "page.json")
    (back,) = read_pages(tmp_path / "page.json")
    assert back == page
    content = json.loads((tmp_path / "page.json").read_text())
    for damage in ({"format": "other"}, {"pages": 3}, {"pages": [{}]}, {"pages": [[]]}):
        (tmp_path / "bad.json").write_text(json.dumps({**content, **damage}))
        with pytest.raises(InputError, match="report"):
            read_pages(tmp_path / "bad.json")


@pytest.mark.parametrize("name", th.robots.NAMES)
def test_a_drawing_keeps_its_parts_wherever_the_robot_is(name, rng):
    machine = th.robots.load(name)
    skeleton = Skeleton(machine)
    first = skeleton.place(skeleton.middle())
    for motors in machine.random_motors(5, rng):
        drawn = skeleton.place_motors(motors[None])
        assert drawn.links.shape == first.links.shape
        np.testing.assert_allclose(drawn.tool, machine.fk(motors).position, atol=1e-9)
        ends = drawn.links.reshape(-1, 3)
        assert np.isfinite(ends).all()
        assert np.linalg.norm(drawn.axes, axis=1) == pytest.approx(np.ones(len(drawn.axes)))
