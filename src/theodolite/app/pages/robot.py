"""The menu Robot: open, edit, check and save the description of a robot, and look at it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from nicegui import app, ui

from theodolite import robots
from theodolite.app.draft import EMPTY, Draft
from theodolite.app.frame import address, framed
from theodolite.app.pages.frames_table import frames_table
from theodolite.app.panel import ask_name, ask_to_overwrite, show_message
from theodolite.app.site import Site
from theodolite.app.sliders import show_robot
from theodolite.errors import TheodoliteError
from theodolite.io.robot_file import format_robot
from theodolite.model.machine import Machine

#: Seconds between two looks at whether the file changed.
LOOK = 1.0
#: Seconds without a key after which a text is checked and drawn.
PAUSE = 0.6


def register(site: Site) -> None:
    @ui.page("/robot")
    def robot(robot: str = "") -> None:
        name = robot or site.robot
        with framed(site, "Robot"):
            _menu(site, name)
            try:
                machine = site.machine(name)
                site.choose(name)
            except TheodoliteError as error:
                machine = None
                trouble = str(error)
            if not name.endswith(".toml") and name not in robots.NAMES:
                if machine is None:
                    show_message(trouble)
                else:
                    ui.label("A robot file can be made of this with New.")
                    show_robot(machine)
                return
            try:
                draft = Draft.open(site, name)
            except TheodoliteError as error:
                show_message(str(error))
                return
            _Editor(site, draft).show()


def go(name: str) -> None:
    """Open a robot."""
    from urllib.parse import urlencode

    ui.navigate.to(f"/robot?{urlencode({'robot': name})}")


def _menu(site: Site, name: str) -> None:
    with ui.row().classes("items-center"):
        with ui.button("New", icon="add").props("outline dense"), ui.menu():
            ui.menu_item("An empty table", on_click=lambda: _new(site, EMPTY, "robot.toml"))
            ui.menu_item(
                "From a URDF or a DH table", on_click=lambda: ui.navigate.to(address("new"))
            )
            for built_in in robots.NAMES:
                ui.menu_item(
                    f"Like {built_in}",
                    on_click=lambda n=built_in: _new(site, robots.text(n), f"{n}.toml"),
                )
        choice = ui.select(
            site.robots() if name in site.robots() else [*site.robots(), name],
            label="Open",
            value=name,
            with_input=True,
            on_change=lambda event: go(str(event.value)),
        )
        choice.props("outlined dense").classes("w-64")
        choice.props["aria-label"] = "Open"
        ui.button("Quit", icon="logout", on_click=_quit).props("outline dense")
        ui.link("Help", "/help")


async def _new(site: Site, text: str, proposed: str) -> None:
    name = await ask_name("Name of the new robot file", proposed)
    if name is None:
        return
    try:
        force = site.workspace.new(name).exists() and await ask_to_overwrite(name)
        draft = Draft(site, name, text, [], [], text, None).save_as(name, force=force)
    except TheodoliteError as error:
        ui.notify(str(error), type="negative", multi_line=True)
        return
    go(draft.name)


async def _quit() -> None:
    with ui.dialog() as dialog, ui.card():
        ui.label("End the application? Drafts and results are kept.")
        with ui.row():
            ui.button("End", on_click=lambda: dialog.submit(True))
            ui.button("Stay", on_click=lambda: dialog.submit(False)).props("outline autofocus")
    if await dialog:
        ui.label("The application has ended. You can close this page.")
        ui.timer(0.3, app.shutdown, once=True)


class _Editor:
    """The table, the text and the picture of one robot file."""

    def __init__(self, site: Site, draft: Draft) -> None:
        self.site, self.draft = site, draft
        self._typed_at = 0.0
        #: The robot that is shown, as its file would say it.
        self._drawn: str | None = None

    def show(self) -> None:
        with ui.row().classes("items-center"):
            save = ui.button("Save", icon="save", on_click=self._save).props("outline dense")
            save.set_enabled(not self.draft.built_in)
            ui.button("Save as", on_click=self._save_as).props("outline dense")
            self.undo = ui.button("Undo", icon="undo", on_click=self._undo).props("flat dense")
            self.redo = ui.button("Redo", icon="redo", on_click=self._redo).props("flat dense")
            ui.button("Check", on_click=lambda: ui.navigate.to(address("check"))).props(
                "flat dense"
            )
            self.state = ui.label().mark("state")
        self.outside = ui.row().classes("items-center")
        self.verdict = ui.column().classes("w-full").mark("check")
        with ui.row().classes("w-full items-start no-wrap"):
            with ui.column().classes("col-7"):
                with ui.tabs().props("dense no-caps") as tabs:
                    ui.tab("table", label="Table")
                    ui.tab("text", label="Text")
                with ui.tab_panels(tabs, value="table").classes("w-full"):
                    with ui.tab_panel("table"):
                        self.table = ui.column().classes("w-full")
                    with ui.tab_panel("text"):
                        self.text = ui.codemirror(
                            self.draft.text,
                            language="TOML",
                            theme="oneDark" if self.site.look("dark") else "basicLight",
                            on_change=self._typed,
                        )
                        self.text.classes("w-full").style("height: 60vh")
            self.picture = ui.column().classes("col")
        self._refresh()
        ui.timer(LOOK, self._look_outside)
        ui.timer(PAUSE / 2, self._settle)

    def change(self, edit: Callable[[str], str]) -> None:
        """Change one value; the table stays as it is, with whatever is being typed elsewhere."""
        self.draft.change(edit(self.draft.text))
        self._refresh(table=False)

    def _typed(self, event: Any) -> None:
        """Keep every letter at once; look at the robot when the typing pauses."""
        if event.value != self.draft.text:
            self.draft.type(event.value)
            self.seen = self.draft.version
            self._typed_at = monotonic()
            self.state.set_text("unsaved changes" if self.draft.unsaved else "saved")

    def _settle(self) -> None:
        if self._typed_at and monotonic() - self._typed_at >= PAUSE:
            self._typed_at = 0.0
            self._refresh(text=False)

    def _refresh(self, *, text: bool = True, table: bool = True) -> None:
        draft = self.draft
        self.seen = draft.version
        self.undo.set_enabled(bool(draft.undone))
        self.redo.set_enabled(bool(draft.redone))
        self.state.set_text("unsaved changes" if draft.unsaved else "saved")
        if text and self.text.value != draft.text:
            self.text.set_value(draft.text)
        self.verdict.clear()
        with self.verdict:
            try:
                machine: Machine | None = draft.machine()
            except TheodoliteError as error:
                machine = None
                show_message(str(error))
            else:
                assert machine is not None
                ui.label(
                    f"{machine.name}: {machine.joints} joints, {len(machine.parameters)} parameters"
                )
        if table:
            self.table.clear()
            with self.table:
                frames_table(draft.text, self.change)
        drawn = None if machine is None else format_robot(machine)
        if machine is not None and drawn != self._drawn:
            # A scene is dear: a browser has few of them, and each looks elsewhere at first.
            self._drawn = drawn
            self.picture.clear()
            with self.picture:
                show_robot(machine, dark=self.site.look("dark") is True)

    def _undo(self) -> None:
        self.draft.undo()
        self._refresh()

    def _redo(self) -> None:
        self.draft.redo()
        self._refresh()

    async def _save(self) -> None:
        if self.draft.changed_outside and not await ask_to_overwrite(
            f"{self.draft.name} was changed by somebody else and"
        ):
            return
        try:
            self.draft.save()
        except TheodoliteError as error:
            ui.notify(str(error), type="negative", multi_line=True)
            return
        ui.notify(f"wrote {self.draft.name}")
        self._refresh()

    async def _save_as(self) -> None:
        name = self.draft.name if not self.draft.built_in else f"{self.draft.name}.toml"
        await _save_as(self.site, self.draft, name)

    def _look_outside(self) -> None:
        if self.seen != self.draft.version:
            # Another tab edits the same robot.
            self._refresh()
        changed = self.draft.changed_outside
        if changed == bool(self.outside.default_slot.children):
            return
        self.outside.clear()
        if changed:
            with self.outside:
                ui.icon("warning", color="warning")
                ui.label(f"{self.draft.name} was changed outside.")
                ui.button("Reload", on_click=self._reload).props("dense outline")

    def _reload(self) -> None:
        try:
            self.draft.reload()
        except TheodoliteError as error:
            ui.notify(str(error), type="negative", multi_line=True)
            return
        self._refresh()


async def _save_as(site: Site, draft: Draft, proposed: str) -> None:
    name = await ask_name("Save as", proposed)
    if name is None:
        return
    try:
        force = site.workspace.new(name).exists() and await ask_to_overwrite(name)
        go(draft.save_as(name, force=force).name)
    except TheodoliteError as error:
        ui.notify(str(error), type="negative", multi_line=True)
