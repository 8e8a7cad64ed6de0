"""The verbs of dynamics."""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from tests.dynamics.simulated import GAINS, puma, recorded, true_values
from tests.io.test_urdf_inertia import SMALL, torques
from tests.quick import some_of
from theodolite.cli.dynamics import excite, options
from theodolite.dynamics.drives import FRICTION, STRIBECK_SPEED
from theodolite.dynamics.excitation.limits import DEFAULT_ACCELERATION, DEFAULT_VELOCITY, Limits
from theodolite.dynamics.inertia import RigidBody
from theodolite.dynamics.judge import Accuracy
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.torque import random_state

VERBS = (
    *("identifiable", "excite", "identify", "validate", "predict", "simulate"),
    *("payload", "gains", "base-values"),
)
#: Friction that is not chosen, where a test is about something else.
PLAIN = ("--friction", "viscous,coulomb,offset")
BODY = RigidBody(4.0, np.array([0.02, -0.05, 0.1]), np.diag([0.02, 0.03, 0.025]))


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


def saved(recording: Recording, name: str, **changed) -> None:
    arrays = {"times": recording.times, "positions": recording.q, "torques": recording.torques}
    arrays |= changed
    np.savez(name, **{key: value for key, value in arrays.items() if value is not None})


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
    for how, rank in (
        (("--by", "svd", "--no-rotors"), 36),
        (("--by", "rules", "--friction"), 58),
        (("--model", "rest"), 40),
        (("--model", "energy"), 40),
    ):
        _, out, _ = theodolite("dynamics", "identifiable", "puma560", *how, "--json")
        assert json.loads(out)["rank"] == rank


def test_identifiable_of_a_mechanism(theodolite) -> None:
    code, out, _ = theodolite("dynamics", "identifiable", "palletizer", "--json")
    assert code == 0
    assert json.loads(out)["rank"] == 23
    code, _, errors = theodolite("dynamics", "identifiable", "palletizer", "--by", "rules")
    assert code == 2
    assert "by QR or SVD" in errors


@pytest.mark.parametrize(
    "estimator",
    some_of(
        ["ordinary", "weighted", "correlated", "robust", "essential", "ridge", "consistent"],
        ["weighted", "consistent"],
    ),
)
def test_identify_and_validate(theodolite, estimator: str) -> None:
    fit_and_check()
    if estimator == "ridge":
        theodolite("dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--out", "prior.json")
    prior = ("--prior", "prior.json") if estimator == "ridge" else ()
    code, out, errors = theodolite(
        "dynamics", "identify", "puma560", "fit.csv", "--check", "check.csv",
        *(() if estimator == "consistent" else PLAIN), "--estimator", estimator,
        "--out", "p.json", "--json", *prior,
    )  # fmt: skip
    assert code == 0, errors + out
    found = json.loads(out)
    assert found["error"] < 0.05
    assert found["checked_error"] < 0.05
    assert "good" in found["verdict"]
    code, out, _ = theodolite("dynamics", "validate", "puma560", "p.json", "check.csv", "--json")
    assert code == 0
    assert json.loads(out)["error"] == pytest.approx(found["checked_error"], rel=1e-9)


def test_several_recordings_are_one_identification(theodolite) -> None:
    fit_and_check()
    _, out, _ = theodolite(
        "dynamics",
        "identify",
        "puma560",
        "fit.csv",
        *PLAIN,
        "check.csv",
        "--plot",
        "p.svg",
        "--json",
    )
    both = json.loads(out)
    assert Path("p.svg").read_text().startswith("<?xml")
    _, out, _ = theodolite("dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--json")
    assert both["rows"] > 1.5 * json.loads(out)["rows"]


