"""A robot file being edited: its text, what was undone, and the file it came from."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from theodolite import robots
from theodolite.app.site import Site
from theodolite.errors import InputError
from theodolite.io.reading import WRITTEN_BY_HAND, read_text
from theodolite.io.robot_file import parse_robot
from theodolite.io.writing import write_text
from theodolite.model.machine import Machine

FOLDER = "drafts"
#: Steps that can be undone.
MOST_UNDO = 200
#: Seconds between two letters that are undone together.
PAUSE = 2.0

EMPTY = """\
format = "theodolite robot 1"
name = "my robot"
units = { length = "mm", angle = "deg" }

# sigma: 0 revolute, 1 prismatic, 2 fixed. T = Ry(beta) Rx(alpha) Tx(d) Rz(theta) Tz(r).
frames = [
  { sigma = 2, theta = 0, r = 0 },                        # world to base
  { sigma = 0, alpha = 0, d = 0, theta = 0, r = 300 },    # joint 1
  { sigma = 0, alpha = -90, d = 0, theta = 0, r = 0 },    # joint 2
  { sigma = 2, alpha = 0, d = 400, theta = 0, r = 0 },    # tool
]

Qmin = [-170, -100]
Qmax = [170, 100]
"""


@dataclass
class Draft:
    """What a page edits; kept in the workspace after every change."""

    site: Site
    #: The file, or the name of a built-in robot.
    name: str
    text: str
    undone: list[str]
    redone: list[str]
    #: The text of the file when it was opened, and its stamp.
    saved: str
    stamp: tuple[int, int] | None
    #: Counts changes, for tabs that watch.
    version: int = 0
    #: When the last letter was typed.
    typed: float = 0.0

    @classmethod
    def open(cls, site: Site, name: str) -> Draft:
        """The draft of a file, as it was left; a new one from the file."""
        if name not in site.drafts:
            site.drafts[name] = cls._open(site, name)
        return site.drafts[name]

    @classmethod
    def _open(cls, site: Site, name: str) -> Draft:
        kept = site.workspace.recall(FOLDER, _file(name))
        if kept.get("text") is not None and kept.get("name") == name:
            stamp = kept.get("stamp")
            return cls(
                site,
                name,
                str(kept["text"]),
                [str(one) for one in kept.get("undone", [])],
                [str(one) for one in kept.get("redone", [])],
                str(kept.get("saved", "")),
                None if stamp is None else (int(stamp[0]), int(stamp[1])),
            )
        return cls(site, name, *_fresh(site, name))

    @property
    def built_in(self) -> bool:
        return self.name in robots.NAMES

    @property
    def unsaved(self) -> bool:
        """Does the text differ from the file?"""
        return self.text != self.saved

    @property
    def changed_outside(self) -> bool:
        """Has the file changed since it was opened?"""
        return not self.built_in and self.site.workspace.stamp(self.name) != self.stamp

    def machine(self) -> Machine:
        """The robot that the text describes; refused in the words of ``check``."""
        return parse_robot(self.text, self.name)

    def change(self, text: str) -> None:
        """Another text; the one before can be had back."""
        if text == self.text:
            return
        self.undone = [*self.undone, self.text][-MOST_UNDO:]
        self.redone = []
        self.text = text
        self._keep()

    def type(self, text: str) -> None:
        """Another letter: what is typed without a pause is undone as one."""
        now = monotonic()
        if now - self.typed < PAUSE and self.undone and text != self.text:
            self.redone = []
            self.text = text
            self._keep()
        else:
            self.change(text)
        self.typed = now

    def undo(self) -> None:
        self.typed = 0.0
        if self.undone:
            self.redone.append(self.text)
            self.text = self.undone.pop()
            self._keep()

    def redo(self) -> None:
        if self.redone:
            self.undone.append(self.text)
            self.text = self.redone.pop()
            self._keep()

    def save(self) -> None:
        """Write the text to its file."""
        if self.built_in:
            raise InputError(f"'{self.name}' is built in", remedy="Save it under another name")
        path = self.site.workspace.new(self.name)
        write_text(path, self.text, force=True)
        self.saved, self.stamp = self.text, self.site.workspace.stamp(self.name)
        self._keep()

    def save_as(self, name: str, *, force: bool) -> Draft:
        """Write the text to another file, and go on with that."""
        path = self.site.workspace.new(name)
        if path.suffix != ".toml":
            raise InputError(f"'{name}'", allowed="names that end in .toml")
        write_text(path, self.text, force=force)
        self.site.workspace.own(FOLDER, _file(self.name)).unlink(missing_ok=True)
        other = Draft(
            self.site, name, self.text, [], [], self.text, self.site.workspace.stamp(name)
        )
        other._keep()
        self.site.drafts.pop(self.name, None)
        self.site.drafts[name] = other
        return other

    def reload(self) -> None:
        """Take the file as it is now; the text before can be had back."""
        text, _, _, saved, stamp = _fresh(self.site, self.name)
        self.change(text)
        self.saved, self.stamp = saved, stamp
        self._keep()

    def _keep(self) -> None:
        self.version += 1
        content = {
            "name": self.name,
            "text": self.text,
            "undone": self.undone,
            "redone": self.redone,
            "saved": self.saved,
            "stamp": self.stamp,
        }
        self.site.workspace.keep(content, FOLDER, _file(self.name))


def _fresh(site: Site, name: str) -> tuple[str, list[str], list[str], str, tuple[int, int] | None]:
    if name in robots.NAMES:
        text, stamp = robots.text(name), None
    else:
        path = site.workspace.path(name)
        if path.suffix.lower() != ".toml":
            raise InputError(
                "only robot files are edited here", where=name, remedy="Make one of it with New"
            )
        text, stamp = read_text(path, limit=WRITTEN_BY_HAND), site.workspace.stamp(name)
    return text, [], [], text, stamp


def _file(name: str) -> str:
    """A name for the draft of a file: one file for each, whatever folder it is in."""
    from hashlib import sha256

    return f"{sha256(name.encode()).hexdigest()[:16]}.json"
