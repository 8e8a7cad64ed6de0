"""What verbs print with --json is what the reference says: every key, no other, in several runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import theodolite as th
import verbs
from tests.dynamics.simulated import GAINS, motion, puma, torques_of, true_values
from tests.vision.rendering import Renderer
from tests.vision.scenes import LENS, scene
from tests.vision.test_scenes import rig
from tests.vision.test_vision import some_pose
from theodolite.dynamics.drives import FRICTION
from theodolite.dynamics.inertia import inertial_parameters
from theodolite.io.camera_file import CameraFile, write_camera
from theodolite.io.provenance import provenance
from theodolite.vision.board import Board

SCHEMAS = {path.name: json.loads(path.read_text()) for path in verbs.SCHEMAS.glob("*.json")}
REGISTRY = Registry().with_resources(
    [(name, Resource.from_contents(schema)) for name, schema in SCHEMAS.items()]
)
PLAIN = "--friction viscous,coulomb,offset"
NAMED = {name: command for name, command in verbs.verbs().items() if verbs.has_json(command)}


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all schemas within it."""
    if isinstance(schema, dict):
        if "type" in schema or "$ref" in schema or "anyOf" in schema or "const" in schema:
            yield schema
        for inner in schema.values():
            yield from parts(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from parts(inner)


def test_every_verb_has_a_schema() -> None:
    wanted = {verbs.schema_file(name).name for name in NAMED} | {"common.json"}
    assert set(SCHEMAS) == wanted


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_allow_nothing_unsaid(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    for part in parts(SCHEMAS[name]):
        if "properties" in part:
            assert part["additionalProperties"] is False
            for key, inner in part["properties"].items():
                described = inner if "description" in inner else verbs.resolved(inner)
                assert described["description"], key


def test_the_reference_has_every_verb_and_key() -> None:
    text = verbs.reference()
    for name in verbs.verbs():
        assert f"## {name}\n" in text
    for key in ("held_out.better", "parameters.stderr", "excitation.starved", "rms_Nm"):
        assert f"`{key}`" in text
    assert "`--change` CHANGE" in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measurements of several kinds, and recordings with and without a payload."""
    folder = tmp_path_factory.mktemp("data")

    def write(name: str, robot: str, method: str, points: int, **noise: float) -> None:
        machine = th.robots.load(robot)
        true = th.perturb(machine, th.ParameterErrors(length=1e-3, angle=2e-3), 1)
        data = th.simulate(true, method, points=points, rng=2, noise=th.Noise(**noise))
        th.write_measurements(data, machine, folder / name)

    write("position.csv", "puma560", "position", 40, position=5e-5)
    write("frame.csv", "fourbar", "frame", 20, position=5e-5, orientation=1e-4)
    write("plane.csv", "scara", "plane", 60, position=5e-5)
    write("touches.csv", "scara", "position-link", 12, position=5e-5)
    write("point.csv", "puma560", "point-sensor", 40, position=5e-5)
    write("poses.csv", "delta", "implicit", 25, position=1e-4, orientation=2e-4)
    write("pixels.csv", "h4", "camera", 6, pixel=0.1)
    robot, _, seen, places = rig("hand", 1, points=25)
    th.write_measurements(seen, robot, folder / "rig.csv")
    found = th.identify(robot, seen, th.Camera(mount="hand"), terms="none", gains=False).extras
    camera = th.Camera(places.lenses, mount="hand").with_extras(found)
    write_camera(CameraFile(camera.scene_of(seen).lenses, None, found), folder / "rig.toml")
    th.write_measurements(scene("ur10e", "hand", 1).data, robot, folder / "hand.csv")
    (folder / "lens").mkdir()
    board = Board.parse("charuco:8x6:30:22")
    renderer = Renderer(board, LENS, (1024, 768))
    for number in range(6):
        picture = renderer.picture(*some_pose(board, np.random.default_rng(number)))
        cv2.imwrite(str(folder / "lens" / f"{number}.png"), picture)
    lines = (folder / "position.csv").read_text().splitlines()
    # Nothing but the first joint moves.
    alike = np.tile(np.linspace(0.1, 0.6, 6), (20, 1))
    alike[:, 0] = np.linspace(-1, 1, 20)
    still = th.Dataset(alike, th.robots.puma560().fk(alike).position)
    th.write_measurements(still, th.robots.puma560(), folder / "alike.csv")
    (folder / "foreign.csv").write_text("\n".join(["a,b,c,d,e,f,X,Y,Z", *lines[1:]]))
    rng = np.random.default_rng(3)
    truth, times = true_values(rng), np.arange(0, 12, 0.01)
    load = inertial_parameters(2.5, np.array([0.0, 0.0, 0.1]), 0.01 * np.eye(3))
    for name, body in (("without", None), ("other", None), ("loaded", load)):
        state = motion(rng, times)
        torques = torques_of(puma(), state, truth, body)
        torques = torques + rng.standard_normal(torques.shape)
        arrays = {"times": times, "positions": state.q}
        np.savez(folder / f"{name}.npz", torques=torques, **arrays)
        np.savez(folder / f"{name}-i.npz", currents=torques / GAINS, **arrays)
    (folder / "program.src").write_text(
        "PTP {A1 10,A2 -60,A3 20,A4 5,A5 30,A6 0}\nLIN_REL {Z 10}\n"
        "$BASE={X 0,Y 0,Z 0,A 0,B 0,C 0}\n"
    )
    (folder / "targets.csv").write_text(
        "x_mm,y_mm,z_mm\n" + "".join(f"{400 + 5 * step},150,200\n" for step in range(8))
    )
    (folder / "attained.csv").write_text(
        "pose,xc_mm,yc_mm,zc_mm,x_mm,y_mm,z_mm\n"
        + "".join(
            f"P{p},{p},{p * p},3,{p + 0.01 * n},{p * p},3\n" for n in range(30) for p in [n % 5]
        )
    )
    th.identify("puma560", folder / "position.csv", "position", terms="none").save(
        folder / "saved.json"
    )
    th.identify(
        "puma560", folder / "position.csv", "position", terms="none", gains=False, hold_out=0.0
    ).save(folder / "later.json")
    (folder / "fleet.csv").write_text(
        "name,nominal,data,method,made\n"
        + "".join(f"R{n},puma560,position.csv,position,2026-01-0{n}\n" for n in range(1, 6))
        + "lost,puma560,nowhere.csv,position,\n"
    )
    recording = th.read_recording(folder / "without.npz", puma().robot)
    known = th.identify_dynamics(puma(), recording, drives=FRICTION)
    th.write_dynamics(folder / "known.json", known, th.judge_identification(known))
    return folder


#: Verb, arguments, and the exit code: good runs and doubtful ones, serial, mechanism and parallel.
RUNS = [
    ("robots", "", 0),
    ("new", "puma560 {out}.toml", 0),
    ("new", "puma560 {out}.toml --convention dh", 0),
    ("check", "puma560 h4", 0),
    ("check", "puma560 {in}/position.csv", 0),
    ("check", "puma560 {in}/foreign.csv", 1),
    ("check", "delta {in}/poses.csv", 0),
    ("identifiable", "puma560 -m position", 0),
    ("identifiable", "puma560 -m frame --model dh", 1),
    ("identifiable", "puma560 -m position --data {in}/alike.csv", 1),
    ("identifiable", "h4_31 -m implicit", 0),
    ("identifiable", "fourbar -m frame --gains", 0),
    ("generate", "scara -m plane-known --points 5 --out {out}.csv", 0),
    ("generate", "scara -m position --points 5 --out {out}.csv --save-true {out}.toml", 0),
    ("identify", "puma560 {in}/position.csv -m position", 0),
    ("identify", "puma560 {in}/position.csv -m position --no-gains --change all", 0),
    ("identify", "puma560 {in}/position.csv -m position --no-gains --noise-mm 0.001", 1),
    ("identify", "puma560 {in}/alike.csv -m position --no-gains", None),
    ("identify", "fourbar {in}/frame.csv -m frame --no-gains", None),
    ("identify", "scara {in}/plane.csv -m plane --no-gains", 0),
    ("identify", "scara {in}/touches.csv -m position-link --no-gains", None),
    ("identify", "puma560 {in}/point.csv -m point-sensor --no-gains", None),
    ("identify", "delta {in}/poses.csv -m implicit --no-gains", 0),
    ("identify", "delta {in}/poses.csv -m inverse --no-gains", 0),
    ("identify", "h4 {in}/pixels.csv -m camera --no-gains", None),
    ("identify", "ur10e {in}/rig.csv -m camera --mount hand --no-gains --terms none", 0),
    ("identify", "ur10e {in}/hand.csv -m camera --mount hand --only hand-eye", 0),
    (
        "identify",
        "ur10e {in}/hand.csv -m camera --mount hand --board-tolerance-percent 1 --terms none",
        0,
    ),
    ("validate", "puma560 {in}/position.csv", 0),
    ("validate", "puma560 {in}/position.csv --nominal puma560", 1),
    ("validate", "delta {in}/poses.csv -m inverse", 0),
    ("validate", "fourbar {in}/frame.csv", 0),
    # The robot file does not know where camera and boards are.
    ("validate", "ur10e {in}/rig.csv -m camera --mount hand --lens {in}/rig.toml", 1),
    ("lens", "{in}/lens --board charuco:8x6:30:22 --out {out}.toml", None),
    ("board", "charuco:8x6:30:22 --out {out}.pdf", 0),
    ("compensate", "puma560 {in}/position.csv --nominal puma560 --out {out}.csv", None),
    ("compensate", "puma560 {in}/program.src --nominal puma560 --out {out}.src", 1),
    ("compensate", "{in}/saved.json {in}/targets.csv --nominal puma560 --path", None),
    ("export", "{in}/saved.json --format dh --out {out}.csv", 0),
    ("export", "puma560 --format json --out {out}.json", 0),
    ("report", "{in}/saved.json --out {out}.html", 0),
    ("compare", "puma560 {in}/saved.json", 0),
    ("compare", "puma560 {in}/saved.json puma560", 0),
    ("iso9283 plan", "scara --out {out}.csv", 0),
    ("iso9283 plan", "puma560 --edge-mm 100 --tests pose,distance --out {out}.csv", 0),
    ("iso9283 evaluate", "{in}/attained.csv", 1),
    ("iso9283 evaluate", "{in}/attained.csv --before {in}/attained.csv --fit-sensor", 1),
    ("design", "scara -m position --points 12 --candidates 200 --out {out}.csv", 0),
    ("design", "puma560 -m position --until-mm 0.2 --candidates 200 --out {out}.csv", 0),
    ("plan", "scara -m position --points 10,20", 0),
    ("diagnose", "{in}/saved.json {in}/position.csv", None),
    ("diagnose", "puma560 {in}/position.csv", 1),
    ("sensitivity", "scara", 0),
    ("study", "scara -m position --points 15 --runs 3 --out {out}", 0),
    ("history", "{out} --add {in}/saved.json", 0),
    ("history", "{out} --add {in}/saved.json --add {in}/later.json", 0),
    ("fleet calibrate", "{in}/fleet.csv --out {out}", 1),
    ("reproduce", "meggiolaro", 0),
    ("dynamics identifiable", "puma560 --friction", 0),
    ("dynamics identifiable", "palletizer --no-rotors", 0),
    ("dynamics excite", "scara --out {out}.csv --starts 1 --harmonics 2 --duration 5", 0),
    (
        "dynamics excite",
        "scara --out {out}.csv --starts 1 --harmonics 2 --duration 5 --floor -2000",
        0,
    ),
    ("dynamics identify", "puma560 {in}/without.npz --check {in}/other.npz --out {out}.json", 0),
    ("dynamics identify", f"puma560 {{in}}/without.npz {PLAIN} --estimator consistent", 0),
    (
        "dynamics identify",
        f"puma560 {{in}}/without.npz {PLAIN} --estimator essential --good 0.1",
        None,
    ),
    ("dynamics payload", "puma560 {in}/without.npz {in}/loaded.npz", 0),
    ("dynamics payload", "puma560 {in}/without.npz {in}/other.npz", None),
    ("dynamics gains", "puma560 {in}/without-i.npz {in}/loaded-i.npz --payload 2.5,0,0,100", None),
    ("dynamics base-values", "puma560 {in}/known.json", 0),
    ("dynamics predict", "puma560 {in}/known.json {in}/other.npz --out {out}.csv", 0),
    ("dynamics simulate", "puma560 {in}/known.json {in}/other.npz --out {out}.csv", 0),
    (
        "dynamics with-geometry",
        "puma560 {in}/without.npz --data position:{in}/position.csv",
        None,
    ),
]


def output_of(theodolite: Any, verb: str, arguments: str, folder: Path, out: Path) -> Any:
    words = arguments.replace("{in}", str(folder)).replace("{out}", str(out)).split()
    code, printed, errors = theodolite(*verb.split(), *words, "--json")
    assert printed, errors
    return code, json.loads(printed)


def check_schema(verb: str, content: Any) -> None:
    schema = SCHEMAS[verbs.schema_file(verb).name]
    validator = Draft202012Validator(schema, registry=REGISTRY)
    wrong = [
        f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(content)
    ]
    assert not wrong


@pytest.mark.parametrize(("verb", "arguments", "code"), RUNS)
def test_output_fits_its_schema(
    theodolite: Any, folder: Path, tmp_path: Path, verb: str, arguments: str, code: int | None
) -> None:
    found, content = output_of(theodolite, verb, arguments, folder, tmp_path / "written")
    assert found in (0, 1)
    if code is not None:
        assert found == code, content
    check_schema(verb, content)


def test_dynamics_validate(theodolite: Any, folder: Path, tmp_path: Path) -> None:
    arguments = f"puma560 {folder}/without.npz --out {tmp_path}/p.json"
    output_of(theodolite, "dynamics identify", arguments, folder, tmp_path)
    for name in ("other", "loaded"):
        arguments = f"puma560 {tmp_path}/p.json {folder}/{name}.npz"
        check_schema(
            "dynamics validate",
            output_of(theodolite, "dynamics validate", arguments, folder, tmp_path)[1],
        )


def test_results_in_python_are_the_same(folder: Path) -> None:
    told = provenance([folder / "position.csv"])
    result = th.identify("puma560", folder / "position.csv", "position", provenance=told)
    check_schema("identify", {**result.to_dict(), "located": False})


def test_an_undocumented_key_is_noticed() -> None:
    with pytest.raises(AssertionError, match="further"):
        check_schema("robots", {"robots": [], "further": 1})
    with pytest.raises(AssertionError, match="'robots' is a required property"):
        check_schema("robots", {})


def test_every_verb_was_run() -> None:
    assert {verb for verb, _, _ in RUNS} | {"dynamics validate"} == set(NAMED)
