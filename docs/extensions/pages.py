"""What a page holds that can be run: commands with their output, Python, and files.

Fenced blocks, by the first word after the fence:

- ``console``: lines ``$ command`` (a trailing backslash continues), each followed by its output.
  A last line ``[exit 1]`` says that the command ends with another code than 0.
- ``python``: run as one script per page. ``python NAME.py`` is a file instead.
- ``text output``: what the Python block above it prints.
- ``toml NAME.toml``, ``text NAME.csv``, ``xml NAME.urdf``: a file that later commands read.
- ``{literalinclude} PATH``: the same with a file of the project, under its own name.

``skip: reason`` after the first word shows a block without running it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(`{3,})(.*)$")
_EXIT = re.compile(r"^\[exit (\d+)\]$")
_FILE = re.compile(r"^[\w-]+\.\w+$")


@dataclass(frozen=True)
class Command:
    """One command and what the page shows below it."""

    text: str
    shown: tuple[str, ...]
    exit_code: int
    #: Lines of the page, from 0: of the command, and where its output starts and ends.
    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    #: What follows the language after the fence.
    words: str
    lines: tuple[str, ...]
    #: The line of the page, from 0, on which its content starts.
    line: int

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def skipped(self) -> str | None:
        """Why the block is shown but not run."""
        return self.words.removeprefix("skip:").strip() if self.words.startswith("skip:") else None

    @property
    def file(self) -> str | None:
        """The name of the file that the block is."""
        return self.words if _FILE.match(self.words) else None

    @property
    def included(self) -> str | None:
        """The path of the file that the block shows, from its page."""
        return self.words if self.language == "{literalinclude}" else None

    @property
    def printed(self) -> bool:
        """Is this what a Python block prints?"""
        return self.language == "text" and self.words == "output"

    @property
    def runs(self) -> bool:
        known = self.language in ("console", "python", "{literalinclude}")
        return self.skipped is None and (known or self.file is not None or self.printed)

    def commands(self) -> Iterator[Command]:
        """The commands of a console block in their order."""
        lines, place = list(self.lines), 0
        while place < len(lines):
            if not lines[place].startswith("$ "):
                raise ValueError(f"line {self.line + place + 1}: output without a command")
            first, words = place, [lines[place][2:]]
            while words[-1].endswith("\\"):
                place += 1
                words[-1] = words[-1][:-1]
                words.append(lines[place].strip())
            place += 1
            start = place
            while place < len(lines) and not lines[place].startswith("$ "):
                place += 1
            end = place
            while end > start and not lines[end - 1]:
                end -= 1
            code, stop = 0, end
            if end > start and (found := _EXIT.match(lines[end - 1])):
                code, stop = int(found[1]), end - 1
            yield Command(
                " ".join(" ".join(words).split()),
                tuple(lines[start:stop]),
                code,
                self.line + first,
                self.line + start,
                self.line + stop,
            )


def blocks(text: str) -> list[Block]:
    """All fenced blocks of a page."""
    found: list[Block] = []
    fence, info, start = "", "", 0
    lines = text.splitlines()
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if not fence and mark:
            fence, info, start = mark[1], mark[2].strip(), number + 1
        elif fence and mark and mark[1] == fence and not mark[2]:
            language, _, words = info.partition(" ")
            found.append(Block(language, words.strip(), tuple(lines[start:number]), start))
            fence = ""
    return found


def outside_blocks(text: str) -> list[str]:
    """The lines of a page that stand in no fenced block."""
    inside: set[int] = set()
    for block in blocks(text):
        inside |= set(range(block.line - 1, block.line + len(block.lines) + 1))
    return [line for number, line in enumerate(text.splitlines()) if number not in inside]


def all_pages(project: Path) -> list[Path]:
    """README and every page of the documentation."""
    docs = project / "docs"
    pages = (path for path in docs.rglob("*.md") if "_run" not in path.parts)
    return [project / "README.md", *sorted(pages)]
