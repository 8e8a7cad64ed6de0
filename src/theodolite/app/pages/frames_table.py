"""The table of frames, limits and transmission of a serial robot, edited in place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from theodolite.errors import TheodoliteError
from theodolite.io.toml import parse_toml
from theodolite.io.toml_patch import set_in_row, set_in_vector

#: Columns by convention, as the robot file names them.
COLUMNS = {
    "kk": ("sigma", "beta", "alpha", "d", "theta", "r", "K"),
    "dh": ("sigma", "theta", "d", "a", "alpha", "K"),
    "hayati": ("sigma", "theta", "a", "alpha", "beta", "K"),
}
#: What a cell that is not given stands for.
USUAL = {"K": 1}
VECTORS = ("Qmin", "Qmax", "Offset", "Vmax", "Tmax")
#: Takes what changes the text.
Change = Callable[[Callable[[str], str]], None]


def frames_table(text: str, change: Change) -> None:
    """A cell for each value; robots that are no table say so."""
    try:
        content: dict[str, Any] = parse_toml(text, "the file")
    except TheodoliteError:
        ui.label("The text has a mistake; the table is shown again when it is corrected.")
        return
    rows = content.get("frames")
    convention = content.get("convention", "kk")
    if convention not in COLUMNS or not _plain(rows):
        ui.label("This robot is described in another way than by a table: see its text.")
        return
    assert isinstance(rows, list)
    units = content.get("units")
    units = units if isinstance(units, dict) else {}
    ui.label(
        f"Convention {convention}; lengths in {units.get('length', 'm')}, angles in "
        f"{units.get('angle', 'rad')}. sigma: 0 revolute, 1 prismatic, 2 fixed."
    ).classes("text-caption")
    columns = COLUMNS[convention]
    with ui.grid(columns=len(columns) + 1).classes("gap-1 w-full items-center"):
        ui.label("frame")
        for column in columns:
            ui.label(column).classes("font-bold")
        for number, row in enumerate(rows):
            ui.label(str(number))
            for column in columns:
                value = row.get(column, USUAL.get(column, 0))
                _cell(
                    value,
                    f"frame {number} {column}",
                    partial(_set_in_row, change, number, column),
                )
    _vectors(content, change)


def _plain(rows: Any) -> bool:
    """Is every row of the convention of the file?"""
    return isinstance(rows, list) and all(
        isinstance(row, dict) and "convention" not in row for row in rows
    )


def _vectors(content: dict[str, Any], change: Change) -> None:
    shown = [key for key in VECTORS if isinstance(content.get(key), list)]
    if not shown:
        return
    width = max(len(content[key]) for key in shown)
    ui.label("Joints").classes("text-subtitle2")
    with ui.grid(columns=width + 1).classes("gap-1 w-full items-center"):
        for key in shown:
            ui.label(key)
            for place in range(width):
                if place >= len(content[key]):
                    ui.label("")
                    continue
                _cell(
                    content[key][place],
                    f"{key} of joint {place + 1}",
                    partial(_set_in_vector, change, key, place),
                )


def _cell(value: Any, label: str, change: Callable[[str], None]) -> None:
    shown = ui.input(value=str(value)).props("dense outlined").classes("min-w-0")
    shown.props["aria-label"] = label

    kept = str(value)

    def leave() -> None:
        nonlocal kept
        if shown.value == kept:
            return
        try:
            change(shown.value)
            kept = shown.value
        except TheodoliteError as error:
            ui.notify(str(error), type="negative", multi_line=True)
            shown.set_value(kept)

    shown.on("blur", leave).on("keydown.enter", leave)


def _set_in_row(change: Change, number: int, column: str, value: str) -> None:
    change(lambda text: set_in_row(text, number, column, value))


def _set_in_vector(change: Change, key: str, place: int, value: str) -> None:
    change(lambda text: set_in_vector(text, key, place, value))
