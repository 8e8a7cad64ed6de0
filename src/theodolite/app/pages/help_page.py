"""Help: what each page is for, and the words of each verb."""

from __future__ import annotations

from nicegui import ui

from theodolite.app.documentation import page_about
from theodolite.app.explanations import ABOUT, DYNAMICS, METHODS
from theodolite.app.forms import fields, summary
from theodolite.app.frame import USES, address, framed
from theodolite.app.site import Site

_VERBS = ("identifiable", "generate", "identify", "design", *USES)


def register(site: Site) -> None:
    @ui.page("/help")
    def help_() -> None:
        with framed(site, "Help"):
            ui.label(ABOUT).classes("max-w-4xl")
            ui.label(
                "Everything is a file of the folder; what is done here can be done at the command "
                "line, which each page shows. Drafts and results are kept until you close them."
            ).classes("max-w-4xl")
            ui.link("The documentation", "/documentation")
            ui.label("Methods").classes("text-h6")
            for name, words in METHODS.items():
                with ui.row().classes("no-wrap items-baseline max-w-4xl"):
                    ui.link(name, f"/method/{name}").classes("w-32")
                    ui.label(words)
                    more = page_about(name)
                    if more is not None:
                        ui.link("more", f"/documentation/{more}")
            ui.label("Dynamics").classes("text-h6")
            ui.label(DYNAMICS).classes("max-w-4xl")
            ui.label("Every option").classes("text-h6")
            for verb in _VERBS:
                with ui.expansion(f"{verb}: {summary(verb)}").classes("w-full").props("dense"):
                    if verb in USES:
                        ui.link("open", address(verb))
                    for field in fields(verb):
                        with ui.row().classes("no-wrap items-baseline"):
                            ui.label(field.option or field.name.upper()).classes(
                                "font-mono text-caption w-48"
                            )
                            ui.label(field.help)
