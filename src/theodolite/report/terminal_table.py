"""Tables for a terminal, which become lists where it is too narrow for their columns."""

from __future__ import annotations

from textwrap import fill

import rich.table
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

#: Of a column: a line and a blank at either side.
BESIDE = 3


class Table(rich.table.Table):
    """No number is ever cut: a table that does not fit has a line for each of its cells."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._least(console) > options.max_width:
            yield from self._listed(console)
            return
        narrow = self._natural(console) > options.max_width
        for column in self.columns:
            if column.justify == "right" and isinstance(column.header, str):
                # Headings may be broken between words, numbers nowhere.
                column.no_wrap = True
                if narrow:
                    widest = max((len(_text(console, c).plain) for c in column.cells), default=1)
                    longest = max(map(len, column.header.split()), default=1)
                    column.header = fill(column.header, max(widest, longest))
        yield from super().__rich_console__(console, options)

    def _least(self, console: Console) -> int:
        """The width at which every number and every word is whole."""
        width = 1
        for column in self.columns:
            words = _text(console, column.header).plain.split()
            for cell in column.cells:
                text = _text(console, cell).plain
                words += text.split("\n" if column.justify == "right" else None)
            width += BESIDE + max(map(cell_len, words), default=0)
        return width

    def _natural(self, console: Console) -> int:
        """The width at which nothing is broken."""
        width = 1
        for column in self.columns:
            texts = [_text(console, cell) for cell in (column.header, *column.cells)]
            width += BESIDE + max(cell_len(text.plain) for text in texts)
        return width

    def _listed(self, console: Console) -> RenderResult:
        """Title, then each row: its first cell, and below it the others with their headings."""
        if self.title:
            yield Text.from_markup(str(self.title), style="italic")
        heads = [_text(console, column.header) for column in self.columns]
        width = max((len(head) for head in heads[1:]), default=0)
        for first, *others in zip(*(column.cells for column in self.columns), strict=True):
            yield _text(console, first)
            for head, cell in zip(heads[1:], others, strict=True):
                value = _text(console, cell)
                if value.plain.strip():
                    yield Text.assemble("  ", head.plain.ljust(width), "  ", value)


def _text(console: Console, cell: object) -> Text:
    return cell if isinstance(cell, Text) else console.render_str(str(cell))
