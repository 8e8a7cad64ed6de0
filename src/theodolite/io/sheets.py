"""A table as it stands in a file: names, and cells that are numbers or text, before any meaning.

Text tables may have lines for people above the header, units below it, comments and blank cells.
Other formats have their own readers and give the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError, shown
from theodolite.io.cells import COMMENTS, Layout, is_comment, layout_of
from theodolite.io.reading import is_folder, read_text
from theodolite.io.units import LARGEST_NUMBER, spelled

#: What has more is no table.
MOST_COLUMNS = 10_000
LONGEST_LINE = 1 << 20


@dataclass(frozen=True, eq=False)
class Sheet:
    """The columns of one table."""

    path: Path
    #: As the file has them; None where it has no header.
    names: tuple[str, ...] | None
    #: Units from a row below the header; blank where there is none.
    units: tuple[str, ...]
    #: By column: numbers with NaN for blank cells, or the text of the cells.
    columns: tuple[FloatArray | list[str], ...]
    #: Line of the file, or row of the table, for each row.
    lines: IntArray
    layout: Layout
    #: Lines that were left out because they have too few or too many cells; None: there are none,
    #: and a cell that is not a number is an error.
    damaged: IntArray | None = None

    @property
    def skipped(self) -> IntArray:
        return np.empty(0, dtype=np.intp) if self.damaged is None else self.damaged

    def numbers(self, column: int, name: str, *, largest: float = LARGEST_NUMBER) -> FloatArray:
        """A column as numbers, NaN for blank cells; ``name`` is what errors call it."""
        cells = self.columns[column]
        if isinstance(cells, list):
            found: list[float | None] = [*(self.layout.all_numbers(cells) or ())]
            found = found or [*map(self.layout.number, cells)]
            if self.damaged is not None:
                found = [float("nan") if each is None else each for each in found]
            if None in found:
                row = found.index(None)
                wrong = f"{shown(cells[row])} is not a number"
                raise self.error(row, name, wrong, remedy=_plainly(cells[row]))
            values: FloatArray = np.array(found, dtype=np.float64)
        else:
            values = cells
        with np.errstate(invalid="ignore"):
            large = np.flatnonzero(~(np.abs(values) < largest) & ~np.isnan(values))
        if len(large) and self.damaged is None:
            raise self.error(
                int(large[0]), name, f"{values[large[0]]:g}", f"numbers below {LARGEST_NUMBER:g}"
            )
        return values

    def error(
        self,
        row: int,
        name: str,
        what: str,
        allowed: str | None = None,
        remedy: str = "Correct or remove the row",
    ) -> InputError:
        """Something is wrong with one cell."""
        return InputError(
            f"line {self.lines[row]}, column '{name}': {what}",
            where=str(self.path),
            allowed=allowed,
            remedy=remedy,
        )


def _plainly(cell: str) -> str:
    """What to do about a cell that is no number."""
    if re.search(r"\d[., '\u2019\u00a0\u202f]\d{3}[.,]\d", cell):
        return "Export the numbers without thousands separators"
    if re.match(r"\s*[-+]?\d+([.,]\d+)?\s*[^\d\s.,]", cell):
        return "Export plain numbers: units belong into the names of the columns, such as x_mm"
    return "Correct or remove the row"


def read_sheet(
    path: Path, *, named: Sequence[str] | None = None, skip: int = 0, skip_bad: bool = False
) -> Sheet:
    """The table in a file, or in a folder of Parquet files.

    ``named`` gives the columns names, ``skip`` leaves out first lines. With ``skip_bad``, so
    are lines of text with too few or too many cells, and cells that are not numbers are blank.
    """
    reader = _arrays if is_folder(path) else _READERS.get(path.suffix.lower())
    if reader is None:
        return _text(path, named, skip, skip_bad=skip_bad)
    sheet = reader(path, named, skip)
    return replace(sheet, damaged=np.empty(0, dtype=np.intp)) if skip_bad else sheet


def from_rows(
    path: Path,
    rows: Sequence[tuple[int, list[str]]],
    layout: Layout,
    named: Sequence[str] | None,
    comments: Sequence[tuple[int, str]] = (),
    *,
    skip_bad: bool = False,
) -> Sheet:
    """A table from rows of cells, with their line numbers: find the header and the units."""
    rows = [(line, cells) for line, cells in rows if any(cells)]
    start, names, units = _head(path, rows[:_TOP], layout, named, comments)
    if start == _TOP:
        start, names, units = _head(path, rows, layout, named, comments)
    body = rows[start:]
    if not body:
        raise InputError("has no rows of numbers", where=str(path))
    width = len(body[0][1]) if names is None else len(names)
    if width > MOST_COLUMNS:
        raise InputError(f"has {width} columns", where=str(path), allowed=f"up to {MOST_COLUMNS}")
    wrong = [(line, cells) for line, cells in body if len(cells) != width]
    if wrong and not skip_bad:
        line, cells = wrong[0]
        raise InputError(
            f"line {line} has {len(cells)} cells, the header {width}",
            where=str(path),
            remedy="The file may be cut short; complete or remove the line",
        )
    body = [(line, cells) for line, cells in body if len(cells) == width]
    columns = tuple([cells[number] for _, cells in body] for number in range(width))
    lines = np.array([line for line, _ in body], dtype=np.intp)
    damaged = np.array([line for line, _ in wrong], dtype=np.intp) if skip_bad else None
    return Sheet(path, names, units or ("",) * width, columns, lines, layout, damaged)


def _head(
    path: Path,
    rows: Sequence[tuple[int, list[str]]],
    layout: Layout,
    named: Sequence[str] | None,
    comments: Sequence[tuple[int, str]],
) -> tuple[int, tuple[str, ...] | None, tuple[str, ...]]:
    """Where the numbers start, the names above them, and the units between."""
    start = _first_numbers([cells for _, cells in rows], layout)
    width = len(rows[start][1]) if start < len(rows) else 0
    units: tuple[str, ...] = ()
    above = start - 1
    if above >= 1 and _are_units(rows[above][1]) and len(rows[above][1]) == width:
        units = tuple(spelled(cell) or "" for cell in rows[above][1])
        above -= 1
    if named is not None:
        return start, tuple(named), ()
    if above >= 0 and (sum(map(bool, rows[above][1])) > 1 or width <= 1):
        return start, tuple(rows[above][1]), units
    # As NumPy writes it: the header is a comment.
    for line, text in reversed(comments):
        if start < len(rows) and line < rows[start][0]:
            names = layout.split(text.lstrip(' "\t').lstrip("".join(COMMENTS)))
            if len(names) == width and not layout.numbers(names):
                return start, tuple(names), units
            break
    return start, None, units


def _first_numbers(rows: Sequence[list[str]], layout: Layout) -> int:
    """The first row that is no header: half of its usual numbers are there, or none is a word."""
    counts = [layout.numbers(cells) for cells in rows]
    later = range(len(rows) // 2, len(rows))
    if not later:
        return 0
    usual = Counter(counts[row] for row in later).most_common(1)[0][0]
    like = next(rows[row] for row in later if counts[row] == usual)
    numeric = [column for column, cell in enumerate(like) if layout.has_number([cell])]
    for number, (cells, count) in enumerate(zip(rows, counts, strict=True)):
        if not count:
            continue
        if 2 * count >= usual:
            return number
        # Most targets of the first rows may be out of sight.
        if len(cells) == len(like) and all(layout.number(cells[c]) is not None for c in numeric):
            return number
    return len(rows)


def _are_units(cells: Sequence[str]) -> bool:
    """Is this a row of units? Blank and ``-`` stand for numbers without."""
    given = [cell for cell in cells if cell.strip("[]()") not in ("", "-", "1")]
    return bool(given) and all(spelled(cell) for cell in given)


def _text(path: Path, named: Sequence[str] | None, skip: int, *, skip_bad: bool = False) -> Sheet:
    """A table of text, whatever stands between its cells."""
    lines = read_text(path, foreign=True).splitlines()
    numbered = [(n, line) for n, line in enumerate(lines, 1) if n > skip and line.strip()]
    if not numbered:
        raise InputError("is empty", where=str(path))
    for number, line in numbered:
        if len(line) > LONGEST_LINE:
            raise InputError(f"line {number} is too long for a row of a table", where=str(path))
    comments = [(n, line) for n, line in numbered if is_comment(line)]
    content = [(n, line) for n, line in numbered if not is_comment(line)] or numbered
    layout = layout_of([line for _, line in content])
    fast = _all_numbers(path, content, layout, named, comments)
    if fast is not None:
        return replace(fast, damaged=np.empty(0, dtype=np.intp)) if skip_bad else fast
    rows = [(n, layout.split(line)) for n, line in content]
    # The cells of a long file take as much room as all that they were made of.
    del lines, numbered, content
    return from_rows(path, _without_tail(rows), layout, named, comments, skip_bad=skip_bad)


def _all_numbers(
    path: Path,
    content: list[tuple[int, str]],
    layout: Layout,
    named: Sequence[str] | None,
    comments: Sequence[tuple[int, str]],
) -> Sheet | None:
    """The same where every cell below the header is a number: much faster for long recordings."""
    top = [(n, layout.split(line)) for n, line in content[:_TOP]]
    start, names, units = _head(path, top, layout, named, comments)
    if start == len(top):
        return None
    body = [line for _, line in content[start:]]
    if layout.decimal_comma:
        body = [line.replace(",", ".") for line in body]
    try:
        values: FloatArray = np.loadtxt(
            body,
            delimiter=None if layout.separator == " " else layout.separator,
            ndmin=2,
            comments=None,
        )
    except ValueError:
        return None
    width = values.shape[1]
    if width > MOST_COLUMNS or (names is not None and len(names) != width):
        return None
    lines = np.array([n for n, _ in content[start:]], dtype=np.intp)
    return Sheet(path, names, units or ("",) * width, tuple(values.T), lines, layout)


#: So many lines show where the numbers start; files with more above them are read slowly.
_TOP = 200


def _without_tail(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The rows without a last cell that is blank in all of them: separators at the end of lines."""
    if all(len(cells) > 1 and not cells[-1] for _, cells in rows):
        return [(line, cells[:-1]) for line, cells in rows]
    return rows


