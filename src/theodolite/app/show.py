"""Reports in a browser: the same pages that HTML files hold, with charts that can be zoomed."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from theodolite.app import charts
from theodolite.report.page import Block, Page, Table, Text

#: Sections with charts only are folded at first where a page is long.
OPEN = 4


def show_page(page: Page) -> None:
    """A report: its verdict, then its sections."""
    with ui.column().classes("w-full gap-2").mark("report"):
        ui.label(page.title).classes("text-h6")
        show_verdict(page.verdict, good=page.good)
        shown = [section for section in page.sections if section.blocks]
        for number, section in enumerate(shown):
            with (
                ui.expansion(section.title, value=number < OPEN)
                .classes("w-full")
                .props("dense header-class=text-subtitle1")
            ):
                for block in section.blocks:
                    show_block(block)


def show_verdict(sentences: tuple[str, ...], *, good: bool) -> None:
    """What a result is worth, in words."""
    colour = "positive" if good else "warning"
    card = ui.card().classes("w-full q-pa-sm").props("flat bordered")
    with card, ui.row().classes("items-start no-wrap"):
        ui.icon("check_circle" if good else "warning", color=colour, size="sm")
        with ui.column().classes("gap-1"):
            for sentence in sentences:
                ui.label(sentence)


def show_block(block: Block) -> None:
    """One paragraph, table or chart."""
    match block:
        case Text():
            for line in block.lines:
                ui.label(f"• {line}" if block.listed else line)
        case Table():
            show_table(block)
        case _:
            charts.show_chart(block)


def show_table(table: Table) -> None:
    """A table that scrolls, with rows to look at in bold."""
    columns: list[dict[str, Any]] = [
        {
            "name": f"c{place}",
            "label": heading,
            "field": f"c{place}",
            "align": "left" if place in table.words else "right",
            "sortable": False,
        }
        for place, heading in enumerate(table.headings)
    ]
    rows = [
        {
            "id": number,
            "marked": number in table.marked,
            **{f"c{place}": cell for place, cell in enumerate(row)},
        }
        for number, row in enumerate(table.rows)
    ]
    shown = ui.table(columns=columns, rows=rows, row_key="id").props("dense flat wrap-cells")
    shown.props(f"hide-header={'true' if not any(table.headings) else 'false'}")
    if len(rows) > 100:
        shown.props("virtual-scroll").classes("max-h-96")
    shown.classes("max-w-full")
    if table.marked:
        shown.props(""":table-row-class-fn="row => row.marked ? 'text-bold' : ''\"""")
