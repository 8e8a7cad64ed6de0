"""Studies on the disk: a folder with what is studied, and rows in parts, each whole or not there.

A part is written when all its runs are done, so that a study that was stopped goes on where it was,
and no run counts twice. Parts are Parquet where pyarrow is installed, otherwise CSV.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from theodolite.errors import InputError
from theodolite.io.reading import is_file, is_folder, read_text
from theodolite.io.writing import make_folder, writing

#: What the folder says it is, and its format.
KIND, FORMAT = "theodolite study", 2
DEFINITION = "study.json"
_PART = re.compile(r"runs-(\d+)-(\d+)\.(parquet|csv)")

Rows = Sequence[Mapping[str, float | int | str]]
Columns = dict[str, list[Any]]


class StudyFolder:
    """The rows of one study."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, definition: Mapping[str, Any], *, force: bool = False) -> None:
        """Begin a study, or go on with the same one; another one is refused."""
        content = {"kind": KIND, "format": FORMAT, **definition}
        path = self.folder / DEFINITION
        if is_file(path):
            if self._definition() == json.loads(json.dumps(content)):
                return
            if not force:
                raise InputError(
                    "holds a different study",
                    where=str(self.folder),
                    remedy="Choose another folder, or ask for the same study to go on with it",
                )
            for _, _, part in self._parts():
                part.unlink()
        make_folder(self.folder, empty=not is_file(path))
        with writing(path, force=True) as part:
            part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    def _definition(self) -> Any:
        path = self.folder / DEFINITION
        try:
            return json.loads(read_text(path))
        except (ValueError, RecursionError) as error:
            raise InputError("is not a study", where=str(path)) from error

    def done(self) -> set[int]:
        """Numbers of the runs whose rows are there."""
        return {run for first, last, _ in self._parts() for run in range(first, last + 1)}

    def missing(self, runs: int, size: int) -> list[range]:
        """Runs that are still to be done, in pieces of at most ``size`` consecutive ones."""
        done = self.done()
        pieces: list[range] = []
        for run in (run for run in range(runs) if run not in done):
            last = pieces[-1] if pieces else range(0)
            if len(last) and run == last.stop and len(last) < size:
                pieces[-1] = range(last.start, run + 1)
            else:
                pieces.append(range(run, run + 1))
        return pieces

    def add(self, rows: Rows) -> None:
        """Keep the rows of consecutive runs."""
        first, last = int(rows[0]["run"]), int(rows[-1]["run"])
        ending = "parquet" if find_spec("pyarrow") else "csv"
        path = self.folder / f"runs-{first:07}-{last:07}.{ending}"
        with writing(path, force=True) as part:
            (_write_parquet if ending == "parquet" else _write_csv)(rows, part)

    def rows(self, runs: int) -> Iterator[Columns]:
        """The rows of the first runs by column, part by part, each run once."""
        seen: set[int] = set()
        for _, _, path in self._parts():
            part = _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
            # Two that worked at once may both have done a run; the same seed gave the same row.
            places = [p for p, run in enumerate(part["run"]) if run < runs and run not in seen]
            seen.update(part["run"])
            if places:
                yield {name: [values[p] for p in places] for name, values in part.items()}

    def _parts(self) -> Iterator[tuple[int, int, Path]]:
        if not is_folder(self.folder):
            return
        for path in sorted(self.folder.iterdir()):
            found = _PART.fullmatch(path.name)
            if found is not None:
                yield int(found[1]), int(found[2]), path


def _write_parquet(rows: Rows, path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({name: [row[name] for row in rows] for name in rows[0]})
    parquet.write_table(table, path)


def _read_parquet(path: Path) -> Columns:
    from theodolite.io.archives import undamaged
    from theodolite.io.optional import needed

    parquet = needed("pyarrow.parquet", "Parquet files", path)
    with undamaged("a part of a study", path):
        content: Columns = parquet.read_table(path).to_pydict()
    return content


def _write_csv(rows: Rows, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        # Numbers are written as Python's repr, which reads back exactly.
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _read_csv(path: Path) -> Columns:
    with path.open(newline="", encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    names = list(table[0]) if table else []
    return {name: [_cell(name, row[name]) for row in table] for name in names}


def _cell(name: str, text: str) -> float | int | str:
    if name in ("status", "why"):
        return text
    return int(text) if name in ("run", "good", "iterations") else float(text)