def _workbook(path: Path, named: Sequence[str] | None, skip: int) -> Sheet:
    from theodolite.io.workbook import workbook_rows

    return from_rows(path, workbook_rows(path, skip), Layout(","), named)


def _arrays(path: Path, named: Sequence[str] | None, skip: int) -> Sheet:
    """A table from a file of named columns."""
    from theodolite.io.archives import read_mat, read_npz
    from theodolite.io.parquet import read_parquet, read_parquet_folder

    readers: dict[str, Callable[[Path], Mapping[str, FloatArray | list[str]]]] = {
        ".npz": read_npz,
        ".mat": read_mat,
        ".parquet": read_parquet,
    }
    reader = read_parquet_folder if is_folder(path) else readers[path.suffix.lower()]
    found = reader(path)
    columns = {name: cells[skip:] for name, cells in found.items()}
    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) > 1:
        raise InputError(
            f"its columns have {', '.join(map(str, sorted(lengths)[:5]))} rows",
            where=str(path),
            allowed="columns of equal length",
        )
    if not lengths or not max(lengths):
        raise InputError("has no rows of numbers", where=str(path))
    names = tuple(columns) if named is None else tuple(named)
    if len(names) != len(columns):
        raise InputError(
            f"has {len(columns)} columns, {len(names)} names are given", where=str(path)
        )
    lines = np.arange(1 + skip, 1 + skip + max(lengths), dtype=np.intp)
    return Sheet(path, names, ("",) * len(names), tuple(columns.values()), lines, Layout(","))


#: What tables of measurements are called.
TABLES = (".csv", ".tsv", ".txt", ".dat", ".asc", ".xlsx", ".xlsm", ".parquet", ".mat", ".npz")
_Reader = Callable[[Path, Sequence[str] | None, int], Sheet]
_READERS: dict[str, _Reader] = {
    **dict.fromkeys((".xlsx", ".xlsm"), _workbook),
    **dict.fromkeys((".npz", ".mat", ".parquet"), _arrays),
}