@pytest.mark.parametrize("model", some_of(["energy", "power"], ["energy"]))
def test_energy_and_power(theodolite, model: str) -> None:
    truth = true_values(np.random.default_rng(0))
    for seed, name, seconds in ((1, "fit.npz", 60.0), (2, "check.npz", 20.0)):
        saved(recorded(seed, noise=0.0, rate=200.0, seconds=seconds, truth=truth)[1], name)
    code, out, errors = theodolite(
        "dynamics", "identify", "puma560", "fit.npz", "--model", model,
        "--check", "check.npz", "--cutoff", 20, "--json",
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
        "dynamics", "identify", "two.urdf", "fit.csv", "--urdf-out", "new.urdf", "--way", "robust"
    )
    assert code == 2
    assert "Leave --estimator out" in errors
    theodolite(
        "dynamics", "identify", "two.urdf", "fit.csv", "--way", "consistent",
        "--urdf-out", "new.urdf",
    )  # fmt: skip
    assert Path("new.urdf").read_text().count("<inertial>") == 2
    code, _, errors = theodolite(
        "dynamics",
        "identify",
        "puma560",
        "fit.csv",
        *PLAIN,
        "--urdf-out",
        "n.urdf",
        "--way",
        "consistent",
    )
    assert code == 2
    assert "Give the URDF as ROBOT" in errors


def test_payload_and_gains(theodolite) -> None:
    truth = true_values(np.random.default_rng(0))
    load = puma().payload_parameters(BODY)
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
    assert "Exchange the recordings" in errors


