"""The first rows of a file of measurements, and what its columns are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nicegui import run, ui

from theodolite.app.panel import Panel, show_message
from theodolite.app.site import Site
from theodolite.calibration.method import Method
from theodolite.errors import InputError, TheodoliteError, bounded
from theodolite.io.mapping import Mapping, Term
from theodolite.io.mapping_file import read_mapping, write_mapping
from theodolite.io.number_table import written_names
from theodolite.io.proposal import propose
from theodolite.io.sheets import Sheet, read_sheet
from theodolite.io.tables import read_measurements
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine
from theodolite.model.robot import Robot

ROWS = 6
#: Characters of a cell that are shown.
LONGEST_CELL = 16
#: Seconds between two looks at which file is chosen.
LOOK = 0.5
ANGLES, LENGTHS = ("deg", "rad", "mrad"), ("mm", "m", "um", "in")
#: What a method may need besides joints: stems of columns, and their units.
NEEDED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "positions": (("x", "y", "z"), LENGTHS),
    "rotations": (("qw", "qx", "qy", "qz"), ("",)),
    "pixels": (("u", "v"), ("px",)),
    "fixture": (("fixture_x", "fixture_y", "fixture_z"), LENGTHS),
    "planes": (("plane_nx", "plane_ny", "plane_nz"), ("",)),
}


def mapping_name(data: str) -> str:
    """Where what the columns of a file are is kept: beside it."""
    return str(Path(data).with_suffix("")) + ".mapping.toml"


def data_preview(site: Site, robot: str, method: type[Method], panel: Panel) -> None:
    """Shown when a file is chosen, and again when another is."""
    shown = ui.column().classes("w-full")
    chosen: list[Any] = [None]

    def look() -> None:
        data = panel.form.values.get("data") or []
        first = data[0] if data else None
        if chosen[0] == first:
            return
        before, chosen[0] = chosen[0], first
        shown.clear()
        # What the columns of one file are says nothing of another.
        used = panel.form.values.get("mapping")
        if before is not None and used == mapping_name(before):
            panel.form.set("mapping", None)
            used = None
        if first is None:
            return
        beside = mapping_name(first)
        if site.workspace.stamp(beside) is not None and not used:
            panel.form.set("mapping", beside)
        with shown:
            _folded(first, lambda: _Preview(site, site.machine(robot), method, panel, first).show())

    look()
    ui.timer(LOOK, look)


def _folded(name: str, build: Callable[[], None]) -> None:
    """Large files take a moment to read: they are read when somebody looks."""
    made = False

    def opened(event: Any) -> None:
        nonlocal made
        if event.value and not made:
            made = True
            with part:
                build()

    part = ui.expansion(f"Columns of {name}", on_value_change=opened)
    part.classes("w-full").props("dense")


class _Preview:
    """One file."""

    def __init__(
        self, site: Site, machine: Machine, method: type[Method], panel: Panel, name: str
    ) -> None:
        self.site, self.machine, self.method, self.panel = site, machine, method, panel
        self.name, self.path = name, site.workspace.path(name)
        self.assigned: dict[str, dict[str, Any]] = {}

    def show(self) -> None:
        try:
            sheet = read_sheet(self.path)
            self.names = written_names(sheet)
        except TheodoliteError as error:
            show_message(str(error))
            return
        self._table(sheet)
        self.verdict = ui.column().classes("w-full")
        kept = self._readable()
        ui.label("Where names do not say it, choose which column is which:")
        with (
            ui.element("div")
            .classes("grid gap-2 w-full")
            .style("grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr))")
        ):
            for stem, units in self._wanted():
                self._choice(stem, units, kept)
        with ui.row():
            ui.button("Keep these columns", on_click=self._keep).props("outline dense")
            if isinstance(self.machine, Robot):
                ui.button("Propose", on_click=self._propose).props("outline dense").tooltip(
                    "Try which columns, signs and units fit the robot"
                )

    def _table(self, sheet: Sheet) -> None:
        columns = [
            {"name": str(n), "label": bounded(name, 20), "field": str(n)}
            for n, name in enumerate(self.names)
        ]
        rows = [
            {"id": row} | {str(n): _cell(column[row]) for n, column in enumerate(sheet.columns)}
            for row in range(min(ROWS, len(sheet.lines)))
        ]
        ui.table(columns=columns, rows=rows, row_key="id").props("dense flat").classes("max-w-full")
        ui.label(f"{len(sheet.lines)} rows").classes("text-caption")

    def _readable(self) -> Mapping | None:
        """Say whether the file can be read as it stands, or as was chosen before: the mapping."""
        self.verdict.clear()
        mapping = None
        with self.verdict:
            try:
                beside = self.site.workspace.path(mapping_name(self.name))
                mapping = read_mapping(beside) if beside.is_file() else None
                data = read_measurements([self.path], self.machine, mapping=mapping, note=_quiet)
            except TheodoliteError as error:
                show_message(str(error))
            else:
                ui.label(f"{len(data)} configurations can be read.").mark("readable")
        return mapping

    def _wanted(self) -> list[tuple[str, tuple[str, ...]]]:
        joints = zip(self.machine.joint_names, self.machine.joint_types, strict=True)
        found: list[tuple[str, tuple[str, ...]]] = [
            (name, ANGLES if kind is Joint.REVOLUTE else LENGTHS) for name, kind in joints
        ]
        for need in self.method().needs:
            stems, units = NEEDED.get(need, ((), ()))
            found += [(stem, units) for stem in stems]
        return found

    def _choice(self, stem: str, units: tuple[str, ...], kept: Mapping | None) -> None:
        before = {} if kept is None else kept.terms
        told = next((u for u in units if (f"{stem}_{u}" if u else stem) in before), None)
        term = None if told is None else before[f"{stem}_{told}" if told else stem]
        column_before = "" if term is None or term.column not in self.names else term.column
        with ui.row().classes("no-wrap items-center gap-1"):
            ui.label(stem).classes("w-16")
            column = (
                ui.select(
                    {"": "as named", **{name: name for name in self.names}},
                    value=column_before,
                    label="column",
                )
                .props("dense outlined")
                .classes("w-32")
            )
            column.props["aria-label"] = f"column of {stem}"
            unit = ui.select(list(units), value=told or units[0], label="unit").props(
                "dense outlined"
            )
            unit.classes("w-20").props["aria-label"] = f"unit of {stem}"
            factor = (
                ui.number("factor", value=1.0 if term is None else term.factor)
                .props("dense outlined")
                .classes("w-20")
            )
            factor.props["aria-label"] = f"factor of {stem}"
        offset = 0.0 if term is None else term.offset
        self.assigned[stem] = {"column": column, "unit": unit, "factor": factor, "offset": offset}

    def _keep(self) -> None:
        terms = {}
        for stem, chosen in self.assigned.items():
            if chosen["column"].value:
                unit = chosen["unit"].value
                name = f"{stem}_{unit}" if unit else stem
                factor = chosen["factor"].value
                size = 1.0 if factor is None else float(factor)
                terms[name] = Term(chosen["column"].value, size, chosen["offset"])
        if not terms:
            ui.notify("no column was chosen", type="warning")
            return
        self._write(Mapping(terms))

    async def _propose(self) -> None:
        try:
            assert isinstance(self.machine, Robot)
            found = await run.io_bound(propose, self.path, self.machine)
        except TheodoliteError as error:
            ui.notify(str(error), type="negative", multi_line=True)
            return
        if found is None:
            return
        ui.notify("; ".join([found.certainty.value, *found.findings]), multi_line=True)
        if found.usable:
            self._write(found.mapping)

    def _write(self, mapping: Mapping) -> None:
        name = mapping_name(self.name)
        try:
            read_measurements([self.path], self.machine, mapping=mapping, note=_quiet)
            write_mapping(mapping, self.site.workspace.new(name), force=True)
        except InputError as error:
            ui.notify(str(error), type="negative", multi_line=True)
            return
        self.panel.form.set("mapping", name)
        self._readable()
        ui.notify(f"kept in {name}")


def _cell(value: Any) -> str:
    """A number with six digits, or the beginning of a text."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 3]}..."


def _quiet(sentence: str) -> None:
    """Notes are said when the file is used."""
