"""All pages; one file for each menu."""

from __future__ import annotations

from theodolite.app.pages import (
    camera,
    documentation,
    dynamics,
    files,
    help_page,
    home,
    method,
    robot,
    use,
    work,
)
from theodolite.app.site import Site


def register(site: Site) -> None:
    """Give every page its address."""
    everything = (home, robot, method, dynamics, camera, use, work, help_page, documentation, files)
    for page in everything:
        page.register(site)
