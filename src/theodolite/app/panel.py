"""A verb as a part of a page: its form, its run with progress and Cancel, and its result."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from nicegui import run, ui

from theodolite.app.fields import Form
from theodolite.app.forms import Kind, arguments, as_typed, fields, named_files, parts_of, summary
from theodolite.app.show import show_page
from theodolite.app.site import Site
from theodolite.app.work import Job, State
from theodolite.errors import InputError, TheodoliteError
from theodolite.io.result_file import read_result
from theodolite.report.html import write_report
from theodolite.report.page_file import read_pages

#: Seconds between two looks at a job.
LOOK = 0.25
#: Files that the application asks verbs for, where they can write them.
FOR_PAGE = {"report": "page.json", "save_result": "result.json"}
#: More of a program's text than this is not shown.
LONGEST = 30_000

View = Callable[[Site, Job], None]


def page_of(path: str, robot: str) -> str:
    """A page about a robot, by its address: results of another robot are not shown on it."""
    return f"{path}?{urlencode({'robot': robot})}"


class Panel:
    """One verb on a page."""

    def __init__(
        self,
        site: Site,
        page: str,
        verb: str,
        *,
        given: Mapping[str, Any] | None = None,
        first: Iterable[str] = (),
        hidden: Iterable[str] = (),
        usual: Mapping[str, Any] | None = None,
        view: View | None = None,
        action: str = "Run",
    ) -> None:
        self.site, self.page, self.verb, self.view = site, page, verb, view
        self.given = dict(given or {})
        self._seen: tuple[int, int] | None = None
        #: Has somebody watched a job on this page?
        self._waited = False
        known = {field.name: field for field in fields(verb)}
        away = {*self.given, *hidden, *FOR_PAGE}
        asked = [field for field in known.values() if field.name not in away]
        self.form = Form(site, page, asked, self._changed, usual)
        required = [field.name for field in asked if field.required]
        leading = [name for name in dict.fromkeys([*required, *first]) if name in self.form.fields]
        ui.label(summary(verb)).classes("text-body2")
        self.form.show(leading)
        #: Where a page puts what belongs beside the form.
        self.beside = ui.column().classes("w-full gap-1")
        with ui.row().classes("items-center w-full"):
            self.button = ui.button(action, icon="play_arrow", on_click=self._start)
            self.cancel = ui.button("Cancel", icon="stop", on_click=self._cancel).props("outline")
            self.spinner = ui.spinner(size="sm")
            self.cancel.set_visibility(False)
            self.spinner.set_visibility(False)
            self.status = ui.label().classes("text-body2").mark("status")
            self.status.props["aria-live"] = "polite"
        rest = [name for name in self.form.fields if name not in leading]
        if rest:
            with ui.expansion("Further options").classes("w-full").props("dense"):
                self.form.show_groups(rest)
        with ui.expansion("The same at the command line").classes("w-full").props("dense"):
            self.line = ui.label().classes("font-mono text-caption break-all").mark("command")
        self.result = ui.column().classes("w-full gap-2").mark("result")
        self._changed()
        ui.timer(LOOK, self._look)

    def values(self) -> dict[str, Any]:
        """What the form says, with what the page adds."""
        return {**self.form.values, **self.given}

    def take(self, names: list[str]) -> None:
        """Fill in files that were brought: the first field for files that is still empty."""
        for field in self.form.fields.values():
            if field.kind is Kind.FILE and not self.form.values.get(field.name):
                self.form.set(field.name, names if field.several else names[0])
                return

    def _changed(self) -> None:
        if hasattr(self, "line"):
            try:
                self.line.set_text(as_typed(arguments(self.verb, self.values())))
            except InputError as error:
                self.line.set_text(str(error))

    async def _start(self) -> None:
        values = self.values()
        try:
            command = arguments(self.verb, values)
            read, written = named_files(self.verb, values)
            for name in read:
                self.site.workspace.path(name)
            self.site.workspace.check_parts(parts_of(values))
            taken = [name for name in written if self.site.workspace.new(name).exists()]
        except TheodoliteError as error:
            self._refuse(str(error))
            return
        added = self._added()
        if taken and await ask_to_overwrite(", ".join(taken)):
            added.append("--force")
        elif taken:
            return
        self.site.work.submit(self.page, command, added)
        await self._look()

    def _added(self) -> list[str]:
        known = {field.name: field for field in fields(self.verb)}
        found = [
            f"{known[name].option}={{folder}}/{file}"
            for name, file in FOR_PAGE.items()
            if name in known
        ]
        return [*found, *(["--json"] if self.view is not None else [])]

    async def _cancel(self) -> None:
        job = self.site.work.of_page(self.page)
        if job is not None:
            await self.site.work.cancel(job)
            await self._look()

    def _refuse(self, message: str) -> None:
        self.result.clear()
        with self.result:
            show_message(message)

    async def _look(self) -> None:
        """Show how far the job is; its result once it is there."""
        job = self.site.work.of_page(self.page)
        busy = job is not None and not job.state.ended
        self._waited = self._waited or busy
        self.cancel.set_visibility(busy)
        self.spinner.set_visibility(busy)
        self.button.set_enabled(not busy)
        if job is None:
            self.status.set_text("")
            if self._seen is not None:
                self._seen = None
                self.result.clear()
            return
        told = f": {job.progress}" if busy and job.progress else ""
        took = f", {job.seconds:.0f} s" if job.started else ""
        self.status.set_text(f"{job.state.value}{took}{told}")
        seen = (job.number, job.version)
        if not busy and seen != self._seen:
            self._seen = seen
            self.status.set_text(f"{job.state.value}{took}: loading the result")
            # Results of long recordings are large: they are read beside the pages' own work.
            await run.io_bound(self._load)
            self.result.clear()
            with self.result:
                self._show_all(job)
            self.status.set_text(f"{job.state.value}{took}")
            if self._waited:
                # What is shown has to be there before the page can be scrolled to it.
                ui.run_javascript(
                    f"setTimeout(() => getElement({self.result.id})?.$el?.scrollIntoView(), 100)"
                )

    def _load(self) -> None:
        """Read what will be shown; what cannot be read is said when it is shown."""
        good = self.site.work.result_of(self.page)
        if good is None:
            return
        readers = {FOR_PAGE["report"]: read_pages, FOR_PAGE["save_result"]: read_result}
        for name, read in readers.items():
            if (self.site.work.folder(good) / name).exists():
                with contextlib.suppress(TheodoliteError):
                    self.site.work.loaded(good, name, read)

    def _show_all(self, job: Job) -> None:
        """What the last job gave; where it gave nothing, why, and what was there before."""
        good = self.site.work.result_of(self.page)
        if job is not good:
            self._told(job)
            ui.button("Close", icon="close", on_click=lambda: self._close(job)).props("flat dense")
        if good is not None:
            try:
                self._show(good)
            except Exception as error:
                # A page must come up, whatever a file holds; the message is for a report.
                show_message(f"this result cannot be shown: {type(error).__name__}: {error}")

    def _told(self, job: Job) -> None:
        messages = self.site.work.messages(job)
        if job.state in (State.REFUSED, State.FAILED) or messages:
            text = messages or job.progress or job.state.value
            show_message(text, bad=job.state not in (State.DONE, State.POOR))

    def _show(self, job: Job) -> None:
        with ui.row().classes("items-center"):
            ui.button("Close result", icon="close", on_click=lambda: self._close(job)).props(
                "flat dense"
            )
            if (self.site.work.folder(job) / FOR_PAGE["report"]).exists():
                ui.button(
                    "Report", icon="description", on_click=lambda: self._write_report(job)
                ).props("flat dense")
        self._told(job)
        if self.view is not None:
            self.view(self.site, job)
        elif (self.site.work.folder(job) / FOR_PAGE["report"]).exists():
            show_reports(self.site, job)
        else:
            show_text(self.site.work.output(job))

    async def _close(self, job: Job) -> None:
        self.site.work.close(job)
        await self._look()

    async def _write_report(self, job: Job) -> None:
        name = await ask_name("Write the report to", f"report-{job.number}.html")
        if name is None:
            return
        try:
            path = self.site.workspace.new(name)
            pages = read_pages(self.site.work.folder(job) / FOR_PAGE["report"])
            force = path.exists() and await ask_to_overwrite(name)
            await run.io_bound(write_report, pages, path, force=force)
        except TheodoliteError as error:
            ui.notify(str(error), type="negative")
        else:
            ui.notify(f"wrote {name}")


def show_reports(site: Site, job: Job) -> None:
    """The report that a verb wrote for the page."""
    try:
        for page in site.work.loaded(job, FOR_PAGE["report"], read_pages):
            show_page(page)
    except InputError as error:
        show_message(str(error))


def show_message(text: str, *, bad: bool = True) -> None:
    """What the command line said."""
    card = ui.card().classes("w-full q-pa-sm").props("flat bordered").mark("message")
    with card, ui.row().classes("items-start no-wrap"):
        ui.icon("error" if bad else "info", color="negative" if bad else "primary")
        ui.label(text).classes("whitespace-pre-wrap").props(f"role={'alert' if bad else 'note'}")


def show_text(text: str) -> None:
    """Text as a terminal shows it."""
    shown = text if len(text) <= LONGEST else text[:LONGEST] + "\n..."
    ui.label(shown).classes("font-mono text-caption whitespace-pre overflow-x-auto w-full").mark(
        "output"
    )


async def ask_to_overwrite(names: str) -> bool:
    """Ask before something is lost."""
    with ui.dialog() as dialog, ui.card():
        ui.label(f"{names} exists already. Overwrite?")
        with ui.row():
            ui.button("Overwrite", on_click=lambda: dialog.submit(True)).props("color=negative")
            ui.button("Keep", on_click=lambda: dialog.submit(False)).props("outline autofocus")
    return bool(await dialog)


async def ask_name(title: str, proposed: str) -> str | None:
    """Ask for the name of a file to write."""
    with ui.dialog() as dialog, ui.card().classes("w-96"):
        ui.label(title)
        name = ui.input("File name", value=proposed).classes("w-full").props("autofocus")
        name.props["aria-label"] = "File name"
        name.on("keydown.enter", lambda: dialog.submit(name.value))
        with ui.row():
            ui.button("Save", on_click=lambda: dialog.submit(name.value))
            ui.button("Cancel", on_click=lambda: dialog.submit(None)).props("outline")
    answer = await dialog
    return str(answer).strip() if answer else None
