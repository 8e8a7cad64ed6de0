"""The verbs of dynamics with wrong and doubtful input: named, with the remedy, nothing written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_dynamics import PLAIN, fit_and_check, saved, written
from tests.dynamics.simulated import GAINS, recorded, true_values
from tests.io.test_urdf_inertia import SMALL
from theodolite.dynamics.recording import Recording
from theodolite.io.units import LARGEST_NUMBER


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("identify", "puma560", "fit.csv", *PLAIN, "--way", "best"),
            "--estimator best; allowed: ordinary",
        ),
        (("identify", "puma560", "fit.csv", *PLAIN, "--friction", "sticky"), "allowed: viscous"),
        (("identify", "puma560", "fit.csv", "--friction", " "), "--friction is blank"),
        (("identify", "puma560", "fit.csv", *PLAIN, "--gravity", "down"), "as in 0,0,-9.81"),
        (
            ("identify", "puma560", "fit.csv", *PLAIN, "--plot", "p.txt"),
            "plots cannot be written as",
        ),
        (("identify", "puma560", "fit.csv", *PLAIN, "--way", "ridge"), "needs a prior"),
        (
            ("identify", "puma560", "fit.csv", *PLAIN, "--model", "energy"),
            "for 84 parameters; allowed: 336",
        ),
        (
            ("identify", "puma560", "fit.csv", *PLAIN, "--model", "energy", "--way", "robust"),
            "the energy model has no robust estimator; allowed: ordinary",
        ),
        (
            ("identify", "puma560", "fit.csv", *PLAIN, "--columns", "a,...,b"),
            "is not between two names that differ only in their number",
        ),
        (("identify", "puma560", "nowhere.csv"), "there is no such file"),
        (("validate", "puma560", "fit.csv", "fit.csv"), "is not a file of identified dynamics"),
        (("excite", "puma560", "--out", "e.csv", "--velocity", "1,2"), "one number, or 6"),
        (("excite", "puma560", "--out", "e.csv", "--torque", "5"), "Add --parameters"),
        (
            ("excite", "puma560", "--out", "e.csv", "--duration", "0"),
            "a motion of 0 s; allowed: 0.1 to",
        ),
        (("excite", "puma560", "--out", "e.csv", "--duration", "nan"), "allowed: 0.1 to"),
        (
            ("excite", "puma560", "--out", "e.csv", "--rate", "1e9"),
            "a rate of 1e+09 samples per second",
        ),
        (("excite", "puma560", "--out", "e.csv", "--slow", "inf"), "a motion of inf s"),
        (("excite", "puma560", "--out", "e.csv", "--keep-out", "0,0,0,-1"), "a radius above 0"),
        (("excite", "puma560", "--out", "e.csv", "--floor", "nan"), "a finite height"),
        (("excite", "puma560", "--out", "e.csv", "--starts", "0"), "1 or more"),
        (("excite", "puma560", "--out", "e.csv", "--plot", "e.csv"), "another output"),
        (("excite", "puma560", "--out", "e.csv", "--tip", "hand"), "is for URDF files"),
        (
            ("identify", "puma560", "fit.csv", *PLAIN, "--out", "fit.csv", "--force"),
            "already an input",
        ),
        (
            ("identify", "puma560", "fit.csv", *PLAIN, "--stribeck-speed", "nan"),
            "more than 0 rad/s",
        ),
        (("identify", "puma560", "fit.csv", *PLAIN, "--gravity", "0,0,-1e300"), "as in 0,0,-9.81"),
        (("identify", "puma560", "fit.csv", *PLAIN, "--drive-gains", "0"), "none of them 0"),
        (("identify", "puma560", "fit.csv", *PLAIN, "--drive-gains", "1,1,1,1,1,1"), "no currents"),
        (("identify", "puma560", "fit.csv", *PLAIN, "--cutoff", "-1"), "above 0 and below half"),
        (("identifiable", "puma560", "--by", "rules", "--model", "energy"), "use no samples"),
        (
            ("gains", "puma560", "fit.csv", "fit.csv", "--payload", "3,0,0,5,-1,0,0,-1,0,-1"),
            "this inertia is not physically possible",
        ),
        (("gains", "puma560", "fit.csv", "fit.csv", "--payload", "3,0,0,5"), "no currents"),
        (("gains", "puma560", "fit.csv", "fit.csv", "--payload", "heavy"), "4 or 10 numbers"),
        (("identifiable", "puma560", "--by", "eye"), "allowed: qr, svd, rules"),
    ],
)
def test_wrong_options_are_refused(theodolite, options: tuple[str, ...], message: str) -> None:
    written(recorded(1, seconds=8.0)[1], "fit.csv")
    code, _, errors = theodolite("dynamics", *options)
    assert code == 2
    assert message in " ".join(errors.split())
    assert not Path("e.csv").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("tau3_Nm"), "column tau3_Nm is missing"),
        (lambda c: c.pop("t_s"), "column t_s is missing"),
        (lambda c: c.update({"tau9_Nm": c["tau1_Nm"]}), "has 6 joints"),
        (lambda c: c.update({"speed": c["t_s"]}), "unknown column 'speed'"),
        (lambda c: [c.pop(f"tau{j}_Nm") for j in range(1, 7)], "neither torques nor currents"),
        (lambda c: c.update({k: v[:100] for k, v in c.items()}), "too short"),
        (lambda c: c.update({"q1_deg": c["q1_rad"]}), "q1 is given twice"),
        (lambda c: c.update({"qd1_m_s": c["q1_rad"]}), "joint 1 of 'puma560' has no unit 'm_s'"),
        (lambda c: c.update({"tau1_Nm": 1e200 + c["t_s"]}), "line 2, column 'tau1_Nm': 1.0e+200"),
    ],
)
def test_bad_recordings_are_refused(theodolite, change, message: str) -> None:
    written(recorded(1)[1], "bad.csv", change)
    code, _, errors = theodolite("dynamics", "identify", "puma560", "bad.csv", *PLAIN)
    assert code == 2
    assert message in " ".join(errors.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda c: c.update(tau2_Nm=c["tau3_Nm"], tau3_Nm=c["tau2_Nm"]),
            "the torque of joint 2 is in the column of joint 3",
        ),
        (lambda c: c.update(tau4_Nm=-c["tau4_Nm"]), "the torque of joint 4 looks inverted"),
        (lambda c: c.update(q5_rad=0 * c["q5_rad"]), "joint 5 hardly moves"),
        (lambda c: c.update(tau5_Nm=0 * c["q5_rad"]), "torque of joint 5 never changes"),
        (
            lambda c: c.update(q1_rad=c["q1_rad"] + 2 * np.pi * (c["t_s"] > 9)),
            "s from the start: a whole turn. Unwrap or remove it",
        ),
        (
            lambda c: c.update({f"q{j}_rad": 0.1 + 0 * c["t_s"] for j in range(1, 7)}),
            "hardly move: their parameters cannot be seen",
        ),
        (
            lambda c: c.update(tau1_Nm=np.random.default_rng(0).standard_normal(len(c["t_s"]))),
            "aliasing is likely",
        ),
    ],
)
def test_doubtful_recordings_are_said(theodolite, change, message: str) -> None:
    written(recorded(1, noise=0.5)[1], "bad.csv", change)
    code, out, _ = theodolite("dynamics", "identify", "puma560", "bad.csv", *PLAIN)
    assert code == 1
    assert message in " ".join(out.split())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"times": None}, "has no 'times'"),
        ({"times": np.zeros(())}, "shape ()"),
        ({"positions": np.zeros(2000)}, "shape (2000,)"),
        ({"torques": np.zeros((1999, 6))}, "shape (1999, 6)"),
        ({"velocities": np.zeros((2000, 5))}, "shape (2000, 5)"),
        ({"torques": np.full((2000, 6), np.nan)}, "'torques', row 1: not a finite number"),
        ({"torques": np.zeros((2000, 6), dtype=complex)}, "does not hold real numbers"),
        (
            {"torques": np.full((2000, 6), 2 * LARGEST_NUMBER)},
            f"its torques reach 2.0e+12; allowed: at most {LARGEST_NUMBER:g}",
        ),
        ({"torques": np.full((2000, 6), None)}, "is not a valid NumPy archive of numbers"),
    ],
)
def test_bad_archives_are_refused(theodolite, changed, message: str) -> None:
    saved(recorded(1)[1], "bad.npz", **changed)
    code, _, errors = theodolite("dynamics", "identify", "puma560", "bad.npz")
    assert code == 2
    assert message in " ".join(errors.split())


def test_archives_are_read(theodolite) -> None:
    """Also with arrays that mean nothing, with currents, and not at all where they are broken."""
    recording = recorded(1, noise=0.5)[1]
    saved(recording, "good.npz", remark=np.array("by hand"))
    assert theodolite("dynamics", "identify", "puma560", "good.npz", *PLAIN)[0] == 0
    saved(recording, "i.npz", torques=None, currents=recording.torques / GAINS)
    gains = ("--drive-gains", ",".join(map(str, GAINS)))
    assert theodolite("dynamics", "identify", "puma560", "i.npz", *PLAIN, *gains)[0] == 0
    Path("broken.npz").write_bytes(Path("good.npz").read_bytes()[:500])
    Path("empty.npz").write_bytes(b"")
    for name in ("broken.npz", "empty.npz"):
        code, _, errors = theodolite("dynamics", "identify", "puma560", name)
        assert code == 2
        assert "is not a valid NumPy archive" in errors


def test_parameters_belong_to_a_robot_and_its_frames(theodolite) -> None:
    fit_and_check()
    theodolite("dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--out", "p.json")
    for verb in (
        ("validate", "rx90", "p.json", "fit.csv"),
        ("excite", "rx90", "--out", "e.csv", "--torque", "50", "--parameters", "p.json"),
        ("identify", "rx90", "fit.csv", "--way", "ridge", "--prior", "p.json"),
    ):
        code, _, errors = theodolite("dynamics", *verb)
        assert code == 2
        assert "belongs to 'puma560', whose frames are not those of 'rx90'" in errors
    content = json.loads(Path("p.json").read_text())
    for spoilt in (
        {"format": "other"},
        {"stribeck_speed": "abc"},
        {"parameters": content["parameters"][:5]},
        {"parameters": [{"name": "XX1", "value": float("nan")}]},
    ):
        Path("bad.json").write_text(json.dumps(content | spoilt))
        assert theodolite("dynamics", "validate", "puma560", "bad.json", "fit.csv")[0] == 2


def test_a_device_is_not_replaced(theodolite) -> None:
    fit_and_check()
    code, _, errors = theodolite(
        "dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--out", "/dev/null", "--force"
    )
    assert code == 2
    assert "is not an ordinary file" in errors
    assert not Path("/dev/null").is_file()


def test_a_judged_recording_is_looked_at_too(theodolite) -> None:
    fit_and_check()
    truth = true_values(np.random.default_rng(0))
    swapped = recorded(2, noise=0.5, truth=truth)[1]
    written(swapped, "swapped.csv", lambda c: c.update(tau2_Nm=c["tau3_Nm"], tau3_Nm=c["tau2_Nm"]))
    arguments = ("dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--out", "p.json")
    code, out, _ = theodolite(*arguments, "--check", "swapped.csv")
    assert code == 1
    assert "swapped.csv: the torque of joint 2 is in the column of joint 3" in out
    code, out, _ = theodolite("dynamics", "validate", "puma560", "p.json", "swapped.csv")
    assert code == 1
    assert "the torque of joint 2 is in the column of joint 3" in out


def test_a_prior_must_hold_bodies(theodolite) -> None:
    fit_and_check()
    theodolite(
        "dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--way", "weighted",
        "--out", "base.json",
    )  # fmt: skip
    arguments = ("dynamics", "identify", "puma560", "check.csv", *PLAIN, "--prior")
    code, _, errors = theodolite(*arguments, "base.json")
    assert code == 2
    assert "holds no bodies" in errors
    theodolite("dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--out", "bodies.json")
    assert theodolite(*arguments, "bodies.json")[0] == 0


def test_a_payload_needs_to_know_its_frame(theodolite) -> None:
    """Two tips on the same joints: fine for link parameters, not for what is held."""
    two_tips = SMALL.replace(
        "</robot>",
        '<link name="nail"/><joint name="d" type="fixed"><parent link="lower"/>'
        '<child link="nail"/></joint></robot>',
    )
    Path("two.urdf").write_text(two_tips)
    assert theodolite("dynamics", "identifiable", "two.urdf")[0] == 0
    code, _, errors = theodolite(
        "dynamics", "gains", "two.urdf", "a.csv", "b.csv", "--payload", "1,0,0,0"
    )
    assert code == 2
    assert "Say which link is the tip" in errors


def test_a_missing_extra_is_named_in_one_line(theodolite, monkeypatch) -> None:
    written(recorded(1, seconds=8.0)[1], "fit.csv")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, errors = theodolite(
        "dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--plot", "p.svg", "--out", "p.json"
    )
    assert code == 2
    assert not out
    assert errors.count("\n") == 1
    assert "[plots]'" in errors and "install" in errors
    assert not Path("p.json").exists()


def test_torques_of_nothing_are_no_traceback(theodolite) -> None:
    """Torques that are all zero: a verdict, exit 1."""
    Path("two.urdf").write_text(SMALL)
    times = np.arange(0, 20, 0.01)
    q = np.column_stack([np.sin(times) + 0.5 * np.sin(2.3 * times), 1.2 * np.cos(1.7 * times)])
    written(Recording(times, q, 0 * q), "fit.csv")
    code, out, errors = theodolite("dynamics", "identify", "two.urdf", "fit.csv", "--out", "p.json")
    assert code == 1, errors
    assert "do not use it" in " ".join(out.split())
    assert "the torque of joint 1 never changes" in " ".join(out.split())
