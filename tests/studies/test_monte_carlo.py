"""Studies: the same numbers however they are run, and what they show is true."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError
from theodolite.io import study_file
from theodolite.io.study_file import StudyFolder
from theodolite.model.many_chains import tips
from theodolite.studies.monte_carlo import Outcome, Piece, Study, outcome, rows_of

NOISE = Noise(position=5e-5, known=True)


def study(**options) -> Study:
    robot = th.robots.scara()
    return Study(robot, th.Position(), 20, NOISE, part=0.2, **options)


def of(rows: list[dict]) -> Outcome:
    return outcome([{name: [row[name] for row in rows] for name in rows[0]}])


def joined(folder: StudyFolder, runs: int) -> dict[str, list]:
    """All rows by column."""
    whole: dict[str, list] = {}
    for part in folder.rows(runs):
        for name, values in part.items():
            whole.setdefault(name, []).extend(values)
    return whole


def test_a_run_is_the_same_whatever_was_run_before() -> None:
    together = rows_of(Piece(study(), range(4)))
    assert rows_of(Piece(study(), [3])) == together[3:]
    assert rows_of(Piece(study(seed=1), [3])) != together[3:]


def test_intervals_hold_and_the_robot_gets_better() -> None:
    found = of(rows_of(Piece(study(), range(60))))
    assert found.runs == 60
    assert sum(found.statuses.values()) == 60
    # 60 runs of 17 parameters, whose estimates hang together.
    assert 0.92 < found.coverage < 0.98
    assert found.after.mean() < 0.01 * found.before.mean()
    np.testing.assert_allclose(found.errors, found.stated, rtol=0.4)


def test_intervals_that_are_too_narrow_are_seen() -> None:
    """Joints are noisy, and nobody says so."""
    rows = []
    for number in range(20):
        honest = study()
        rng = np.random.default_rng(number)
        true = honest.drawn(rng)
        shaky = Noise(position=5e-5, joint=5e-4, slide=5e-4, known=True)
        data = th.simulate(true, "position", points=20, rng=rng, noise=shaky)
        result = th.identify(
            honest.robot, data, "position", noise=NOISE, gains=False, terms="none", hold_out=0.0
        )
        truth = {p.name: p.value for p in true.parameters}
        row = dict.fromkeys(honest.columns, np.nan) | {"status": "converged", "good": 1}
        for name in honest.names:
            estimate = result.estimate(name)
            row |= {
                f"error:{name}": estimate.identified - truth[name],
                f"width:{name}": estimate.interval,
            }
        rows.append(row)
    assert of(rows).coverage < 0.7


def test_what_cannot_be_calibrated_is_a_row_too() -> None:
    rows = rows_of(Piece(Study(th.robots.puma560(), th.Position(), 3, NOISE), range(2)))
    assert [row["status"] for row in rows] == ["refused", "refused"]
    assert of(rows).good == 0


@pytest.mark.parametrize("options", [{"part": -1.0}, {"part": np.inf}, {"points": 0}])
def test_wrong_studies_are_refused(options) -> None:
    given = {"points": 20, **options}
    with pytest.raises(InputError):
        Study(th.robots.scara(), th.Position(), noise=NOISE, **given)


@pytest.mark.parametrize("parquet", [True, False])
def test_a_folder_keeps_rows_and_knows_what_is_missing(tmp_path, monkeypatch, parquet) -> None:
    if not parquet:
        monkeypatch.setattr(study_file, "find_spec", lambda name: None)
    folder = StudyFolder(tmp_path / "s")
    folder.open({"a": 1.5})
    assert folder.missing(7, 3) == [range(3), range(3, 6), range(6, 7)]
    rows = rows_of(Piece(study(), range(4)))
    folder.add(rows[2:])
    assert folder.missing(7, 3) == [range(2), range(4, 7)]
    folder.add(rows[:2])
    found = joined(folder, 4)
    for name in rows[0]:
        np.testing.assert_array_equal(found[name], [row[name] for row in rows])
    assert joined(folder, 3)["run"] == [0, 1, 2]
    # Opened again it goes on; another study has no place here.
    StudyFolder(tmp_path / "s").open({"a": 1.5})
    with pytest.raises(InputError, match="a different study"):
        folder.open({"a": 2})
    folder.open({"a": 2}, force=True)
    assert folder.done() == set()


def test_a_folder_with_other_things_is_left_alone(tmp_path) -> None:
    (tmp_path / "thesis.txt").write_text("do not lose me")
    with pytest.raises(InputError, match="not empty"):
        StudyFolder(tmp_path).open({})
    (tmp_path / "study.json").write_text("{")
    with pytest.raises(InputError, match="not a study"):
        StudyFolder(tmp_path).open({})
    assert (tmp_path / "thesis.txt").read_text() == "do not lose me"


def test_stopped_and_gone_on_with_it_is_the_same_study(tmp_path) -> None:
    whole = rows_of(Piece(study(), range(6)))
    folder = StudyFolder(tmp_path / "s")
    folder.open({})
    for part in folder.missing(4, 2):
        folder.add(rows_of(Piece(study(), part)))
    for part in folder.missing(6, 2):
        folder.add(rows_of(Piece(study(), part)))
    found = joined(folder, 6)
    assert json.dumps(found) == json.dumps(
        {name: [row[name] for row in whole] for name in whole[0]}
    )


@pytest.mark.parametrize("method", [th.Position(), th.Frame()])
@pytest.mark.parametrize("name", ["puma560", "scara"])
def test_many_fits_at_once_are_what_each_is_alone(method, name: str) -> None:
    """The same robots and data; base parameters within a hundredth of their standard errors."""
    noise = th.Noise(position=5e-5, orientation=1e-4, known=True)
    whole = Study(th.robots.load(name), method, 30, noise, part=0.1, seed=3)
    alone = [whole.run(number) for number in range(6)]
    together = replace(whole, fit_only=True).fits(range(6))
    for one, other in zip(alone, together, strict=True):
        assert one.keys() == other.keys()
        assert one["status"] == other["status"] == "converged"
        assert other["before_m"] == pytest.approx(one["before_m"], rel=1e-9)
        assert other["after_m"] == pytest.approx(one["after_m"], rel=1e-2)
        assert other["rms"] == pytest.approx(one["rms"], rel=1e-3)
        for parameter in whole.names:
            width = one[f"width:{parameter}"]
            assert other[f"width:{parameter}"] == pytest.approx(width, rel=1e-3)
            error = one[f"error:{parameter}"]
            assert other[f"error:{parameter}"] == pytest.approx(error, abs=1e-2 * width)


def test_fits_do_not_depend_on_how_they_are_shared_out() -> None:
    study_of = replace(study(), fit_only=True, noise=th.Noise(position=5e-5, known=True))
    whole = study_of.fits(range(8))
    parts = [*study_of.fits(range(5)), *study_of.fits(range(5, 8))]
    for one, other in zip(whole, parts, strict=True):
        assert one["run"] == other["run"]
        assert other["after_m"] == pytest.approx(one["after_m"], rel=1e-12)


@pytest.mark.parametrize(
    ("robot", "method", "noise", "message"),
    [
        ("fourbar", th.Position(), th.Noise(known=True), "not a serial robot"),
        ("puma560", th.Plane(), th.Noise(known=True), "the method is 'plane'"),
        ("puma560", th.Position(), th.Noise(joint=1e-5, known=True), "joints are noisy"),
        ("puma560", th.Position(), th.Noise(), "the noise is not known"),
    ],
)
def test_what_has_no_fit_of_its_own(robot, method, noise, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Study(th.robots.load(robot), method, 30, noise, fit_only=True)


def test_the_derivatives_of_many_chains(rng) -> None:
    """Against the chain of each run, and its exact derivatives."""
    robot = th.robots.puma560()
    values = robot.values + 1e-2 * rng.standard_normal((3, len(robot.parameters)))
    motors = np.stack([robot.random_motors(4, rng) for _ in range(3)])
    basis = np.stack([robot.basis(part) for part in motors])
    columns = np.arange(len(robot.parameters))
    found = tips(robot.chains[0], values, basis, columns)
    for run in range(3):
        motion = robot.motion(values[run], motors[run])
        np.testing.assert_allclose(found.positions[run], motion.position, atol=1e-14)
        np.testing.assert_allclose(found.rotations[run], motion.rotation, atol=1e-14)
        np.testing.assert_allclose(found.jacobian[run], motion.twist_jacobian(), atol=1e-13)
