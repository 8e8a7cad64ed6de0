"""Robots from a table of DH or KK parameters in CSV, one row per joint.

Columns: ``sigma`` (0, 1 or 2; 0 if absent) and, with a unit behind each name,
theta, d, a, alpha for classical DH, or alpha, d, theta, r (and beta) for KK. A column ``r``
tells the two apart. ``qmin`` and ``qmax`` are optional; a table with hinges and slides has each
in both kinds of unit. The robot gets a six-parameter base
and tool.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from theodolite.errors import InputError
from theodolite.io.cells import header, row
from theodolite.io.units import ANGLES, LENGTHS, joint_units
from theodolite.io.writing import read_text
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.robot import Robot


def read_dh_table(path: Path | str) -> Robot:
    """A robot from a CSV table."""
    path = Path(path)
    text = [(n, line) for n, line in enumerate(read_text(path).splitlines(), 1) if line.strip()]
    if not text:
        raise InputError("is empty", where=str(path))
    fields = header(text[0][1], path, text[0][0])
    symbols = {name.partition("_")[0] for name in fields}
    convention = Convention.KK if "r" in symbols else Convention.DH
    _check_columns(fields, convention, path)
    table = _Table(path, fields, convention)
    rows = [
        table.row(dict(zip(fields, row(line, path, number, fields), strict=True)), number)
        for number, line in text[1:]
    ]
    moving = [entry for entry in rows if entry[0].joint is not Joint.FIXED]
    if not moving:
        raise InputError(
            "the table has no joints", where=str(path), remedy="Give some row sigma 0 or 1"
        )
    limits = np.array([limit for _, limit in moving])
    base, tool = (Row(Convention.POSE, Joint.FIXED) for _ in range(2))
    return Robot.of(
        path.stem,
        [base, *(entry for entry, _ in rows), tool],
        lower=limits[:, 0],
        upper=limits[:, 1],
        source=f"{convention.value} table {path.name}",
    )


def _check_columns(fields: list[str], convention: Convention, path: Path) -> None:
    allowed = [*Row(convention, Joint.FIXED).symbols, "qmin", "qmax"]
    for name in fields:
        symbol, _, unit = name.partition("_")
        if name == "sigma":
            continue
        if symbol not in allowed:
            raise InputError(
                f"unknown column '{name}'",
                where=str(path),
                allowed=["sigma", *(f"{symbol}_unit" for symbol in allowed)],
            )
        if unit not in {**ANGLES, **LENGTHS}:
            raise InputError(
                f"column '{name}' does not say its unit",
                where=str(path),
                allowed=[f"{symbol}_{unit}" for unit in (*ANGLES, *LENGTHS)],
            )
    present = {name.partition("_")[0] for name in fields}
    symbols = Row(convention, Joint.FIXED).symbols
    missing = [s for s in symbols if s not in present and s != "beta"]
    if missing:
        raise InputError(
            f"column{'s' if len(missing) > 1 else ''} {', '.join(missing)} missing",
            where=str(path),
            remedy="DH tables have theta, d, a, alpha; KK tables alpha, d, theta, r",
        )


class _Table:
    """The reader of one table's rows."""

    def __init__(self, path: Path, fields: list[str], convention: Convention) -> None:
        self.path, self.convention = path, convention
        self.columns: dict[str, list[str]] = {}
        for name in fields:
            self.columns.setdefault(name.partition("_")[0], []).append(name)

    def row(self, entry: dict[str, str], number: int) -> tuple[Row, tuple[float, float]]:
        sigma = entry.get("sigma", "0")
        if sigma not in ("0", "1", "2"):
            raise InputError(
                f"line {number}: sigma is {sigma!r}", where=str(self.path), allowed="0, 1, 2"
            )
        joint = Joint(int(sigma))
        values = {
            slot.symbol: self._number(
                entry, slot.symbol, number, ANGLES if slot.rotation else LENGTHS
            )
            for slot in Row(self.convention, joint).slots
            if slot.symbol in self.columns
        }
        units = joint_units(joint)
        bound = np.pi if joint is Joint.REVOLUTE else 1.0
        lower = self._number(entry, "qmin", number, units) if "qmin" in self.columns else -bound
        upper = self._number(entry, "qmax", number, units) if "qmax" in self.columns else bound
        return Row(self.convention, joint, values), (lower, upper)

    def _number(
        self, entry: dict[str, str], symbol: str, line: int, units: dict[str, float]
    ) -> float:
        columns = self.columns[symbol]
        fitting = [name for name in columns if name.partition("_")[2] in units]
        if len(fitting) != 1:
            what = "has the wrong kind of unit" if not fitting else "is given twice"
            raise InputError(f"column '{columns[0]}' {what}", where=str(self.path), allowed=units)
        column = fitting[0]
        unit = column.partition("_")[2]
        text = entry.get(column)
        try:
            value = float(text or "")
        except ValueError as error:
            raise InputError(
                f"line {line}, column '{column}': {text!r} is not a number", where=str(self.path)
            ) from error
        if not np.isfinite(value):
            raise InputError(f"line {line}, column '{column}': {text}", where=str(self.path))
        return value * units[unit]