def test_excite_writes_a_motion(theodolite) -> None:
    settings = ("--harmonics", 3, "--starts", 1, "--rate", 50, "--friction", "none")
    code, out, errors = theodolite(
        "dynamics", "excite", "scara", "--out", "motion.csv", "--plot", "motion.svg",
        "--velocity", "1,1,0.3,2", "--seed", 1, "--json", *settings,
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
        "--seed", 1, "--force", *settings,
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


UR10E = (
    "--columns",
    "t_s,q1_rad,...,q6_rad,qd1_rad_s,...,qd6_rad_s,i1_A,...,i6_A,x1,...,x6,y1,...,y6",
    "--ignore", "x1,...,x6,y1,...,y6", "--drive-gains", ",".join(map(str, GAINS)), "--json",
)  # fmt: skip


@pytest.mark.parametrize("robot", some_of(["ur10e", "ur10e.urdf"], ["ur10e.urdf"]))
@pytest.mark.parametrize(("way", "limit"), [("weighted", 0.052), ("consistent", 0.051)])
def test_the_real_ur10e(theodolite, recordings: Path, robot: str, way: str, limit: float) -> None:
    folder = recordings / "ur10e-dynamics"
    code, out, errors = theodolite(
        "dynamics", "identify", folder / robot if robot.endswith("urdf") else robot,
        folder / "ur-20_02_10-30sec_12harm.csv", "--way", way, "--cutoff", 10, *PLAIN,
        "--check", folder / "ur-20_02_12-40sec_12harm.csv", *UR10E,
    )  # fmt: skip
    assert code == 0, errors
    assert json.loads(out)["checked_error"] < limit


def test_gravity_and_cut_off_come_from_the_file(theodolite) -> None:
    """A robot hung from the ceiling is validated so, without being told again."""
    fit_and_check()
    up = ("--gravity", "0,0,9.81")
    theodolite("dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--out", "p.json", *up)
    _, out, _ = theodolite("dynamics", "validate", "puma560", "p.json", "fit.csv", "--json")
    _, same, _ = theodolite("dynamics", "validate", "puma560", "p.json", "fit.csv", "--json", *up)
    assert out == same


def test_a_known_payload_is_taken_into_account(theodolite) -> None:
    truth = true_values(np.random.default_rng(0))
    load = puma().payload_parameters(BODY)
    written(recorded(1, noise=0.5, truth=truth)[1], "fit.csv")
    written(recorded(2, noise=0.5, truth=truth, load=load)[1], "loaded.csv")
    theodolite("dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--out", "p.json")
    arguments = ("dynamics", "validate", "puma560", "p.json", "loaded.csv", "--json")
    _, without, _ = theodolite(*arguments)
    code, carried, _ = theodolite(*arguments, "--payload", "4,20,-50,100,0.02,0,0,0.03,0,0.025")
    assert code == 0
    assert json.loads(carried)["error"] < 0.3 * json.loads(without)["error"]


def test_motors_without_links_have_drives_too(theodolite) -> None:
    """The legs of a Gough-Stewart platform change lengths of rods, and move no link."""
    code, out, errors = theodolite("dynamics", "identifiable", "gough", "--friction", "--json")
    assert code == 0, errors
    names = json.loads(out)["identifiable"]
    assert {"Iaq1", "fvq6", "fcq3", "offq2"} <= set(names)


def test_fast_recordings_do_not_take_long(theodolite) -> None:
    """2 kHz: samples far above the cut-off are decimated first, and the result is the same."""
    truth = true_values(np.random.default_rng(0))
    written(recorded(2, noise=0.5, truth=truth)[1], "check.csv")
    errors = []
    for rate in (100.0, 2000.0):
        saved(recorded(1, noise=0.05 * np.sqrt(rate), rate=rate, truth=truth)[1], "fit.npz")
        _, out, _ = theodolite(
            "dynamics", "identify", "puma560", "fit.npz", *PLAIN, "--check", "check.csv", "--json"
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


def test_python_gets_what_the_command_line_gets(theodolite) -> None:
    """The same file, the same words and the same numbers, from the same functions."""
    fit_and_check()
    code, out, _ = theodolite(
        "dynamics", "identify", "puma560", "fit.csv", "--check", "check.csv",
        "--way", "essential", "--out", "cli.json", "--json",
    )  # fmt: skip
    assert code == 0
    dynamics = th.build_dynamics(th.robots.puma560())
    fit, check = (th.read_recording(f"{name}.csv", dynamics.robot) for name in ("fit", "check"))
    result = th.identify_dynamics(dynamics, fit, estimator=th.Estimator.ESSENTIAL)
    judgement = th.judge_identification(result, check)
    th.write_dynamics("python.json", result, judgement, inputs=[Path("check.csv")])
    cli, python = (json.loads(Path(f"{name}.json").read_text()) for name in ("cli", "python"))
    # They were written one after the other.
    assert cli["provenance"].pop("time") < python["provenance"].pop("time")
    assert cli == python
    assert json.loads(out)["verdict"] == judgement.verdict
    assert set(cli["provenance"]["files"]) == {"fit.csv", "check.csv"}
    assert cli["provenance"]["options"]["estimator"] == "essential"
    validated = th.validate_parameters(dynamics, th.read_dynamics("cli.json"), check)
    assert validated.decisive.error == pytest.approx(judgement.decisive.error, rel=1e-12)


def test_a_model_is_judged_as_strictly_as_one_asks(theodolite) -> None:
    fit_and_check()
    arguments = ("dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--check", "check.csv")
    code, out, _ = theodolite(*arguments, "--good", 0.1, "--usable", 50, "--out", "p.json")
    assert code == 0
    assert "usable, not good" in out
    arguments = ("dynamics", "validate", "puma560", "p.json", "check.csv")
    code, out, _ = theodolite(*arguments, "--good", 0.1, "--usable", 0.2)
    assert code == 1
    assert "do not use it" in out
    code, _, errors = theodolite(*arguments, "--good", 20)
    assert code == 2
    assert "good not above usable" in errors


def test_a_urdf_falls_as_python_says(theodolite) -> None:
    """Its first axis lies flat: gravity is along -z of its world on both roads."""
    Path("two.urdf").write_text(SMALL)
    np.testing.assert_allclose(th.Dynamics(th.read_urdf("two.urdf")).gravity, [0, 0, -9.81])
    _, out, _ = theodolite("dynamics", "identifiable", "two.urdf", "--json")
    down = ("--gravity", "0,0,-9.81")
    _, same, _ = theodolite("dynamics", "identifiable", "two.urdf", "--json", *down)
    _, other, _ = theodolite("dynamics", "identifiable", "two.urdf", "--json", "--gravity", "0,5,0")
    assert out == same
    assert json.loads(out)["rank"] != json.loads(other)["rank"]


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_speaks_english(theodolite, verb: str) -> None:
    code, out, _ = theodolite("dynamics", *filter(None, [verb]), "--help")
    assert code == 0
    own = [line for line in out.splitlines() if "--seed" not in line]
    assert "range>" not in " ".join(own)
    assert "<float>" not in out


def test_a_longer_arm_is_thicker() -> None:
    """Unless a radius is given, the balls that stand for it are a part of its reach."""
    small, large = (excite._surroundings(0.0, [], None, reach) for reach in (0.02, 2.0))
    given = excite._surroundings(0.0, [], 50.0, 2.0)
    assert small is not None
    assert large is not None
    assert given is not None
    assert large.radius == pytest.approx(100 * small.radius)
    assert given.radius == pytest.approx(0.05)


def test_defaults_are_those_of_python() -> None:
    """They are written twice so that help is fast; they must not differ."""
    assert options.DEFAULT_STRIBECK == STRIBECK_SPEED
    assert Accuracy(options.DEFAULT_GOOD / 100, options.DEFAULT_USABLE / 100) == Accuracy()
    assert options.parse_drives(options.DEFAULT_FRICTION, rotors=True) == FRICTION
    given = signature(excite.command, eval_str=True).parameters
    limits = Limits.of(th.Dynamics(th.robots.scara()))
    for name, default, hinges, slide in (
        ("velocity", limits.velocity, DEFAULT_VELOCITY, "a third of their stroke"),
        ("acceleration", limits.acceleration, DEFAULT_ACCELERATION, "their stroke per second"),
    ):
        words = given[name].annotation.__metadata__[0].help
        assert given[name].default is None
        assert f" {default[0]:g} rad/s" in words
        assert default[0] == hinges
        assert slide in words


def test_damaged_rows_are_named_or_skipped(theodolite) -> None:
    fit_and_check()
    lines = Path("fit.csv").read_text().splitlines()
    lines[100] = ",".join(lines[100].split(",")[:7])
    lines[200] = "1e154," + lines[200].split(",", 1)[1]
    lines[300] = "12.3," + lines[300].split(",", 1)[1]
    lines[400] = lines[400].replace(",", ",#REF!", 1)
    Path("bad.csv").write_text("\n".join(lines) + "\n")
    arguments = ("dynamics", "identify", "puma560", "bad.csv", *PLAIN)
    code, _, errors = theodolite(*arguments)
    assert code == 2
    assert "line 101 has 7 cells, the header 13" in errors
    code, out, errors = theodolite(*arguments, "--skip-bad")
    assert code == 0, errors
    assert "4 of 2000 rows of bad.csv are damaged and left out; the first is line 101" in " ".join(
        out.split()
    )


def test_times_have_units(theodolite) -> None:
    for name, factor in (("t_ns", 1e9), ("t_us", 1e6), ("t_ms", 1e3)):
        change = lambda c, n=name, f=factor: c.update({n: f * c.pop("t_s")})  # noqa: E731
        written(recorded(1, noise=0.5)[1], f"{name}.csv", change)
        found = th.read_recording(f"{name}.csv", puma().robot)
        assert found.rate == pytest.approx(100.0, rel=1e-6)


def test_torques_are_predicted_and_simulated_along_a_motion(theodolite) -> None:
    fit_and_check()
    theodolite("dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--out", "p.json")
    code, out, errors = theodolite(
        "dynamics", "predict", "puma560", "p.json", "check.csv", "--out", "t.csv", "--json"
    )
    assert code == 0, errors
    found = json.loads(out)
    header = Path("t.csv").read_text().split("\n", 1)[0].split(",")
    assert {"tau1_Nm", "tau_gravity2_Nm", "tau_friction6_Nm", "tau_interval3_Nm"} <= set(header)
    assert found["rms_Nm"][1] > found["causes_rms_Nm"]["friction"][1] > 0
    code, out, errors = theodolite(
        "dynamics", "simulate", "puma560", "p.json", "check.csv", "--out", "s.csv",
        "--noise-Nm", "0.2", "--seed", 3,
    )  # fmt: skip
    assert code == 0, errors
    code, out, _ = theodolite("dynamics", "validate", "puma560", "p.json", "s.csv", "--json")
    assert code == 0
    assert json.loads(out)["error"] < 0.02
    code, _, errors = theodolite(
        "dynamics", "predict", "ur10e", "p.json", "check.csv", "--out", "u.csv"
    )
    assert code == 2
    assert "belongs to 'puma560'" in errors


def test_base_values_of_a_urdf(theodolite) -> None:
    """Base parameters alone give the torques of the whole bodies, which are Pinocchio's."""
    Path("two.urdf").write_text(SMALL)
    code, out, errors = theodolite("dynamics", "base-values", "two.urdf", "--json")
    assert code == 0, errors
    found = {each["name"]: each["value"] for each in json.loads(out)["parameters"]}
    dynamics = th.build_dynamics(th.read_urdf("two.urdf"))
    state = random_state(dynamics, 20, np.random.default_rng(0))
    vector = np.array([found.get(name, 0.0) for name in dynamics.names(())])
    ours = np.tensordot(vector, dynamics.regressor(state, ()), axes=1).T
    np.testing.assert_allclose(ours, torques(Path("two.urdf"), state), atol=1e-9)
    code, _, errors = theodolite("dynamics", "base-values", "puma560")
    assert code == 2
    assert "nothing is known of the bodies" in errors


def test_excite_keeps_to_the_limits_of_a_urdf(theodolite) -> None:
    """1 rad/s and 9 N m, by the masses that the file has."""
    Path("two.urdf").write_text(SMALL.replace('effort="9"', 'effort="30"'))
    code, out, errors = theodolite(
        "dynamics", "excite", "two.urdf", "--out", "m.csv", "--duration", 4, "--starts", 1,
        "--json",
    )  # fmt: skip
    assert code in (0, 1), errors
    assert json.loads(out)["use"]["torque"] <= 1.0
    planned = np.loadtxt("m.csv", delimiter=",", skiprows=1)
    assert 0.5 < np.abs(planned[:, 3:5]).max() <= 1.0
    # The limits stay with the robot file.
    theodolite("new", "two.urdf", "two.toml")
    robot = th.read_robot("two.toml")
    np.testing.assert_allclose(robot.speeds, [1.0, 1.0])
    np.testing.assert_allclose(robot.efforts, [30.0, 30.0])


def test_a_gripper_suggests_the_arm(theodolite) -> None:
    fingers = "".join(
        f'<link name="{name}"/><joint name="{name}" type="prismatic"><parent link="plate"/>'
        f'<child link="{name}"/><axis xyz="0 1 0"/><limit lower="0" upper="0.04"/></joint>'
        for name in ("left", "right")
    )
    Path("hand.urdf").write_text(SMALL.replace("</robot>", fingers + "</robot>"))
    code, _, errors = theodolite("dynamics", "identifiable", "hand.urdf")
    assert code == 2
    assert "'plate' is the last one before the chains part" in " ".join(errors.split())
    assert theodolite("dynamics", "identifiable", "hand.urdf", "--tip", "plate")[0] == 0


def test_times_since_1970_in_nanoseconds_are_no_damage(theodolite) -> None:
    change = lambda c: c.update({"t_ns": 1.7e18 + 1e9 * c.pop("t_s")})  # noqa: E731
    written(recorded(1, noise=0.5)[1], "epoch.csv", change)
    code, out, errors = theodolite(
        "dynamics", "identify", "puma560", "epoch.csv", *PLAIN, "--skip-bad", "--json"
    )
    assert code == 0, errors
    assert not any("damaged" in note for note in json.loads(out)["notes"])


def test_a_number_that_cannot_be_is_named_by_its_line(theodolite) -> None:
    fit_and_check()
    lines = Path("fit.csv").read_text().splitlines()
    lines[200] = "1e154," + lines[200].split(",", 1)[1]
    Path("bad.csv").write_text("\n".join(lines) + "\n")
    code, _, errors = theodolite("dynamics", "identify", "puma560", "bad.csv", *PLAIN)
    assert code == 2
    assert "line 201, column 't_s': 1.0e+154" in errors


def test_files_with_a_wrong_spread_are_refused(theodolite) -> None:
    fit_and_check()
    theodolite("dynamics", "identify", "puma560", "fit.csv", *PLAIN, "--out", "p.json")
    content = json.loads(Path("p.json").read_text())
    content["covariance"][0][0] = -1.0
    Path("wrong.json").write_text(json.dumps(content))
    code, _, errors = theodolite(
        "dynamics", "predict", "puma560", "wrong.json", "fit.csv", "--out", "t.csv"
    )
    assert code == 2
    assert "is not a file of identified dynamics" in errors
    code, _, errors = theodolite(
        "dynamics", "simulate", "puma560", "p.json", "fit.csv", "--out", "t.csv",
        "--noise-Nm", "1,2",
    )  # fmt: skip
    assert code == 2
    assert "2 numbers for the noise" in errors
