"""Mutants that no result can tell from the original, with the reason."""

from __future__ import annotations

#: Module, then the mutant's label.
EQUIVALENT: dict[str, dict[str, str]] = {}
