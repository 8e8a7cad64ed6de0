"""What stands around every page: GECARO's menus, the robot that pages are about, the queue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

from nicegui import ui

from theodolite.app.site import Site
from theodolite.app.work import State

#: GECARO's menus, by the method that each is about.
MENUS = {
    "position": "Position measure",
    "frame": "Frame measure",
    "position-link": "Point link",
    "frame-link": "Frame link",
    "plane": "Plane link",
}
#: The verbs of the menu Use, and what they are called there.
USES = {
    "validate": "Validate",
    "diagnose": "What has changed",
    "compare": "Compare robots",
    "compensate": "Compensate targets and programs",
    "export": "Export",
    "plan": "How many measurements",
    "sensitivity": "Sensitivity to tolerances",
    "iso9283 plan": "ISO 9283: plan",
    "iso9283 evaluate": "ISO 9283: evaluate",
    "new": "New robot from a file",
    "check": "Check files",
    "report": "Report from results",
    "study": "Study by simulation",
    "fleet calibrate": "A line of robots",
    "history": "One robot over time",
    "lens": "Lens",
    "board": "Board to print",
}
#: The verbs of the menu Dynamics.
DYNAMICS = {
    "identifiable": "Identifiable parameters",
    "excite": "Exciting motion",
    "identify": "Identification",
    "validate": "Validation",
    "payload": "Payload",
}


#: Dark enough for white words on it.
PRIMARY = "#1f5a8e"
STYLE = """
.q-page { max-width: 110rem; margin: auto; }
figure { overflow: hidden; }
.q-header .q-btn:focus-visible, .q-header a:focus-visible { outline: 2px solid white; }
"""


def address(verb: str) -> str:
    """Where the page of a verb is."""
    return f"/use/{verb.replace(' ', '-')}"


@contextmanager
def framed(site: Site, title: str) -> Iterator[None]:
    """The frame of a page; what is made inside stands in its middle."""
    from theodolite.calibration.catalogue import METHODS

    ui.page_title(f"{title} - Theodolite")
    dark = ui.dark_mode(value=site.look("dark"))
    ui.colors(primary=PRIMARY)
    ui.add_css(STYLE)
    with ui.header().classes("items-center q-py-xs gap-1"):
        ui.link("Theodolite", "/").classes("text-white text-h6 no-underline q-mr-sm")
        _entry("Robot", "/robot")
        for method, words in MENUS.items():
            _entry(words, f"/method/{method}")
        others = {name: f"/method/{name}" for name in METHODS if name not in MENUS}
        _menu("Other methods", {**others, "several sources": "/sources"})
        _menu("Dynamics", {words: f"/dynamics/{verb}" for verb, words in DYNAMICS.items()})
        _entry("Camera", "/camera")
        _menu("Use", {words: address(verb) for verb, words in USES.items()})
        _entry("Help", "/help")
        ui.space()
        _queue(site)
        _dark(site, dark)
    with ui.column().classes("w-full q-pa-md gap-3"):
        ui.label(title).classes("text-h5").props("role=heading aria-level=1")
        yield


def _entry(words: str, to: str) -> None:
    ui.button(words, on_click=lambda: ui.navigate.to(to)).props(
        "flat dense no-caps color=white role=link"
    )


def _menu(words: str, entries: dict[str, str]) -> None:
    button = ui.button(words)
    button.props("flat dense no-caps color=white icon-right=arrow_drop_down")
    with button, ui.menu():
        for text, to in entries.items():
            ui.menu_item(text, on_click=lambda to=to: ui.navigate.to(to))


def _dark(site: Site, dark: ui.dark_mode) -> None:
    def turn() -> None:
        wanted = not dark.value
        dark.set_value(wanted)
        site.keep_look("dark", wanted)

    button = ui.button(icon="dark_mode", on_click=turn).props("flat dense color=white")
    button.props["aria-label"] = "Light or dark"


def _queue(site: Site) -> None:
    """What runs and what waits, on every page."""
    button = ui.button("", icon="work", on_click=lambda: ui.navigate.to("/work"))
    button.props("flat dense no-caps color=white").mark("queue")
    button.props["aria-label"] = "Work"

    def look() -> None:
        running = sum(job.state is State.RUNNING for job in site.work.jobs)
        waiting = sum(job.state is State.WAITING for job in site.work.jobs)
        text = f"{running} running, {waiting} waiting" if running or waiting else "idle"
        if button.text != text:
            button.set_text(text)

    look()
    ui.timer(1.0, look)


def about(path: str, robot: str) -> str:
    """The address of a page about a robot."""
    return f"{path}?{urlencode({'robot': robot})}"


def robot_choice(site: Site, path: str, *, asked: str = "") -> str:
    """Choose the robot that a page is about; the page is shown anew when another is chosen."""
    name = asked or site.robot
    if asked and asked != site.robot and asked in site.robots():
        site.choose(asked)
    options = site.robots()
    if name not in options:
        options = [*options, name]

    def chosen(event: object) -> None:
        other = str(getattr(event, "value", None) or name)
        site.choose(other)
        ui.navigate.to(about(path, other))

    choice = ui.select(options, label="Robot", value=name, with_input=True, on_change=chosen)
    choice.props("outlined dense").classes("w-64")
    choice.props["aria-label"] = "Robot"
    return name
