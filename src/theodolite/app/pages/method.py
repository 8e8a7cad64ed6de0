"""The pages of a method: GECARO's three functions, and the design of measurements."""

from __future__ import annotations

from nicegui import ui

from theodolite.app.documentation import page_about
from theodolite.app.explanations import METHODS as EXPLAINED
from theodolite.app.frame import MENUS, about, framed, robot_choice
from theodolite.app.pages.previews import data_preview
from theodolite.app.pages.priorities import priority_editor
from theodolite.app.pages.views import (
    show_designed,
    show_generated,
    show_identifiable,
    show_identified,
)
from theodolite.app.panel import Panel, page_of, show_message
from theodolite.app.site import Site
from theodolite.app.upload import upload_area
from theodolite.calibration.catalogue import CLASSES, METHODS, options_of
from theodolite.errors import TheodoliteError

TABS = {
    "identifiable": "Identifiable parameters",
    "points": "Points generation",
    "identification": "Identification",
    "design": "Design",
}
#: Options that only some methods have; the others do not ask for them.
OWN = {
    "plane": "plane",
    "line": "line",
    "radius_mm": "radius",
    "between": "between",
    "tool_turn": "tool_turn",
    "lens": "lens",
    "mount": "mount",
    "keep_lens": "keep_lens",
    "board_tolerance": "board_tolerance",
    "images": "lens",
    "board": "lens",
    "lens_images": "lens",
    "lens_board": "lens",
    "lens_model": "lens",
    "drawings": "lens",
    "noise_px": "lens",
    "only": "lens",
}


def register(site: Site) -> None:
    @ui.page("/method/{name}")
    @ui.page("/method/{name}/{tab}")
    def method(name: str, tab: str = "identifiable", robot: str = "") -> None:
        title = MENUS.get(name, name.replace("-", " ").capitalize())
        with framed(site, title):
            if name not in METHODS or tab not in TABS:
                show_message(f"there is no page '{name}/{tab}'")
                return
            ui.label(EXPLAINED[name]).classes("text-body2 max-w-4xl")
            more = page_about(name)
            if more is not None:
                ui.link("More in the documentation", f"/documentation/{more}")
            with ui.row().classes("items-center w-full"):
                chosen = robot_choice(site, f"/method/{name}/{tab}", asked=robot)
                _tabs(name, tab, chosen)
            try:
                site.machine(chosen)
            except TheodoliteError as error:
                show_message(str(error))
                return
            {
                "identifiable": _identifiable,
                "points": _points,
                "identification": _identification,
                "design": _design,
            }[tab](site, name, chosen)

    @ui.page("/sources")
    def sources(robot: str = "") -> None:
        with framed(site, "Several sources"):
            ui.label(
                "Measurements of several kinds in one identification, each weighted by its own "
                "noise: METHOD:FILE; METHOD:FILE, such as position:tracker.csv; plane:touches.csv."
            ).classes("text-body2 max-w-4xl")
            chosen = robot_choice(site, "/sources", asked=robot)
            Panel(
                site,
                page_of("sources", chosen),
                "identify",
                given={"robot": chosen},
                first=("sources", "gains", "terms", "hold_out", "seed"),
                hidden=("method", "data", "out"),
                view=show_identified,
                action="Identify",
            )


def _tabs(name: str, tab: str, robot: str) -> None:
    with ui.tabs().props("dense no-caps") as tabs:
        shown = {key: ui.tab(key, label=words) for key, words in TABS.items()}
    tabs.set_value(shown[tab])
    tabs.on_value_change(
        lambda event: ui.navigate.to(about(f"/method/{name}/{event.value}", robot))
    )


def _hidden(name: str) -> set[str]:
    """Options of other methods."""
    own = options_of(name)
    return {option for option, key in OWN.items() if key not in own} | {"sources", "method"}


def _identifiable(site: Site, name: str, robot: str) -> None:
    panel = Panel(
        site,
        page_of(f"method/{name}/identifiable", robot),
        "identifiable",
        given={"robot": robot, "method": name},
        first=("gains", "data", "priorities", *options_of(name)),
        hidden=_hidden(name),
        view=show_identifiable,
        action="Analyse",
    )
    priority_editor(site, robot, panel)


def _points(site: Site, name: str, robot: str) -> None:
    Panel(
        site,
        page_of(f"method/{name}/points", robot),
        "generate",
        given={"robot": robot, "method": name},
        first=("out", "points", "noise_mm", "error_mm", "error_mrad", "save_true", "seed"),
        hidden=_hidden(name),
        usual={"out": f"{name}.csv"},
        view=show_generated,
        action="Generate",
    )


def _identification(site: Site, name: str, robot: str) -> None:
    panel = Panel(
        site,
        page_of(f"method/{name}/identification", robot),
        "identify",
        given={"robot": robot, "method": name},
        first=("data", "gains", "terms", "loss", "hold_out", "seed"),
        hidden=_hidden(name) | {"out"},
        view=show_identified,
        action="Identify",
    )
    with panel.beside:
        with ui.expansion("Bring data").classes("w-full").props("dense"):
            upload_area(site, lambda files: panel.form.set("data", files))
        data_preview(site, robot, CLASSES[METHODS.index(name)], panel)


def _design(site: Site, name: str, robot: str) -> None:
    Panel(
        site,
        page_of(f"method/{name}/design", robot),
        "design",
        given={"robot": robot, "method": name},
        first=("out", "points", "until_mm", "criterion", "noise_mm", "candidates"),
        hidden=_hidden(name),
        usual={"points": 30, "out": f"{name}-design.csv"},
        view=show_designed,
        action="Design",
    )
