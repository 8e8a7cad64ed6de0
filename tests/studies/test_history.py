"""One robot over time: what changed is dated, what did not is not."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.errors import InputError
from theodolite.io.history_folder import add_result, read_history
from theodolite.io.result_file import write_result
from theodolite.studies.history import Moment, history

NOISE = th.Noise(position=5e-5)


def calibrated(changed: bool, rng: np.random.Generator) -> th.Result:
    nominal = th.robots.puma560()
    values = dict(zip((p.name for p in nominal.parameters), nominal.values, strict=True))
    off = {"theta2": 5e-4, "theta3": 2e-3 if changed else 1e-3}
    true = nominal.with_values({name: values[name] + off[name] for name in off})
    data = th.simulate(true, "position", points=30, rng=rng, noise=NOISE)
    return th.identify(nominal, data, "position", gains=False, terms="none", hold_out=0.0)


def moments(count: int, change: int, seed: int) -> list[Moment]:
    rng = np.random.default_rng(seed)
    return [
        Moment(
            f"{number:02}",
            date(2026, 1, 1) + timedelta(days=30 * number),
            calibrated(number >= change, rng),
        )
        for number in range(count)
    ]


def test_a_change_is_dated() -> None:
    found = history(list(reversed(moments(8, 5, 0))))
    (one,) = found.changes
    assert one.parameter == "theta3"
    assert (one.before.name, one.after.name) == ("04", "05")
    assert one.size == pytest.approx(1e-3, abs=4 * one.stderr)
    assert one.stderr < 1e-4


def test_false_alarms_are_as_rare_as_is_said() -> None:
    def alarmed(seed: int) -> bool:
        found = history(moments(5, 9, seed))
        drifts = (one.trend is not None and one.trend.drifts for one in found.traces)
        return bool(found.changes) or any(drifts)

    alarms = sum(map(alarmed, range(1, 21)))
    # At 5 % of 20, five or more come by chance in three cases of a thousand.
    assert alarms <= 4


def test_a_drift_is_a_slope_and_no_change() -> None:
    rng = np.random.default_rng(6)
    nominal = th.robots.puma560()
    start = next(p.value for p in nominal.parameters if p.name == "theta3")
    order = []
    for number in range(6):
        true = nominal.with_values({"theta3": start + 2e-4 * number})
        data = th.simulate(true, "position", points=30, rng=rng, noise=NOISE)
        options = {"gains": False, "terms": "none", "hold_out": 0.0}
        result = th.identify(nominal, data, "position", **options)
        order.append(Moment(str(number), date(2026, 1, 1) + timedelta(days=73 * number), result))
    found = history(order)
    assert found.changes == ()
    (trend,) = [one.trend for one in found.traces if one.trend is not None and one.trend.drifts]
    # Five times 73 days are a year less a quarter of a day.
    assert trend.slope == pytest.approx(1e-3 * 365.25 / 365.0, abs=4 * trend.stderr)
    assert trend.stderr < trend.slope / 5
    other = next(one.trend for one in found.traces if one.name == "theta2")
    assert other is not None
    assert abs(other.slope) < 4 * other.stderr


def test_two_changes_of_one_parameter(rng) -> None:
    some = moments(3, 1, 4) + moments(3, 9, 5)
    order = [
        replace(one, name=str(number), when=date(2026, 1, 1 + number))
        for number, one in enumerate(some)
    ]
    changes = history(order).changes
    assert [(one.before.name, one.after.name) for one in changes] == [("0", "1"), ("2", "3")]
    assert changes[0].size > 0 > changes[1].size


def test_what_is_no_history() -> None:
    one = moments(1, 0, 0)
    assert history(one).changes == ()
    with pytest.raises(InputError, match="no calibrations"):
        history([])
    nominal = th.robots.stanford()
    data = th.simulate(nominal, "position", points=30, rng=1, noise=NOISE)
    other = th.identify(nominal, data, "position", gains=False, terms="none", hold_out=0.0)
    with pytest.raises(InputError, match="another robot"):
        history([*one, Moment("x", date(2026, 2, 1), other)])


def saved(folder: Path, count: int) -> list[Path]:
    paths = []
    for moment in moments(count, count // 2, 2):
        told = {"date": moment.when.isoformat()}
        path = folder / f"{moment.name}.json"
        write_result(replace(moment.result, provenance=told), path)
        paths.append(path)
    return paths


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    paths = saved(tmp_path, 4)
    kept = tmp_path / "robot"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda path: add_result(kept, path), paths * 5))
    assert len(read_history(kept)) == 4
    assert sorted(path.suffix for path in kept.iterdir()) == [".json"] * 4


def test_the_verb(theodolite, tmp_path: Path) -> None:
    first, *rest = saved(tmp_path, 4)
    code, out, _ = theodolite("history", "robot", "--add", first)
    assert code == 0
    assert "nothing to compare it with yet" in out
    added = [part for path in rest for part in ("--add", path)]
    code, out, errors = theodolite("history", "robot", *added, "--report", "h.html")
    assert code == 0, errors
    assert "theta3 changed by +" in " ".join(out.split())
    assert "between 2026-01-31 and 2026-03-02" in " ".join(out.split())
    assert Path("h.html").stat().st_size > 1000
    code, out, _ = theodolite("history", "robot", "--json")
    assert json.loads(out)["changes"][0]["parameter"] == "theta3"
    code, _, errors = theodolite("history", "nowhere")
    assert code == 2
    assert "is not a folder" in errors


def test_another_robot_is_refused_before_it_is_kept(tmp_path, theodolite) -> None:
    """Same joints, another arm: the history stays as it was."""
    for name in ("puma560", "ur10e"):
        robot = th.robots.load(name)
        data = th.simulate(robot, th.Position(), points=30, rng=1, noise=th.Noise(position=5e-5))
        result = th.identify(robot, data, "position", gains=False, terms="none", hold_out=0)
        result.save(tmp_path / f"{name}.json")
    folder = tmp_path / "history"
    assert theodolite("history", folder, "--add", tmp_path / "puma560.json")[0] == 0
    code, _, errors = theodolite("history", folder, "--add", tmp_path / "ur10e.json")
    assert code == 2
    assert "another robot" in errors
    assert len(list(folder.iterdir())) == 1
    assert theodolite("history", folder)[0] == 0
