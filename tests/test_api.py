"""The Python side: data as they come, objects that show themselves, names that tools see."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration import calibrate

PUMA = th.robots.puma560()
NOISE = th.Noise(position=5e-5)


@pytest.fixture(scope="module")
def data() -> th.Dataset:
    true = th.perturb(PUMA, th.ParameterErrors(length=2e-3, angle=4e-3), 1)
    return th.simulate(true, "position", points=60, rng=2, noise=NOISE)


@pytest.fixture(scope="module")
def result(data: th.Dataset) -> th.Result:
    return th.identify(PUMA, data, "position", gains=False)


def columns(data: th.Dataset) -> dict[str, np.ndarray]:
    """The data as somebody would type them, independent of our own writer."""
    named = {f"q{joint + 1}_rad": data.motors[:, joint] for joint in range(6)}
    return named | {f"{axis}_m": data.positions[:, 0, i] for i, axis in enumerate("xyz")}


class Frame:
    """What pandas and its like have in common: named columns, and no mapping otherwise."""

    def __init__(self, table: dict[str, np.ndarray]) -> None:
        self._table = table

    def keys(self) -> list[str]:
        return list(self._table)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._table[name]


def test_data_in_every_form_give_the_same_robot(
    data: th.Dataset, result: th.Result, tmp_path: Path
) -> None:
    th.write_measurements(data, PUMA, tmp_path / "all.csv")
    for name, rows in (("a", np.arange(25)), ("b", np.arange(25, 60))):
        th.write_measurements(data.take(rows), PUMA, tmp_path / f"{name}.csv")
    PUMA.save(tmp_path / "puma.toml")
    forms = [
        ("puma560", tmp_path / "all.csv"),
        (tmp_path / "puma.toml", str(tmp_path / "all.csv")),
        (PUMA, [tmp_path / "a.csv", str(tmp_path / "b.csv")]),
        (PUMA, columns(data)),
        (PUMA, {name: column.tolist() for name, column in columns(data).items()}),
        (PUMA, Frame(columns(data))),
        (PUMA, th.Dataset(data.motors.tolist(), data.positions[:, 0].tolist())),
    ]
    for robot, measured in forms:
        found = th.identify(robot, measured, "position", gains=False)
        # Rounding in files moves the end of the search by far less than the noise of 5e-5 m.
        np.testing.assert_allclose(found.robot.values, result.robot.values, atol=1e-7)


def test_pandas_frames(data: th.Dataset, result: th.Result) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    found = th.identify(PUMA, pandas.DataFrame(columns(data)), "position", gains=False)
    np.testing.assert_allclose(found.robot.values, result.robot.values, atol=1e-9)
    again = th.identify(PUMA, data.to_frame(PUMA), "position", gains=False)
    np.testing.assert_allclose(again.robot.values, result.robot.values, atol=1e-9)
    frame = result.to_frame()
    assert list(frame["name"]) == [estimate.name for estimate in result.estimates]
    assert list(PUMA.to_frame()["value"]) == PUMA.values.tolist()


@pytest.mark.skipif("pandas" in sys.modules, reason="pandas is loaded")
def test_without_pandas_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, data: th.Dataset, result: th.Result
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for subject in (PUMA, data, result, result.identifiability):
        with pytest.raises(th.InputError, match="pip install pandas"):
            subject.to_frame()


def test_seeds_are_generators() -> None:
    one = th.simulate(PUMA, "position", points=5, rng=7)
    other = th.simulate("puma560", th.Position(), points=5, rng=np.random.default_rng(7))
    np.testing.assert_array_equal(one.motors, other.motors)
    assert np.abs(th.simulate(PUMA, "position", points=5, rng=8).motors - one.motors).max() > 0.01


BAD_CALLS = {
    "points is 'fifty'": lambda d: th.simulate(PUMA, "position", points="fifty"),
    "points is 0": lambda d: th.simulate(PUMA, "position", points=0),
    "rng is 'lucky'": lambda d: th.simulate(PUMA, "position", points=5, rng="lucky"),
    "noise is 0.1.*Noise": lambda d: th.identify(PUMA, d, "position", noise=0.1),
    "noise is '1 mm'": lambda d: th.Noise(position="1 mm"),
    "hold_out is 'half'": lambda d: th.identify(PUMA, d, "position", hold_out="half"),
    "hold_out is 1.0": lambda d: th.identify(PUMA, d, "position", hold_out=1.0),
    "loss is 'hubert'.*'huber'": lambda d: th.identify(PUMA, d, "position", loss="hubert"),
    "start is 3": lambda d: th.identify(PUMA, d, "position", start=3),
    "no method 'positon'.*position": lambda d: th.identify(PUMA, d, "positon"),
    "1.0 is not a method": lambda d: th.identify(PUMA, d, 1.0),
    "'pumpa' is neither": lambda d: th.identify("pumpa", d, "position"),
    r"\[\] is not a robot": lambda d: th.identify([], d, "position"),
    "a float holds no measurements": lambda d: th.identify(PUMA, 1.0, "position"),
    "a list holds no measurements": lambda d: th.identify(PUMA, [], "position"),
    "gains is 'yes'": lambda d: th.identify(PUMA, d, "position", gains="yes"),
    "rows_as_time is 'no'": lambda d: th.identify(PUMA, d, "position", rows_as_time="no"),
    "terms are 5": lambda d: th.identify(PUMA, d, "position", terms=5),
    "5 is not a file name": lambda d: th.read_robot(5),
    "5 is not a robot": lambda d: th.write_robot(5, "new.toml"),
    "'puma560' is not a robot": lambda d: th.write_measurements(d, "puma560", "new.csv"),
    "columns are 5": lambda d: th.Dataset(d.motors, columns=5),
    "5 is not a term": lambda d: th.robots.puma560().with_terms([5]),
    "q is 5": lambda d: th.robots.puma560().fk(5),
    "errors are 0.1": lambda d: th.perturb(PUMA, 0.1),
    "has no positions.*x_mm": lambda d: th.identify(PUMA, th.Dataset(d.motors), "position"),
    "motors have 5 columns.*6 joints.*allowed: 6": lambda d: th.identify(
        PUMA, th.Dataset(d.motors[:, :5], d.positions), "position"
    ),
    "no parameter 'theta99'": lambda d: th.identify(PUMA, d, "position").estimate("theta99"),
}


@pytest.mark.parametrize("message", BAD_CALLS)
def test_wrong_calls_are_refused_in_our_words(message: str, data: th.Dataset) -> None:
    with pytest.raises(th.InputError, match=message):
        BAD_CALLS[message](data)


def spoilt(array: np.ndarray, row: int, value: float) -> np.ndarray:
    array = array.copy()
    array[row].flat[0] = value
    return array


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("field", ["motors", "positions"])
def test_nan_is_named_by_its_row(data: th.Dataset, field: str, value: float) -> None:
    arrays = {"motors": data.motors, "positions": data.positions}
    bad = th.Dataset(**{**arrays, field: spoilt(arrays[field], 16, value)}, name="tracker")
    for verb in (th.identify, th.residuals, th.validate):
        with pytest.raises(th.InputError, match=rf"tracker: row 17: NaN or infinity in {field}"):
            verb(PUMA, bad, "position")
    with pytest.raises(th.InputError, match="row 17"):
        th.identifiable(PUMA, "position", data=bad)


def test_nan_does_not_matter_where_the_method_does_not_look(data: th.Dataset) -> None:
    """The plane method needs no positions."""
    positions = spoilt(data.positions, 3, np.nan)
    bad, good = th.Dataset(data.motors, positions), th.Dataset(data.motors)
    one, other = (th.residuals(PUMA, part, th.Plane())["position"] for part in (bad, good))
    np.testing.assert_array_equal(one, other)


WRONG_SHAPES = {
    "positions have the shape.*allowed: 4 x 1 x 3": {"positions": np.zeros((3, 3))},
    "positions have the shape.*allowed: 4 x 2 x 3": {
        "positions": np.zeros((4, 1, 3)),
        "targets": ("a", "b"),
    },
    "rotations have the shape": {"rotations": np.zeros((4, 3))},
    "sets have the shape": {"sets": [1, 2]},
    "sets: .*whole numbers": {"sets": [0.5, 1, 2, 3]},
    "positions: .*numbers": {"positions": [["a", "b", "c"]] * 4},
    "motors: .*rows of equal length": {"motors": [[1.0], [1.0, 2.0]]},
    "motors have the shape": {"motors": [1.0, 2.0]},
    "column 'length_m' has the shape": {"columns": {"length_m": [1.0]}},
}


@pytest.mark.parametrize("message", WRONG_SHAPES)
def test_datasets_check_their_sizes(message: str) -> None:
    with pytest.raises(th.InputError, match=message):
        th.Dataset(**{"motors": np.zeros((4, 6)), **WRONG_SHAPES[message]})


def test_datasets_survive_their_dict(data: th.Dataset) -> None:
    whole = th.Dataset(
        data.motors, data.positions, sets=np.arange(60) // 2, columns={"a_m": np.ones(60)}
    )
    again = th.Dataset(**json.loads(json.dumps(whole.to_dict())))
    for field in ("motors", "positions", "sets"):
        np.testing.assert_array_equal(getattr(again, field), getattr(whole, field))
    np.testing.assert_array_equal(again.columns["a_m"], np.ones(60))
    np.testing.assert_array_equal(whole.take(np.array([3, 5])).columns["a_m"], [1.0, 1.0])


def test_fk_is_the_textbook_arm() -> None:
    """A planar arm of two links, 0.5 m and 0.3 m: x = l1 cos q1 + l2 cos(q1 + q2)."""
    rows = [
        th.Row(th.Convention.DH, th.Joint.REVOLUTE, values={"a": length}) for length in (0.5, 0.3)
    ]
    arm = th.Robot.of(
        "planar", rows, targets=[th.Target("tip", (0, 0, 0)), th.Target("up", (0, 0, 1))]
    )
    q = np.array([[0.3, 0.4], [-1.0, 2.0], [0.0, 0.0]])
    total = q.sum(axis=1)
    expected = np.column_stack(
        [
            0.5 * np.cos(q[:, 0]) + 0.3 * np.cos(total),
            0.5 * np.sin(q[:, 0]) + 0.3 * np.sin(total),
            np.zeros(3),
        ]
    )
    position, rotation = arm.fk(q)
    np.testing.assert_allclose(position, expected, atol=1e-15)
    np.testing.assert_allclose(rotation[:, 0, 0], np.cos(total), atol=1e-15)
    single = arm.fk([0.3, 0.4])
    assert single.position.shape == (3,)
    assert single.rotation.shape == (3, 3)
    np.testing.assert_array_equal(single.position, position[0])
    np.testing.assert_allclose(arm.fk(q, target="up").position[:, 2], 1.0, atol=1e-15)


@pytest.mark.parametrize(
    ("q", "message"),
    [
        ([1.0, 2.0], "q has 2 values; 'puma560' has 6 joints"),
        (np.zeros((3, 7)), "q is 3 x 7"),
        ("home", "q is 'home'"),
        ([[0.0] * 6, [np.nan] * 6], "q, row 2: NaN"),
    ],
)
def test_fk_refuses_other_sizes(q: object, message: str) -> None:
    with pytest.raises(th.InputError, match=message):
        PUMA.fk(q)
    with pytest.raises(th.InputError, match="no target 'nose'"):
        PUMA.fk(np.zeros(6), target="nose")


@pytest.mark.parametrize("name", ["puma560", "scara", "fourbar", "palletizer", "gough", "h4"])
def test_robots_are_drawn_where_they_are(name: str) -> None:
    pytest.importorskip("matplotlib")
    from theodolite.report.plots import robot_drawn

    robot = th.robots.load(name)
    q = robot.random_motors(1, np.random.default_rng(1))[0]
    np.testing.assert_allclose(robot_drawn(robot, q).tool, robot.fk(q).position, atol=1e-9)
    for figure in (robot.plot(), robot.plot(q)):
        (axes,) = figure.axes
        np.testing.assert_array_equal(np.isfinite(axes.get_xlim()), True)
        assert axes.get_title() == robot.name


def test_without_matplotlib_it_says_which_extra(
    monkeypatch: pytest.MonkeyPatch, result: th.Result
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for subject in (PUMA, result):
        with pytest.raises(th.InputError, match=r"install '.*\[plots\]'") as caught:
            subject.plot()
        assert "\n" not in str(caught.value)


def test_results_are_drawn(result: th.Result) -> None:
    pytest.importorskip("matplotlib")
    spread, sizes = result.plot().axes
    assert sum(bar.get_height() for bar in spread.patches) == len(result.residuals["position"])
    heights = [bar.get_height() for bar in sizes.patches]
    assert heights[0] == pytest.approx(1e3 * result.before["position"].rms)
    assert heights[3] == pytest.approx(1e3 * result.held_out.calibrated["position"].rms)


def test_short_descriptions(data: th.Dataset, result: th.Result) -> None:
    subjects = (PUMA, th.robots.gough(), data, NOISE, result, result.identifiability)
    for subject in subjects:
        lines = repr(subject).splitlines()
        assert 1 <= len(lines) <= 3
        assert all(len(line) <= 120 for line in lines)
        assert "array(" not in repr(subject)
    assert "27 of 31" in repr(th.identifiable(PUMA, "position"))


def test_html_holds_every_parameter_and_no_markup_of_others(
    data: th.Dataset, result: th.Result
) -> None:
    evil = th.Robot.of("<script>", PUMA.frames)
    for subject in (evil, th.robots.h4(), data, result, result.identifiability):
        html = subject._repr_html_()
        assert "<script>" not in html
        assert html.startswith("<b>")
    for parameter in PUMA.parameters:
        assert f"<td>{parameter.name}</td>" in PUMA._repr_html_()
    for name in result.identifiability.identifiable:
        assert name in result._repr_html_()


def test_summaries_are_what_the_command_line_prints(result: th.Result) -> None:
    text = result.summary()
    assert "\x1b" not in text
    assert "Held out" in text
    assert f"{1e3 * result.estimate('d3').identified:.4f}" in text
    assert "27 of 31 parameters" in th.identifiable(PUMA, "position").summary()


def test_saving(result: th.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "robot.toml")
    saved = th.read_robot(tmp_path / "robot.toml")
    np.testing.assert_array_equal(saved.values, result.robot.values)
    assert (
        "Calibrated by theodolite" in tomllib.loads((tmp_path / "robot.toml").read_text())["source"]
    )
    result.save(str(tmp_path / "result.json"))
    assert th.read_result(tmp_path / "result.json").to_dict() == result.to_dict()
    th.robots.gough().save(tmp_path / "gough.toml")
    assert th.read_robot(tmp_path / "gough.toml").name == "gough"
    with pytest.raises(th.InputError, match="exists already"):
        result.save(tmp_path / "robot.toml")
    result.save(tmp_path / "robot.toml", force=True)
    with pytest.raises(th.InputError, match=r"\.toml, \.json"):
        result.save(tmp_path / "result.xlsx")
    with pytest.raises(th.InputError, match="not a file name"):
        PUMA.save(3)


def test_dicts_are_plain(result: th.Result) -> None:
    for subject in (PUMA, th.robots.delta(), result, result.identifiability):
        assert json.loads(json.dumps(subject.to_dict()))
    values = {entry["name"]: entry["value"] for entry in PUMA.to_dict()["parameters"]}
    assert list(values.values()) == PUMA.values.tolist()


def test_the_api_is_what_the_core_does(data: th.Dataset, result: th.Result) -> None:
    core = calibrate.identify(PUMA, data, th.Position(), gains=False)
    np.testing.assert_array_equal(core.robot.values, result.robot.values)


def test_every_name_is_visible() -> None:
    from theodolite import api

    assert set(api.__all__) <= set(dir(th))
    assert sorted(api.__all__) == sorted(set(api.__all__))
    for name in api.__all__:
        assert getattr(th, name) is getattr(api, name)
    space: dict[str, object] = {}
    exec("from theodolite import *", space)
    assert set(api.__all__) <= set(space)
    with pytest.raises(AttributeError, match="no attribute 'identfy'"):
        th.identfy  # noqa: B018


def loaded_by(code: str) -> set[str]:
    run = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


def test_importing_is_cheap() -> None:
    heavy = {"scipy", "typer", "rich", "lxml", "matplotlib", "pandas", "theodolite.api"}
    assert not heavy & loaded_by("import theodolite")


def test_the_core_loads_no_edge() -> None:
    """What the contracts of imports let through is imported only when it is called."""
    core = "import theodolite.calibration.calibrate, theodolite.dynamics.identify"
    edges = [m for m in loaded_by(core) if m.startswith(("theodolite.io", "theodolite.report"))]
    assert not edges


RIGHT = """
from pathlib import Path
from typing import Any
import numpy as np
import theodolite as th

