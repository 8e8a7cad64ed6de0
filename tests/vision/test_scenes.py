"""Cameras as people have them: anywhere, several of them, with wrong pictures and wrong boards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from tests.quick import some_of
from tests.random_robots import central_differences
from tests.vision.scenes import LENS, NOISE, looking, scene, some_turn, tip_error
from theodolite.calibration.base_and_tool import base_and_tool
from theodolite.calibration.hand_eye import apart, solve_hand_eye
from theodolite.calibration.hand_eye_alone import hand_eye_poses
from theodolite.calibration.scene import KnownLens, Scene
from theodolite.model.parameters import Unit
from theodolite.model.poses import Poses

QUICK = {"terms": "none", "gains": False}


def some_poses(count: int, rng: np.random.Generator) -> Poses:
    return Poses(
        np.array([some_turn(1.5, rng) for _ in range(count)]), rng.uniform(-1, 1, (count, 3))
    )


def test_hand_eye_in_closed_form_is_exact_and_bears_wrong_pictures() -> None:
    rng = np.random.default_rng(0)
    moved, camera, target = some_poses(30, rng), some_poses(1, rng), some_poses(1, rng)
    seen = camera.then(moved).then(target)
    found = solve_hand_eye(seen, moved, 1.0)
    assert found is not None and found.agree.all()
    assert apart(found.camera, camera, 1.0)[0] < 1e-7
    assert apart(found.target, target, 1.0)[0] < 1e-7
    wrong = rng.permutation(30)[:8]
    mixed = Poses(seen.rotation.copy(), seen.position.copy())
    mixed.rotation[wrong], mixed.position[wrong] = some_poses(8, rng).rotation, 0.0
    found = solve_hand_eye(mixed, moved, 1.0)
    assert found is not None
    assert set(np.flatnonzero(~found.agree)) == set(wrong)
    assert apart(found.camera, camera, 1.0)[0] < 1e-7


@pytest.mark.parametrize(("stated", "seems"), [(0.001, 1000), (0.1, 10)])
def test_a_board_in_another_unit_is_refused(stated: float, seems: int) -> None:
    """Metres or centimetres for millimetres: no lens and no arm explains that."""
    robot, _, data = scene("puma560", "hand", 0)
    wrong = replace(data, points=stated * data.points)
    with pytest.raises(th.InputError, match="times as large as stated") as caught:
        th.identify(robot, wrong, th.Camera(mount="hand"), **QUICK)
    size = float(str(caught.value).split(" the board is ")[1].split()[0])
    assert size == pytest.approx(seems, rel=0.02)


@pytest.mark.parametrize(("mount", "said"), [("hand", "ground"), ("ground", "hand")])
def test_the_wrong_mount_is_named(mount: str, said: str) -> None:
    robot, _, data = scene("puma560", mount, 0)
    with pytest.raises(th.InputError, match=f"the mount is '{mount}'"):
        th.identify(robot, data, th.Camera(mount=said), **QUICK)


def test_turns_about_one_axis_do_not_show_the_hand_eye() -> None:
    rng = np.random.default_rng(0)
    angles = np.linspace(-1, 1, 12)
    about_z = np.array([[[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]
                        for a in angles])  # fmt: skip
    moved = Poses(about_z, rng.uniform(-1, 1, (12, 3)))
    seen = some_poses(1, rng).then(moved).then(some_poses(1, rng))
    assert solve_hand_eye(seen, moved, 1.0) is None


@pytest.mark.parametrize(
    ("name", "mount"),
    [("panda", "hand"), ("puma560", "ground"), ("ur10e", "hand"), ("scara", "ground")],
)
def test_lens_base_and_hand_eye_are_found_from_nothing(name: str, mount: str) -> None:
    """The robot file knows neither camera nor target, and nobody gave the lens."""
    robot, true, data = scene(name, mount, 0)
    result = th.identify(robot, data, th.Camera(mount=mount), **QUICK)
    assert result.good, result.doubts()
    assert result.placed
    assert abs(result.extras["lens"]["fx"] - LENS.fx) < 2.0
    assert 0.13 < result.held_out.calibrated["pixel"].rms < 0.16  # 0.1 px in each coordinate
    assert 0.09 < result.extras["noise"]["pixel_px"] < 0.11
    assert tip_error(result.robot, true) < 1e-3 * robot.reach()


def spoiled(data: th.Dataset, rng: np.random.Generator) -> tuple[th.Dataset, set[str]]:
    """One picture in ten wrong: two exchanged, two turned by 180 degrees, one of another place."""
    pixels = data.pixels.reshape(len(np.unique(data.sets)), -1, 2).copy()
    one, two, three, four, five, other = rng.choice(len(pixels), 6, replace=False)
    pixels[[one, two]] = pixels[[two, one]]
    for turned in (three, four):
        pixels[turned] = pixels[turned][::-1]
    pixels[five] = pixels[other] + 0.1 * rng.standard_normal(pixels[other].shape)
    names = {f"picture {n}" for n in (one, two, three, four, five)}
    return replace(data, pixels=pixels.reshape(-1, 2)), names


def with_wrong_pictures(seeds: range) -> None:
    """All wrong pictures are named, no other, and the robot is hardly worse."""
    squares = []
    for seed in seeds:
        mount = ("hand", "ground")[seed % 2]
        noise = replace(NOISE, joint=1e-4 if seed % 3 else 0.0)
        robot, true, data = scene("puma560", mount, seed, noise=noise)
        wrong, names = spoiled(data, np.random.default_rng(seed))
        results = [
            th.identify(robot, one, th.Camera(mount=mount), hold_out=0.0, **QUICK)
            for one in (data, wrong)
        ]
        assert not results[0].left_out
        assert {one.name for one in results[1].left_out} == names
        assert all(name in " ".join(results[1].notes()) for name in names)
        assert results[1].good, results[1].doubts()
        squares.append([tip_error(result.robot, true) ** 2 for result in results])
    clean, spoilt = np.sqrt(np.mean(squares, axis=0))
    assert spoilt < 1.3 * clean


def test_wrong_pictures_are_named_and_left_out() -> None:
    with_wrong_pictures(range(2))


@pytest.mark.study
def test_wrong_pictures_are_named_and_left_out_over_fifty_seeds() -> None:
    with_wrong_pictures(range(50))


@pytest.mark.parametrize(("name", "mount"), [("puma560", "ground"), ("ur10e", "hand")])
@pytest.mark.parametrize("said", some_of([0.97, 25 / 30], [0.97]))
def test_a_wrong_board_is_a_doubt_or_found(name: str, mount: str, said: float) -> None:
    """A print at 97 %, and squares of 30 mm called 25."""
    robot, _true, data = scene(name, mount, 1)
    wrong = replace(data, points=said * data.points)
    result = th.identify(robot, wrong, th.Camera(mount=mount), **QUICK)
    assert any("All lengths of the arm change together" in doubt for doubt in result.doubts())
    free = th.Camera(mount=mount, board_tolerance=0.03)
    result = th.identify(robot, wrong, free, **QUICK)
    assert result.good, result.doubts()
    scale = result.estimate("board_scale")
    assert abs(scale.identified - (1 / said - 1)) < scale.interval
    assert scale.interval < 0.03
    right = th.identify(robot, data, th.Camera(mount=mount), **QUICK)
    assert right.good, right.doubts()


def test_a_known_lens_is_kept_or_weighed() -> None:
    robot, _, data = scene("ur10e", "hand", 2)
    wrong = th.Lens.of(LENS.values + np.array([20.0, 20.0, 5.0, 5.0, 0, 0, 0, 0, 0]))
    kept = th.identify(robot, data, th.Camera(wrong, mount="hand", keep_lens=True), **QUICK)
    assert kept.extras["lens"]["fx"] == 1020.0
    assert all(estimate.name != "fx" for estimate in kept.estimates)
    spread = np.diag(np.array([1e-3, 1e-3, 1e-3, 1e-3, 1e-5, 1e-5, 1e-6, 1e-6, 1e-5]) ** 2)
    sure = th.identify(robot, data, th.Camera(KnownLens(wrong, spread), mount="hand"), **QUICK)
    assert abs(sure.extras["lens"]["fx"] - 1020.0) < 0.01
    free = th.identify(robot, data, th.Camera(wrong, mount="hand"), **QUICK)
    assert abs(free.extras["lens"]["fx"] - 1000.0) < 1.0


def test_the_weight_of_a_known_lens_follows_the_noise_of_the_pixels() -> None:
    """A lens known as well as the pictures show it: the estimate is in between, at any noise.

    Weighed with a noise of 0.1 px, whatever it is, a noise of 1 px would leave the lens where the
    pictures put it.
    """
    robot, _, data = scene("ur10e", "hand", 3, noise=replace(NOISE, pixel=1.0))
    free = th.identify(robot, data, th.Camera(mount="hand"), **QUICK)
    width = free.estimate("fx").stderr
    spread = np.diag(np.array([width, 1e3, 1e3, 1e3, 1, 1, 1, 1, 1]) ** 2)
    off = free.extras["lens"]["fx"] + 4 * width
    known = KnownLens(th.Lens.of(np.array([off, *list(free.extras["lens"].values())[1:9]])), spread)
    result = th.identify(robot, data, th.Camera(known, mount="hand"), **QUICK)
    middle = (result.extras["lens"]["fx"] - free.extras["lens"]["fx"]) / (4 * width)
    assert 0.4 < middle < 0.6
    assert 0.95 < result.extras["noise"]["pixel_px"] < 1.05


def rig(mount: str, seed: int, points: int = 40):
    """Two cameras side by side and two boards, every picture with some of both."""
    rng = np.random.default_rng(seed)
    robot, true, data = scene("ur10e", mount, seed, points=points, noise=th.Noise(pixel=0.0))
    step = 0.05 * robot.reach()
    places = Scene(
        mount,
        (KnownLens(LENS), KnownLens(replace(LENS, fx=1200.0, fy=1195.0, k1=0.02))),
        (1, 2),
        (1, 2),
        Poses(
            np.array([np.eye(3), some_turn(0.1, rng)]),
            np.array([[0, 0, 0], [step, 0.1 * step, 0.2 * step]]),
        ),
        Poses(
            np.array([np.eye(3), some_turn(0.4, rng)]),
            np.array([[0, 0, 0], [0.8 * step, -1.5 * step, 0.5 * step]]),
        ),
    )
    rows = np.arange(len(data)).repeat(4)
    data = data.take(rows)
    data = replace(
        data,
        cameras=np.tile([1, 1, 2, 2], len(rows) // 4),
        boards=np.tile([1, 2, 1, 2], len(rows) // 4),
    )
    camera = th.Camera(places.lenses, mount=mount, scene=places)
    exact = camera.predicted(true, data)
    pixels = exact + 0.1 * rng.standard_normal(exact.shape)
    return robot, true, replace(data, pixels=pixels), places


@pytest.mark.parametrize("mount", ["ground", "hand"])
def test_derivatives_of_several_cameras_and_boards(mount: str) -> None:
    _robot, true, data, places = rig(mount, 0, points=3)
    places = replace(places, board_tolerance=0.01)
    method = th.Camera(places.lenses, mount=mount, scene=places, board_tolerance=0.01)
    problem = method.problem(true, data, noise=th.Noise(pixel=1.0))
    rng = np.random.default_rng(0)
    values = np.array([p.value for p in problem.parameters])
    values = values + 1e-3 * rng.standard_normal(len(values))

    def residual(x: np.ndarray) -> np.ndarray:
        return np.concatenate([block.residual for block in problem.blocks(x)])

    jacobian = np.concatenate([block.jacobian for block in problem.blocks(values)])
    numerical = central_differences(residual, values)
    np.testing.assert_allclose(jacobian, numerical, atol=1e-6 * np.abs(jacobian).max())


@pytest.mark.parametrize("mount", some_of(["ground", "hand"], ["ground"]))
def test_several_cameras_and_boards_are_placed(mount: str) -> None:
    robot, _true, data, places = rig(mount, 1)
    result = th.identify(robot, data, th.Camera(mount=mount), **QUICK)
    assert result.good, result.doubts()
    lenses = result.extras["lenses"]
    assert abs(lenses[2]["fx"] - 1200.0) < 2.0
    for kind, truth in (("cameras", places.camera_places), ("boards", places.board_places)):
        found = np.array(result.extras[kind][2]["position_m"])
        assert np.linalg.norm(found - truth.position[1]) < 2e-3
    assert 0.13 < result.held_out.calibrated["pixel"].rms < 0.16


def test_a_camera_beside_a_tracker() -> None:
    """The tracker says where the world is; camera and target stand anywhere in it."""
    rng = np.random.default_rng(5)
    robot = th.robots.load("ur10e")
    arm = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng)
    while True:
        try:
            seen = th.simulate(
                looking(arm, "hand", rng),
                th.Camera(LENS, mount="hand"),
                points=40,
                rng=rng,
                noise=NOISE,
            )
            break
        except th.TheodoliteError:
            continue
    tracker = th.simulate(arm, th.Position(), points=40, rng=rng, noise=th.Noise(position=5e-5))
    both = [
        th.Source(tracker, "position", name="tracker"),
        th.Source(seen, th.Camera(mount="hand"), name="camera"),
    ]
    result = th.identify(robot, both, **QUICK)
    assert result.status.good
    # 0.1 px and 0.05 mm in each coordinate.
    assert 0.12 < result.after["camera: pixel"].rms < 0.15
    assert 7e-5 < result.after["tracker: position"].rms < 9e-5
    alone = th.identify(robot, tracker, "position", **QUICK)
    assert tip_error(result.robot, arm) < tip_error(alone.robot, arm)


def test_hand_eye_alone_says_what_fixed_links_cost() -> None:
    robot, true, data = scene("ur10e", "hand", 1, errors=(2e-3, 4e-3))
    result = th.identify(robot, data, th.Camera(mount="hand"), links=False)
    assert result.status.good
    assert not any("not better" in doubt for doubt in result.doubts())
    fixed = result.links_fixed
    assert fixed is not None
    assert fixed.whole < 0.12 < 1.0 < fixed.alone
    # The hand-eye that links identified as well give is nearer to the truth than this one.
    tool, exact = base_and_tool(result.robot)[1], base_and_tool(true)[1]
    off = float(np.linalg.norm(tool.position - exact.position))
    assert 0.5 * fixed.distance < off < 2.0 * fixed.distance
    assert "identified as well" in " ".join(result.notes())
    names = {estimate.name for estimate in result.estimates if estimate.interval is not None}
    assert "d3" not in names


@pytest.mark.parametrize("links", [False, True])
def test_the_camera_in_the_flange_is_where_it_is(links: bool) -> None:
    """Nothing of it goes into the last joint's own length and zero, nor into the first one's."""
    robot, true, data = scene("ur10e", "hand", 4, errors=(0.0, 0.0))
    result = th.identify(robot, data, th.Camera(mount="hand"), links=links, **QUICK)
    found = hand_eye_poses(result.robot, result.nominal, "hand")
    base, tool = base_and_tool(true)
    exact = {"camera_in_flange": tool, "target_in_base": base.inverse}
    for name, pose in exact.items():
        off = np.array(found[name]["position_mm"]) - 1e3 * pose.position[0]
        assert np.linalg.norm(off) < 1.0
        turn = np.array(found[name]["matrix_m"])[:3, :3].T @ pose.rotation[0]
        assert np.degrees(np.arccos(min(1.0, (np.trace(turn) - 1) / 2))) < 0.1
    if not links:
        # The links can be identified another time.
        assert not any(priority == 0 for priority in result.robot.priorities.values())
        assert {e.name[:2] for e in result.estimates if e.unit is Unit.METRE} == {"e0", "e7"}


def test_a_saved_result_has_its_camera_beside_it(tmp_path: Path) -> None:
    """As the command line writes it."""
    robot, _, data = scene("ur10e", "hand", 1)
    result = th.identify(robot, data, th.Camera(mount="hand"), **QUICK)
    result.save(tmp_path / "cal.toml")
    camera = th.read_camera(tmp_path / "cal.camera.toml")
    assert camera.lenses[0].lens.fx == result.extras["lens"]["fx"]
