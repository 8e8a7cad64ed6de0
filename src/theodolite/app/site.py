"""What all pages share: the folder, the work, and what was chosen last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from theodolite.app.work import Work
from theodolite.app.workspace import Kind, Workspace
from theodolite.io.machines import is_urdf, machine_named
from theodolite.model.machine import Machine

if TYPE_CHECKING:
    from theodolite.app.draft import Draft

#: With which a new workspace begins.
FIRST_ROBOT = "puma560"


@dataclass(frozen=True)
class Site:
    """One running application."""

    workspace: Workspace
    work: Work
    #: Robots being edited, one draft for all tabs.
    drafts: dict[str, Draft] = field(default_factory=dict)

    @property
    def robot(self) -> str:
        """The robot that pages are about: a file of the workspace, or a built-in one."""
        return str(self.workspace.recall("chosen.json").get("robot") or FIRST_ROBOT)

    def choose(self, robot: str) -> None:
        """Make a robot the one that pages are about."""
        self.workspace.keep({"robot": robot}, "chosen.json")

    def look(self, name: str, usual: bool | None = None) -> bool | None:
        """How somebody wants pages to look."""
        found = self.workspace.recall("look.json").get(name, usual)
        return found if isinstance(found, bool) else usual

    def keep_look(self, name: str, wanted: bool) -> None:
        self.workspace.keep({**self.workspace.recall("look.json"), name: wanted}, "look.json")

    def robots(self) -> list[str]:
        """Files of the workspace that hold robots, then the built-in ones."""
        from theodolite import robots

        return [*self.workspace.files(Kind.ROBOT, Kind.RESULT), *robots.NAMES]

    def machine(self, name: str) -> Machine:
        """A robot by what it is called here."""
        from theodolite import robots

        if name in robots.NAMES:
            return robots.load(name)
        return machine_named(str(self.workspace.path(name)), any_tip=is_urdf(name))

    def filled(self, page: str) -> dict[str, Any]:
        """What was filled into the form of a page."""
        return self.workspace.recall("forms", _form(page))

    def keep_filled(self, page: str, values: dict[str, Any]) -> None:
        self.workspace.keep(values, "forms", _form(page))


def _form(page: str) -> str:
    """The file for the form of a page; it is the same for all robots."""
    return f"{page.partition('?')[0].replace('/', '-')}.json"
