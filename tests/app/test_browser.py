"""The application in a real browser, as a calibration engineer would use it."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import theodolite as th
from tests.quick import some_of
from theodolite.calibration.catalogue import METHODS
from theodolite.cli.main import application as verbs
from theodolite.io.robot_file import read_robot

#: One process starts the application and the browser.
pytestmark = pytest.mark.xdist_group("browser")

#: Methods of a serial robot, and how many measurements or sets they are given.
SERIAL = {name: 60 for name in METHODS if name not in ("implicit", "inverse")}
SERIAL |= {"position-link": 25, "frame-link": 25, "frame": 30, "camera": 25, "plane": 150}
#: The others take the whole way in a study.
WHOLE = ("position",)
#: Counted in CI: touches, and a fixture.
COUNTED = ("plane", "point-sensor")
#: Drawn in CI: a serial arm, a closed loop, and parallel robots; all others in a study.
DRAWN = ("puma560", "gough")
#: Methods that need an arm with more than one posture for a pose.
ARMS = {"frame-link": "everett7"}
QUICK = {"gains": False, "terms": "none", "hold_out": 0.0}


def run(*arguments: str) -> str:
    outcome = CliRunner().invoke(verbs(), list(arguments))
    assert outcome.exit_code in (0, 1), outcome.output
    return outcome.stdout


def prefill(application, page_name: str, **values) -> None:
    """What somebody filled in before: forms are kept in the folder."""
    path = application.folder / ".theodolite" / "forms" / f"{page_name.replace('/', '-')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


def finished(page) -> str:
    """Wait for a job to end; how it ended."""
    label = page.locator("text=/^(done|refused|failed|cancelled)/").first
    label.wait_for()
    return label.inner_text()


def save(page, name: str) -> None:
    page.get_by_role("button", name="Save the calibrated robot").click()
    page.get_by_label("File name").fill(name)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text(f"wrote {name}").wait_for()


def shows_count(page, application, robot: str, method: str) -> None:
    """The number of identifiable parameters is that of the command line."""
    page.goto(f"{application.address}/method/{method}/identifiable?robot={robot}")
    page.get_by_role("button", name="Analyse").click()
    shown = page.get_by_text("parameters are identifiable; condition").inner_text()
    expected = json.loads(run("identifiable", robot, "-m", method, "--json"))
    assert shown.startswith(f"{expected['rank']} of {expected['candidates']} parameters")


def whole_way(page, application, robot: str, method: str, points: int) -> None:
    """Identifiable, generate, identify and save; all equal to the command line."""
    base = f"{application.address}/method/{method}"
    stem = f"{robot}-{method}"
    shows_count(page, application, robot, method)

    errors = {"error_mm": 0.5, "error_mrad": 0.5}
    given = {**errors, "noise_mm": 0.02, "noise_mrad": 0.02}
    given |= {"noise_px": 0.05} if method == "camera" else {}
    prefill(application, f"method/{method}/points", out=f"{stem}.csv", points=points, **given)
    page.goto(f"{base}/points?robot={robot}")
    page.get_by_role("button", name="Generate").click()
    page.get_by_text(f"wrote {stem}.csv").wait_for()
    options = [f"--{key.replace('_', '-')}={value}" for key, value in given.items()]
    own = application.folder / f"{stem}-own.csv"
    run("generate", robot, "-m", method, "--points", str(points), *options, "--out", str(own))
    assert (application.folder / f"{stem}.csv").read_bytes() == own.read_bytes()
    own.unlink()

    prefill(application, f"method/{method}/identification", data=[f"{stem}.csv"], **QUICK)
    page.goto(f"{base}/identification?robot={robot}")
    page.get_by_role("button", name="Identify", exact=True).click()
    assert finished(page).startswith("done")
    name = f"{stem}-calibrated.toml"
    save(page, name)
    there = application.folder / name
    beside = application.folder / f"{stem}-cli.toml"
    data = application.folder / f"{stem}.csv"
    quick = ("--no-gains", "--terms", "none", "--hold-out", "0")
    run("identify", robot, str(data), "-m", method, *quick, "--out", str(beside))
    # Two processes may differ in the last digit.
    one, other = read_robot(there), read_robot(beside)
    np.testing.assert_allclose(one.values, other.values, rtol=1e-11, atol=1e-13)
    assert [p.name for p in one.parameters] == [p.name for p in other.parameters]


@pytest.mark.parametrize(
    "method",
    [name if name in WHOLE else pytest.param(name, marks=pytest.mark.study) for name in SERIAL],
)
def test_every_method_of_a_serial_robot(page, application, method):
    whole_way(page, application, ARMS.get(method, "puma560"), method, SERIAL[method])


@pytest.mark.parametrize("method", some_of([name for name in SERIAL if name not in WHOLE], COUNTED))
def test_the_count_of_every_other_method(page, application, method):
    shows_count(page, application, "puma560", method)


@pytest.mark.parametrize(("robot", "method"), [("fivebar", "position"), ("delta", "frame")])
def test_a_mechanism_and_a_parallel_robot(page, application, robot, method):
    whole_way(page, application, robot, method, 40)


@pytest.mark.study
def test_real_data_are_dropped_and_the_held_out_error_is_seen(page, application, recordings):
    prefill(application, "method/position/identification")
    page.goto(f"{application.address}/method/position/identification?robot=irb120")
    page.get_by_text("Bring data").click()
    page.locator("input[type=file]").first.set_input_files(
        str(recordings / "irb120-tracker" / "train.csv")
    )
    page.get_by_text("kept as train.csv").wait_for()
    page.get_by_text("Columns of train.csv").click()
    page.get_by_text("400 configurations can be read.").wait_for()
    page.get_by_role("button", name="Identify", exact=True).click()
    page.get_by_text("on 80 measurements the fit had not seen").wait_for(timeout=240_000)
    assert (application.folder / "train.csv").exists()


def test_dynamics(drawn_page, application):
    page = drawn_page
    page.goto(f"{application.address}/dynamics/identifiable?robot=scara")
    page.get_by_role("button", name="Run").click()
    assert finished(page).startswith("done")
    rank = json.loads(run("dynamics", "identifiable", "scara", "--json"))["rank"]
    assert page.get_by_text(f"{rank} ").count()
    prefill(application, "dynamics/excite", out="motion.csv", starts=1, duration=5.0)
    page.goto(f"{application.address}/dynamics/excite?robot=scara")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("Condition number").wait_for()
    page.get_by_role("button", name="Play").click()
    # Any time but the first: on a busy machine few pictures are drawn.
    page.locator("text=/(0.[1-9]|[1-5].[0-9]) of 5.0 s/").wait_for()


@pytest.mark.study
def test_residuals_are_shown_in_space(drawn_page, application):
    page = drawn_page
    run("generate", "scara", "-m", "position", "--out", str(application.folder / "space.csv"))
    prefill(application, "method/position/identification", data=["space.csv"], **QUICK)
    page.goto(f"{application.address}/method/position/identification?robot=scara")
    page.get_by_role("button", name="Identify", exact=True).click()
    page.get_by_text("What is left, in space").click()
    page.get_by_text("Errors after calibration, enlarged").wait_for()
    page.get_by_text("What is left, in space").click()


def test_a_wrong_file_is_refused_in_the_words_of_the_command_line(page, application):
    (application.folder / "wrong.csv").write_text("q1_deg,q2_deg\n1,2\n")
    prefill(application, "method/position/identification", data=["wrong.csv"])
    page.goto(f"{application.address}/method/position/identification?robot=puma560")
    before = sorted(application.folder.iterdir())
    page.get_by_role("button", name="Identify", exact=True).click()
    shown = page.get_by_role("alert").first
    shown.wait_for()
    outcome = CliRunner().invoke(
        verbs(), ["identify", "puma560", str(application.folder / "wrong.csv"), "-m", "position"]
    )
    assert outcome.exit_code != 0
    said = str(outcome.exception)
    assert said.split(": ", 1)[1].split(".")[0] in shown.inner_text()
    assert sorted(application.folder.iterdir()) == before


def test_paths_to_elsewhere_are_refused(page, application):
    prefill(application, "method/position/points", out="../outside.csv")
    page.goto(f"{application.address}/method/position/points?robot=puma560")
    page.get_by_role("button", name="Generate").click()
    page.get_by_role("alert").filter(has_text="outside the folder").wait_for()
    assert not (application.folder.parent / "outside.csv").exists()


def test_cancel_reload_and_two_tabs(page, application):
    prefill(application, "method/frame/points", out="huge.csv", points=3_000_000)
    page.goto(f"{application.address}/method/frame/points?robot=puma560")
    page.get_by_role("button", name="Generate").click()
    page.get_by_text("running").first.wait_for()
    # Reloaded in the middle of work, and in a second tab, the work goes on.
    page.reload()
    page.get_by_text("simulating").first.wait_for()
    other = page.context.new_page()
    other.goto(f"{application.address}/work")
    other.get_by_text("huge.csv").first.wait_for()
    # While it works, pages answer.
    begun = time.monotonic()
    other.get_by_role("link", name="Help").first.click()
    other.get_by_text("Every option").wait_for()
    assert time.monotonic() - begun < 5.0
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("cancelled").first.wait_for()
    assert not (application.folder / "huge.csv").exists()
    other.close()


def test_the_robot_is_edited_checked_and_saved(drawn_page, application):
    page = drawn_page
    page.goto(f"{application.address}/robot?robot=puma560")
    page.get_by_role("button", name="Save as").click()
    page.get_by_label("File name").fill("mine.toml")
    page.get_by_role("button", name="Save", exact=True).last.click()
    page.get_by_label("frame 3 d", exact=True).wait_for()
    page.wait_for_url("**/robot?robot=mine.toml")
    # What is typed before the page has its connection is lost.
    page.wait_for_function("() => window.socket && window.socket.connected")
    cell = page.get_by_label("frame 3 d", exact=True)
    cell.fill("440")
    cell.press("Enter")
    page.get_by_text("unsaved changes").wait_for()
    # A draft survives a reload; so does what can be undone.
    page.reload()
    page.get_by_text("unsaved changes").wait_for()
    assert page.get_by_label("frame 3 d", exact=True).input_value() == "440"
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("saved", exact=True).wait_for()
    page.get_by_role("button", name="Redo").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("wrote mine.toml").wait_for()
    assert "d = 440" in (application.folder / "mine.toml").read_text()
    # What is wrong is said as ``check`` says it.
    limit = page.get_by_label("Qmax of joint 1", exact=True)
    limit.fill("-500")
    limit.press("Enter")
    page.get_by_text("Qmin is not below Qmax for joint 1").wait_for()
    # A change outside is noticed.
    (application.folder / "mine.toml").write_text(th.robots.text("puma560"))
    page.get_by_role("button", name="Reload").click()
    page.get_by_text("puma560: 6 joints, 37 parameters").wait_for()
    assert page.get_by_label("frame 3 d", exact=True).input_value() == "431.8"


def test_names_and_cells_are_text(drawn_page, application):
    page = drawn_page
    name = "evil.toml"
    text = th.robots.text("scara").replace(
        'name = "scara"', 'name = "<img src=x onerror=alert(1)>"'
    )
    (application.folder / name).write_text(text)
    (application.folder / "evil.csv").write_text("<b>q1</b>,x\n<script>alert(1)</script>,2\n")
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page.goto(f"{application.address}/robot?robot={name}")
    page.get_by_text("<img src=x onerror=alert(1)>: 4 joints").wait_for()
    prefill(application, "method/position/identification", data=["evil.csv"])
    page.goto(f"{application.address}/method/position/identification?robot={name}")
    page.get_by_text("Columns of evil.csv").click()
    page.wait_for_timeout(500)
    assert alerts == []
    assert page.locator("img[src=x]").count() == 0


def test_by_keyboard_alone_and_dark(page, application):
    page.goto(f"{application.address}/method/position/identifiable?robot=scara")
    page.get_by_role("button", name="Analyse").wait_for()
    for _ in range(60):
        page.keyboard.press("Tab")
        if "ANALYSE" in page.evaluate("document.activeElement.innerText.toUpperCase()"):
            break
    page.keyboard.press("Enter")
    page.get_by_text("parameters are identifiable; condition").wait_for()
    page.get_by_role("button", name="Light or dark").press("Enter")
    page.wait_for_function("document.body.classList.contains('body--dark')")
    page.reload()
    page.wait_for_function("document.body.classList.contains('body--dark')")
    page.get_by_role("button", name="Light or dark").press("Enter")
    page.wait_for_function("!document.body.classList.contains('body--dark')")
    unlabelled = page.evaluate(
        """() => [...document.querySelectorAll('input, button, select, textarea')].filter(e =>
        e.checkVisibility()
        && !(e.getAttribute('aria-label') || e.innerText || (e.labels && e.labels.length)
        || e.type === 'hidden' || e.closest('[aria-hidden=true]'))).map(e => e.outerHTML)"""
    )
    assert unlabelled == []


@pytest.mark.parametrize(
    "robot",
    [
        name if name in DRAWN else pytest.param(name, marks=pytest.mark.study)
        for name in th.robots.NAMES
    ],
)
def test_every_robot_is_drawn(drawn_page, application, robot):
    page = drawn_page
    page.goto(f"{application.address}/robot?robot={robot}")
    page.locator("canvas").first.wait_for()
    pose = page.locator("text=/^x .* mm/").first
    before = pose.inner_text()
    page.locator("[role=slider] [tabindex]").first.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.get_by_text(before).wait_for(state="detached")
    assert pose.inner_text() != before
