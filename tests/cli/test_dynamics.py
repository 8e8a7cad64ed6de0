"""The verbs of dynamics."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.inertial.simulated import GAINS, puma, recorded, true_values
from tests.io.test_urdf_inertia import SMALL
from theodolite.measure.recording import Recording


def written(recording: Recording, name: str, change=None, *, currents: bool = False) -> None:
    """A recording as CSV, perhaps spoilt."""
    columns = {"t_s": recording.times}
    for kind, table in (("q{}_rad", recording.q), ("tau{}_Nm", recording.torques)):
        for joint in range(table.shape[1]):
            columns[kind.format(joint + 1)] = table[:, joint]
    if currents:
        for joint in range(6):
            torque = columns.pop(f"tau{joint + 1}_Nm")
            columns[f"i{joint + 1}_A"] = torque / GAINS[joint]
    if change is not None:
        change(columns)
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(repr(float(v)) for v in row) for row in rows)]
    Path(name).write_text("\n".join(lines) + "\n")


def fit_and_check() -> None:
    """Two recordings of the same robot."""
    truth = true_values(np.random.default_rng(0))
    for seed, name in ((1, "fit.csv"), (2, "check.csv")):
        written(recorded(seed, noise=0.5, truth=truth)[1], name)


def test_identifiable_prints_the_relations(theodolite) -> None:
    code, out, _ = theodolite("dynamics", "identifiable", "puma560")
    assert code == 0
    assert "40 of 66 parameters are identifiable" in out
    assert "ZZ2* = ZZ2 + Ia2 + D3^2 (M3 + M4 + M5 + M6)" in out
    for by in ("qr", "svd", "rules"):
        options = ("--by", by, "--json")
        _, out, _ = theodolite("dynamics", "identifiable", "puma560", "--no-rotors", *options)
        assert json.loads(out)["rank"] == 36
        _, out, _ = theodolite("dynamics", "identifiable", "puma560", "--friction", *options)
        assert json.loads(out)["rank"] == 58
    for model in ("rest", "energy"):
        _, out, _ = theodolite("dynamics", "identifiable", "puma560", "--model", model, "--json")
        assert json.loads(out)["rank"] == 40


def test_identifiable_of_a_mechanism(theodolite) -> None:
    code, out, _ = theodolite("dynamics", "identifiable", "palletizer", "--json")
    assert code == 0
    assert json.loads(out)["rank"] == 23
    code, _, errors = theodolite("dynamics", "identifiable", "palletizer", "--by", "rules")
    assert code == 2
    assert "Use --by qr or svd" in errors


@pytest.mark.parametrize(
    "way", ["ordinary", "weighted", "correlated", "robust", "essential", "ridge", "consistent"]
)
def test_identify_and_validate(theodolite, way: str) -> None:
    fit_and_check()
    if way == "ridge":
        theodolite("dynamics", "identify", "puma560", "fit.csv", "--out", "prior.json")
    prior = ("--prior", "prior.json") if way == "ridge" else ()
    code, out, errors = theodolite(
        "dynamics", "identify", "puma560", "fit.csv", "--check", "check.csv", "--way", way,
        "--out", "p.json", "--plot", "p.svg", "--json", *prior,
    )  # fmt: skip
    assert code == 0, errors + out
    found = json.loads(out)
    assert found["error"] < 0.05
    assert found["checked_error"] < 0.05
    assert "good" in found["verdict"]
    assert Path("p.svg").read_text().startswith("<?xml")
    code, out, _ = theodolite("dynamics", "validate", "puma560", "p.json", "check.csv", "--json")
    assert code == 0
    assert json.loads(out)["error"] == pytest.approx(found["checked_error"], rel=1e-9)


def test_several_recordings_are_one_identification(theodolite) -> None:
    fit_and_check()
    _, out, _ = theodolite("dynamics", "identify", "puma560", "fit.csv", "check.csv", "--json")
    both = json.loads(out)
    _, out, _ = theodolite("dynamics", "identify", "puma560", "fit.csv", "--json")
    assert both["rows"] > 1.5 * json.loads(out)["rows"]


@pytest.mark.parametrize("model", ["energy", "power"])
def test_energy_and_power(theodolite, model: str) -> None:
    truth = true_values(np.random.default_rng(0))
    for seed, name, seconds in ((1, "fit.csv", 60.0), (2, "check.csv", 20.0)):
        written(recorded(seed, noise=0.0, rate=200.0, seconds=seconds, truth=truth)[1], name)
    code, out, errors = theodolite(
        "dynamics", "identify", "puma560", "fit.csv", "--model", model,
        "--check", "check.csv", "--cutoff", 20, "--json",
    )  # fmt: skip
    assert code == 0, errors + out
    assert json.loads(out)["checked_error"] < 0.05


def test_a_urdf_is_written_only_when_consistent(theodolite) -> None:
    Path("two.urdf").write_text(SMALL)
    rng = np.random.default_rng(0)
    times = np.arange(0, 20, 0.01)
    q = np.column_stack([np.sin(times) + 0.5 * np.sin(2.3 * times), 1.2 * np.cos(1.7 * times)])
    torques = 5 * np.cos(q) + 0.1 * rng.standard_normal(q.shape)
    written(Recording(times, q, torques), "fit.csv")
    code, _, errors = theodolite(
        "dynamics", "identify", "two.urdf", "fit.csv", "--urdf-out", "new.urdf"
    )
    assert code == 2
    assert "add --way consistent" in errors
    theodolite(
        "dynamics", "identify", "two.urdf", "fit.csv", "--way", "consistent",
        "--urdf-out", "new.urdf",
    )  # fmt: skip
    assert Path("new.urdf").read_text().count("<inertial>") == 2
    code, _, errors = theodolite(
        "dynamics", "identify", "puma560", "fit.csv", "--urdf-out", "n.urdf", "--way", "consistent"
    )
    assert code == 2
    assert "Give the URDF as ROBOT" in errors


def test_payload_and_gains(theodolite) -> None:
    truth = true_values(np.random.default_rng(0))
    load = puma().payload(4.0, np.array([0.02, -0.05, 0.1]), np.diag([0.02, 0.03, 0.025]))
    runs = [
        recorded(seed, noise=0.5, truth=truth, load=carried)[1]
        for seed, carried in ((1, None), (2, load))
    ]
    for run, name in zip(runs, ("without", "with"), strict=True):
        written(run, f"{name}.csv")
        written(run, f"{name}-i.csv", currents=True)
    code, out, errors = theodolite(
        "dynamics", "payload", "puma560", "without.csv", "with.csv", "--json"
    )
    assert code == 0, errors
    found = json.loads(out)
    assert found["mass_kg"] == pytest.approx(4.0, abs=0.1)
    np.testing.assert_allclose(found["centre_m"], [0.02, -0.05, 0.1], atol=5e-3)
    code, out, errors = theodolite(
        "dynamics", "gains", "puma560", "without-i.csv", "with-i.csv",
        "--payload", "4,20,-50,100,0.02,0,0,0.03,0,0.025", "--json",
    )  # fmt: skip
    assert code == 0, errors
    np.testing.assert_allclose(json.loads(out)["gains_Nm_A"], GAINS, rtol=0.03)
    code, _, errors = theodolite("dynamics", "payload", "puma560", "with.csv", "without.csv")
    assert code == 2
    assert "Exchange the runs" in errors


def test_excite_writes_a_motion(theodolite) -> None:
    options = ("--harmonics", 3, "--starts", 1, "--rate", 50, "--friction", "none")
    code, out, errors = theodolite(
        "dynamics", "excite", "scara", "--out", "motion.csv", "--plot", "motion.svg",
        "--velocity", "1,1,0.3,2", "--seed", 1, "--json", *options,
    )  # fmt: skip
    assert code == 0, errors
    found = json.loads(out)
    assert found["within_limits"]
    assert max(found["use"].values()) < 1
    lines = Path("motion.csv").read_text().splitlines()
    assert lines[0].startswith("t_s,q1_rad,q2_rad,q3_m,q4_rad,qd1_rad_s")
    assert len(lines) == 502
    table = np.loadtxt("motion.csv", delimiter=",", skiprows=1)
    assert (np.abs(table[:, 5:9]) < [1, 1, 0.3, 2]).all()
    assert Path("motion.svg").exists()
    before = Path("motion.csv").read_text()
    theodolite(
        "dynamics", "excite", "scara", "--out", "motion.csv", "--velocity", "1,1,0.3,2",
        "--seed", 1, "--force", *options,
    )  # fmt: skip
    assert Path("motion.csv").read_text() == before


def test_excite_with_what_cannot_be(theodolite) -> None:
    code, out, _ = theodolite(
        "dynamics", "excite", "scara", "--out", "motion.csv", "--floor", 5000, "--starts", 1,
        "--harmonics", 2,
    )  # fmt: skip
    assert code == 1
    assert "nothing is written" in out
    assert not Path("motion.csv").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("identify", "puma560", "fit.csv", "--way", "best"), "--way best"),
        (("identify", "puma560", "fit.csv", "--friction", "sticky"), "allowed: viscous"),
        (("identify", "puma560", "fit.csv", "--gravity", "down"), "as in 0,0,-9.81"),
        (("identify", "puma560", "fit.csv", "--plot", "p.txt"), "no kind of picture"),
        (("identify", "puma560", "fit.csv", "--way", "ridge"), "Add --prior F"),
        (("identify", "puma560", "fit.csv", "--model", "energy"), "too short for 84 parameters"),
        (
            ("identify", "puma560", "fit.csv", "--model", "energy", "--way", "robust"),
            "--way ordinary",
        ),
        (("identify", "puma560", "fit.csv", "--columns", "a,...,b"), "do not belong together"),
        (("identify", "puma560", "nowhere.csv"), "there is no such file"),
        (("validate", "puma560", "fit.csv", "fit.csv"), "is not what"),
        (("excite", "puma560", "--out", "e.csv", "--velocity", "1,2"), "one number, or 6"),
        (("excite", "puma560", "--out", "e.csv", "--torque", "5"), "Add --parameters"),
        (("excite", "puma560", "--out", "e.csv", "--duration", "0"), "allowed: 0.1 to"),
        (("excite", "puma560", "--out", "e.csv", "--duration", "nan"), "allowed: 0.1 to"),
        (("excite", "puma560", "--out", "e.csv", "--rate", "1e9"), "--rate 1e+09"),
        (("excite", "puma560", "--out", "e.csv", "--slow", "inf"), "--slow inf"),
        (("excite", "puma560", "--out", "e.csv", "--keep-out", "0,0,0,-1"), "a radius above 0"),
        (("excite", "puma560", "--out", "e.csv", "--plot", "e.csv"), "another output"),
        (("excite", "puma560", "--out", "e.csv", "--tip", "hand"), "is for URDF files"),
        (("identify", "puma560", "fit.csv", "--out", "fit.csv", "--force"), "already an input"),
        (("identify", "puma560", "fit.csv", "--stribeck-speed", "nan"), "more than 0 rad/s"),
        (("identify", "puma560", "fit.csv", "--gravity", "0,0,-1e300"), "as in 0,0,-9.81"),
        (("identify", "puma560", "fit.csv", "--drive-gains", "0"), "none of them 0"),
        (("identify", "puma560", "fit.csv", "--drive-gains", "1,1,1,1,1,1"), "no currents"),
        (("identify", "puma560", "fit.csv", "--cutoff", "-1"), "above 0 and below half"),
        (("identifiable", "puma560", "--by", "rules", "--model", "energy"), "need no samples"),
        (
            ("gains", "puma560", "fit.csv", "fit.csv", "--payload", "3,0,0,5,-1,0,0,-1,0,-1"),
            "no body has this inertia",
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


UR10E = (
    "--columns",
    "t_s,q1_rad,...,q6_rad,qd1_rad_s,...,qd6_rad_s,i1_A,...,i6_A,x1,...,x6,y1,...,y6",
    "--ignore", "x1,...,x6,y1,...,y6", "--drive-gains", ",".join(map(str, GAINS)), "--json",
)  # fmt: skip


@pytest.mark.parametrize("robot", ["ur10e", "ur10e.urdf"])
@pytest.mark.parametrize(("way", "limit"), [("weighted", 0.052), ("consistent", 0.051)])
def test_the_real_ur10e(theodolite, recordings: Path, robot: str, way: str, limit: float) -> None:
    folder = recordings / "ur10e-dynamics"
    code, out, errors = theodolite(
        "dynamics", "identify", folder / robot if robot.endswith("urdf") else robot,
        folder / "ur-20_02_10-30sec_12harm.csv", "--way", way, "--cutoff", 10,
        "--check", folder / "ur-20_02_12-40sec_12harm.csv", *UR10E,
    )  # fmt: skip
    assert code == 0, errors
    assert json.loads(out)["checked_error"] < limit


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("tau3_Nm"), "column tau3_Nm is missing"),
        (lambda c: c.pop("t_s"), "column t_s is missing"),
        (lambda c: c.update({"tau9_Nm": c["tau1_Nm"]}), "has 6 joints"),
        (lambda c: c.update({"speed": c["t_s"]}), "unknown column 'speed'"),
        (lambda c: [c.pop(f"tau{j}_Nm") for j in range(1, 7)], "neither torques nor currents"),
        (lambda c: c.update({k: v[:100] for k, v in c.items()}), "too short"),
        (lambda c: c.update({"q1_deg": c["q1_rad"]}), "q1 is there twice"),
        (lambda c: c.update({"qd1_m_s": c["q1_rad"]}), "joint 1 of 'puma560' has no unit 'm_s'"),
        (lambda c: c.update({"tau1_Nm": 1e200 + c["t_s"]}), "its torques reach 1.0e+200"),
    ],
)
def test_bad_recordings_are_refused(theodolite, change, message: str) -> None:
    written(recorded(1)[1], "bad.csv", change)
    code, _, errors = theodolite("dynamics", "identify", "puma560", "bad.csv")
    assert code == 2
    assert message in " ".join(errors.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda c: c.update(tau2_Nm=c["tau3_Nm"], tau3_Nm=c["tau2_Nm"]),
            "the torque of joint 2 stands in the column of joint 3",
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
    code, out, _ = theodolite("dynamics", "identify", "puma560", "bad.csv")
    assert code == 1
    assert message in " ".join(out.split())


def saved(recording: Recording, name: str, **changed) -> None:
    arrays = {"times": recording.times, "positions": recording.q, "torques": recording.torques}
    arrays |= changed
    np.savez(name, **{key: value for key, value in arrays.items() if value is not None})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"times": None}, "has no 'times'"),
        ({"times": np.zeros(())}, "shape ()"),
        ({"positions": np.zeros(2000)}, "shape (2000,)"),
        ({"torques": np.zeros((1999, 6))}, "shape (1999, 6)"),
        ({"velocities": np.zeros((2000, 5))}, "shape (2000, 5)"),
        ({"torques": np.full((2000, 6), np.nan)}, "'torques', row 1: not a finite number"),
        ({"torques": np.zeros((2000, 6), dtype=complex)}, "not of real numbers"),
        ({"torques": np.full((2000, 6), None)}, "is not a NumPy archive of numbers"),
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
    assert theodolite("dynamics", "identify", "puma560", "good.npz")[0] == 0
    saved(recording, "i.npz", torques=None, currents=recording.torques / GAINS)
    gains = ("--drive-gains", ",".join(map(str, GAINS)))
    assert theodolite("dynamics", "identify", "puma560", "i.npz", *gains)[0] == 0
    Path("broken.npz").write_bytes(Path("good.npz").read_bytes()[:500])
    Path("empty.npz").write_bytes(b"")
    for name in ("broken.npz", "empty.npz"):
        code, _, errors = theodolite("dynamics", "identify", "puma560", name)
        assert code == 2
        assert "is not a NumPy archive" in errors


def test_parameters_belong_to_a_robot_and_its_frames(theodolite) -> None:
    fit_and_check()
    theodolite("dynamics", "identify", "puma560", "fit.csv", "--out", "p.json")
    for verb in (
        ("validate", "rx90", "p.json", "fit.csv"),
        ("excite", "rx90", "--out", "e.csv", "--torque", "50", "--parameters", "p.json"),
        ("identify", "rx90", "fit.csv", "--way", "ridge", "--prior", "p.json"),
    ):
        code, _, errors = theodolite("dynamics", *verb)
        assert code == 2
        assert "was identified for 'puma560', whose frames are not those of 'rx90'" in errors
    content = json.loads(Path("p.json").read_text())
    for spoilt in (
        {"format": "other"},
        {"stribeck_speed": "abc"},
        {"parameters": content["parameters"][:5]},
        {"parameters": [{"name": "XX1", "value": float("nan")}]},
    ):
        Path("bad.json").write_text(json.dumps(content | spoilt))
        assert theodolite("dynamics", "validate", "puma560", "bad.json", "fit.csv")[0] == 2


def test_gravity_and_cut_off_come_from_the_file(theodolite) -> None:
    """A robot hung from the ceiling is validated so, without being told again."""
    fit_and_check()
    up = ("--gravity", "0,0,9.81")
    theodolite("dynamics", "identify", "puma560", "fit.csv", "--out", "p.json", *up)
    _, out, _ = theodolite("dynamics", "validate", "puma560", "p.json", "fit.csv", "--json")
    _, same, _ = theodolite("dynamics", "validate", "puma560", "p.json", "fit.csv", "--json", *up)
    assert out == same


def test_a_known_payload_is_taken_into_account(theodolite) -> None:
    truth = true_values(np.random.default_rng(0))
    load = puma().payload(4.0, np.array([0.02, -0.05, 0.1]), np.diag([0.02, 0.03, 0.025]))
    written(recorded(1, noise=0.5, truth=truth)[1], "fit.csv")
    written(recorded(2, noise=0.5, truth=truth, load=load)[1], "loaded.csv")
    theodolite("dynamics", "identify", "puma560", "fit.csv", "--out", "p.json")
    arguments = ("dynamics", "validate", "puma560", "p.json", "loaded.csv", "--json")
    _, without, _ = theodolite(*arguments)
    code, carried, _ = theodolite(*arguments, "--payload", "4,20,-50,100,0.02,0,0,0.03,0,0.025")
    assert code == 0
    assert json.loads(carried)["error"] < 0.3 * json.loads(without)["error"]


def test_a_device_is_not_replaced(theodolite) -> None:
    fit_and_check()
    code, _, errors = theodolite(
        "dynamics", "identify", "puma560", "fit.csv", "--out", "/dev/null", "--force"
    )
    assert code == 2
    assert "is no ordinary file" in errors
    assert not Path("/dev/null").is_file()


def test_motors_without_links_have_drives_too(theodolite) -> None:
    """The legs of a Gough-Stewart platform change lengths of rods, and move no link."""
    code, out, errors = theodolite("dynamics", "identifiable", "gough", "--friction", "--json")
    assert code == 0, errors
    names = json.loads(out)["identifiable"]
    assert {"Iaq1", "fvq6", "fcq3", "offq2"} <= set(names)


def test_fast_recordings_do_not_take_long(theodolite) -> None:
    """10 kHz: what lies far above the cut-off is thinned out first, and the result is the same."""
    truth = true_values(np.random.default_rng(0))
    written(recorded(2, noise=0.5, truth=truth)[1], "check.csv")
    errors = []
    for rate in (100.0, 5000.0):
        saved(recorded(1, noise=0.05 * np.sqrt(rate), rate=rate, truth=truth)[1], "fit.npz")
        _, out, _ = theodolite(
            "dynamics", "identify", "puma560", "fit.npz", "--check", "check.csv", "--json"
        )
        errors.append(json.loads(out)["checked_error"])
    assert errors[1] == pytest.approx(errors[0], rel=0.3)


def test_a_vertical_slide_has_nothing_to_regroup(theodolite) -> None:
    Path("slide.urdf").write_text(
        '<robot name="slide"><link name="base"/><link name="car"/><joint name="j" '
        'type="prismatic"><parent link="base"/><child link="car"/><axis xyz="0 0 1"/>'
        '<limit lower="0" upper="1"/></joint></robot>'
    )
    code, out, errors = theodolite("dynamics", "identifiable", "slide.urdf", "--json")
    assert code == 0, errors
    assert json.loads(out)["rank"] == 2


def test_a_judged_recording_is_looked_at_too(theodolite) -> None:
    fit_and_check()
    truth = true_values(np.random.default_rng(0))
    swapped = recorded(2, noise=0.5, truth=truth)[1]
    written(swapped, "swapped.csv", lambda c: c.update(tau2_Nm=c["tau3_Nm"], tau3_Nm=c["tau2_Nm"]))
    arguments = ("dynamics", "identify", "puma560", "fit.csv", "--out", "p.json")
    code, out, _ = theodolite(*arguments, "--check", "swapped.csv")
    assert code == 1
    assert "swapped.csv: the torque of joint 2 stands in the column of joint 3" in out
    code, out, _ = theodolite("dynamics", "validate", "puma560", "p.json", "swapped.csv")
    assert code == 1
    assert "the torque of joint 2 stands in the column of joint 3" in out


def test_a_prior_must_hold_bodies(theodolite) -> None:
    fit_and_check()
    theodolite("dynamics", "identify", "puma560", "fit.csv", "--out", "base.json")
    arguments = ("dynamics", "identify", "puma560", "check.csv", "--way", "consistent", "--prior")
    code, _, errors = theodolite(*arguments, "base.json")
    assert code == 2
    assert "holds no bodies" in errors
    theodolite(
        "dynamics", "identify", "puma560", "fit.csv", "--way", "consistent", "--out", "bodies.json"
    )
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
    assert "Choose with --tip" in errors
