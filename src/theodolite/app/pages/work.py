"""What runs, what waits, and what was done."""

from __future__ import annotations

from nicegui import ui

from theodolite.app.forms import as_typed
from theodolite.app.frame import framed
from theodolite.app.site import Site
from theodolite.app.work import Job


def register(site: Site) -> None:
    @ui.page("/work")
    def work() -> None:
        with framed(site, "Work"):
            ui.label("One job runs at a time; the others wait.")

            @ui.refreshable
            def listed() -> None:
                if not site.work.jobs:
                    ui.label("There is nothing yet.")
                for job in reversed(site.work.jobs):
                    _row(site, job, listed.refresh)

            listed()
            seen = [_stamp(site)]

            def look() -> None:
                if seen[0] != _stamp(site):
                    seen[0] = _stamp(site)
                    listed.refresh()

            ui.timer(0.5, look)


def _stamp(site: Site) -> list[tuple[int, int]]:
    return [(job.number, job.version) for job in site.work.jobs]


def _row(site: Site, job: Job, refresh: object) -> None:
    with ui.row().classes("items-center w-full"):
        ui.label(f"{job.number}")
        ui.badge(job.state.value).props(f"color={'primary' if not job.state.ended else 'grey'}")
        ui.label(f"{job.seconds:.1f} s")
        ui.link(as_typed(job.command), _address(job)).classes("font-mono text-caption")
        ui.label(job.progress if not job.state.ended else "").classes("text-caption")
        if not job.state.ended:
            ui.button("Cancel", on_click=lambda: site.work.cancel(job)).props("dense outline")


def _address(job: Job) -> str:
    """The page that asked; the camera's holds two verbs."""
    return "/camera" if job.page.startswith("camera/") else f"/{job.page}"
