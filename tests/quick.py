"""Long families of tests: some members run always, the others with ``-m study``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def some_of(cases: Iterable[Any], always: Collection[Any]) -> list[Any]:
    """All cases for ``parametrize``; those that do not run always are marked as a study."""
    return [
        case
        if case in always
        else pytest.param(*case if isinstance(case, tuple) else (case,), marks=pytest.mark.study)
        for case in cases
    ]
