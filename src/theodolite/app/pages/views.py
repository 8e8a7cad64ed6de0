"""Results of a method's verbs, from what they printed and wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from nicegui import ui

from theodolite.app import charts
from theodolite.app.panel import FOR_PAGE, ask_name, ask_to_overwrite, show_message, show_reports
from theodolite.app.scene import RobotScene, in_space
from theodolite.app.site import Site
from theodolite.app.work import Job
from theodolite.calibration.result import Result
from theodolite.errors import TheodoliteError
from theodolite.io.camera_file import camera_of, camera_path, write_camera
from theodolite.io.result_file import read_result
from theodolite.io.robot_file import check_robot_path, write_robot
from theodolite.io.tables import read_measurements
from theodolite.report.page import Axes, Chart, Series, Style

#: Colours of parameters, readable in both looks, and what they mean.
COLOURS = {
    "identifiable": "#1e7a43",
    "regrouped": "#9a6200",
    "no effect": "#63686f",
    "fixed": "#3a63a8",
}
#: Rows of a table that are shown.
ROWS = 12


def show_identifiable(site: Site, job: Job) -> None:
    """Colours, relations in words, singular values with the gap."""
    data = site.work.data(job)
    if not data:
        return
    condition = data["condition_number"]
    told = "infinite" if condition is None else f"{condition:.3g}"
    ui.label(
        f"{data['rank']} of {data['candidates']} parameters are identifiable; condition number "
        f"{told}."
    ).classes("text-subtitle1").mark("count")
    groups = {
        "identifiable": data["identifiable"],
        "regrouped": list(data["regrouped"]),
        "no effect": data["no_effect"],
        "fixed": data["fixed"],
    }
    for title, names in groups.items():
        if names:
            with ui.row().classes("items-center gap-1"):
                ui.label(f"{title}:").classes("w-28")
                for name in names:
                    ui.badge(name).style(f"background-color: {COLOURS[title]} !important")
    for sentence in data["relations"]:
        ui.label(sentence).classes("font-mono text-caption")
    for sentence in data.get("missing", []):
        show_message(f"{sentence} by this model", bad=False)
    excited = data.get("excitation")
    if excited:
        for sentence in excited.get("sentences", []):
            show_message(sentence, bad=not excited.get("sufficient", True))
    _singular_values(data)


def _singular_values(data: dict[str, Any]) -> None:
    values = [max(float(value), 1e-20) for value in data["singular_values"]]
    numbers = tuple(float(place) for place in range(1, len(values) + 1))
    series = [Series(numbers, tuple(values), Style.POINTS)]
    rank = int(data["rank"])
    if 0 < rank < len(values):
        gap = (float(np.sqrt(values[rank - 1] * values[rank])),) * 2
        series.append(Series((1.0, numbers[-1]), gap, Style.GUIDE, "gap"))
    axes = Axes("number", "singular value", tuple(series), logarithmic=True)
    charts.show_chart(
        Chart((axes,), "Singular values of the scaled problem; the line is in the gap.")
    )


def show_generated(site: Site, job: Job) -> None:
    """What was simulated: a table, and where the robot was."""
    data = site.work.data(job)
    if not data:
        return
    ui.label(f"wrote {data['file']}: {data['configurations']} configurations").mark("wrote")
    _configurations(site, job.argument(0), Path(data["file"]))


def show_designed(site: Site, job: Job) -> None:
    """What is worth measuring, and what it is worth."""
    data = site.work.data(job)
    if not data:
        return
    ui.label(
        f"{data['measurements']} measurements chosen from {data['candidates']} candidates: "
        f"expected error {data['expected_mm']:.3g} mm, as many random ones "
        f"{data['random_mm']:.3g} mm."
    ).classes("text-subtitle1").mark("count")
    curve = data["curve"]
    series = Series(
        tuple(float(one["measurements"]) for one in curve),
        tuple(float(one["expected_mm"]) for one in curve),
    )
    axes = Axes("measurements", "expected error (mm)", (series,), logarithmic=True)
    charts.show_chart(Chart((axes,), "Expected error over the number of measurements."))
    out = job.option("--out")
    if out is not None:
        _configurations(site, job.argument(0), Path(out))


def _configurations(site: Site, robot: str, file: Path) -> None:
    """Joints in a table, and tips in space."""
    try:
        machine = site.machine(robot)
        path = site.workspace.path(str(file))
        data = read_measurements([path], machine, note=lambda sentence: None)
        places = machine.motion(machine.values, data.motors).position
    except (TheodoliteError, OSError) as error:
        show_message(str(error), bad=False)
        return
    dark = site.look("dark") is True
    in_space(site, "In space", lambda: RobotScene(machine, dark=dark).cloud(places))
    _raw_table(path.read_text(encoding="utf-8", errors="replace").splitlines())


def _raw_table(lines: list[str]) -> None:
    rows = [line.split(",") for line in lines if line and not line.startswith("#")]
    if not rows:
        return
    columns = [{"name": str(n), "label": name, "field": str(n)} for n, name in enumerate(rows[0])]
    shown = [
        {"id": n, **{str(place): cell[:9] for place, cell in enumerate(row)}}
        for n, row in enumerate(rows[1 : ROWS + 1])
    ]
    ui.table(columns=columns, rows=shown, row_key="id").props("dense flat").classes("max-w-full")
    ui.label(f"the first of {len(rows) - 1} rows").classes("text-caption")


def show_identified(site: Site, job: Job) -> None:
    """The verdict, the report, residuals in space; save the calibrated robot."""
    try:
        result = site.work.loaded(job, FOR_PAGE["save_result"], read_result)
    except TheodoliteError as error:
        show_message(str(error))
        return
    with ui.row().classes("items-center"):
        ui.button("Save the calibrated robot", icon="save", on_click=lambda: _save(site, result))
        ui.label(f"rank {result.rank}, {result.iterations} iterations").classes("text-caption")
    _changed_since(site, job)
    show_reports(site, job)
    _arrows(site, result)


def _changed_since(site: Site, job: Job) -> None:
    names = job.command[job.command.index("--") + 1 :]
    changed = [
        name
        for name in names
        if (stamp := site.workspace.stamp(name)) is not None and stamp[0] > 1e9 * job.started
    ]
    if changed:
        show_message(f"{', '.join(changed)} changed since this was computed: run it again")


async def _save(site: Site, result: Result) -> None:
    name = await ask_name("Save the calibrated robot as", f"{result.robot.name}-calibrated.toml")
    if name is None:
        return
    try:
        path = site.workspace.new(name)
        check_robot_path(path)
        force = path.exists() and await ask_to_overwrite(name)
        write_robot(result.signed_robot(), path, force=force)
        if result.method == "camera":
            # As the command line does: the camera stands in a file beside the robot.
            write_camera(camera_of(result, None), camera_path(path), force=force)
    except TheodoliteError as error:
        ui.notify(str(error), type="negative", multi_line=True)
        return
    ui.notify(f"wrote {name}")


def _arrows(site: Site, result: Result) -> None:
    visits = result.visits
    if visits is None or visits.errors is None:
        return
    there = np.isfinite(visits.errors).all(axis=1) & np.isfinite(visits.places).all(axis=1)
    if not there.any():
        return
    places, errors = visits.places[there], visits.errors[there]

    def build() -> None:
        factor = RobotScene(result.robot, names=False, dark=site.look("dark") is True).arrows(
            places, errors
        )
        ui.label(f"Errors after calibration, enlarged {factor:g} times.")

    in_space(site, "What is left, in space", build)
