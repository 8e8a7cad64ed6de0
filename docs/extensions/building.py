"""Build the site: ``python docs/extensions/building.py FOLDER``.

Warnings are errors, so every link, anchor and name leads somewhere and every tutorial prints what
it shows. Then every page is read again: nothing in it may be loaded from outside.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

DOCS = Path(__file__).resolve().parents[1]
#: Attributes that make a browser load something. Links that a reader may follow are not among them.
_LOADS = {
    "img": ("src", "srcset"),
    "script": ("src",),
    "source": ("src", "srcset"),
    "link": ("href",),
    "iframe": ("src",),
    "object": ("data",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
}
#: Links of the head that name a page and load nothing.
_NAMES_ONLY = {"canonical", "author", "license", "prev", "next", "index", "search", "help"}


class _Assets(HTMLParser):
    """What a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "link" and set((given.get("rel") or "").split()) <= _NAMES_ONLY:
            return
        self.found += [value for name in _LOADS.get(tag, ()) if (value := given.get(name))]


def outside_assets(folder: Path) -> Iterator[str]:
    """What pages and styles load from elsewhere than the site, and assets that are not there."""
    for page in sorted(folder.rglob("*.html")):
        assets = _Assets()
        assets.feed(page.read_text(encoding="utf-8"))
        for asset in assets.found:
            parts = urlsplit(asset)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                yield f"{page.relative_to(folder)} loads {asset}"
            elif not (page.parent / parts.path).is_file():
                yield f"{page.relative_to(folder)} loads {asset}, which does not exist"
    for style in sorted(folder.rglob("*.css")):
        text = style.read_text(encoding="utf-8")
        for mark in ("url(http", 'url("http', "url('http", "url(//", "@import"):
            if mark in text:
                yield f"{style.relative_to(folder)} has {mark}"


def build(folder: Path) -> int:
    """Build the site into a folder; 0 if nothing is wrong."""
    from sphinx.cmd.build import build_main

    doctrees = folder.parent / "doctrees"
    # Everything is read anew: tutorials depend on the program, not on their text alone.
    options = ["-E", "-W", "--keep-going", "-n", "-q", "-d", str(doctrees), "-b", "html"]
    code = build_main([*options, str(DOCS), str(folder)])
    if code:
        return code
    wrong = list(outside_assets(folder))
    for sentence in wrong:
        sys.stderr.write(f"{sentence}\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
