"""The documentation as it is shipped: pages of text, found beside the package or in its source."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: Where each part is, in the order of the contents.
PARTS = {
    "": "Start",
    "how-to": "How to",
    "reference/methods": "Methods",
    "reference": "Reference",
    "explanation": "Explanation",
}
#: Pages that only a built site can show.
_BUILT = ("index.md", "python-api.md", "verbs.md", "json.md", "architecture.md")
#: The page of each method that has none under its own name.
_OTHERS = {
    "camera": "how-to/pictures.md",
    "implicit": "explanation/parallel-robots.md",
    "inverse": "explanation/parallel-robots.md",
}
_LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
#: Marks for the site's builder: labels, and directives around plain text.
_MARKS = re.compile(r"^\([\w-]+\)=\n|^:::.*\n|^<!--.*-->\n", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """One page: its address below the documentation, its title, and the part that it is in."""

    name: str
    title: str
    part: str


@cache
def folder() -> Path | None:
    """Where the pages are; None where they were not installed."""
    inside = Path(__file__).parents[1] / "documentation"
    source = Path(__file__).parents[3] / "docs"
    for place in (inside, source):
        if (place / "getting-started.md").is_file():
            return place
    return None


@cache
def pages() -> tuple[Page, ...]:
    """All pages, part by part."""
    place = folder()
    if place is None:
        return ()
    return tuple(
        Page(path.relative_to(place).as_posix(), _title(path), words)
        for part, words in PARTS.items()
        for path in sorted((place / part).glob("*.md"))
        if path.name not in _BUILT
    )


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next((line.strip("# \n") for line in lines if line.startswith("# ")), path.stem)


def text_of(name: str) -> str | None:
    """A page as Markdown whose links lead to pages here; None where there is no such page."""
    place = folder()
    if place is None or name not in {page.name for page in pages()}:
        return None
    text = _MARKS.sub("", (place / name).read_text(encoding="utf-8"))
    return _LINK.sub(lambda found: _linked(found, posixpath.dirname(name)), text)


def _linked(found: re.Match[str], beside: str) -> str:
    words, target = found.groups()
    if "://" in target or target.startswith(("#", "/")):
        return found[0]
    path, hash_, place = target.partition("#")
    name = posixpath.normpath(posixpath.join(beside, path))
    if words.startswith("!") or name in {page.name for page in pages()}:
        return f"{words}(/documentation/{name}{hash_}{place})"
    # Elsewhere in the site: the words without the link.
    return words.strip("[]")


def picture(name: str) -> Path | None:
    """A picture of the pages; None where there is none of that name."""
    place = folder()
    known = () if place is None else sorted((place / "pictures").glob("*.[ps][nv]g"))
    return next((path for path in known if path.name == name), None)


def page_about(method: str) -> str | None:
    """The page about a method."""
    name = _OTHERS.get(method, f"reference/methods/{method}.md")
    return name if name in {page.name for page in pages()} else None