robot = th.robots.puma560()
data: th.Dataset = th.simulate("puma560", "position", points=50, rng=1)
result: th.Result = th.identify(robot, data, th.Position(), loss="huber", hold_out=0.2)
th.identify("puma560", ["a.csv", Path("b.csv")], "position")
th.identify(robot, [th.Source("a.csv", "position"), th.Source(data, th.Plane(), name="b")])
th.identify(robot, {"q1_deg": np.zeros(3), "x_mm": [1.0, 2.0, 3.0]}, "position")
more = th.Dataset([[0.0] * 6], positions=[[0.0, 0.0, 0.0]])
position, rotation = robot.fk([0.0] * 6)
text: str = result.summary() + th.identifiable(robot, "frame").summary()
result.save("calibrated.toml", force=True)
value: float = result.estimate("theta2").identified
"""
WRONG = (
    "th.simulate('puma560', 'position', points='fifty')",
    "th.simulate('puma560', 'position', 50)",
    "th.identfy",
    "th.identify('puma560', 3.0, 'position')",
    "th.robots.puma560().fk(None)",
)


def test_type_checkers_see_right_and_wrong(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(RIGHT)
    lines = ["import theodolite as th", *WRONG]
    (tmp_path / "wrong.py").write_text("\n".join(lines) + "\n")
    source = Path(th.__file__).parents[1]
    options = ["--strict", "--ignore-missing-imports", "--follow-imports=silent"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", tmp_path, "right.py", "wrong.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(source), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert run.returncode == 1, run.stdout + run.stderr
    assert not [line for line in errors if "wrong.py" not in line]
    for number in range(2, len(lines) + 1):
        assert any(line.startswith(f"wrong.py:{number}:") for line in errors), lines[number - 1]


def test_long_work_says_what_it_does_next() -> None:
    robot = th.robots.scara()
    true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), 0)
    data = th.simulate(true, "position", points=60, rng=1, noise=th.Noise(position=5e-5))
    told: list[str] = []
    result = th.identify(robot, data, "position", tell=told.append)
    assert told[0] == "placing the robot"
    assert told[-1] == "predicting what was held out"
    tried = [sentence for sentence in told if sentence.startswith("model ")]
    assert len(tried) == len(result.choice.tried)
    assert tried[0].startswith("model 1, geometry")


def test_tables_may_name_their_sets_and_hold_words_for_people() -> None:
    robot = th.robots.irb120()
    data = th.simulate(robot, th.PositionLink(), points=20, rng=1)
    named = {f"q{n}_rad": data.motors[:, n - 1] for n in range(1, 7)}
    named |= {"set": [f"hole {label}" for label in data.sets], "who": ["me"] * len(data)}
    found = th.identify(robot, named, "position-link", gains=False, terms="none", hold_out=0)
    plain = th.identify(robot, data, "position-link", gains=False, terms="none", hold_out=0)
    assert found.rank == plain.rank
    with pytest.raises(th.InputError, match="column 'q2_rad' holds something other than numbers"):
        th.identify(robot, {**named, "q2_rad": ["x"] * len(data)}, "position-link")
