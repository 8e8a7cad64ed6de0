"""The folder that the application works in. Files are the only truth; nothing outside is touched.

What the application keeps for itself is in a folder ``.theodolite`` inside it: drafts, what was
filled into forms, and the work that was done. It may be deleted at any time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from theodolite.errors import InputError, printable, shown
from theodolite.io.result_file import KIND as RESULT
from theodolite.io.sheets import TABLES
from theodolite.io.toml import FORMAT
from theodolite.io.writing import write_bytes, write_text

#: What the application keeps for itself.
OWN = ".theodolite"
#: The largest file that may be dropped onto a page, bytes.
LARGEST_UPLOAD = 200 * 1024 * 1024
#: Folders are looked into as deep as this, and so many files are listed at most.
DEPTH = 3
MOST_FILES = 5000
#: Longer names fit no file system.
LONGEST_NAME = 200
#: So much of a file tells what it is.
HEAD = 4096
_UNFIT = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')


class Kind(Enum):
    """What a file holds."""

    ROBOT = "robots"
    DATA = "measurements"
    RESULT = "results"
    REPORT = "reports"
    PICTURE = "pictures"
    OTHER = "other files"


_SUFFIXES = {
    Kind.DATA: TABLES,
    Kind.REPORT: (".html", ".htm", ".pdf"),
    Kind.PICTURE: (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".svg"),
}


class Workspace:
    """A folder, and the only way to the files in it."""

    def __init__(self, folder: Path) -> None:
        try:
            self.root = folder.resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError("there is no such folder", where=str(folder)) from error
        if not self.root.is_dir():
            raise InputError("is a file", where=str(folder), allowed="a folder to work in")

    def path(self, name: str) -> Path:
        """A file inside the folder, by its name relative to it; links must not lead outside."""
        if not isinstance(name, str) or not name or _UNFIT.search(name):
            raise InputError(f"{shown(name)} is not a file name")
        given = Path(name)
        if given.is_absolute() or ".." in given.parts or len(name) > 2000:
            raise InputError(
                f"{shown(name)} is outside the folder of this application",
                allowed="names relative to the folder",
            )
        try:
            path = (self.root / given).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError(f"{shown(name)} is not a file name") from error
        if not path.is_relative_to(self.root):
            raise InputError(f"{shown(name)} leads outside the folder of this application")
        return self.root / given

    def new(self, name: str) -> Path:
        """A name for a file that a user wants to be written."""
        path = self.path(name)
        for part in Path(name).parts:
            if part.startswith((".", "-")) or len(part) > LONGEST_NAME or part != part.strip():
                raise InputError(f"{shown(name)} is not a name for a file")
        return path

    def check_parts(self, parts: Iterable[str]) -> None:
        """Refuse texts that lead to files elsewhere, by their spelling or by a link."""
        for part in parts:
            spelled = Path(part).is_absolute() or ".." in Path(part.replace("\\", "/")).parts
            if spelled or self._is_link(part):
                self.path(part)

    def _is_link(self, part: str) -> bool:
        try:
            return bool(part) and not (self.root / part).resolve().is_relative_to(self.root)
        except (OSError, RuntimeError, ValueError):
            return False

    def name(self, path: Path) -> str:
        """What a file is called here."""
        return path.relative_to(self.root).as_posix()

    def files(self, *kinds: Kind) -> list[str]:
        """The files there are, of these kinds or of any."""
        found = [
            self.name(path)
            for path in self._walk(self.root, 1)
            if not kinds or kind_of(path) in kinds
        ]
        return sorted(found, key=str.casefold)[:MOST_FILES]

    def _walk(self, folder: Path, depth: int) -> Iterator[Path]:
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            return
        for entry in entries:
            # Names that cannot be shown, and links to elsewhere, are left alone.
            if entry.name.startswith(".") or printable(entry.name) != entry.name:
                continue
            if _UNFIT.search(entry.name) or len(entry.name) > LONGEST_NAME:
                continue
            if entry.is_dir() and not entry.is_symlink():
                if depth < DEPTH:
                    yield from self._walk(entry, depth + 1)
            elif entry.is_file() and entry.resolve().is_relative_to(self.root):
                yield entry

    def folders(self) -> list[str]:
        """The folders there are."""
        return sorted({parent for name in self.files() for parent in _parents(name)})

    def folders_with_pictures(self) -> list[str]:
        """The folders there are; "." where pictures lie in the workspace itself."""
        own = any("/" not in name for name in self.files(Kind.PICTURE))
        return [*(["."] if own else []), *self.folders()]

    def stamp(self, name: str) -> tuple[int, int] | None:
        """Changes when a file does; None: there is none."""
        try:
            found = self.path(name).stat()
        except (OSError, InputError):
            return None
        return found.st_mtime_ns, found.st_size

    def upload(self, name: str, content: bytes) -> Path:
        """Keep a file that was dropped onto a page, under a name that is free."""
        if "/" in name:
            raise InputError(f"{shown(name)} is not a file name")
        path = self.new(name)
        if len(content) > LARGEST_UPLOAD:
            raise InputError(
                f"'{name}' is larger than {LARGEST_UPLOAD >> 20} MB",
                remedy="Copy it into the folder by hand",
            )
        number = 1
        while path.exists():
            number += 1
            path = path.with_name(f"{Path(name).stem}-{number}{Path(name).suffix}")
        write_bytes(path, content)
        return path

    def own(self, *parts: str) -> Path:
        """A file of the application itself; the folders on the way are made."""
        path = self.root.joinpath(OWN, *parts)
        if not path.parent.resolve().is_relative_to(self.root):
            raise InputError(
                f"'{OWN}' leads outside the folder of this application", remedy="Remove that link"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def recall(self, *parts: str) -> dict[str, Any]:
        """What was kept under a name; nothing where there is nothing, or it is damaged."""
        try:
            content = json.loads(self.own(*parts).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}

    def keep(self, content: dict[str, Any], *parts: str) -> None:
        """Keep something for the next visit."""
        write_text(self.own(*parts), json.dumps(content, indent=1, default=str), force=True)


def _parents(name: str) -> list[str]:
    return [parent.as_posix() for parent in Path(name).parents if parent != Path()]


def kind_of(path: Path) -> Kind:
    """What a file seems to hold, by its name and its first lines."""
    suffix = path.suffix.lower()
    for kind, suffixes in _SUFFIXES.items():
        if suffix in suffixes:
            return kind
    head = _head(path)
    if (suffix == ".toml" and FORMAT in head) or (suffix in (".urdf", ".xml") and "<robot" in head):
        return Kind.ROBOT
    return Kind.RESULT if suffix == ".json" and RESULT in head else Kind.OTHER


def _head(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(HEAD).decode("utf-8", errors="replace")
    except OSError:
        return ""
