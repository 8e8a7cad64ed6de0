"""GECARO's priority matrix, edited in place and kept in a file."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from theodolite.app.panel import Panel
from theodolite.app.site import Site
from theodolite.errors import TheodoliteError
from theodolite.io.priorities import format_matrix, from_matrix, read_priorities, to_matrix
from theodolite.io.writing import write_text
from theodolite.model.parameters import COLUMNS
from theodolite.model.robot import Robot


def priority_editor(site: Site, robot: str, panel: Panel) -> None:
    """The matrix of a serial robot; others say their priorities in their file."""
    machine = site.machine(robot)
    with ui.expansion("Priorities").classes("w-full").props("dense"):
        if not isinstance(machine, Robot):
            ui.label("Priorities of a mechanism are set by name in its file, under [priorities].")
            return
        ui.label(
            "The higher the number, the sooner a parameter is kept and the others are expressed "
            "by it; 0 means never identify."
        )
        file = f"priorities-{machine.name}.txt"
        matrix = to_matrix(_as_kept(site, machine, file), [one.name for one in machine.parameters])
        if (panel.form.values.get("priorities") or file) != file:
            # Those of another robot.
            panel.form.set("priorities", None)
        names = {(one.frame - machine.first_number, one.column) for one in machine.parameters}
        with ui.grid(columns=len(COLUMNS) + 1).classes("gap-1"):
            ui.label("frame")
            for heading in COLUMNS:
                ui.label(heading)
            for row, values in enumerate(matrix):
                ui.label(str(row + machine.first_number))
                for column, value in enumerate(values):
                    _cell(matrix, row, column, value, there=(row, column) in names)

        def keep() -> None:
            try:
                from_matrix(machine, matrix, file)
                write_text(site.workspace.new(file), format_matrix(matrix), force=True)
            except TheodoliteError as error:
                ui.notify(str(error), type="negative", multi_line=True)
                return
            panel.form.set("priorities", file)
            other = panel.page.partition("?")[0].replace("identifiable", "identification")
            site.keep_filled(other, {**site.filled(other), "priorities": file})
            ui.notify(f"wrote {file}; it is used here and for the identification")

        ui.button("Use these priorities", on_click=keep).props("outline dense")


def _as_kept(site: Site, machine: Robot, file: str) -> Robot:
    """The robot with the priorities that were kept for it, if any."""
    try:
        kept = read_priorities(machine, site.workspace.path(file))
    except TheodoliteError:
        return machine
    return machine.with_priorities(kept)


def _cell(matrix: list[list[int]], row: int, column: int, value: int, *, there: bool) -> None:
    def changed(event: Any) -> None:
        matrix[row][column] = int(event.value or 0)

    shown = ui.number(value=value, min=0, step=1, on_change=changed).props("dense outlined")
    shown.classes("w-20").set_enabled(there)
    shown.props["aria-label"] = f"priority of {COLUMNS[column]} in frame {row}"
