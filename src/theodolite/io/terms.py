"""Further error terms, and the direction of gravity, in files of robots and mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from theodolite.io.toml import TomlReader, toml_float, toml_string, toml_vector
from theodolite.model.machine import Machine
from theodolite.model.term_elements import check_term, turned_by
from theodolite.model.terms import ErrorTerm

MOST_TERMS = 2000
#: A shorter direction of gravity is none.
_SHORTEST = 1e-6

Direction = tuple[float, float, float]


class TermReader(TomlReader):
    """A file of a machine that may have terms. They name a row or a joint by ``place_key``."""

    def read_terms(
        self, machine: Machine, place_key: str, row_of: Callable[[dict[str, Any], str], int]
    ) -> list[ErrorTerm]:
        """The terms of the file; ``row_of`` says which row an entry means."""
        entries = self.content.get("terms", [])
        if not isinstance(entries, list):
            raise self.error("terms is not a list")
        if len(entries) > MOST_TERMS:
            raise self.error(f"has {len(entries)} terms", allowed=f"up to {MOST_TERMS}")
        found = []
        for number, entry in enumerate(entries, start=1):
            place = f"terms, row {number}"
            if not isinstance(entry, dict):
                raise self.error(f"{place} is not a table of values")
            self.check_keys(entry, [place_key, "on", "basis", "value"], place)
            row, on, basis = row_of(entry, place), entry.get("on"), entry.get("basis")
            if not isinstance(on, str) or not isinstance(basis, str):
                raise self.error(
                    f"{place} needs strings for on and basis", allowed='on = "q", basis = "sin(q3)"'
                )
            term = ErrorTerm(row, on, basis)
            with self.naming(place):
                check_term(machine, term)
            turns = turned_by(machine, term)
            value = self.quantity(entry.get("value", 0.0), f"{place}, value", turns=turns)
            found.append(replace(term, value=value))
        return found

    def read_gravity(self) -> Direction | None:
        """A direction of any length in the frame of the base."""
        if "gravity" not in self.content:
            return None
        given = self.content["gravity"]
        if not isinstance(given, list) or len(given) != 3:
            raise self.error("gravity is not three numbers")
        direction = np.array([self.number(item, "gravity") for item in given])
        if not np.linalg.norm(direction) > _SHORTEST:
            raise self.error("gravity is zero", allowed="a direction, such as [0, 0, -1]")
        x, y, z = (float(part) for part in direction / np.linalg.norm(direction))
        return x, y, z


def format_terms(terms: Sequence[ErrorTerm], place: Callable[[int], str]) -> list[str]:
    """The list of terms; ``place`` writes the number of a row as the file names it."""
    if not terms:
        return []
    lines = [
        f"  {{ {place(term.row)}on = {toml_string(term.on)}, "
        f"basis = {toml_string(term.basis)}, value = {toml_float(term.value)} }},"
        for term in terms
    ]
    return ["", "terms = [", *lines, "]"]


def format_gravity(gravity: Direction) -> str:
    return f"gravity = {toml_vector(gravity)}"
