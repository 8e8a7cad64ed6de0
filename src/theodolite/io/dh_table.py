"""Robots from a table of DH or KK parameters, one row per joint.

Columns: docs/reference/robot-file.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError, printable
from theodolite.io.naming import column_name, with_unit
from theodolite.io.number_table import written_names
from theodolite.io.sheets import Sheet, read_sheet
from theodolite.io.toml import MOST_FRAMES
from theodolite.io.units import (
    ANGLES,
    LARGEST_ANGLE,
    LARGEST_LENGTH,
    LENGTHS,
    joint_units,
    to_si,
)
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.robot import Robot
from theodolite.model.transmission import Transmission

#: Columns that say which row it is, for people.
_LABELS = ("joint", "name", "frame", "link", "row", "#1")
#: What others call the zero of a revolute joint.
_ALIASES = {"theta_offset": "theta"}
#: Craig's names of what Khalil and Kleinfinger call d and r: the same rows.
_CRAIG = {"a": "d", "d": "r"}
#: A smaller gain, or a larger one than its inverse, is a mistake.
LEAST_GAIN = 1e-6
_REMEDY = "DH tables have theta, d, a, alpha; KK tables alpha, d, theta, r"


def read_dh_table(path: Path | str, *, modified: bool = False) -> Robot:
    """A robot from a table, with six errors at its base and tool.

    ``modified``: theta, d, a, alpha are Craig's, with a and alpha of the link before.
    """
    path = Path(path)
    table = _Table(read_sheet(path), modified=modified)
    rows = [table.row(number) for number in range(table.rows)]
    moving = [number for number, row in enumerate(rows) if row.joint is not Joint.FIXED]
    if not moving:
        raise InputError(
            "the table has no joints", where=str(path), remedy="Give some row sigma 0 or 1"
        )
    signs = np.array([table.sign(number) for number in moving])
    limits = np.array([table.limits(number, rows[number].joint) for number in moving])
    # A reversed joint reads the negative of its angle, so its limits change places.
    lower, upper = np.where(signs[:, None] > 0, limits, -limits[:, ::-1]).T
    if (lower >= upper).any():
        line = table.sheet.lines[moving[int(np.argmax(lower >= upper))]]
        raise InputError(f"line {line}: Qmin is not below Qmax", where=str(path))
    base, tool = (Row(Convention.POSE, Joint.FIXED) for _ in range(2))
    return Robot.of(
        printable(path.stem),
        [base, *rows, tool],
        transmission=Transmission.of(
            len(moving), coa=np.diag(signs), gains=[table.gain(number) for number in moving]
        ),
        lower=lower,
        upper=upper,
        source=printable(f"{table.convention.value} table {path.name}"),
    )


class _Table:
    """The columns of one table, by symbol."""

    def __init__(self, sheet: Sheet, *, modified: bool) -> None:
        self.sheet, self.where = sheet, str(sheet.path)
        if sheet.names is None:
            raise InputError("has no header", where=self.where, remedy=_REMEDY)
        self.rows = len(sheet.lines)
        if self.rows > MOST_FRAMES:
            raise InputError(
                f"has {self.rows} rows", where=self.where, allowed=f"up to {MOST_FRAMES}"
            )
        #: symbol -> unit -> values as they stand
        self.columns: dict[str, dict[str, FloatArray]] = {}
        found = []
        for place, (written, unit) in enumerate(
            zip(written_names(sheet), sheet.units, strict=True)
        ):
            name = column_name(written, unit)
            symbol, unit = with_unit(name)
            symbol = symbol.lower()
            if symbol not in _LABELS:
                found.append((place, name, _ALIASES.get(symbol, symbol), unit))
        symbols = {symbol for _, _, symbol, _ in found}
        if modified:
            if "r" in symbols or "beta" in symbols:
                raise InputError(
                    f"has a column {'r' if 'r' in symbols else 'beta'}",
                    where=self.where,
                    allowed="theta, d, a, alpha in a table in the modified convention",
                    remedy="Read it as it is: KK tables are in that convention already",
                )
            found = [(p, name, _CRAIG.get(symbol, symbol), unit) for p, name, symbol, unit in found]
            symbols = {symbol for _, _, symbol, _ in found}
        self.convention = Convention.KK if "r" in symbols else Convention.DH
        #: Rows with both d and beta would be neither; those that have a beta are Hayati's.
        self.hayati = self.convention is Convention.DH and "beta" in symbols
        for place, name, symbol, unit in found:
            self._check(name, symbol, unit)
            if unit in self.columns.setdefault(symbol, {}):
                raise InputError(f"column '{name}' appears twice", where=self.where)
            self.columns[symbol][unit] = self._numbers(place, name)
        wanted = Row(self.convention, Joint.FIXED).symbols
        missing = [s for s in wanted if s not in self.columns and s not in ("beta", "theta")]
        if missing:
            raise InputError(
                f"column{'s' if len(missing) > 1 else ''} {', '.join(missing)} missing",
                where=self.where,
                remedy=_REMEDY,
            )

    def _check(self, name: str, symbol: str, unit: str) -> None:
        known = [*Row(self.convention, Joint.FIXED).symbols, "qmin", "qmax"]
        known += ["beta"] if self.hayati else []
        if symbol in ("sigma", "sign", "k"):
            return
        if symbol not in known:
            allowed = ["sigma", "sign", "K", *(f"{symbol}_unit" for symbol in known)]
            raise InputError(f"unknown column '{name}'", where=self.where, allowed=allowed)
        if unit not in {**ANGLES, **LENGTHS}:
            raise InputError(
                f"column '{name}' does not say its unit",
                where=self.where,
                allowed=[f"{symbol}_{unit}" for unit in (*ANGLES, *LENGTHS)],
            )

    def _numbers(self, place: int, name: str) -> FloatArray:
        return self.sheet.numbers(place, name)

    def row(self, number: int) -> Row:
        """One row of the robot."""
        joint = Joint(int(self._one_of("sigma", number, (0, 1, 2), default=0)))
        convention = self.convention
        if self.hayati and self._amount("beta", number, ANGLES):
            if self._amount("d", number, LENGTHS) or joint is not Joint.REVOLUTE:
                raise self.sheet.error(
                    number, "beta", "a row with beta turns, and has d = 0", "beta = 0"
                )
            convention = Convention.HAYATI
        values = {
            slot.symbol: self._amount(slot.symbol, number, ANGLES if slot.rotation else LENGTHS)
            for slot in Row(convention, joint).slots
            if slot.symbol in self.columns
        }
        return Row(convention, joint, values)

    def gain(self, number: int) -> float:
        """Of a joint's transmission; 1 where the table has none."""
        if "k" not in self.columns:
            return 1.0
        value = float(next(iter(self.columns["k"].values()))[number])
        if not LEAST_GAIN <= abs(value) <= 1.0 / LEAST_GAIN:
            raise self.sheet.error(number, "K", f"{value:g}", "gains near 1 or -1")
        return value

    def sign(self, number: int) -> float:
        """-1 where the controller counts a joint the other way."""
        return self._one_of("sign", number, (1, -1), default=1)

    def limits(self, number: int, joint: Joint) -> tuple[float, float]:
        """Of a joint, as the controller shows it."""
        bound = np.pi if joint is Joint.REVOLUTE else 1.0
        units = joint_units(joint)
        lower = self._amount("qmin", number, units) if "qmin" in self.columns else -bound
        upper = self._amount("qmax", number, units) if "qmax" in self.columns else bound
        return lower, upper

    def _one_of(self, column: str, number: int, allowed: tuple[int, ...], *, default: int) -> float:
        if column not in self.columns:
            return default
        values = next(iter(self.columns[column].values()))
        if values[number] not in allowed:
            raise InputError(
                f"line {self.sheet.lines[number]}: {column} is {values[number]:g}",
                where=self.where,
                allowed=", ".join(map(str, allowed)),
            )
        return float(values[number])

    def _amount(self, symbol: str, number: int, units: Mapping[str, float]) -> float:
        columns = self.columns[symbol]
        fitting = [unit for unit in columns if unit in units]
        if len(fitting) != 1:
            what = "has the wrong kind of unit" if not fitting else "is given twice"
            raise InputError(
                f"column '{symbol}_{next(iter(columns))}' {what}", where=self.where, allowed=units
            )
        value = float(columns[fitting[0]][number])
        if np.isnan(value):
            raise self.sheet.error(number, f"{symbol}_{fitting[0]}", "blank or not a number")
        amount = to_si(value, units[fitting[0]])
        largest = LARGEST_ANGLE if fitting[0] in ANGLES else LARGEST_LENGTH
        if abs(amount) > largest:
            unit = "rad" if fitting[0] in ANGLES else "m"
            raise self.sheet.error(
                number, f"{symbol}_{fitting[0]}", f"{value:g}", f"below {largest:g} {unit}"
            )
        return amount
