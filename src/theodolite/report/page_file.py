"""Reports as JSON, for programs that show them in their own way."""

from __future__ import annotations

import json
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from theodolite.errors import InputError
from theodolite.io.plain import from_plain, to_plain
from theodolite.io.result_file import json_object
from theodolite.report.page import Block, Page, Section

FORMAT = "theodolite report 1"
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in typing.get_args(Block)}


def page_text(pages: Sequence[Page]) -> str:
    """The text of a file that holds pages."""
    content = {"format": FORMAT, "pages": [_plain(page) for page in pages]}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(page: Page) -> dict[str, Any]:
    return {
        "title": page.title,
        "good": page.good,
        "verdict": list(page.verdict),
        "sections": [
            {
                "title": section.title,
                "blocks": [
                    {"kind": type(block).__name__, **to_plain(block, {})}
                    for block in section.blocks
                ],
            }
            for section in page.sections
        ],
    }


def read_pages(path: Path) -> list[Page]:
    """Pages from their file."""
    content = json_object(path)
    pages = content.get("pages")
    if content.get("format") != FORMAT or not isinstance(pages, list):
        raise InputError("this is not a report as JSON", where=str(path), allowed=repr(FORMAT))
    try:
        return [_page(page, f"pages[{place}]") for place, page in enumerate(pages)]
    except InputError as error:
        raise error.at(str(path)) from error
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError("this report is damaged", where=str(path)) from error


def _page(plain: dict[str, Any], where: str) -> Page:
    sections = tuple(
        Section(
            from_plain(str, part["title"], {}, where),
            tuple(
                from_plain(_KINDS[block["kind"]], block, {}, f"{where}.{block['kind']}")
                for block in part["blocks"]
            ),
        )
        for part in plain["sections"]
    )
    return Page(
        from_plain(str, plain["title"], {}, where),
        from_plain(bool, plain["good"], {}, where),
        from_plain(tuple[str, ...], plain["verdict"], {}, where),
        sections,
    )
